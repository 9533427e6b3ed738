/**
 * Events to pull, and the endpoints they are pushed to: our own paths under /v1, signed like the rest of the wire.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import {
  addEndpoint,
  attemptsOf,
  changeEndpoint,
  type Delivery,
  deliveries,
  type Endpoint,
  endpointById,
  endpoints,
  freeEndpoints,
  readFeed,
  readUrl,
  removeEndpoint,
  replay,
  rotateSecret,
  testEndpoint,
} from '../../../events/index.ts';
import { freeOf, recordActivity } from '../../../partners/index.ts';
import { aboutEndpoint, decideAboutEndpoint, positionOf } from '../../endpoints.ts';
import type { Reply } from '../../protocol.ts';
import { type Body, isAbsent } from '../body.ts';
import {
  type Field,
  flag,
  id,
  Malformed,
  malformedField,
  moment,
  ofText,
  oneWordOf,
  optional,
  readField,
  required,
  text,
  wholeNumber,
} from '../fields.ts';
import { ok, type SignedRequest, throughOf } from '../route.ts';
import { orderNumberOf } from './orders.ts';

const MOST_EVENTS = 500;
const FEW = 100;
/** A position: positions are dense from 1, so fifteen digits are enough. */
const cursor = ofText(20, {
  rule: 'a cursor that the server returned',
  schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
  read: (given) => (/^[0-9]{1,15}$/.test(given) ? BigInt(given) : undefined),
});
const limit = wholeNumber({ min: 1, max: MOST_EVENTS });

export const eventsFields = { after: optional(cursor), limit: optional(limit) };

/** A partner's events in an order that never changes: new events are appended. */
export async function listEvents({ deps, caller, values, inTx }: SignedRequest<typeof eventsFields>): Promise<Reply> {
  const { id: partnerId } = caller.partner;
  const input = { partnerId, after: values.after ?? 0n, limit: values.limit ?? FEW };
  const { events, next, hasMore } = await inTx((tx) => readFeed(tx, deps.vault, input));
  return ok({ events, next: String(next), hasMore });
}

const MAX_FILTER = 32;
const EVENT_TYPE = /^[a-z_]+\.(\*|[a-z_]+)$/;
/** Event types, as a list or comma-separated. Empty: all. */
const filter: Field<readonly string[]> = {
  rule: 'types of events such as order.settled or order.*',
  schema: { type: 'array', items: { type: 'string', pattern: EVENT_TYPE.source, maxLength: 64 }, maxItems: MAX_FILTER },
  read(value) {
    const given = Array.isArray(value) ? value : partsOf(value);
    if (given instanceof Malformed) return given;
    const texts = given.map((one) => readField(text({ max: 64 }), one));
    const wrong = texts.find((one) => one instanceof Malformed);
    if (wrong !== undefined) return wrong;
    const types = texts.map((one) => String(one).trim()).filter((one) => one !== '');
    if (types.length > MAX_FILTER) return new Malformed(`must name at most ${MAX_FILTER} types of events`);
    return types.every((type) => EVENT_TYPE.test(type)) ? [...new Set(types)] : undefined;
  },
};
function partsOf(value: unknown): string[] | Malformed {
  const listed = readField(text({ max: 1_000 }), value);
  return listed instanceof Malformed ? listed : listed.split(',');
}
const format = oneWordOf('whitelabel', 'flat', 'standard');
const payloadForm = oneWordOf('body', 'wrapped');
const address = text({ max: 1_000 });

const shape = (endpoint: Endpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  format: endpoint.format,
  events: endpoint.filter,
  payloadForm: endpoint.payloadForm,
  setByWire: endpoint.isWire,
  enabled: endpoint.enabled,
  apiKey: endpoint.apiKey,
  madeByKey: endpoint.madeByKey,
  failures: endpoint.failures,
  pausedUntil: endpoint.pausedUntil?.toISOString() ?? null,
  failingSince: endpoint.failingSince?.toISOString() ?? null,
  switchedOffAt: endpoint.switchedOffAt?.toISOString() ?? null,
  heldAt: endpoint.heldAt?.toISOString() ?? null,
  oldSecretUntil: endpoint.oldSecretUntil?.toISOString() ?? null,
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString(),
});

/** The partner role sees no other partner's endpoints. */
const own = (tx: Tx, input: SignedRequest<Record<never, never>>) => endpointById(tx, input.call.params.id ?? '');

export const nothing = {};

export async function listEndpoints({ caller, inTx }: SignedRequest<typeof nothing>): Promise<Reply> {
  return ok((await inTx((tx) => endpoints(tx, caller.partner.id))).map(shape));
}

