/**
 * Jobs: due work as rows, inserted in the same transaction as its cause.
 *
 * A row names what to look at, not what to do: the handler for "payout 17" reads the payout and decides. Enqueueing twice is
 * therefore harmless: a second enqueue for the same (kind, subject) merges into the existing row. An enqueue that arrives
 * *while* the row is being worked on is counted, and the row runs once more instead of being deleted.
 *
 * - Rows are claimed in batches with `for update skip locked` under a lease. A handler must finish well before its lease
 *   ends; a worker that claims a lapsed lease may run beside a frozen predecessor, so handlers re-read the domain row.
 * - A worker holds a session lock for as long as its process lives. PostgreSQL drops it as soon as a killed process's
 *   connection closes, so its rows are free again within a second or two; the lease is for processes that hang.
 * - Rows that share an `ordering_key` run strictly in creation order.
 * - A row that runs again later records when its wait began. If that time is in the future, a clock was ahead when it was
 *   written: the wait then starts now, with its full length. So a clock that was wrong for a moment delays polling by one
 *   interval at most.
 * - A failing row is retried with doubling pauses and jitter. While an outside system is unavailable retries go on without
 *   limit; after MAX_ATTEMPTS of any other failure the row is marked dead: counted, shown, and retried at the next start,
 *   which may bring code that can handle it.
 *
 * Two libraries were measured first: docs/decisions/0003-own-work-table.md.
 */
import { pauseAfter, shaken } from './backoff.ts';
import { type Clock, later } from './clock.ts';
import type { Database, Tx } from './db.ts';
import { BugError, Unavailable } from './errors.ts';
import { randomHex } from './ids.ts';
import { describeError, type Log } from './log.ts';
import { openWakeup } from './wakeup.ts';

export interface Job {
  kind: string;
  /** The id of what to look at. */
  subject: string;
  dueAt: Date;
  /** Rows with the same ordering key run one after the other, oldest first. */
  orderingKey?: string;
}

/**
 * `undefined`: done. `againInMs`: keep the row, due again after that many milliseconds (polling is a row that never ends).
 */
export type Handled = undefined | { againInMs: number };
export type Handler = (subject: string) => Promise<Handled>;
export type Handlers = Readonly<Record<string, Handler>>;

export const LEASE_MS = 20_000;
const BATCH = 20;
const MAX_ATTEMPTS = 25;
const PAUSES = { firstMs: 250, longestMs: 60_000 };
const POLL_MS = 500;

/** Inserts a job and wakes the workers. Both happen only if `tx` commits. */
export function enqueue(tx: Tx, work: Job): void {
  enqueueAt(tx, work);
  tx.defer(`select pg_notify('jobs', '')`);
}

/** Inserts a job that is due later. It wakes no worker: workers look for due jobs every half second. */
export function enqueueAt(tx: Tx, work: Job): void {
  tx.defer(
    `insert into jobs (kind, subject, ordering_key, due_at) values ($1, $2, $3, $4)
     on conflict (kind, subject) do update
       set due_at = least(jobs.due_at, excluded.due_at), enqueued = jobs.enqueued + 1, attempts = 0, dead_at = null`,
    [work.kind, work.subject, work.orderingKey ?? null, work.dueAt],
  );
}

/** Moves due times of these subjects earlier by the given time; rows being worked on are left alone. */
export async function shiftDueTimes(
  tx: Tx,
  work: { kinds: readonly string[]; subjects: readonly string[]; ms: number },
): Promise<void> {
  const moved = await tx.run(
    `update jobs set due_at = due_at - $3::float8 * interval '1 millisecond'
      where kind = any($1) and subject = any($2) and lease is null`,
    [work.kinds, work.subjects, work.ms],
  );
  if (moved > 0) await tx.run(`select pg_notify('jobs', '')`);
}

interface Claimed {
  id: bigint;
  kind: string;
  subject: string;
  enqueued: number;
  attempts: number;
}

