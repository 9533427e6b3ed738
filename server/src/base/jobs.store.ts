/**
 * SQL of the table `jobs`, as workers use it (workers.ts). Each function is one transaction, except that a run may end in its
 * handler's transaction (openRun).
 *
 * - Rows are claimed in batches with `for update skip locked`, under a lease. A handler must finish well before its lease ends. A
 *   worker that claims a row whose lease has lapsed may run beside a frozen predecessor, so handlers read the domain row again.
 * - A worker holds a session lock for as long as its process is alive and its loop runs. PostgreSQL releases the lock when a
 *   killed process's connection closes, or when a frozen process has sent nothing for the length of a lease. The worker's rows
 *   are then free within a second or two. The lease itself is for handlers that hang.
 * - A row that runs again later stores when its wait began. If that time is in the future, a clock was ahead when it was written:
 *   the wait then begins now, with its full length. So a clock that was briefly wrong delays polling by at most one interval.
 */
import type pg from 'pg';
import { pauseAfter, shaken } from './backoff.ts';
import { type Clock, later } from './clock.ts';
import { awaitAll, type Database, type Tx } from './db.ts';
import { defined } from './defined.ts';
import { Unavailable } from './errors.ts';
import { type Handled, nameOf, type Run } from './jobs.ts';
import { describeError, type Log } from './log.ts';

export const LEASE_MS = 20_000;
/**
 * Lease of a poll that waits in its worker: longer, so that it is renewed less often. A frozen worker is noticed earlier, through
 * holdPresence; the calls of its handler have deadlines.
 */
export const KEPT_LEASE_MS = 240_000;
const MAX_ATTEMPTS = 25;
const PAUSES = { firstMs: 250, longestMs: 60_000 };

/**
 * Number of due rows among which the next row of these kinds is searched: rows of kinds that no process runs any more come first.
 */
const AMONG = 50;

export interface Claimed {
  id: bigint;
  kind: string;
  subject: string;
  enqueued: number;
  attempts: number;
  orderingKey: string | null;
  /** Whether the last run failed. An enqueue since then has reset `attempts`, but not the stored error. */
  hasFailed: boolean;
}

export type Outcome = { done: Handled } | { failed: unknown };

export interface Round {
  claimed: Claimed[];
  /** When the next unleased row of these kinds is due; undefined if there is none among the first due rows. */
  nextAt?: Date;
  /** Whether another worker is alive. */
  hasOthers: boolean;
}

/** One transaction: frees rows of dead workers, and claims due rows or returns when the next one is due. */
export async function look(
  db: Database,
  round: { kinds: string[]; now: Date; room: number; token: string; holder: number; isTidied: boolean },
): Promise<Round> {
  const { kinds, now, room, token, holder, isTidied } = round;
  return await db.asSystem(async (tx) => {
    const others = isAccompanied(tx, holder);
    if (isTidied) tidy(tx, now);
    if (room <= 0) return { claimed: [], hasOthers: await others };
    const claimed = tx.rows<Claimed>(
      `update jobs set holder = $5, lease = $4, leased_until = clock_timestamp() + make_interval(secs => $6)
        where id = any(array(
          select id from jobs w
           where dead_at is null and due_at <= $2 and kind = any($1)
             and (leased_until is null or leased_until < clock_timestamp())
             and (ordering_key is null or not exists (
               select from jobs earlier where earlier.ordering_key = w.ordering_key and earlier.id < w.id and earlier.dead_at is null))
           order by due_at, id limit $3 for update skip locked))
        returning id, kind, subject, enqueued, attempts, ordering_key, last_error is not null as has_failed`,
      [kinds, now, room, token, holder, LEASE_MS / 1000],
    );
    const next = tx.row<{ dueAt: Date }>(
      `select due_at from (
         select due_at, kind from jobs where dead_at is null and (leased_until is null or leased_until < clock_timestamp())
          order by due_at limit $2) as first
        where kind = any($1) limit 1`,
      [kinds, AMONG],
    );
    const [rows, nextRow, hasOthers] = await awaitAll(claimed, next, others);
    return { claimed: rows, hasOthers, ...defined({ nextAt: nextRow?.dueAt }) };
  });
}

/**
 * Records the outcome of a claimed row, unless another worker has claimed it since.
 *
 * @param s.pauseMs how long the row waits if it was enqueued again while it ran
 * @returns when the row is due again; undefined if it is deleted or belongs to another worker
 */
