/** Events, and the endpoints they are posted to. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { scan } from '../../../base/scan.ts';
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
  newestPosition,
  readFeed,
  readUrl,
  removeEndpoint,
  replay,
  rotateSecret,
  testEndpoint,
} from '../../../events/index.ts';
import { freeOf, keysOf, recordActivity, type ShownKey } from '../../../partners/index.ts';
import { aboutEndpoint, decideAboutEndpoint, positionOf } from '../../endpoints.ts';
import { EVENTS, WEBHOOKS } from '../declared/webhooks.ts';
import { type Asked, byOf, type Handled, reads, throughOf, writes } from '../handler.ts';
import { cursorOf, readCursor, unknownCursor } from '../pages.ts';
import { iso, isoOrNull } from '../shapes.ts';

const PAGE = 50;

const shape = (endpoint: Endpoint) => ({
  ...{ id: endpoint.id, url: endpoint.url, format: endpoint.format, events: [...endpoint.filter] },
  ...{ enabled: endpoint.enabled, failures: endpoint.failures },
  pausedUntil: isoOrNull(endpoint.pausedUntil),
  failingSince: isoOrNull(endpoint.failingSince),
  switchedOffAt: isoOrNull(endpoint.switchedOffAt),
  heldAt: isoOrNull(endpoint.heldAt),
  oldSecretUntil: isoOrNull(endpoint.oldSecretUntil),
  createdAt: iso(endpoint.createdAt),
  updatedAt: iso(endpoint.updatedAt),
});

type About = Asked<{ endpoint: (typeof WEBHOOKS.get)['fields']['endpoint'] }>;

/** The partner's role sees no other partner's endpoints. */
const own = (tx: Tx, { values }: Pick<About, 'values'>) => endpointById(tx, values.endpoint);

/** Runs with the system role. */
const decide = (tx: Tx, { caller, now }: Asked, endpoint: Endpoint, state: 'released' | 'rejected') =>
  decideAboutEndpoint(tx, { partnerId: caller.partner.id, by: byOf(caller), endpoint, state, now });

/**
 * The key that an endpoint belongs to. For a member it is the partner's newest key. @throws Refusal 'unknown_key' without any
 * key
 */
async function signingKey(tx: Tx, { caller: { member, credential, partner }, now }: Asked): Promise<string> {
  if (member === undefined) return credential.key;
  const isLive = ({ revokedAt, heldAt, expiresAt }: ShownKey): boolean =>
    revokedAt === null && heldAt === null && (expiresAt === null || expiresAt > now);
  const newest = (await keysOf(tx, partner.id)).filter(isLive).at(-1);
  if (newest === undefined) throw new Refusal('unknown_key');
  return newest.key;
}

const mine = {
  as: 'system',
  check: async (tx: Tx, asked: About): Promise<void> => void (await own(tx, asked)),
} as const;