export interface Workers {
  /** Stops claiming and waits for running handlers. */
  stop(): Promise<void>;
}

export async function startWorkers(options: {
  db: Database;
  clock: Clock;
  log: Log;
  handlers: Handlers;
  concurrency?: number;
  /** How often to look without a notification, in milliseconds. */
  pollMs?: number;
  /** Called for every handler that threw, for metrics and tests. */
  onFailure?: (kind: string, subject: string, error: unknown) => void;
}): Promise<Workers> {
  const { db, clock, log, handlers } = options;
  const concurrency = options.concurrency ?? 8;
  const kinds = Object.keys(handlers);
  const token = randomHex();
  const running = new Set<Promise<void>>();
  let stopped = false;
  const wakeup = openWakeup();

  await reviveTheDead(db, clock.now());
  const presence = await holdPresence(db, () => stopped, log);
  const listening = await db.listen('jobs', wakeup.signal);

  async function work(item: Claimed): Promise<void> {
    let outcome: Outcome;
    try {
      const handler = handlers[item.kind];
      if (handler === undefined) throw new BugError(`no handler for ${item.kind}`);
      outcome = { done: await handler(item.subject) };
    } catch (error) {
      outcome = { failed: error };
      options.onFailure?.(item.kind, item.subject, error);
      log.warn(
        { work: item.kind, subject: item.subject, attempts: item.attempts + 1, ...describeError(error) },
        'work failed',
      );
    }
    // If this fails too, the lease lapses and a worker claims the row again.
    await settle(db, clock, { item, outcome, token }).catch((error) =>
      log.error({ work: item.kind, ...describeError(error) }, 'work not settled'),
    );
  }

  async function loop(): Promise<void> {
    let reapedAt = Number.NEGATIVE_INFINITY;
    while (!stopped) {
      wakeup.begin();
      let claimed: Claimed[] = [];
      try {
        if (performance.now() - reapedAt > 1_000) {
          reapedAt = performance.now();
          await tidy(db, clock.now());
        }
        const room = Math.min(BATCH, concurrency - running.size);
        if (room > 0) claimed = await claim(db, { kinds, now: clock.now(), room, token, holder: presence.id() });
      } catch (error) {
        if (!stopped) log.error(describeError(error), 'work could not be claimed');
      }
      for (const item of claimed) {
        const job: Promise<void> = work(item).finally(() => {
          running.delete(job);
          // The next row of its ordering key, or the row itself if due again, may have become claimable after the running
          // claim looked.
          wakeup.signal();
        });
        running.add(job);
      }
      if (!stopped && claimed.length === 0) await wakeup.wait(options.pollMs ?? POLL_MS);
    }
  }

  const looping = loop();
  return {
    async stop() {
      stopped = true;
      wakeup.signal();
      await looping;
      await Promise.allSettled(running);
      await listening.stop();
      await presence.stop();
    },
  };
}

type Outcome = { done: Handled } | { failed: unknown };

/** Records how a claimed row has ended, unless another worker has claimed it since. */
async function settle(
  db: Database,
  clock: Clock,
  { item, outcome, token }: { item: Claimed; outcome: Outcome; token: string },
): Promise<void> {
  const now = clock.now();
  await db.asSystem(async (tx) => {
    if ('failed' in outcome) {
      const dead = item.attempts + 1 >= MAX_ATTEMPTS && !(outcome.failed instanceof Unavailable);
      await tx.run(
        `update jobs set holder = null, lease = null, leased_until = null, attempts = $3, due_at = $4, last_error = $5,
                dead_at = case when $6 then clock_timestamp() end, slept_at = $7
          where id = $1 and lease = $2`,
        [
          item.id,
          token,
          item.attempts + 1,
          later(now, shaken(pauseAfter(item.attempts, PAUSES))),
          String(describeError(outcome.failed).message ?? outcome.failed).slice(0, 300),
          dead,
          now,
        ],
      );
      return;
    }
    if (outcome.done === undefined) {
      const gone = await tx.run('delete from jobs where id = $1 and lease = $2 and enqueued = $3', [
        item.id,
        token,
        item.enqueued,
      ]);
      if (gone > 0) return;
    }
    // It was enqueued again while being worked on, or the handler asked to run again.
    await tx.run(
      `update jobs set holder = null, lease = null, leased_until = null, attempts = 0, last_error = null,
              due_at = case when enqueued > $3 then least(due_at, $5) else $4 end, enqueued = 1, slept_at = $5
        where id = $1 and lease = $2`,
      [item.id, token, item.enqueued, later(now, outcome.done?.againInMs ?? 0), now],
    );
  });
}