export async function settle(
  db: Database,
  s: { item: Claimed; outcome: Outcome; token: string; now: Date; pauseMs: number },
): Promise<Date | undefined> {
  const { item, outcome, token, now } = s;
  return await db.asSystem(async (tx) => {
    if ('failed' in outcome) {
      const dead = item.attempts + 1 >= MAX_ATTEMPTS && !(outcome.failed instanceof Unavailable);
      const dueAt = later(now, shaken(pauseAfter(item.attempts, PAUSES)));
      await tx.run(
        `update jobs set holder = null, lease = null, leased_until = null, attempts = $3, due_at = $4, last_error = $5,
                dead_at = case when $6 then clock_timestamp() end, slept_at = $7
          where id = $1 and lease = $2`,
        [
          item.id,
          token,
          item.attempts + 1,
          dueAt,
          String(describeError(outcome.failed).message ?? outcome.failed).slice(0, 300),
          dead,
          now,
        ],
      );
      return dueAt;
    }
    if (outcome.done === undefined) {
      const gone = await tx.run(`delete from jobs where ${STILL_OURS}`, [item.id, token, item.enqueued]);
      if (gone > 0) return undefined;
    }
    // The row was enqueued again while it ran, or the handler asked to run again.
    const again = await tx.row<{ dueAt: Date }>(
      `update jobs set holder = null, lease = null, leased_until = null, attempts = 0, last_error = null,
              due_at = case when enqueued > $3 then greatest(least(due_at, $5), $6) else $4 end, enqueued = 1, slept_at = $5
        where id = $1 and lease = $2 returning due_at`,
      [
        ...[item.id, token, item.enqueued, later(now, outcome.done?.againInMs ?? 0), now],
        s.pauseMs > 0 ? later(now, s.pauseMs) : null,
      ],
    );
    return again?.dueAt;
  });
}

/** @returns whether this run still has the row, and it was not enqueued again meanwhile */
const STILL_OURS = 'id = $1 and lease = $2 and enqueued = $3';

/** A run of a claimed row, and the outcome that its handler's transaction has recorded, if it has. */
export interface OpenRun extends Run {
  recorded(): { handled: Handled; dueAt: Date | undefined } | undefined;
}

export function openRun({ item, token, clock }: { item: Claimed; token: string; clock: Clock }): OpenRun {
  let recorded: ReturnType<OpenRun['recorded']>;
  const ours = [item.id, token, item.enqueued];
  return {
    recorded: () => recorded,
    ends(tx, handled) {
      const now = clock.now();
      const dueAt = handled === undefined ? undefined : later(now, handled.againInMs);
      // In the order of enqueues, because the transaction may enqueue other jobs.
      tx.deferLast(
        nameOf(item),
        dueAt === undefined
          ? `delete from jobs where ${STILL_OURS}`
          : `update jobs set holder = null, lease = null, leased_until = null, attempts = 0, last_error = null,
                    due_at = $4, enqueued = 1, slept_at = $5
              where ${STILL_OURS}`,
        dueAt === undefined ? ours : [...ours, dueAt, now],
        (rows) => {
          if (rows > 0) recorded = { handled, dueAt };
        },
      );
    },
  };
}

/**
 * Rows of this process, locked in the same order in which a transaction that enqueues several rows locks them (deferLast in
 * db.ts). In any other order the two could deadlock.
 */
const OURS_IN_ORDER = `array(select id from jobs where id = any($1) and lease = $2
  order by length(kind || ' ' || subject), (kind || ' ' || subject) collate "C" for update)`;

/**
 * Renews the leases of rows that wait in this process, under its present holder number.
 *
 * @returns for each row that still belongs to this process, how often it has been enqueued
 */
export const renew = async (
  db: Database,
  { ids, token, holder, now }: { ids: readonly bigint[]; token: string; holder: number; now: Date },
): Promise<ReadonlyMap<bigint, number>> => {
  const rows = await db.asSystem((tx) =>
    tx.rows<{ id: bigint; enqueued: number }>(
      `update jobs set leased_until = clock_timestamp() + make_interval(secs => $3), due_at = $4, slept_at = $4, holder = $5
        where id = any(${OURS_IN_ORDER}) returning id, enqueued`,
      [ids, token, KEPT_LEASE_MS / 1000, now, holder],
    ),
  );
  return new Map(rows.map((row) => [row.id, row.enqueued]));
};

