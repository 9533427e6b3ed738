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
 * - A row that is to run again within seconds, as a poll is, stays with the worker that ran it: the worker keeps the lease and
 *   runs it again itself, and the row is written once in several seconds and not at every run. An enqueue of it is heard.
 * - A worker sleeps until the next row is due, and no longer than a second, because a row may be inserted without a
 *   notification. So an idle server asks the database once in a second.
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
import { awaitAll, type Database, type Tx } from './db.ts';
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
/** How long a worker sleeps at most when it knows of nothing that is due sooner. */
const IDLE_MS = 1_000;
/** How soon it looks again when due rows could not be claimed: they wait for another row, or another worker. */
const BLOCKED_MS = 500;
/** A row that is to run again within this time stays with its worker. */
const KEEP_MS = 10_000;
/** A row that took longer is not kept, so that a run never outlives its lease. */
const QUICK_MS = 2_000;
/** Kept rows' leases are renewed when one is older than this. */
const RENEW_MS = 8_000;

/** Inserts a job and wakes the workers. Both happen only if `tx` commits. */
export function enqueue(tx: Tx, work: Job): void {
  enqueueAt(tx, work);
  // The worker that keeps the row has to hear which it is.
  tx.defer(`select pg_notify('jobs', $1)`, [nameOf(work)]);
}

const nameOf = ({ kind, subject }: { kind: string; subject: string }): string => `${kind} ${subject}`;

/** Inserts a job that is due later. It wakes no worker: workers look for due jobs every second. */
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
  ordering_key: string | null;
}

/** A row that waits in this process for its next run. Times by the monotonic timer, and `dueAt` by the clock. */
interface Kept {
  item: Claimed;
  leasedAt: number;
  dueIn: number;
  dueAt: Date;
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
  /** How long to sleep at most without a notification, in milliseconds. */
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
  const kept = new Map<string, Kept>();
  /** By name: whether it was enqueued again while it runs. */
  const underWay = new Map<string, boolean>();
  const pollMs = options.pollMs ?? IDLE_MS;
  /** Whether a row may have become due since the table was read, and when it is read at the latest. */
  let isStale = true;
  let lookAt = Number.NEGATIVE_INFINITY;
  let tidiedAt = Number.NEGATIVE_INFINITY;

  await reviveTheDead(db, clock.now());
  const presence = await holdPresence(db, () => stopped, log);
  const listening = await db.listen('jobs', (name) => {
    // Without a name notifications may have been missed: all of them count as enqueued.
    for (const one of name === '' ? kept.keys() : [name]) {
      const waiting = kept.get(one);
      if (waiting !== undefined) waiting.dueIn = Number.NEGATIVE_INFINITY;
    }
    for (const one of name === '' ? underWay.keys() : [name]) if (underWay.has(one)) underWay.set(one, true);
    isStale = true;
    wakeup.signal();
  });

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
      // It was enqueued again while being worked on, or the handler asked to run again.
      await tx.run(
        `update jobs set holder = null, lease = null, leased_until = null, attempts = 0, last_error = null,
                due_at = case when enqueued > $3 then least(due_at, $5) else $4 end, enqueued = 1, slept_at = $5
          where id = $1 and lease = $2`,
        [item.id, token, item.enqueued, later(now, outcome.done?.againInMs ?? 0), now],
      );
    });
  }

  async function work(item: Claimed, leasedAt: number): Promise<void> {
    const began = performance.now();
    const name = nameOf(item);
    underWay.set(name, false);
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
    const isEnqueued = underWay.get(name) === true;
    underWay.delete(name);
    const againInMs = 'done' in outcome ? outcome.done?.againInMs : undefined;
    if (againInMs !== undefined && !stopped && isKeepable(item, againInMs, performance.now() - began)) {
      const waitMs = isEnqueued ? 0 : againInMs;
      kept.set(name, { item, leasedAt, dueIn: performance.now() + waitMs, dueAt: later(clock.now(), waitMs) });
      return;
    }
    // If this fails too, the lease lapses and a worker claims the row again.
    await settle(item, outcome).catch((error) =>
      log.error({ work: item.kind, ...describeError(error) }, 'work not settled'),
    );
  }

  function run(item: Claimed, leasedAt: number): void {
    const job: Promise<void> = work(item, leasedAt).finally(() => {
      running.delete(job);
      // The next row of its ordering key, or the row itself if due again, may have become claimable after the running
      // claim looked. One that is kept frees no row, and a slot only where all were taken.
      if (!kept.has(nameOf(item)) || running.size + 1 >= concurrency) isStale = true;
      wakeup.signal();
    });
    running.add(job);
  }

  /** Runs the kept rows that are due, as many as there is room for. */
  async function runKept(): Promise<void> {
    if ([...kept.values()].some(({ leasedAt }) => performance.now() - leasedAt > RENEW_MS)) await renewKept();
    const now = { timer: performance.now(), clock: clock.now() };
    for (const [name, { item, leasedAt, dueIn, dueAt }] of kept) {
      if (running.size >= concurrency) return;
      // A clock that was moved ahead makes a row due as it does in the table; one that goes back keeps none waiting.
      if (dueIn > now.timer && dueAt > now.clock) continue;
      kept.delete(name);
      run(item, leasedAt);
    }
  }

  /** All in one statement. One that is no longer ours is forgotten. */
  async function renewKept(): Promise<void> {
    const waiting = [...kept];
    const leasedAt = performance.now();
    const rows = await db.asSystem((tx) =>
      tx.rows<{ id: bigint; enqueued: number }>(
        `update jobs set leased_until = clock_timestamp() + make_interval(secs => $3), due_at = $4, slept_at = $4
          where id = any($1) and lease = $2 returning id, enqueued`,
        [waiting.map(([, { item }]) => item.id), token, LEASE_MS / 1000, clock.now()],
      ),
    );
    const ours = new Map(rows.map((row) => [row.id, row.enqueued]));
    for (const [name, one] of waiting) {
      const enqueued = ours.get(one.item.id);
      if (enqueued === undefined) kept.delete(name);
      else Object.assign(one, { leasedAt, item: { ...one.item, enqueued } });
    }
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      wakeup.begin();
      try {
        await runKept();
        if (isStale || performance.now() >= lookAt) await lookRound();
      } catch (error) {
        if (!stopped) log.error(describeError(error), 'work could not be claimed');
        lookAt = performance.now() + BLOCKED_MS;
      }
      const nextKept = Math.min(...[...kept.values()].map(({ dueIn }) => dueIn));
      if (!stopped) await wakeup.wait(Math.max(0, Math.min(lookAt, nextKept) - performance.now()));
    }
  }

  /** Claims until nothing more is due, and notes when to look again. */
  async function lookRound(): Promise<void> {
    for (;;) {
      isStale = false;
      const began = performance.now();
      const isTidied = began - tidiedAt > 1_000;
      if (isTidied) tidiedAt = began;
      const room = Math.min(BATCH, concurrency - running.size);
      const now = clock.now();
      const { claimed, nextAt } = await look(db, { kinds, now, room, token, holder: presence.id(), isTidied });
      for (const item of claimed) {
        // Its lease had lapsed: it is run as what was claimed now.
        kept.delete(nameOf(item));
        run(item, began);
      }
      if (claimed.length > 0 && !stopped) continue;
      const untilNextMs = nextAt === undefined ? pollMs : nextAt > now ? nextAt.getTime() - now.getTime() : BLOCKED_MS;
      lookAt = performance.now() + Math.min(pollMs, untilNextMs);
      return;
    }
  }

  /** So that others need not wait until the leases lapse. */
  async function release(): Promise<void> {
    const ids = [...kept.values()].map(({ item }) => item.id);
    kept.clear();
    if (ids.length === 0) return;
    await db
      .asSystem((tx) =>
        tx.run(
          `update jobs set holder = null, lease = null, leased_until = null, due_at = $3, slept_at = $3
            where id = any($1) and lease = $2`,
          [ids, token, clock.now()],
        ),
      )
      .catch((error) => log.error(describeError(error), 'work not settled'));
  }

  const looping = loop();
  return {
    async stop() {
      stopped = true;
      wakeup.signal();
      await looping;
      await Promise.allSettled(running);
      await release();
      await listening.stop();
      await presence.stop();
    },
  };
}

