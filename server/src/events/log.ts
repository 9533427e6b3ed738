/**
 * Log: what is to be delivered, what was, what came of each attempt; and delivering again.
 *
 * Attempts and ended deliveries are kept for thirty days, events for good: what is no longer in the log can still be replayed.
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

const KEPT_MS = 30 * 24 * 3_600_000;
const PURGE_ROWS = 5_000;
/** A replay of more is asked for in parts. */
const MOST_REPLAYED = 1_000;
const MOST_ATTEMPTS_SHOWN = 100;

const sql = {
  lanes: `insert into webhook_lanes (endpoint_id, subject, partner_id, due_at)
    select distinct on (endpoint_id, subject) endpoint_id, subject, partner_id, $4::timestamptz
      from unnest($1::text[], $2::text[], $3::bigint[]) as given (endpoint_id, subject, partner_id)
      order by endpoint_id, subject
    on conflict (endpoint_id, subject) do update set due_at = webhook_lanes.due_at`,
  deliveries: `insert into webhook_deliveries (endpoint_id, event_id, partner_id, subject, subject_seq, since)
    select endpoint_id, event_id, partner_id, subject, subject_seq, $6
      from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::int[])
        as given (endpoint_id, event_id, partner_id, subject, subject_seq)
    on conflict do nothing`,
  log: `select d.state, d.attempts, d.last_error, d.ended_at, e.type, e.subject, e.subject_seq, f.position, e.partner_id
    from webhook_deliveries d join events e on e.id = d.event_id join event_feed f on f.event_id = d.event_id
    where d.endpoint_id = $1 and ($2::bigint is null or d.event_id < (select event_id from event_feed where partner_id = $4 and position = $2))
    order by d.event_id desc limit $3`,
  attempts: `select at, took_ms, status, error, answer from webhook_attempts
    where endpoint_id = $1 and event_id = $2 order by id desc limit ${MOST_ATTEMPTS_SHOWN}`,
  insertAttempt: `insert into webhook_attempts (partner_id, endpoint_id, event_id, at, took_ms, status, error, answer)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
  replayLanes: `insert into webhook_lanes (endpoint_id, subject, partner_id, due_at)
    select distinct $1::text, e.subject, e.partner_id, $3::timestamptz from events e where e.id = any($2::bigint[])
    order by 2 on conflict (endpoint_id, subject) do update set due_at = least(webhook_lanes.due_at, excluded.due_at), tries = 0`,
  replay: `insert into webhook_deliveries (endpoint_id, event_id, partner_id, subject, subject_seq, since)
    select $1, e.id, e.partner_id, e.subject, e.subject_seq, $3 from events e where e.id = any($2::bigint[])
    on conflict (endpoint_id, event_id) do update set state = 'waiting', since = excluded.since, ended_at = null`,
  span: `select f.event_id as id from event_feed f join events e on e.id = f.event_id
    where f.partner_id = $1 and f.position is not null and ($2::text is null or e.subject = $2)
      and ($3::timestamptz is null or e.at >= $3) and ($4::timestamptz is null or e.at < $4)
      and ($5::bigint is null or f.position = $5)
    order by f.position limit ${MOST_REPLAYED + 1}`,
  purgeAttempts: `delete from webhook_attempts where id in (select id from webhook_attempts where at < $1 order by at limit ${PURGE_ROWS})`,
  purgeDeliveries: `delete from webhook_deliveries where (endpoint_id, event_id) in
    (select endpoint_id, event_id from webhook_deliveries where ended_at < $1 limit ${PURGE_ROWS})`,
  // What waits for an endpoint that nobody has switched on again, and lanes of one that is no more.
  purgeWaiting: `update webhook_deliveries d set state = 'dropped', ended_at = $2 from webhook_endpoints e
    where e.id = d.endpoint_id and not e.enabled and d.state = 'waiting' and d.since < $1`,
  purgeLanes: `delete from webhook_lanes l using webhook_endpoints e where e.id = l.endpoint_id and e.removed_at is not null`,
  // Each by its own index of what is waiting or dead, so that what was delivered costs nothing here.
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

export async function insertLanes(tx: Tx, given: readonly Given[], now: Date): Promise<void> {
  if (given.length === 0) return;
  const values = [
    given.map(({ endpointId }) => endpointId),
    given.map(({ row }) => row.subject),
    given.map(({ row }) => row.partner_id),
  ];
  await tx.run(sql.lanes, [...values, now]);
}

export async function insertDeliveries(tx: Tx, given: readonly Given[], now: Date): Promise<void> {
  if (given.length === 0) return;
  await tx.run(sql.deliveries, [
    given.map(({ endpointId }) => endpointId),
    given.map(({ row }) => row.id),
    given.map(({ row }) => row.partner_id),
    given.map(({ row }) => row.subject),
    given.map(({ row }) => row.subject_seq),
    now,
  ]);
}

/** The newest first. @param ask.before a position; those older than it */
export async function deliveries(
  tx: Tx,
  ask: { endpointId: string; partnerId: bigint; before?: bigint | undefined; limit: number },
): Promise<Delivery[]> {
  const rows = await tx.rows<{
    state: Delivery['state'];
    attempts: number;
    last_error: string | null;
    ended_at: Date | null;
    type: string;
    subject: string;
    subject_seq: number;
    position: bigint;
    partner_id: bigint;
  }>(sql.log, [ask.endpointId, ask.before ?? null, ask.limit, ask.partnerId]);
  return rows.map((row) => ({
    eventId: eventIdOf(row),
    position: row.position,
    type: row.type,
    subject: row.subject,
    sequence: row.subject_seq,
    state: row.state,
    attempts: row.attempts,
    lastError: row.last_error,
    endedAt: row.ended_at,
  }));
}

export async function recordAttempt(
  tx: Tx,
  vault: Vault,
  a: { partnerId: bigint; endpointId: string; eventId: bigint; at: Date; outcome: Outcome },
): Promise<void> {
  const { status, error, answer, tookMs } = a.outcome;
  const sealed = answer === '' ? null : vault.seal(answer, answerContext(a.endpointId, a.eventId));
  await tx.run(sql.insertAttempt, [a.partnerId, a.endpointId, a.eventId, a.at, tookMs, status, error, sealed]);
}

const answerContext = (endpointId: string, eventId: bigint): string =>
  `webhook_attempts.answer:${endpointId}:${eventId}`;

/** Every attempt to deliver an event, the newest first. @param ask.position of the event in the partner's feed */
export async function attemptsOf(
  tx: Tx,
  vault: Vault,
  ask: { endpointId: string; partnerId: bigint; position: bigint },
): Promise<Attempt[]> {
  const [event] = await tx.rows<{ id: bigint }>(sql.span, [ask.partnerId, null, null, null, ask.position]);
  if (event === undefined) return [];
  const rows = await tx.rows<{
    at: Date;
    took_ms: number;
    status: number | null;
    error: string | null;
    answer: Buffer | null;
  }>(sql.attempts, [ask.endpointId, event.id]);
  return rows.map(({ at, took_ms, status, error, answer }) => ({
    at,
    tookMs: took_ms,
    status,
    error,
    answer: answer === null ? '' : vault.open(answer, answerContext(ask.endpointId, event.id)),
  }));
}

/**
 * Delivers once more what is meant: one event, those of a subject, those of a span of time, or of both. Filters do not count;
 * what the format has no word for is dropped when its turn comes.
 *
 * @returns how many are rung, and whether there are more than fit into one call
 */
export async function replay(
  tx: Tx,
  ask: {
    endpointId: string;
    partnerId: bigint;
    position?: bigint | undefined;
    subject?: string | undefined;
    from?: Date | undefined;
    to?: Date | undefined;
    now: Date;
  },
): Promise<{ count: number; hasMore: boolean }> {
  const { endpointId, partnerId, now } = ask;
  const meant = [partnerId, ask.subject ?? null, ask.from ?? null, ask.to ?? null, ask.position ?? null];
  const ids = (await tx.rows<{ id: bigint }>(sql.span, meant)).map(({ id }) => id);
  const some = ids.slice(0, MOST_REPLAYED);
  await tx.run(sql.replayLanes, [endpointId, some, now]);
  await tx.run(sql.replay, [endpointId, some, now]);
  await tx.run(`select pg_notify('events', '')`);
  return { count: some.length, hasMore: ids.length > MOST_REPLAYED };
}

/** Forgets what is older than it is kept, a bounded part at a time. */
export async function purgeLog(tx: Tx, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await tx.run(sql.purgeAttempts, [before]);
  await tx.run(sql.purgeDeliveries, [before]);
  await tx.run(sql.purgeWaiting, [before, now]);
  await tx.run(sql.purgeLanes);
}

/** What waits, since when, and what was given up, for metrics. */
export async function openDeliveries(tx: Tx) {
  const row = await tx.row<{
    waiting: bigint;
    oldest: Date | null;
    dead: bigint;
    unpublished: bigint;
    unpublished_since: Date | null;
  }>(sql.open);
  assert(row !== undefined, 'counts come back');
  return row;
}
