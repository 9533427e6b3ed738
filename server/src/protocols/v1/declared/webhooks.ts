/** Events, and the endpoints they are posted to. */
import { STATES } from '../../../orders/index.ts';
import {
  about,
  type Field,
  flag,
  id,
  listOrNone,
  oneOf,
  optional,
  personal,
  text,
  time,
  whole,
} from '../../declaration/fields.ts';
import { declare, PAGED } from '../declare.ts';
import { listOf, pageOf } from '../schemas/parts.ts';
import {
  Attempt,
  DELIVERY_STATES,
  Delivery,
  Event,
  Removed,
  Replayed,
  TestSent,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from '../schemas/webhooks.ts';

const endpoint = { endpoint: text(64, /^whe_[0-9A-Za-z]{1,40}$/, 'the id of a webhook endpoint') };
const eventId = text(64, /^evt_[0-9]{1,18}_[0-9]{1,15}$/, 'the id of an event');
// Marked as personal: a person who knows the URL could post to it, so the request log hides it in replies too.
const url = personal(text(1_000, /^https?:\/\/[^\s]+$/, 'a web address'));
/** The list rejects misspelled types, which would never match. `frozen` is omitted, because it is never announced. */
const TYPES = [
  ...Object.keys(STATES).flatMap((state) => (state === 'frozen' ? [] : [`order.${state}`])),
  ...['order.payout_submitted', 'order.changed', 'customer.login', 'customer.verification', 'information.requested'],
  ...['webhook.test', 'webhook.switched_off'],
];
const SUBSCRIBED = new Set(TYPES.flatMap((type) => [type, `${type.split('.', 1)[0]}.*`]));
const form = text(64, /^[a-z_]+\.(\*|[a-z_]+)$/, 'an event type such as order.settled or order.*');
const eventType: Field<string> = {
  ...form,
  read(given) {
    const read = form.read(given);
    return read !== undefined && SUBSCRIBED.has(read) ? read : undefined;
  },
};
const events = listOrNone(eventType, 32);
const MAX_OVERLAP_S = 7 * 24 * 3_600;

export const EVENTS = {
  list: declare({
    name: 'events.list',
    method: 'GET',
    path: '/event-feed',
    scope: 'read',
    says: 'Lists your events, the oldest first, in an order that never changes.',
    more: 'New events are appended: store the last `nextCursor` and continue from it. It is null only while you have no events.',
    fields: PAGED,
    gives: pageOf(Event),
  }),
} as const;

export const WEBHOOKS = {
  list: declare({
    name: 'webhooks.list',
    method: 'GET',
    path: '/webhook-endpoints',
    scope: 'read',
    says: 'Lists webhook endpoints, the oldest first.',
    fields: {},
    gives: listOf(WebhookEndpoint),
  }),
  create: declare({
    name: 'webhooks.create',
    method: 'POST',
    path: '/webhook-endpoints',
    scope: 'admin',
    says: 'Adds a webhook endpoint, and returns its secret.',
    more: 'Events are sent in the Standard Webhooks format.',
    fields: { url, events: optional(events) },
    gives: WebhookEndpointWithSecret,
    status: 201,
    refuses: ['too_many_endpoints', 'unknown_key'],
  }),
  get: declare({
    name: 'webhooks.get',
    method: 'GET',
    path: '/webhook-endpoints/:endpoint',
    scope: 'read',
    says: 'Returns one webhook endpoint.',
    fields: endpoint,
    gives: WebhookEndpoint,
    refuses: ['unknown_endpoint'],
  }),
  update: declare({
    name: 'webhooks.update',
    method: 'PATCH',
    path: '/webhook-endpoints/:endpoint',
    scope: 'admin',
    says: 'Changes a webhook endpoint.',
    fields: { ...endpoint, url: optional(url), events: optional(events), enabled: optional(flag) },
    gives: WebhookEndpoint,
    refuses: ['unknown_endpoint'],
    example: { endpoint: 'whe_4pQ9aXbT7mK2vN8c', enabled: true },
  }),
  remove: declare({
    name: 'webhooks.remove',
    method: 'DELETE',
    path: '/webhook-endpoints/:endpoint',
    scope: 'admin',
    says: 'Removes a webhook endpoint. Its pending deliveries are dropped.',
    fields: endpoint,
    gives: Removed,
    refuses: ['unknown_endpoint'],
  }),
  rotateSecret: declare({
    name: 'webhooks.rotateSecret',
    method: 'POST',
    path: '/webhook-endpoints/:endpoint/rotate-secret',
    scope: 'admin',
    says: 'Gives a webhook endpoint a new secret. For a while, webhooks are also signed with the previous one.',
    fields: { ...endpoint, overlapSeconds: optional(whole(0, MAX_OVERLAP_S)) },
    gives: WebhookEndpointWithSecret,
    refuses: ['unknown_endpoint'],
  }),
  resume: declare({
    name: 'webhooks.resume',
    method: 'POST',
    path: '/webhook-endpoints/:endpoint/resume',
    scope: 'admin',
    says: 'Resumes deliveries to a held webhook endpoint, from the first event that it missed.',
    fields: endpoint,
    gives: WebhookEndpoint,
    refuses: ['unknown_endpoint', 'unknown_held_item'],
  }),
  test: declare({
    name: 'webhooks.test',
    method: 'POST',
    path: '/webhook-endpoints/:endpoint/test',
    scope: 'admin',
    says: 'Sends a test event to a webhook endpoint.',
    fields: endpoint,
    gives: TestSent,
    refuses: ['unknown_endpoint'],
  }),
  replay: declare({
    name: 'webhooks.replay',
    method: 'POST',
    path: '/webhook-endpoints/:endpoint/replay',
    scope: 'admin',
    says: 'Sends events again: one event, the events of an order, or the events of a period.',
    fields: {
      ...endpoint,
      eventId: optional(eventId),
      orderId: optional(id),
      from: optional(time),
      until: optional(time),
    },
    gives: Replayed,
    refuses: ['unknown_endpoint', 'unknown_event', 'unknown_order'],
    example: { endpoint: 'whe_4pQ9aXbT7mK2vN8c', eventId: 'evt_1_17' },
  }),
  deliveries: declare({
    name: 'webhooks.deliveries',
    method: 'GET',
    path: '/webhook-endpoints/:endpoint/deliveries',
    scope: 'read',
    says: 'Lists past and pending deliveries to an endpoint, newest first.',
    more: 'With `state`, a page may have fewer rows than `limit` before the list ends: continue until `nextCursor` is null.',
    fields: {
      ...endpoint,
      state: optional(about(oneOf(DELIVERY_STATES), 'Only deliveries in this state', 'dead')),
      ...PAGED,
    },
    gives: pageOf(Delivery),
    refuses: ['unknown_endpoint'],
  }),
  attempts: declare({
    name: 'webhooks.attempts',
    method: 'GET',
    path: '/webhook-endpoints/:endpoint/deliveries/:event',
    scope: 'read',
    says: 'Lists the attempts to deliver one event to an endpoint.',
    fields: { ...endpoint, event: about(eventId, 'Id of the event', 'evt_1_17') },
    gives: listOf(Attempt),
    refuses: ['unknown_endpoint', 'unknown_event'],
  }),
} as const;