export const WEBHOOK_HANDLERS: readonly Handled[] = [
  reads(EVENTS.list, ({ values, caller, deps, readOnly }) => {
    const { cursor, limit = PAGE } = values;
    const after = readCursor(cursor) ?? 0n;
    return readOnly(async (tx) => {
      const partnerId = caller.partner.id;
      const { events, next } = await readFeed(tx, deps.vault, { partnerId, after, limit });
      // A position beyond the feed comes from another server or from before a restore. An empty page would hide every event up
      // to there.
      if (events.length === 0 && after > (await newestPosition(tx, partnerId))) throw unknownCursor();
      return { data: events.map((event) => ({ ...event })), nextCursor: next === 0n ? null : cursorOf(next) };
    });
  }),

  reads(WEBHOOKS.list, ({ caller, readOnly }) =>
    readOnly(async (tx) => ({ data: (await endpoints(tx, caller.partner.id)).map(shape) })),
  ),
  writes(WEBHOOKS.create, async (tx, asked) => {
    const { values, caller, deps, now } = asked;
    const { endpoint, secret } = await addEndpoint(tx, deps.vault, {
      partnerId: caller.partner.id,
      url: readUrl(deps.egress, 'url', values.url),
      format: 'standard',
      filter: values.events ?? [],
      apiKey: await signingKey(tx, asked),
      now,
    });
    recordActivity(tx, throughOf(caller), { action: 'endpoint.made', ...aboutEndpoint(endpoint), now });
    return { ...shape(endpoint), secret };
  }),
  reads(WEBHOOKS.get, (asked) => asked.readOnly(async (tx) => shape(await own(tx, asked)))),
  writes(WEBHOOKS.update, async (tx, asked) => {
    const { values, caller, deps, now } = asked;
    const before = await own(tx, asked);
    const url = values.url === undefined ? undefined : readUrl(deps.egress, 'url', values.url);
    const change = { url, filter: values.events, enabled: values.enabled, now };
    const after = await changeEndpoint(tx, before.id, change);
    const facts = { url: after.url, ...(before.url === after.url ? {} : { before: before.url }) };
    recordActivity(tx, throughOf(caller), { action: 'endpoint.changed', subject: `endpoint:${after.id}`, facts, now });
    return shape(after);
  }),
  writes(
    WEBHOOKS.remove,
    async (tx, asked) => {
      const { caller, now } = asked;
      const endpoint = await own(tx, asked);
      if (endpoint.heldAt !== null) await decide(tx, asked, endpoint, 'rejected');
      await removeEndpoint(tx, endpoint.id, now);
      recordActivity(tx, throughOf(caller), { action: 'endpoint.removed', ...aboutEndpoint(endpoint), now });
      return { id: endpoint.id, removed: true as const };
    },
    mine,
  ),
  writes(WEBHOOKS.rotateSecret, async (tx, asked) => {
    const { values, caller, deps, now } = asked;
    const overlap = values.overlapSeconds === undefined ? {} : { overlapMs: values.overlapSeconds * 1_000 };
    const { endpoint, secret } = await rotateSecret(tx, deps.vault, { id: (await own(tx, asked)).id, now, ...overlap });
    recordActivity(tx, throughOf(caller), { action: 'endpoint.rotated', ...aboutEndpoint(endpoint), now });
    return { ...shape(endpoint), secret };
  }),
  writes(
    WEBHOOKS.resume,
    async (tx, asked) => {
      const { caller, now } = asked;
      const partnerId = caller.partner.id;
      const endpoint = await own(tx, asked);
      if (endpoint.heldAt === null) throw new Refusal('unknown_held_item');
      await decide(tx, asked, endpoint, 'released');
      await freeEndpoints(tx, { partnerId, ids: await freeOf(tx, partnerId, 'endpoint', [endpoint.id]), now });
      recordActivity(tx, throughOf(caller), { action: 'endpoint.resumed', ...aboutEndpoint(endpoint), now });
      return shape(await own(tx, asked));
    },
    mine,
  ),
  writes(WEBHOOKS.test, async (tx, asked) => {
    const endpoint = await own(tx, asked);
    await testEndpoint(tx, endpoint, asked.now);
    recordActivity(tx, throughOf(asked.caller), {
      action: 'endpoint.tested',
      ...aboutEndpoint(endpoint),
      now: asked.now,
    });
    return { sent: true as const };
  }),
  writes(WEBHOOKS.replay, async (tx, asked) => {
    const { deps, caller, values, now } = asked;
    const { eventId, orderId, from, until } = values;
    if (eventId === undefined && orderId === undefined && from === undefined)
      throw new Refusal('malformed_field', { fields: { eventId: 'must be sent, or orderId or from' } });
    const partnerId = caller.partner.id;
    const position = eventId === undefined ? undefined : positionOf(partnerId, eventId);
    const endpoint = await own(tx, asked);
    const order = orderId === undefined ? undefined : await deps.orders.get(tx, { id: orderId });
    const subject = order === undefined ? undefined : `order:${order.id}`;
    const replayed = await replay(tx, { endpointId: endpoint.id, partnerId, position, subject, from, to: until, now });
    recordActivity(tx, throughOf(caller), { action: 'endpoint.replayed', ...aboutEndpoint(endpoint), now });
    if (position !== undefined && replayed.count === 0) throw new Refusal('unknown_event');
    return { replayed: replayed.count, hasMore: replayed.hasMore };
  }),
  reads(WEBHOOKS.deliveries, (asked) => {
    const { caller, values, readOnly } = asked;
    const { cursor, limit = PAGE, state: wanted } = values;
    return readOnly(async (tx) => {
      const { id: endpointId } = await own(tx, asked);
      const page = await scan<Delivery & { id: bigint }, bigint>(
        { after: readCursor(cursor), limit, isFiltered: wanted !== undefined },
        async (before, count) =>
          (await deliveries(tx, { endpointId, partnerId: caller.partner.id, before, limit: count })).map((one) => ({
            row: { ...one, id: one.position },
            fits: wanted === undefined || one.state === wanted,
          })),
      );
      return {
        data: page.rows.map(({ eventId, type, subject, sequence, state, attempts, lastError, endedAt }) => ({
          ...{ eventId, type, subject, sequence, state, attempts, lastError, endedAt: isoOrNull(endedAt) },
        })),
        nextCursor: cursorOf(page.next),
      };
    });
  }),
  reads(WEBHOOKS.attempts, (asked) => {
    const { caller, values, deps, readOnly } = asked;
    const partnerId = caller.partner.id;
    const position = positionOf(partnerId, values.event);
    return readOnly(async (tx) => {
      const { id: endpointId } = await own(tx, asked);
      const rows = await attemptsOf(tx, deps.vault, { endpointId, partnerId, position });
      return {
        data: rows.map(({ at, tookMs, status, error, answer }) => ({ at: iso(at), tookMs, status, error, answer })),
      };
    });
  }),
];
