/**
 * Webhooks in the form that older programs use: setting one address, resending, and a test message.
 *
 * The address is two of the partner's endpoints (endpoints/webhooks.ts lists them with the others), one in the format
 * `whitelabel` and one in `flat`, unless the call names one of the two. They share only the address: a receiver that knows one
 * format rejects the other, and those rejections must not delay, pause or switch off deliveries in the format it knows.
 *
 * The call waits for the partner's server, and replies "Response received from your server" only when that has answered with
 * 2xx. Nothing else is a success.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import {
  type Endpoint,
  endpointSubject,
  type Message,
  newestEventOf,
  type Progress,
  progressOf,
  readUrl,
  replay,
  setWireUrl,
  testEndpoint,
  WIRE_FORMATS,
  wireEndpoints,
} from '../../../events/index.ts';
import { recordActivity } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { type Fields, id, oneWordOf, optional, required, text } from '../fields.ts';
import { sampleFlatMessage } from '../flat.ts';
import { ok, type SignedRequest, throughOf } from '../route.ts';
import { sampleMessage } from '../webhooks.ts';
import { orderNumberOf } from './orders.ts';

const wireFormat = oneWordOf(...WIRE_FORMATS);
export const setUrlFields = { webhookUrl: required(text({ max: 1_000 })), format: optional(wireFormat) };

export async function setWebhookUrl({
  deps,
  caller,
  values,
  inTx,
}: SignedRequest<typeof setUrlFields>): Promise<Reply> {
  const url = readUrl(deps.egress, 'webhookUrl', values.webhookUrl);
  const { id: partnerId } = caller.partner;
  const formats = values.format === undefined ? WIRE_FORMATS : [values.format];
  const now = deps.clock.now();
  await inTx(async (tx) => {
    const changes = await setWireUrl(tx, deps.vault, { partnerId, url, formats, apiKey: caller.credential.key, now });
    for (const { before, after } of changes) {
      const action =
        before === undefined ? 'endpoint.made' : after === undefined ? 'endpoint.removed' : 'endpoint.changed';
      const told = after ?? before;
      if (told === undefined) continue;
      const facts = {
        url: told.url,
        ...(before === undefined || before.url === told.url ? {} : { before: before.url }),
      };
      recordActivity(tx, throughOf(caller), { action, subject: `endpoint:${told.id}`, facts, now });
    }
  });
  return ok(`Webhook url set to ${values.webhookUrl}`);
}

const RECEIVED = 'Response received from your server';

/** Concurrent calls per partner that wait for its server. */
const WAITING_AT_ONCE = 4;
const waiting = new Map<bigint, number>();

/** @throws Refusal 'too_many_requests' */
async function oneOfFew<T>(partnerId: bigint, body: () => Promise<T>): Promise<T> {
  const under = waiting.get(partnerId) ?? 0;
  if (under >= WAITING_AT_ONCE) throw new Refusal('too_many_requests', { retryAfterMs: 5_000 });
  waiting.set(partnerId, under + 1);
  try {
    return await body();
  } finally {
    const left = (waiting.get(partnerId) ?? 1) - 1;
    if (left === 0) waiting.delete(partnerId);
    else waiting.set(partnerId, left);
  }
}

export const resendFields = { orderId: required(id) };

/** Sends every event of an order once more, in order. */
export async function resendWebhook(input: SignedRequest<typeof resendFields>): Promise<Reply> {
  const { deps, caller, values, inTx } = input;
  const { id: partnerId } = caller.partner;
  return await oneOfFew(partnerId, async () => {
    const sent = await inTx(async (tx) => {
      const order = await deps.orders.get(tx, { id: orderNumberOf(values.orderId) });
      const subject = `order:${order.id}`;
      const now = deps.clock.now();
      return await eachOf(tx, await wireEndpoints(tx, partnerId), async (endpoint) => {
        const { eventIds } = await replay(tx, { endpointId: endpoint.id, partnerId, subject, now });
        const about = { subject: `endpoint:${endpoint.id}`, facts: { url: endpoint.url, order: String(order.id) } };
        recordActivity(tx, throughOf(caller), { action: 'endpoint.replayed', ...about, now });
        return eventIds;
      });
    });
    return await answerOf(input, sent);
  });
}

export const dummyFields = { webhookUrl: optional(text({ max: 1_000 })), format: optional(wireFormat) };

/**
 * A sample order: to the configured address, delivered like every webhook; or to the given one, once and at once, to test it.
 */
