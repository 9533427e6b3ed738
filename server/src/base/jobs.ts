/**
 * Jobs: due work as rows, inserted in the same transaction as its cause.
 *
 * A row is a wake-up call, not a command: it says "look at payout 17", and whoever wakes up reads the payout to see what
 * is to be done. Enqueueing twice is therefore harmless, and a second enqueue for the same (kind, subject) merges into the row
 * that is there. An enqueue that comes *while* the row is being worked on is counted, so the row is worked on once more
 * instead of being deleted.
 *
 * - Claimed in batches with `for update skip locked` under a lease. A handler must be done well before its lease ends;
 *   whoever comes after a lapsed lease may run beside a frozen predecessor, which is why handlers re-read the domain row.
 * - A worker holds a session lock as long as its process lives. PostgreSQL drops it the moment a killed process's
 *   connection closes, so its rows are free again within a second or two; the lease is for processes that hang.
 * - Rows that share an `ordering_key` run strictly in the order of their making.
 * - A row that runs again later keeps the time from which it sleeps. Where that is later than now, a clock was
 *   ahead when it was written: it is pulled back, and sleeps as long as it was told, from now. So no clock that was wrong for
 *   a moment puts polling to sleep for longer than polling sleeps.
 * - A failing row is tried again with doubling pauses and jitter. While something outside is unavailable that goes on for as
 *   long as it takes; after MAX_ATTEMPTS of anything else the row is set aside as dead: counted, shown, and tried again at
 *   the next start, which may bring the code that can do it.
 *
 * Measured against two libraries before it was written: docs/decisions/0003-own-work-table.md.
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
  /** What to look at: an id. */
  subject: string;
  dueAt: Date;
  /** Rows of one ordering key run one after the other, oldest first. */
  orderingKey?: string;
}

/** `undefined`: done. `againInMs`: keep the row, due again after that long (polling is a row that never ends). */
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

/** Inserts a job that falls due later. It wakes nobody: workers look for due jobs every half second. */
export function enqueueAt(tx: Tx, work: Job): void {
  tx.defer(
    `insert into jobs (kind, subject, ordering_key, due_at) values ($1, $2, $3, $4)
     on conflict (kind, subject) do update
       set due_at = least(jobs.due_at, excluded.due_at), enqueued = jobs.enqueued + 1, attempts = 0, dead_at = null`,
    [work.kind, work.subject, work.orderingKey ?? null, work.dueAt],
  );
}

/** Brings what is due for these subjects nearer by so much; what is being worked on is left alone. */
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
  /** Stops claiming, waits for what runs. */
  stop(): Promise<void>;
}

export async function startWorkers(options: {
  db: Database;
  clock: Clock;
  log: Log;
  handlers: Handlers;
  concurrency?: number;
  /** How often to look without having been notified. */
  pollMs?: number;
  /** Told of every handler that threw, for metrics and tests. */
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

  async function settle(item: Claimed, outcome: { done: Handled } | { failed: unknown }): Promise<void> {
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
      // Enqueued while it was being worked on, or asked to be enqueued again.
      await tx.run(
        `update jobs set holder = null, lease = null, leased_until = null, attempts = 0, last_error = null,
                due_at = case when enqueued > $3 then least(due_at, $5) else $4 end, enqueued = 1, slept_at = $5
          where id = $1 and lease = $2`,
        [item.id, token, item.enqueued, later(now, outcome.done?.againInMs ?? 0), now],
      );
    });
  }

  async function work(item: Claimed): Promise<void> {
    let outcome: { done: Handled } | { failed: unknown };
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
    // If even this fails the lease lapses and somebody looks again: that is what leases are for.
    await settle(item, outcome).catch((error) =>
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
          // What it leaves behind, in its ordering key or due again, may be there since the claim that is under way looked.
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
 * Holds an advisory lock for as long as this process has a connection.
 * Its number is in every row we lease, so others can tell that we are gone.
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
 * Frees what workers held that are gone, and pulls back what sleeps from a time that is yet to come. A row that is just being
 * enqueued is left for the next look: whoever enqueued several at once would wait for us, and we for them.
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