/**
 * Whether a worker runs a row again itself. Not one whose failures are to be forgotten in the table, nor one that others wait
 * for, nor one that takes long.
 */
const isKeepable = (item: Claimed, againInMs: number, tookMs: number): boolean =>
  againInMs <= KEEP_MS && tookMs <= QUICK_MS && item.attempts === 0 && item.ordering_key === null;

async function reviveTheDead(db: Database, now: Date): Promise<void> {
  await db.asSystem((tx) =>
    tx.run('update jobs set dead_at = null, attempts = 0, due_at = $1 where dead_at is not null', [now]),
  );
}

interface Round {
  claimed: Claimed[];
  /** When the next row of these kinds is due; undefined where there is none. Not looked up where something was claimed. */
  nextAt?: Date;
}

/** One transaction: frees what is left behind, claims what is due, or says when something will be. */
async function look(
  db: Database,
  round: { kinds: string[]; now: Date; room: number; token: string; holder: number; isTidied: boolean },
): Promise<Round> {
  const { kinds, now, room, token, holder, isTidied } = round;
  return await db.asSystem(async (tx) => {
    if (isTidied) tidy(tx, now);
    if (room <= 0) return { claimed: [] };
    const claimed = tx.rows<Claimed>(
      `update jobs set holder = $5, lease = $4, leased_until = clock_timestamp() + make_interval(secs => $6)
        where id = any(array(
          select id from jobs w
           where dead_at is null and due_at <= $2 and kind = any($1)
             and (leased_until is null or leased_until < clock_timestamp())
             and (ordering_key is null or not exists (
               select from jobs earlier where earlier.ordering_key = w.ordering_key and earlier.id < w.id and earlier.dead_at is null))
           order by due_at, id limit $3 for update skip locked))
        returning id, kind, subject, enqueued, attempts, ordering_key`,
      [kinds, now, room, token, holder, LEASE_MS / 1000],
    );
    const next = tx.row<{ due_at: Date }>(
      `select due_at from jobs where dead_at is null and kind = any($1)
         and (leased_until is null or leased_until < clock_timestamp()) order by due_at limit 1`,
      [kinds],
    );
    const [rows, nextRow] = await awaitAll(claimed, next);
    return { claimed: rows, ...(nextRow === undefined ? {} : { nextAt: nextRow.due_at }) };
  });
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