export async function sendDummyWebhook(input: SignedRequest<typeof dummyFields>): Promise<Reply> {
  const { deps, caller, values, inTx } = input;
  const { id: partnerId } = caller.partner;
  const through = throughOf(caller);
  const named = values.webhookUrl === undefined ? undefined : readUrl(deps.egress, 'webhookUrl', values.webhookUrl);
  const { format } = values;
  /** The endpoints of the configured address, in the requested format. */
  const meant = async (tx: Tx) =>
    (await wireEndpoints(tx, partnerId)).filter(
      (endpoint) =>
        (named === undefined || endpoint.url === named) && (format === undefined || endpoint.format === format),
    );
  return await oneOfFew(partnerId, async () => {
    if (named === undefined || (await inTx(meant)).length > 0) {
      const sent = await inTx(async (tx) => {
        const now = deps.clock.now();
        return await eachOf(tx, await meant(tx), async (endpoint) => {
          await testEndpoint(tx, endpoint, now);
          const about = { subject: `endpoint:${endpoint.id}`, facts: { url: endpoint.url } };
          recordActivity(tx, through, { action: 'endpoint.tested', ...about, now });
          const eventId = await newestEventOf(tx, endpointSubject(endpoint.id));
          return eventId === undefined ? [] : [eventId];
        });
      });
      return await answerOf(input, sent);
    }
    // Recorded before sending, because a message to an unsaved address leaves no other trace.
    await inTx(async (tx) => {
      const about = { subject: 'endpoint:none', facts: { url: named } };
      recordActivity(tx, through, { action: 'endpoint.tested', ...about, now: deps.clock.now() });
    });
    const samples = { whitelabel: sampleMessage, flat: sampleFlatMessage };
    const outcomes = await Promise.all(
      (format === undefined ? WIRE_FORMATS : [format]).map(async (one): Promise<Verdict> => {
        const message: Message = samples[one](caller.secret, new Date());
        const { ok: isTaken, status, error } = await deps.send({ url: named, ...message });
        return { format: one, isTaken, why: whyOf({ status, error }) };
      }),
    );
    return verdictOf(outcomes);
  });
}

interface Sent {
  endpoint: Endpoint;
  eventIds: readonly bigint[];
  /** Attempts made before this call: their failures do not count here. */
  before: ReadonlyMap<bigint, number>;
}

/** Enqueues the message for each endpoint of the wire's address. @throws Refusal 'unknown_endpoint' when there is none */
async function eachOf(
  tx: Tx,
  endpoints: readonly Endpoint[],
  send: (endpoint: Endpoint) => Promise<readonly bigint[]>,
): Promise<Sent[]> {
  if (endpoints.length === 0) throw new Refusal('unknown_endpoint');
  const sent: Sent[] = [];
  for (const endpoint of endpoints) {
    const eventIds = await send(endpoint);
    const progress = await progressOf(tx, { endpointId: endpoint.id, eventIds });
    sent.push({ endpoint, eventIds, before: new Map(progress.map(({ eventId, attempts }) => [eventId, attempts])) });
  }
  return sent;
}

interface Verdict {
  format: string;
  isTaken: boolean;
  why: string;
}

/** An attempt takes at most five seconds. */
const PATIENCE_MS = 6_000;
const LOOK_EVERY_MS = 50;

/** Waits until each endpoint has accepted its message, or an attempt has failed. */
async function answerOf({ inTx }: Pick<SignedRequest<Fields>, 'inTx'>, sent: readonly Sent[]): Promise<Reply> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const isLast = performance.now() > giveUpAt;
    const verdicts: (Verdict | 'nothing' | undefined)[] = [];
    for (const one of sent) {
      const progress = await inTx((tx) => progressOf(tx, { endpointId: one.endpoint.id, eventIds: one.eventIds }));
      verdicts.push(verdictAbout(one, progress, isLast));
    }
    if (verdicts.every((verdict) => verdict !== undefined)) return verdictOf(verdicts);
    await new Promise((wake) => setTimeout(wake, LOOK_EVERY_MS));
  }
}

/** @returns 'nothing' when the format has no message for any of it; undefined while it is under way */
function verdictAbout(
  { endpoint, before }: Sent,
  progress: readonly Progress[],
  isLast: boolean,
): Verdict | 'nothing' | undefined {
  const { format } = endpoint;
  const failed = progress.find(
    ({ eventId, state, attempts }) =>
      state === 'dead' || (state === 'waiting' && attempts > (before.get(eventId) ?? 0)),
  );
  if (failed !== undefined) return { format, isTaken: false, why: whyOf(failed) };
  if (progress.every(({ state }) => state === 'delivered' || state === 'dropped'))
    return progress.some(({ state }) => state === 'delivered') ? { format, isTaken: true, why: '' } : 'nothing';
  if (!isLast) return undefined;
  const why =
    endpoint.enabled && endpoint.heldAt === null ? 'no delivery was attempted within 6 s' : 'the endpoint is off';
  return { format, isTaken: false, why };
}

const whyOf = ({ status, error }: Pick<Progress, 'status' | 'error'>): string =>
  status === null ? (error ?? 'failed') : `status ${status}`;

/** A receiver that knows one format rejects the other: one accepted message is a success. */
function verdictOf(all: readonly (Verdict | 'nothing' | undefined)[]): Reply {
  const verdicts = all.filter((one) => one !== undefined && one !== 'nothing');
  if (verdicts.length === 0)
    throw new Refusal('unknown_event', { sentence: 'No webhook of this transaction has been sent yet.' });
  if (verdicts.some(({ isTaken }) => isTaken)) return ok(RECEIVED);
  const why = verdicts.map((verdict) => `${verdict.format}: ${verdict.why}`).join('; ');
  throw new Refusal('webhook_not_taken', { why });
}
