/**
 * Workers: run the handlers of due jobs (jobs.ts).
 *
 * - Rows that share an `ordering_key` run strictly in creation order.
 * - A poll that runs again within a minute stays with the worker that ran it: the worker keeps the lease and runs it again itself,
 *   and its row is written once in half a minute and not at every run. An enqueue of it still takes effect. Rows of other kinds
 *   are postponed in the table, where every worker sees their due times. Others take its rows over when its process is killed,
 *   and when its loop has not turned for twenty seconds; after such a pause it asks which rows are still its own.
 * - A worker sleeps until the next row is due, and no longer than a second, because a row may be inserted without a
 *   notification. So an idle server asks the database once in a second.
 * - A row that is enqueued while it runs is run again at once. One to which that happens at every run, because its own handler
 *   enqueues it, is paused for up to a second each time.
 * - A failing row is retried with doubling pauses and jitter. While an outside system is unavailable retries go on without
 *   limit; after MAX_ATTEMPTS of any other failure the row is marked dead: counted, shown, and retried at the next start,
 *   which may bring code that can handle it.
 */
import { pauseAfter } from './backoff.ts';
import { type Clock, later } from './clock.ts';
import type { Database } from './db.ts';
import { BugError } from './errors.ts';
import { randomHex } from './ids.ts';
import {
  type Claimed,
  holdPresence,
  KEPT_LEASE_MS,
  LEASE_MS,
  look,
  type Outcome,
  type Presence,
  release,
  renew,
  reviveTheDead,
  settle,
} from './jobs.store.ts';
import { type Handlers, nameOf } from './jobs.ts';
import { describeError, type Log } from './log.ts';
import { openWakeup, type Wakeup } from './wakeup.ts';

const BATCH = 20;
/** How long a worker sleeps at most when it knows of nothing that is due sooner. */
const IDLE_MS = 1_000;
/** How soon it looks again when due rows could not be claimed: they wait for another row, or another worker. */
const BLOCKED_MS = 500;
const TIDY_EVERY_MS = 1_000;
/** A row that is to run again within this time stays with its worker. */
const KEEP_MS = 60_000;
/** A row that took longer is not kept, so that a run never outlives its lease. */
const QUICK_MS = 2_000;
/**
 * A run that begins within this time after the previous one is consecutive; after this many consecutive runs the row is paused.
 */
const AT_ONCE_MS = 100;
const FREE_RUNS = 10;
const AGAIN_PAUSES = { firstMs: 20, longestMs: 1_000 };
/**
 * Kept rows' leases are renewed when one is older than this: a row as claimed has a shorter lease than one that was renewed.
 * At 8 s for all of them the renewals were the most frequent update of an idle server.
 */
const FIRST_RENEW_MS = 8_000;
const RENEW_MS = KEPT_LEASE_MS / 2;
/** A worker counts as present for so long after its last beat. */
const PRESENT_MS = LEASE_MS;
const BEATS = 3;

export interface Workers {
  /** Stops claiming and waits for running handlers. */
  stop(): Promise<void>;
}

export interface WorkersOptions {
  db: Database;
  clock: Clock;
  log: Log;
  handlers: Handlers;
  /** Kinds that poll: a row of theirs stays with the worker that ran it. */
  polls?: readonly string[];
  concurrency?: number;
  /** How long to sleep at most without a notification, in milliseconds. */
  pollMs?: number;
  /** Shortened in tests, in milliseconds: after this without a turn of its loop a worker's rows are free. */
  presentMs?: number;
  /** Called for every handler that threw, for metrics and tests. */
  onFailure?: (kind: string, subject: string, error: unknown) => void;
}

/** When it was taken or renewed, and after how long it is renewed again. */
interface Lease {
  at: number;
  renewMs: number;
}

/** A row that waits in this process for its next run. Times by the monotonic timer, and `dueAt` by the clock. */
interface Kept {
  item: Claimed;
  lease: Lease;
  dueIn: number;
  /** When it runs at the earliest, however it is enqueued. */
  notBefore: number;
  dueAt: Date;
}