async function reviveTheDead(db: Database, now: Date): Promise<void> {
  await db.asSystem((tx) =>
    tx.run('update jobs set dead_at = null, attempts = 0, due_at = $1 where dead_at is not null', [now]),
  );
}

async function claim(
  db: Database,
  { kinds, now, room, token, holder }: { kinds: string[]; now: Date; room: number; token: string; holder: number },
): Promise<Claimed[]> {
  return await db.asSystem((tx) =>
    tx.rows<Claimed>(
      `update jobs set holder = $5, lease = $4, leased_until = clock_timestamp() + make_interval(secs => $6)
        where id = any(array(
          select id from jobs w
           where dead_at is null and due_at <= $2 and kind = any($1)
             and (leased_until is null or leased_until < clock_timestamp())
             and (ordering_key is null or not exists (
               select from jobs earlier where earlier.ordering_key = w.ordering_key and earlier.id < w.id and earlier.dead_at is null))
           order by due_at, id limit $3 for update skip locked))
        returning id, kind, subject, enqueued, attempts`,
      [kinds, now, room, token, holder, LEASE_MS / 1000],
    ),
  );
}

/**
 * Holds an advisory lock for as long as this process has a connection. Its number is in every row we lease, so other workers
 * can tell that this process is gone.
 */
async function holdPresence(db: Database, isStopped: () => boolean, log: Log) {
  let holder = 0;
  let session = await take();
  async function take() {
    const next = await db.session();
    const row = await next.query(
      `select number, pg_advisory_lock($1, number) from (select nextval('job_holders')::int as number) as drawn`,
      [PRESENCE],
    );
    holder = row.rows[0].number;
    const client = next;
    client.once('error', () => {
      if (!isStopped()) setTimeout(() => void retake(), 500);
    });
    return next;
  }
  async function retake(): Promise<void> {
    try {
      session = await take();
    } catch (error) {
      log.warn(describeError(error), 'presence lock lost');
      if (!isStopped()) setTimeout(() => void retake(), 1_000);
    }
  }
  return { id: () => holder, stop: () => session.end().catch(() => {}) };
}

/** First half of the advisory lock's key: "a worker is alive". */
const PRESENCE = 0x776f726b;

/** Servers' clocks follow the database's and differ a little. */
const CLOCKS_DIFFER_MS = 1_000;

/**
 * Frees rows held by workers that are gone, and restarts waits that begin in the future. Rows locked by a running enqueue are
 * skipped until the next round: a transaction that enqueues several at once would otherwise deadlock with this one.
 */
async function tidy(db: Database, now: Date): Promise<void> {
  await db.asSystem((tx) => {
    tx.defer(
      `update jobs set due_at = $1::timestamptz + greatest(due_at - slept_at, interval '0'), slept_at = $1
        where id = any(array(select id from jobs where slept_at > $2 and dead_at is null and lease is null
          order by slept_at limit 1000 for update skip locked))`,
      [now, later(now, CLOCKS_DIFFER_MS)],
    );
    return tx.run(
      `with gone as (
         select holder from (select distinct holder from jobs where holder is not null) as holders
          where pg_try_advisory_xact_lock(${PRESENCE}, holder))
       update jobs set holder = null, lease = null, leased_until = null
        where id in (select id from jobs where holder in (select holder from gone) for update skip locked)`,
    );
  });
}