export const addFields = {
  url: required(address),
  format: optional(format),
  events: optional(filter),
  payloadForm: optional(payloadForm),
};

/** Only this reply contains the secret. */
export async function createEndpoint({ deps, caller, values, inTx }: SignedRequest<typeof addFields>): Promise<Reply> {
  const url = readUrl(deps.egress, 'url', values.url);
  const now = deps.clock.now();
  const { endpoint, secret } = await inTx(async (tx) => {
    const added = await addEndpoint(tx, deps.vault, {
      partnerId: caller.partner.id,
      url,
      format: values.format ?? 'standard',
      filter: values.events ?? [],
      payloadForm: values.payloadForm,
      apiKey: caller.credential.key,
      now,
    });
    recordActivity(tx, throughOf(caller), { action: 'endpoint.made', ...aboutEndpoint(added.endpoint), now });
    return added;
  });
  return ok({ ...shape(endpoint), secret });
}

export async function getEndpoint(input: SignedRequest<typeof nothing>): Promise<Reply> {
  return ok(shape(await input.inTx((tx) => own(tx, input))));
}

/** `events: []` means all types, and is different from an absent field. */
export const changeFields = (body: Body) => ({
  url: optional(address),
  format: optional(format),
  events: optional(filter),
  payloadForm: optional(payloadForm),
  enabled: optional(flag),
  ...(isAbsent(body.get('apiKey')) ? {} : { apiKey: optional(id) }),
});

export async function putEndpoint(input: SignedRequest<ReturnType<typeof changeFields>>): Promise<Reply> {
  const { deps, caller, values, inTx } = input;
  const url = values.url === undefined ? undefined : readUrl(deps.egress, 'url', values.url);
  // Another partner's key must not sign here, and the partner's own key may be set only by a request signed with it.
  if (values.apiKey !== undefined && values.apiKey !== caller.credential.key) {
    throw malformedField('apiKey', 'must be the key that signs this request');
  }
  const { format: to, events, payloadForm: form, enabled, apiKey } = values;
  const now = deps.clock.now();
  const changed = await inTx(async (tx) => {
    const before = await own(tx, input);
    // setWebhookUrl manages one endpoint per format, and finds it by that.
    if (before.isWire && to !== undefined && to !== before.format)
      throw malformedField(
        'format',
        'cannot be changed: the formats of the address of setWebhookUrl are set with that call',
      );
    const change = { url, format: to, filter: events, payloadForm: form, enabled, apiKey, now };
    const after = await changeEndpoint(tx, before.id, change);
    const facts = { url: after.url, ...(before.url === after.url ? {} : { before: before.url }), enabled, events };
    recordActivity(tx, throughOf(caller), { action: 'endpoint.changed', subject: `endpoint:${after.id}`, facts, now });
    return after;
  });
  return ok(shape(changed));
}

/** A held endpoint may be removed too: its waiting deliveries are dropped. */
export async function deleteEndpoint(input: SignedRequest<typeof nothing>): Promise<Reply> {
  const { deps, caller, inTx } = input;
  const now = deps.clock.now();
  const endpoint = await inTx((tx) => own(tx, input));
  const remove = async (tx: Tx) => {
    await removeEndpoint(tx, endpoint.id, now);
    recordActivity(tx, throughOf(caller), { action: 'endpoint.removed', ...aboutEndpoint(endpoint), now });
  };
  if (endpoint.heldAt === null) await inTx(remove);
  else
    await deps.db.asSystem(async (tx) => {
      await decideAbout(tx, input, endpoint, 'rejected');
      await remove(tx);
    });
  return ok({ removed: true });
}

/** Runs with the system role. */
const decideAbout = (
  tx: Tx,
  { caller, deps }: SignedRequest<typeof nothing>,
  endpoint: Endpoint,
  state: 'released' | 'rejected',
): Promise<void> => {
  const { partner, credential } = caller;
  return decideAboutEndpoint(tx, {
    ...{ partnerId: partner.id, by: `key ${credential.key}`, endpoint, state, now: deps.clock.now() },
  });
};

/**
 * A held endpoint receives everything it missed. The requesting key is not held, because held keys cannot authenticate. By this
 * call the partner confirms that the address is its own.
 */
export async function resumeEndpoint(input: SignedRequest<typeof nothing>): Promise<Reply> {
  const { deps, caller, inTx } = input;
  const now = deps.clock.now();
  const endpoint = await inTx((tx) => own(tx, input));
  await deps.db.asSystem(async (tx) => {
    await decideAbout(tx, input, endpoint, 'released');
    const ids = await freeOf(tx, caller.partner.id, 'endpoint', [endpoint.id]);
    await freeEndpoints(tx, { partnerId: caller.partner.id, ids, now });
    recordActivity(tx, throughOf(caller), { action: 'endpoint.resumed', ...aboutEndpoint(endpoint), now });
  });
  return ok(shape(await inTx((tx) => own(tx, input))));
}