/** One process's knowledge of its jobs. Times by the monotonic timer. */
interface Worker extends WorkersOptions {
  readonly token: string;
  readonly concurrency: number;
  readonly pollMs: number;
  readonly presentMs: number;
  readonly wakeup: Wakeup;
  presence: Presence | undefined;
  beatAt: number;
  /** Leases taken before may be another worker's now. */
  doubtedAt: number;
  readonly running: Set<Promise<void>>;
  /** Those of them that were kept. */
  readonly runningKept: Set<Promise<void>>;
  /** By name. */
  readonly kept: Map<string, Kept>;
  /** By name: whether it was enqueued again while it runs. */
  readonly underWay: Map<string, boolean>;
  /** By name: time of the last run, and the number of consecutive runs since. */
  readonly runs: Map<string, { endedAt: number; inARow: number }>;
  /** Whether a row may have become due since the table was read, and when it is read at the latest. */
  isStale: boolean;
  lookAt: number;
  tidiedAt: number;
  isStopped: boolean;
}

export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { db, clock, log, concurrency = 8, pollMs = IDLE_MS, presentMs = PRESENT_MS } = options;
  await reviveTheDead(db, clock.now());
  const worker: Worker = {
    ...options,
    concurrency,
    pollMs,
    presentMs,
    token: randomHex(),
    wakeup: openWakeup(),
    presence: undefined,
    beatAt: Number.POSITIVE_INFINITY,
    doubtedAt: Number.NEGATIVE_INFINITY,
    running: new Set(),
    runningKept: new Set(),
    kept: new Map(),
    underWay: new Map(),
    runs: new Map(),
    isStale: true,
    lookAt: Number.NEGATIVE_INFINITY,
    tidiedAt: Number.NEGATIVE_INFINITY,
    isStopped: false,
  };
  const presence = await holdPresence(db, {
    ...{ idleMs: presentMs, log, isStopped: () => worker.isStopped },
    onDoubt: () => doubtLeases(worker),
  });
  Object.assign(worker, { presence, beatAt: performance.now() });
  const listening = await db.listen('jobs', (name) => hear(worker, name));
  const looping = loop(worker);
  return {
    async stop() {
      worker.isStopped = true;
      worker.wakeup.signal();
      await looping;
      await Promise.allSettled(worker.running);
      await releaseKept(worker);
      await listening.stop();
      await presence.stop();
    },
  };
}

/** @param name of the job that was enqueued; '' where notifications may have been missed, and then all count as enqueued */
function hear(worker: Worker, name: string): void {
  const { kept, underWay } = worker;
  for (const one of name === '' ? kept.keys() : [name]) {
    const waiting = kept.get(one);
    if (waiting !== undefined) waiting.dueIn = Math.min(waiting.dueIn, waiting.notBefore);
  }
  for (const one of name === '' ? underWay.keys() : [name]) if (underWay.has(one)) underWay.set(one, true);
  worker.isStale = true;
  worker.wakeup.signal();
}

async function loop(worker: Worker): Promise<void> {
  const { kept, wakeup, log } = worker;
  while (!worker.isStopped) {
    wakeup.begin();
    beat(worker);
    try {
      await runKept(worker);
      if (worker.isStale || performance.now() >= worker.lookAt) await claimAll(worker);
    } catch (error) {
      if (!worker.isStopped) log.error(describeError(error), 'work could not be claimed');
      worker.lookAt = performance.now() + BLOCKED_MS;
      // Kept rows wait just as long: an unreachable database is not queried at full speed.
      if (!worker.isStopped) await wakeup.wait(BLOCKED_MS);
      continue;
    }
    // If there is no slot for the kept rows, a run that ends wakes the loop.
    const nextKept = hasRoomForKept(worker)
      ? Math.min(...[...kept.values()].map(({ dueIn }) => dueIn))
      : Number.POSITIVE_INFINITY;
    const next = Math.min(worker.lookAt, nextKept, nextBeat(worker));
    if (!worker.isStopped) await wakeup.wait(Math.max(0, next - performance.now()));
  }
}

const nextBeat = ({ beatAt, presentMs }: Worker): number => beatAt + presentMs / BEATS;