/** Frees rows that wait in this process, so that other workers need not wait until the leases lapse. */
export const release = (
  db: Database,
  { ids, token, now }: { ids: readonly bigint[]; token: string; now: Date },
): Promise<number> =>
  db.asSystem((tx) =>
    tx.run(
      `update jobs set holder = null, lease = null, leased_until = null, due_at = $3, slept_at = $3
        where id = any(${OURS_IN_ORDER})`,
      [ids, token, now],
    ),
  );

export async function reviveTheDead(db: Database, now: Date): Promise<void> {
  await db.asSystem((tx) =>
    tx.run('update jobs set dead_at = null, attempts = 0, due_at = $1 where dead_at is not null', [now]),
  );
}

export interface Presence {
  /** The holder number, stored in every row that this process leases. It changes after the lock was lost. */
  id(): number;
  /** Keeps the lock for another `idleMs`. */
  beat(): void;
  stop(): Promise<void>;
}

/**
 * Holds an advisory lock for as long as this process has a connection and calls `beat`. The lock's number is in every row that
 * this process leases, so other workers can tell that the process is gone or frozen.
 *
 * @param o.onDoubt called when the lock is lost and when a new one is held: other workers may have taken rows leased before
 */
export async function holdPresence(
  db: Database,
  o: { idleMs: number; isStopped: () => boolean; onDoubt: () => void; log: Log },
): Promise<Presence> {
  const { idleMs, isStopped, onDoubt, log } = o;
  let holder = 0;
  let session: pg.Client | undefined;
  let isBeating = false;
  async function take(): Promise<void> {
    const client = await db.session({ idleMs });
    const { rows } = await client.query(
      `select number, pg_advisory_lock($1, number) from (select nextval('job_holders')::int as number) as drawn`,
      [PRESENCE],
    );
    holder = rows[0].number;
    session = client;
    client.once('error', () => lose(client));
  }
  async function retake(): Promise<void> {
    if (isStopped()) return;
    try {
      await take();
      onDoubt();
    } catch (error) {
      log.warn(describeError(error), 'presence lock lost');
      setTimeout(() => void retake(), 1_000);
    }
  }
  /** Called once per connection. */
  function lose(client: pg.Client): void {
    if (isStopped() || client !== session) return;
    session = undefined;
    void client.end().catch(() => {});
    onDoubt();
    setTimeout(() => void retake(), 500);
  }
  await take();
  return {
    id: () => holder,
    beat() {
      const client = session;
      if (client === undefined || isBeating) return;
      isBeating = true;
      client
        .query('select')
        .catch(() => lose(client))
        .finally(() => {
          isBeating = false;
        });
    },
    async stop() {
      await session?.end().catch(() => {});
    },
  };
}

/** First half of the advisory lock's key; a lock with this half means that a worker is alive (presence.ts counts them). */
export const PRESENCE = 0x776f726b;

/**
 * In a query of `pg_locks`: the locks of workers on this database. For a moment there may be one too many, while a worker takes the
 * lock of a dead one to find out that it is dead.
 */
export const PRESENT = `locktype = 'advisory' and classid = ${PRESENCE} and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())`;

/** Whether another worker is alive. Tidying tries locks in this session, and those do not count. */
const isAccompanied = async (tx: Tx, holder: number): Promise<boolean> =>
  (await tx.row(`select from pg_locks where ${PRESENT} and objid <> $1 and pid <> pg_backend_pid() limit 1`, [
    holder,
  ])) !== undefined;

/** Clocks of servers follow the database's clock and differ a little. */
const CLOCKS_DIFFER_MS = 1_000;

/**
 * Frees rows of workers that are gone, and restarts waits that begin in the future. Rows that a running enqueue has locked are
 * skipped until the next round: otherwise this could deadlock with a transaction that enqueues several rows.
 */
function tidy(tx: Tx, now: Date): void {
  tx.defer(
    `update jobs set due_at = $1::timestamptz + greatest(due_at - slept_at, interval '0'), slept_at = $1
      where id = any(array(select id from jobs where slept_at > $2 and dead_at is null and lease is null
        order by slept_at limit 1000 for update skip locked))`,
    [now, later(now, CLOCKS_DIFFER_MS)],
  );
  tx.defer(
    `with gone as (
       select holder from (select distinct holder from jobs where holder is not null) as holders
        where pg_try_advisory_xact_lock(${PRESENCE}, holder))
     update jobs set holder = null, lease = null, leased_until = null
      where id in (select id from jobs where holder in (select holder from gone) for update skip locked)`,
  );
}