const MAX_OVERLAP_MS = 7 * 24 * 3_600_000;
export const rotateFields = { overlapSeconds: optional(wholeNumber({ min: 0, max: MAX_OVERLAP_MS / 1000 })) };

export async function rotateEndpoint(input: SignedRequest<typeof rotateFields>): Promise<Reply> {
  const { deps, caller, values, inTx } = input;
  const overlap = values.overlapSeconds === undefined ? {} : { overlapMs: values.overlapSeconds * 1000 };
  const now = deps.clock.now();
  const { endpoint, secret } = await inTx(async (tx) => {
    const rotated = await rotateSecret(tx, deps.vault, { id: (await own(tx, input)).id, now, ...overlap });
    recordActivity(tx, throughOf(caller), { action: 'endpoint.rotated', ...aboutEndpoint(rotated.endpoint), now });
    return rotated;
  });
  return ok({ ...shape(endpoint), secret });
}

export async function tryEndpoint(input: SignedRequest<typeof nothing>): Promise<Reply> {
  const now = input.deps.clock.now();
  await input.inTx(async (tx) => {
    const endpoint = await own(tx, input);
    await testEndpoint(tx, endpoint, now);
    recordActivity(tx, throughOf(input.caller), { action: 'endpoint.tested', ...aboutEndpoint(endpoint), now });
  });
  return ok({ sent: true });
}

const deliveryShape = ({ eventId, type, subject, sequence, state, attempts, lastError, endedAt }: Delivery) => ({
  eventId,
  type,
  subject,
  sequence,
  state,
  attempts,
  lastError,
  endedAt: endedAt?.toISOString() ?? null,
});

export const deliveriesFields = { before: optional(cursor), limit: optional(limit) };

/** Past and waiting deliveries, newest first. */
export async function listDeliveries(input: SignedRequest<typeof deliveriesFields>): Promise<Reply> {
  const { caller, values, inTx } = input;
  const rows = await inTx(async (tx) => {
    const { id: endpointId } = await own(tx, input);
    const { before, limit: most = FEW } = values;
    return await deliveries(tx, { endpointId, partnerId: caller.partner.id, before, limit: most });
  });
  return ok({
    deliveries: rows.map(deliveryShape),
    next: rows.length === 0 ? null : String(rows.at(-1)?.position),
  });
}

/** Every attempt to deliver one event: time, duration, answer. */
export async function listAttempts(input: SignedRequest<typeof nothing>): Promise<Reply> {
  const { deps, caller, call, inTx } = input;
  const position = positionOf(caller.partner.id, call.params.event ?? '');
  const { id: partnerId } = caller.partner;
  const rows = await inTx(async (tx) => {
    const { id: endpointId } = await own(tx, input);
    return await attemptsOf(tx, deps.vault, { endpointId, partnerId, position });
  });
  return ok(rows.map(({ at, ...row }) => ({ at: at.toISOString(), ...row })));
}

export const replayFields = {
  eventId: optional(id),
  orderId: optional(id),
  from: optional(moment),
  to: optional(moment),
};

/** Sends one event again, those of an order, or those of a time span. */
export async function replayEvents(input: SignedRequest<typeof replayFields>): Promise<Reply> {
  const { deps, caller, values, inTx } = input;
  const { eventId, orderId, from, to } = values;
  if (eventId === undefined && orderId === undefined && from === undefined) {
    throw malformedField('eventId', 'or orderId or from must say what is meant');
  }
  const { id: partnerId } = caller.partner;
  const position = eventId === undefined ? undefined : positionOf(partnerId, eventId);
  const replayed = await inTx(async (tx) => {
    const endpoint = await own(tx, input);
    const { id: endpointId } = endpoint;
    const order = orderId === undefined ? undefined : await deps.orders.get(tx, { id: orderNumberOf(orderId) });
    const subject = order === undefined ? undefined : `order:${order.id}`;
    const now = deps.clock.now();
    const done = await replay(tx, { endpointId, partnerId, position, subject, from, to, now });
    recordActivity(tx, throughOf(caller), { action: 'endpoint.replayed', ...aboutEndpoint(endpoint), now });
    return done;
  });
  if (position !== undefined && replayed.count === 0) throw new Refusal('unknown_event');
  return ok({ replayed: replayed.count, hasMore: replayed.hasMore });
}