/** Says that the loop turns. If it stood still for too long, others may have taken what it keeps. */
function beat(worker: Worker): void {
  const now = performance.now();
  if (now < nextBeat(worker)) return;
  if (now - worker.beatAt >= worker.presentMs) doubtLeases(worker);
  worker.beatAt = now;
  worker.presence?.beat();
}

/** Kept rows are renewed before the next one runs, which tells whose they are. */
function doubtLeases(worker: Worker): void {
  worker.doubtedAt = performance.now();
  worker.wakeup.signal();
}

/** Kept rows come first and leave one slot to the table: neither has to wait until the other has no due rows. */
const hasRoomForKept = ({ running, runningKept, concurrency }: Worker): boolean =>
  running.size < concurrency && runningKept.size < Math.max(1, concurrency - 1);

/** Claims rows for the free slots, and notes when to check again: immediately if there were more due rows than slots. */
async function claimAll(worker: Worker): Promise<void> {
  const { db, clock, handlers, token, concurrency, pollMs, running, kept } = worker;
  worker.isStale = false;
  const began = performance.now();
  const isTidied = began - worker.tidiedAt > TIDY_EVERY_MS;
  if (isTidied) {
    worker.tidiedAt = began;
    for (const [name, { endedAt }] of worker.runs)
      if (began - endedAt > AGAIN_PAUSES.longestMs + AT_ONCE_MS) worker.runs.delete(name);
  }
  const now = clock.now();
  const room = Math.min(BATCH, concurrency - running.size);
  // A row that is settled while we look may bring it forward.
  worker.lookAt = began + pollMs;
  const { claimed, nextAt } = await look(db, {
    kinds: Object.keys(handlers),
    room,
    holder: holderOf(worker),
    now,
    token,
    isTidied,
  });
  for (const item of claimed) {
    // Its lease had lapsed: it runs as the row claimed now.
    kept.delete(nameOf(item));
    run(worker, item, { at: began, renewMs: FIRST_RENEW_MS });
  }
  if (claimed.length > 0 && claimed.length === room) {
    // Due kept rows run in between: a table with a backlog does not delay them.
    worker.isStale = true;
    worker.wakeup.signal();
    return;
  }
  const untilNextMs = nextAt === undefined ? pollMs : nextAt > now ? nextAt.getTime() - now.getTime() : BLOCKED_MS;
  worker.lookAt = Math.min(worker.lookAt, performance.now() + untilNextMs);
}

const holderOf = ({ presence }: Worker): number => presence?.id() ?? 0;

function run(worker: Worker, item: Claimed, lease: Lease, wasKept = false): void {
  const { running, runningKept, concurrency } = worker;
  const job: Promise<void> = work(worker, item, lease).finally(() => {
    running.delete(job);
    runningKept.delete(job);
    // The next row of its ordering key may have become claimable after the running claim looked, and where all slots were
    // taken any row may wait for this one.
    if (item.orderingKey !== null || running.size + 1 >= concurrency) worker.isStale = true;
    worker.wakeup.signal();
  });
  running.add(job);
  if (wasKept) runningKept.add(job);
}

async function work(worker: Worker, item: Claimed, lease: Lease): Promise<void> {
  const { db, clock, log, token, kept, underWay } = worker;
  const began = performance.now();
  const name = nameOf(item);
  underWay.set(name, false);
  const outcome = await handle(worker, item);
  const isEnqueued = underWay.get(name) === true;
  underWay.delete(name);
  const pauseMs = pauseOfAgain(worker, name, began);
  const againInMs = 'done' in outcome ? outcome.done?.againInMs : undefined;
  if (againInMs !== undefined && !worker.isStopped && isKeepable(worker, item, againInMs, performance.now() - began)) {
    const waitMs = isEnqueued ? Math.min(pauseMs, againInMs) : againInMs;
    const now = performance.now();
    const notBefore = now + Math.min(pauseMs, againInMs);
    kept.set(name, { item, lease, dueIn: now + waitMs, notBefore, dueAt: later(clock.now(), waitMs) });
    return;
  }
  // If this fails too, the lease lapses and a worker claims the row again.
  const now = clock.now();
  const dueAt = await settle(db, { item, outcome, token, now, pauseMs }).catch((error) => {
    log.error({ work: item.kind, ...describeError(error) }, 'work not settled');
    return undefined;
  });
  // A claim that is under way may have looked before the row was free.
  if (dueAt === undefined) return;
  if (dueAt <= now) worker.isStale = true;
  else worker.lookAt = Math.min(worker.lookAt, performance.now() + dueAt.getTime() - now.getTime());
}

