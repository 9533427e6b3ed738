/**
 * Events: what happened to a partner's subjects, and the delivery to the partner.
 *
 * An event is a row inserted in the transaction of its cause: there is no event without its cause and no cause without its
 * event. Each subject's events are numbered from 1 without gaps, so a receiver can tell stale news from fresh. Bodies carry
 * ids, states and amounts; never a name, a document or an account number.
 *
 * The path of an event: emit.ts → feed.ts assigns its position among the partner's events and its receivers → dispatcher.ts
 * delivers it through sender.ts, in a format (format.ts, standard.ts, the wire's own in protocols/). Partners use
 * endpoints.ts and log.ts.
 */

export { eventsAbout } from './about.store.ts';
export { type EgressPolicy, egressPolicyFor as outsideFor, readUrl } from './address.ts';
export { type Dispatcher, startDispatcher } from './dispatcher.ts';
export { emit, emitAlone } from './emit.ts';
export {
  addEndpoint,
  changeEndpoint,
  type Endpoint,
  endpointById,
  endpoints,
  endpointsSince,
  freeEndpoints,
  holdEndpoints,
  listEndpoints,
  MAX_ENDPOINTS,
  removeEndpoint,
  rotateSecret,
  setWireUrl,
  testEndpoint,
  WIRE_FORMATS,
  type WireFormat,
  wireEndpoints,
} from './endpoints.ts';
export { type FeedPage, newestPosition, publish, readFeed } from './feed.ts';
export {
  endpointSubject,
  type Format,
  type Formats,
  type Happened,
  type Message,
  type PayloadForm,
  TEST_EVENT,
} from './format.ts';
export {
  type Attempt,
  attemptsOf,
  bringDeliveriesForward,
  type Delivery,
  deliveries,
  newestEventOf,
  openDeliveries,
  type Progress,
  progressOf,
  replay,
} from './log.ts';
export { checkedRoutes, type Outcome, openSender, type Sender } from './sender.ts';
export { standard } from './standard.ts';
export { eraseTexts } from './store.ts';
