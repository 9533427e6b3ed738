/**
 * Delivery log: what is waiting, what was delivered, and the result of each attempt; and replaying events.
 *
 * Attempts and ended deliveries are kept for thirty days, events permanently, so an event that is no longer in the log can still
 * be replayed.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { eventIdOf } from './format.ts';
import type { Outcome } from './sender.ts';
import type { EventRow } from './store.ts';

export interface Delivery {
  eventId: string;
  position: bigint;
  type: string;
  subject: string;
  sequence: number;
  state: 'waiting' | 'delivered' | 'dead' | 'dropped';
  attempts: number;
  lastError: string | null;
  endedAt: Date | null;
}

export interface Attempt {
  at: Date;
  tookMs: number;
  status: number | null;
  error: string | null;
  answer: string;
}

export const KEPT_MS = 30 * 24 * 3_600_000;
const PURGE_ROWS = 5_000;
/** Maximum number of events per replay; a caller requests more in parts. */
const MOST_REPLAYED = 1_000;
const MOST_ATTEMPTS_SHOWN = 100;

const sql = {
  deliveries: `insert into webhook_deliveries (endpoint_id, event_id, partner_id, subject, subject_seq, since)
    select endpoint_id, event_id, partner_id, subject, subject_seq, $6
      from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::int[])
        as given (endpoint_id, event_id, partner_id, subject, subject_seq)
    on conflict do nothing`,
  endpointsForward: `update webhook_endpoints set paused_until = paused_until - $2::float8 * interval '1 millisecond'
    where partner_id = $1 and paused_until is not null`,
  deliveriesForward: `update webhook_deliveries set since = since - $2::float8 * interval '1 millisecond'
    where partner_id = $1 and state = 'waiting'`,
  keysForward: `update webhook_ordering_keys set due_at = due_at - $2::float8 * interval '1 millisecond' where partner_id = $1`,
  // Reads the page first, then its attempts by id: in one join PostgreSQL would merge all rows of the table.
  log: `select event_id, state, attempts, last_error, ended_at from webhook_deliveries
    where endpoint_id = $1 and event_id < $2 order by event_id desc limit $3`,
  eventsOf: `select e.id, e.type, e.subject, e.subject_seq, f.position, e.partner_id
    from events e join event_feed f on f.event_id = e.id where e.id = any($1::bigint[]) and f.event_id = any($1::bigint[])`,
  attempts: `select at, took_ms, status, error, answer from webhook_attempts
    where endpoint_id = $1 and event_id = $2 order by id desc limit ${MOST_ATTEMPTS_SHOWN}`,
  insertAttempt: `insert into webhook_attempts (partner_id, endpoint_id, event_id, at, took_ms, status, error, answer)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
  replayOrderingKeys: `insert into webhook_ordering_keys (endpoint_id, subject, partner_id, due_at)
    select distinct $1::text, e.subject, e.partner_id, $3::timestamptz from events e where e.id = any($2::bigint[])
    order by 2 on conflict (endpoint_id, subject) do update set due_at = least(webhook_ordering_keys.due_at, excluded.due_at), tries = 0`,
  replay: `insert into webhook_deliveries (endpoint_id, event_id, partner_id, subject, subject_seq, since)
    select $1, e.id, e.partner_id, e.subject, e.subject_seq, $3 from events e where e.id = any($2::bigint[])
    on conflict (endpoint_id, event_id) do update set state = 'waiting', since = excluded.since, ended_at = null`,
  // Separate statements, so that each uses its index whatever plan PostgreSQL caches.
  one: 'select event_id as id from event_feed where partner_id = $1 and position = $2',
  ofSubject: `select e.id from events e join event_feed f on f.event_id = e.id
    where e.subject = $2 and e.partner_id = $1 and f.position is not null
      and e.at >= coalesce($3::timestamptz, '-infinity') and e.at < coalesce($4::timestamptz, 'infinity')
    order by e.subject_seq limit ${MOST_REPLAYED + 1}`,
  span: `select e.id from event_feed f join events e on e.id = f.event_id
    where f.partner_id = $1 and f.position >= $2 and f.position < $3 and e.at >= $4 and e.at < $5
    order by f.position limit ${MOST_REPLAYED + 1}`,
  lastPosition: 'select coalesce(max(position), 0) as last from event_feed where partner_id = $1',
  timeOf: `select e.at from event_feed f join events e on e.id = f.event_id where f.partner_id = $1 and f.position = $2`,
  ofEvents: `select given.id as event_id, d.state, coalesce(d.attempts, 0) as attempts, a.status, coalesce(a.error, d.last_error) as error
    from unnest($2::bigint[]) as given (id)
    left join webhook_deliveries d on d.endpoint_id = $1 and d.event_id = given.id
    left join lateral (select status, error from webhook_attempts w
      where w.endpoint_id = $1 and w.event_id = given.id order by w.id desc limit 1) a on true`,
  newestOf: 'select id from events where subject = $1 order by subject_seq desc limit 1',
  purgeAttempts: `delete from webhook_attempts where id in (select id from webhook_attempts where at < $1 order by at limit ${PURGE_ROWS})`,
  purgeDeliveries: `delete from webhook_deliveries where (endpoint_id, event_id) in
    (select endpoint_id, event_id from webhook_deliveries where ended_at < $1 limit ${PURGE_ROWS})`,
  // Drops old deliveries of endpoints that stayed off, and ordering keys of removed endpoints.
  purgeWaiting: `update webhook_deliveries d set state = 'dropped', ended_at = $2 from webhook_endpoints e
    where e.id = d.endpoint_id and not e.enabled and e.held_at is null and d.state = 'waiting' and d.since < $1`,
  purgeOrderingKeys: `delete from webhook_ordering_keys l using webhook_endpoints e where e.id = l.endpoint_id and e.removed_at is not null`,
  // Each count uses its own index of waiting or dead deliveries, so that delivered ones cost nothing.
  open: `select (select count(*) from webhook_deliveries where state = 'waiting') as waiting,
      (select min(since) from webhook_deliveries where state = 'waiting') as oldest,
      (select count(*) from webhook_deliveries where state = 'dead') as dead,
      (select count(*) from event_feed where position is null) as unpublished,
      (select min(e.at) from event_feed f join events e on e.id = f.event_id where f.position is null) as unpublished_since`,
} as const;

interface Given {
  endpointId: string;
  row: EventRow;
}

/**
 * Moves a partner's delivery times earlier: the next attempts, the pauses of failing endpoints, and the time at which deliveries
 * are given up.
 *
 * @returns the number of waiting ordering keys
 */
export async function bringDeliveriesForward(
  tx: Tx,
  { partnerId, ms }: { partnerId: bigint; ms: number },
): Promise<number> {
  await tx.run(sql.endpointsForward, [partnerId, ms]);
  await tx.run(sql.deliveriesForward, [partnerId, ms]);
  return await tx.run(sql.keysForward, [partnerId, ms]);
}

export function insertDeliveries(tx: Tx, given: readonly Given[], now: Date): void {
  if (given.length === 0) return;
  tx.defer(sql.deliveries, [
    given.map(({ endpointId }) => endpointId),
    given.map(({ row }) => row.id),
    given.map(({ row }) => row.partnerId),
    given.map(({ row }) => row.subject),
    given.map(({ row }) => row.subjectSeq),
    now,
  ]);
}

/** Deliveries, newest first. @param input.before only deliveries at positions below this one */
export async function deliveries(
  tx: Tx,
  input: { endpointId: string; partnerId: bigint; before?: bigint | undefined; limit: number },
): Promise<Delivery[]> {
  const { endpointId, partnerId, before, limit } = input;
  const upTo = before === undefined ? undefined : await tx.row<{ id: bigint }>(sql.one, [partnerId, before]);
  const page = await tx.rows<{
    eventId: bigint;
    state: Delivery['state'];
    attempts: number;
    lastError: string | null;
    endedAt: Date | null;
  }>(sql.log, [endpointId, upTo?.id ?? LARGEST_ID, limit]);
  const about = await tx.rows<Omit<EventRow, 'body' | 'at'>>(sql.eventsOf, [page.map((row) => row.eventId)]);
  const events = new Map(about.map((row) => [row.id, row]));
  return page.map((row) => {
    const event = events.get(row.eventId);
    assert(event !== undefined, 'a delivery has no event');
    return {
      eventId: eventIdOf(event),
      position: event.position,
      type: event.type,
      subject: event.subject,
      sequence: event.subjectSeq,
      state: row.state,
      attempts: row.attempts,
      lastError: row.lastError,
      endedAt: row.endedAt,
    };
  });
}

const LARGEST_ID = 2n ** 63n - 1n;

export function recordAttempt(
  tx: Tx,
  vault: Vault,
  a: { partnerId: bigint; endpointId: string; eventId: bigint; at: Date; outcome: Outcome },
): void {
  const { status, error, answer, tookMs } = a.outcome;
  const encrypted = answer === '' ? null : vault.encrypt(answer, answerContext(a.endpointId, a.eventId));
  tx.defer(sql.insertAttempt, [a.partnerId, a.endpointId, a.eventId, a.at, tookMs, status, error, encrypted]);
}

const answerContext = (endpointId: string, eventId: bigint): string =>
  `webhook_attempts.answer:${endpointId}:${eventId}`;

/** Every attempt to deliver an event, newest first. @param input.position of the event in the partner's feed */
export async function attemptsOf(
  tx: Tx,
  vault: Vault,
  input: { endpointId: string; partnerId: bigint; position: bigint },
): Promise<Attempt[]> {
  const event = await tx.row<{ id: bigint }>(sql.one, [input.partnerId, input.position]);
  if (event === undefined) return [];
  const rows = await tx.rows<{
    at: Date;
    tookMs: number;
    status: number | null;
    error: string | null;
    answer: Buffer | null;
  }>(sql.attempts, [input.endpointId, event.id]);
  return rows.map(({ at, tookMs, status, error, answer }) => ({
    at,
    tookMs,
    status,
    error,
    answer: answer === null ? '' : vault.decrypt(answer, answerContext(input.endpointId, event.id)),
  }));
}

/**
 * Delivers events again: one event, those of a subject, those of a time span, or of both. Filters do not apply; events for
 * which the format has no message are dropped when their turn comes.
 *
 * @returns the number of deliveries enqueued, and whether there are more events than fit into one call
 */
export async function replay(
  tx: Tx,
  input: {
    endpointId: string;
    partnerId: bigint;
    position?: bigint | undefined;
    subject?: string | undefined;
    from?: Date | undefined;
    to?: Date | undefined;
    now: Date;
  },
): Promise<{ count: number; hasMore: boolean; eventIds: readonly bigint[] }> {
  const { endpointId, now } = input;
  const ids = await idsOf(tx, input);
  const some = ids.slice(0, MOST_REPLAYED);
  await tx.run(sql.replayOrderingKeys, [endpointId, some, now]);
  await tx.run(sql.replay, [endpointId, some, now]);
  await tx.run(`select pg_notify('events', '')`);
  return { count: some.length, hasMore: ids.length > MOST_REPLAYED, eventIds: some };
}

/** The state of one event's delivery to an endpoint; null if it is not published yet, or is not for that endpoint. */
export interface Progress {
  readonly eventId: bigint;
  readonly state: Delivery['state'] | null;
  readonly attempts: number;
  /** Status of the last attempt. */
  readonly status: number | null;
  readonly error: string | null;
}

export async function progressOf(
  tx: Tx,
  input: { endpointId: string; eventIds: readonly bigint[] },
): Promise<Progress[]> {
  const rows = await tx.rows<{
    eventId: bigint;
    state: Delivery['state'] | null;
    attempts: number;
    status: number | null;
    error: string | null;
  }>(sql.ofEvents, [input.endpointId, input.eventIds]);
  return rows.map(({ eventId, ...row }) => ({ eventId, ...row }));
}

/** The last event emitted about a subject. */
export const newestEventOf = async (tx: Tx, subject: string): Promise<bigint | undefined> =>
  (await tx.row<{ id: bigint }>(sql.newestOf, [subject]))?.id;

interface Meant {
  partnerId: bigint;
  position?: bigint | undefined;
  subject?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** Up to one id more than a replay allows, so that the caller sees whether there are more. */
async function idsOf(tx: Tx, { partnerId, position, subject, from, to }: Meant): Promise<bigint[]> {
  const ids = async (text: string, values: readonly unknown[]) =>
    (await tx.rows<{ id: bigint }>(text, values)).map(({ id }) => id);
  if (position !== undefined) return await ids(sql.one, [partnerId, position]);
  if (subject !== undefined) return await ids(sql.ofSubject, [partnerId, subject, from ?? null, to ?? null]);
  const [begin, end] = [from ?? new Date(0), to ?? END_OF_TIME];
  const last = (await tx.row<{ last: bigint }>(sql.lastPosition, [partnerId]))?.last ?? 0n;
  const first = await firstSince(tx, partnerId, last, new Date(begin.getTime() - DISORDER_MS));
  const until = await firstSince(tx, partnerId, last, new Date(end.getTime() + DISORDER_MS));
  return await ids(sql.span, [partnerId, first, until, begin, end]);
}

const END_OF_TIME = new Date(Date.UTC(9000, 0));
/**
 * Positions are in commit order, so an event's time may be before that of an earlier position: by the length of its transaction
 * and the difference of clocks.
 */
const DISORDER_MS = 300_000;

/** The first position whose event is not older than a time, found by bisection: positions have no gaps. */
async function firstSince(tx: Tx, partnerId: bigint, last: bigint, since: Date): Promise<bigint> {
  let [low, high] = [1n, last + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    const row = await tx.row<{ at: Date }>(sql.timeOf, [partnerId, middle]);
    if (row !== undefined && row.at < since) low = middle + 1n;
    else high = middle;
  }
  return low;
}

/** Deletes rows past their retention, in bounded batches. */
export async function purgeLog(tx: Tx, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await tx.run(sql.purgeAttempts, [before]);
  await tx.run(sql.purgeDeliveries, [before]);
  await tx.run(sql.purgeWaiting, [before, now]);
  await tx.run(sql.purgeOrderingKeys);
}

/** For metrics: number of waiting deliveries, since when the oldest waits, and number of given-up ones. */
export async function openDeliveries(tx: Tx) {
  const row = await tx.row<{
    waiting: bigint;
    oldest: Date | null;
    dead: bigint;
    unpublished: bigint;
    unpublishedSince: Date | null;
  }>(sql.open);
  assert(row !== undefined, 'the count query returned no row');
  return row;
}