/** How long a row waits that was enqueued while it ran, in milliseconds. @param began when this run began */
function pauseOfAgain({ runs }: Worker, name: string, began: number): number {
  const last = runs.get(name);
  const before = last?.inARow ?? 0;
  // A pause ends the row of runs only if the row also waits without one.
  const pausedMs = before > FREE_RUNS ? pauseAfter(before - FREE_RUNS - 1, AGAIN_PAUSES) : 0;
  const isAtOnce = last !== undefined && began - last.endedAt <= pausedMs + AT_ONCE_MS;
  const inARow = isAtOnce ? before + 1 : 0;
  runs.set(name, { endedAt: performance.now(), inARow });
  return inARow > FREE_RUNS ? pauseAfter(inARow - FREE_RUNS - 1, AGAIN_PAUSES) : 0;
}

async function handle({ handlers, log, onFailure }: Worker, item: Claimed): Promise<Outcome> {
  const { kind, subject, attempts } = item;
  try {
    const handler = handlers[kind];
    if (handler === undefined) throw new BugError(`no handler for ${kind}`);
    return { done: await handler(subject) };
  } catch (error) {
    onFailure?.(kind, subject, error);
    log.warn({ work: kind, subject, attempts: attempts + 1, ...describeError(error) }, 'work failed');
    return { failed: error };
  }
}

/**
 * Whether a worker runs a row again itself: only a poll's. Not one whose failures must be recorded in the table, nor one that
 * other rows wait for, nor one that takes long.
 */
const isKeepable = ({ polls = [] }: Worker, item: Claimed, againInMs: number, tookMs: number): boolean =>
  polls.includes(item.kind) &&
  againInMs <= KEEP_MS &&
  tookMs <= QUICK_MS &&
  item.attempts === 0 &&
  !item.hasFailed &&
  item.orderingKey === null;

/** Runs the kept rows that are due, as many as there is room for. */
async function runKept(worker: Worker): Promise<void> {
  const { clock, kept } = worker;
  if ([...kept.values()].some(({ lease }) => isOlder(worker, lease, lease.renewMs))) await renewKept(worker);
  const now = { timer: performance.now(), clock: clock.now() };
  for (const [name, { item, lease, dueIn, dueAt }] of kept) {
    if (!hasRoomForKept(worker)) return;
    // A clock that was moved ahead makes a row due as it does in the table; one that goes back keeps none waiting.
    if (dueIn > now.timer && dueAt > now.clock) continue;
    kept.delete(name);
    run(worker, item, lease, true);
  }
}

const isOlder = ({ doubtedAt }: Worker, { at }: Lease, ms: number): boolean =>
  at < doubtedAt || performance.now() - at > ms;

/** In one statement, and not those that were renewed just now. One that is no longer ours is forgotten. */
async function renewKept(worker: Worker): Promise<void> {
  const { db, clock, token, kept } = worker;
  const waiting = [...kept].filter(([, { lease }]) => isOlder(worker, lease, lease.renewMs / 2));
  const lease = { at: performance.now(), renewMs: RENEW_MS };
  const ids = waiting.map(([, { item }]) => item.id);
  const ours = await renew(db, { ids, token, holder: holderOf(worker), now: clock.now() });
  for (const [name, one] of waiting) {
    const enqueued = ours.get(one.item.id);
    if (enqueued === undefined) kept.delete(name);
    else Object.assign(one, { lease, item: { ...one.item, enqueued } });
  }
}

async function releaseKept({ db, clock, log, token, kept }: Worker): Promise<void> {
  const ids = [...kept.values()].map(({ item }) => item.id);
  kept.clear();
  if (ids.length === 0) return;
  await release(db, { ids, token, now: clock.now() }).catch((error) =>
    log.error(describeError(error), 'work not settled'),
  );
}
