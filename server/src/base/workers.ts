/**
 * Workers: run the handlers of due jobs (jobs.ts).
 *
 * - Rows that share an `ordering_key` run strictly in creation order.
 * - A poll that runs again within a minute stays with the worker that ran it: the worker keeps the lease and runs the row again
 *   itself. So the row is written once in two minutes instead of at every run. Enqueueing the job still takes effect. Rows of
 *   other kinds are postponed in the table, where every worker sees their due times. Other workers take the kept rows over when
 *   the worker's process is killed, or when its loop has not run for twenty seconds; after such a pause a worker checks which
 *   rows it still has.
 * - A worker sleeps until the next row is due: a row that it does not know of is in a notification, with its time if it is not due
 *   yet. As long as another worker is alive it looks every second, so that it takes over within that time if the other
 *   is killed; a worker that is alone looks every five seconds, in case a notification was lost. A worker that starts says so.
 * - A row that is enqueued while it runs is run again at once. If that happens at every run, because its own handler enqueues it,
 *   it pauses for up to a second each time.
 * - A failing row is retried with doubling pauses and jitter. While an outside system is unavailable, retries continue without
 *   limit. After MAX_ATTEMPTS other failures the row is marked dead: it is counted, shown, and retried at the next start, which
 *   may bring code that can handle it.
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
  openRun,
  type Presence,
  release,
  renew,
  reviveTheDead,
  settle,
} from './jobs.store.ts';
import { ALONE_MS, DUE_AT, type Handlers, nameOf, type Run } from './jobs.ts';
import { describeError, type Log } from './log.ts';
import { openWakeup, type Wakeup } from './wakeup.ts';

const BATCH = 20;
/** Maximum sleep of a worker that knows of no row due sooner, while another worker is alive; without one it is ALONE_MS. */
const ACCOMPANIED_MS = 1_000;
/** Pause before the next look if due rows could not be claimed, because they wait for another row or another worker. */
const BLOCKED_MS = 500;
const TIDY_EVERY_MS = 1_000;
/** A row that is to run again within this time stays with its worker. */
const KEEP_MS = 60_000;
/** A row whose run took longer is not kept, so that a run never outlives its lease. */
const QUICK_MS = 2_000;
/**
 * A run that begins within AT_ONCE_MS after the previous one is consecutive. After FREE_RUNS consecutive runs the row is paused.
 */
const AT_ONCE_MS = 100;
const FREE_RUNS = 10;
const AGAIN_PAUSES = { firstMs: 20, longestMs: 1_000 };
/**
 * Leases of kept rows are renewed when they are older than this: the first lease, from the claim, is shorter than a renewed one.
 * Renewing all of them every 8 s was the most frequent update of an idle server.
 */
const FIRST_RENEW_MS = 8_000;
const RENEW_MS = KEPT_LEASE_MS / 2;
/** A worker counts as present for this long after its last beat. */
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
  /** Kinds that poll: their rows stay with the worker that ran them. */
  polls?: readonly string[];
  concurrency?: number;
  /** Maximum sleep without a notification, in milliseconds; by default it depends on whether another worker is alive. */
  pollMs?: number;
  /** Shortened in tests. A worker whose loop has not run for this many milliseconds loses its rows. */
  presentMs?: number;
  /** Called for every handler that threw, for metrics and tests. */
  onFailure?: (kind: string, subject: string, error: unknown) => void;
}

/** When the lease was taken or renewed, and after how many milliseconds it is renewed again. */
interface Lease {
  at: number;
  renewMs: number;
}

/** A row that waits in this process for its next run. Times are of the monotonic timer, except `dueAt`, which is of the clock. */
interface Kept {
  item: Claimed;
  lease: Lease;
  dueIn: number;
  /** When it may run at the earliest, even if it is enqueued. */
  notBefore: number;
  dueAt: Date;
}

/** The state of one process's worker. Times are of the monotonic timer. */
interface Worker extends WorkersOptions {
  readonly token: string;
  readonly concurrency: number;
  readonly presentMs: number;
  readonly wakeup: Wakeup;
  presence: Presence | undefined;
  beatAt: number;
  /** Leases taken before this time may belong to another worker now. */
  doubtedAt: number;
  readonly running: Set<Promise<void>>;
  /** The runs in `running` that are of kept rows. */
  readonly runningKept: Set<Promise<void>>;
  /** Kept rows by job name. */
  readonly kept: Map<string, Kept>;
  /** By job name: whether the job was enqueued again while it runs. */
  readonly underWay: Map<string, boolean>;
  /** By job name: end of the last run, and the number of consecutive runs. */
  readonly runs: Map<string, { endedAt: number; inARow: number }>;
  /** `isStale`: a row may have become due since the table was read. `lookAt`: when the table is read at the latest. */
  isStale: boolean;
  lookAt: number;
  hasOthers: boolean;
  tidiedAt: number;
  isStopped: boolean;
}

export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { db, clock, log, concurrency = 8, presentMs = PRESENT_MS } = options;
  await reviveTheDead(db, clock.now());
  const worker: Worker = {
    ...options,
    concurrency,
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
    hasOthers: true,
    tidiedAt: Number.NEGATIVE_INFINITY,
    isStopped: false,
  };
  const presence = await holdPresence(db, {
    ...{ idleMs: presentMs, log, isStopped: () => worker.isStopped },
    onDoubt: () => doubtLeases(worker),
  });
  Object.assign(worker, { presence, beatAt: performance.now() });
  const listening = await db.listen('jobs', (name) => hear(worker, name));
  await sayHere(worker);
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

/** Makes the other workers look, and so see that this one is alive. */
const sayHere = ({ db, clock }: Worker): Promise<void> =>
  db.asSystem((tx) => tx.defer(`select pg_notify('jobs', $1)`, [`${DUE_AT}${clock.now().getTime()}`]));

/** @param name of the job that was enqueued, or when one is due; '' if notifications may have been missed: then all jobs count as enqueued */
function hear(worker: Worker, name: string): void {
  const { kept, underWay, clock } = worker;
  if (name.startsWith(DUE_AT)) {
    const waitMs = Number(name.slice(DUE_AT.length)) - clock.now().getTime();
    worker.lookAt = Math.min(worker.lookAt, performance.now() + Math.max(0, waitMs));
    worker.wakeup.signal();
    return;
  }
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
      if (!worker.isStopped) log.error(describeError(error), 'jobs could not be claimed');
      worker.lookAt = performance.now() + BLOCKED_MS;
      // Kept rows wait, too, so that an unreachable database is not queried in a tight loop.
      if (!worker.isStopped) await wakeup.wait(BLOCKED_MS);
      continue;
    }
    // If there is no slot for the kept rows, the end of a run wakes the loop.
    const nextKept = hasRoomForKept(worker)
      ? Math.min(...[...kept.values()].map(({ dueIn }) => dueIn))
      : Number.POSITIVE_INFINITY;
    const next = Math.min(worker.lookAt, nextKept, nextBeat(worker));
    if (!worker.isStopped) await wakeup.wait(Math.max(0, next - performance.now()));
  }
}

const nextBeat = ({ beatAt, presentMs }: Worker): number => beatAt + presentMs / BEATS;

/** Renews the worker's presence. If the loop has not run for too long, other workers may have taken its rows. */
function beat(worker: Worker): void {
  const now = performance.now();
  if (now < nextBeat(worker)) return;
  if (now - worker.beatAt >= worker.presentMs) doubtLeases(worker);
  worker.beatAt = now;
  worker.presence?.beat();
}

/** Kept rows are renewed before the next one runs, which shows which of them this worker still has. */
function doubtLeases(worker: Worker): void {
  worker.doubtedAt = performance.now();
  worker.wakeup.signal();
}

/** Kept rows come first, and leave one slot to the rows of the table, so neither waits until the other has no due rows. */
const hasRoomForKept = ({ running, runningKept, concurrency }: Worker): boolean =>
  running.size < concurrency && runningKept.size < Math.max(1, concurrency - 1);

/** Claims rows for the free slots, and notes when to check again: immediately if there were more due rows than slots. */
async function claimAll(worker: Worker): Promise<void> {
  const { db, clock, handlers, token, concurrency, running, kept } = worker;
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
  // A row that ends or is announced while the table is read may set an earlier time.
  worker.lookAt = began + pollMsOf(worker);
  const { claimed, nextAt, hasOthers } = await look(db, {
    kinds: Object.keys(handlers),
    room,
    holder: holderOf(worker),
    now,
    token,
    isTidied,
  });
  worker.hasOthers = hasOthers;
  const pollMs = pollMsOf(worker);
  worker.lookAt = Math.min(worker.lookAt, began + pollMs);
  for (const item of claimed) {
    // Its lease had lapsed, and the row was claimed again: it runs as the claimed row.
    kept.delete(nameOf(item));
    run(worker, item, { at: began, renewMs: FIRST_RENEW_MS });
  }
  if (claimed.length > 0 && claimed.length === room) {
    // Due kept rows run before the next claim, so a backlog in the table does not delay them.
    worker.isStale = true;
    worker.wakeup.signal();
    return;
  }
  const untilNextMs = nextAt === undefined ? pollMs : nextAt > now ? nextAt.getTime() - now.getTime() : BLOCKED_MS;
  worker.lookAt = Math.min(worker.lookAt, performance.now() + untilNextMs);
}

const pollMsOf = ({ pollMs, hasOthers }: Worker): number => pollMs ?? (hasOthers ? ACCOMPANIED_MS : ALONE_MS);

const holderOf = ({ presence }: Worker): number => presence?.id() ?? 0;

function run(worker: Worker, item: Claimed, lease: Lease, wasKept = false): void {
  const { running, runningKept, concurrency } = worker;
  const job: Promise<void> = work(worker, item, lease).finally(() => {
    running.delete(job);
    runningKept.delete(job);
    // The next row of its ordering key may have become claimable after the current claim looked; and if all slots were taken, any
    // row may wait for this one.
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
  const run = openRun({ item, token, clock });
  const outcome = await handle(worker, item, run);
  const isEnqueued = underWay.get(name) === true;
  underWay.delete(name);
  const pauseMs = pauseOfAgain(worker, name, began);
  const recorded = run.recorded();
  if (recorded !== undefined) return lookBy(worker, recorded.dueAt);
  const againInMs = 'done' in outcome ? outcome.done?.againInMs : undefined;
  if (againInMs !== undefined && !worker.isStopped && isKeepable(worker, item, againInMs, performance.now() - began)) {
    const waitMs = isEnqueued ? Math.min(pauseMs, againInMs) : againInMs;
    const now = performance.now();
    const notBefore = now + Math.min(pauseMs, againInMs);
    kept.set(name, { item, lease, dueIn: now + waitMs, notBefore, dueAt: later(clock.now(), waitMs) });
    return;
  }
  // If this fails, too, the lease lapses and a worker claims the row again.
  const now = clock.now();
  const dueAt = await settle(db, { item, outcome, token, now, pauseMs }).catch((error) => {
    log.error({ work: item.kind, ...describeError(error) }, 'job outcome not recorded');
    return undefined;
  });
  lookBy(worker, dueAt);
}

/** Has the table read when a row is due that has just been set free: a claim that is under way may have looked before. */
function lookBy(worker: Worker, dueAt: Date | undefined): void {
  if (dueAt === undefined) return;
  const now = worker.clock.now();
  if (dueAt <= now) worker.isStale = true;
  else worker.lookAt = Math.min(worker.lookAt, performance.now() + dueAt.getTime() - now.getTime());
}

/** How long a row waits that was enqueued while it ran, in milliseconds. @param began when this run began */
function pauseOfAgain({ runs }: Worker, name: string, began: number): number {
  const last = runs.get(name);
  const before = last?.inARow ?? 0;
  // A pause by itself does not end a series of consecutive runs; only further waiting does.
  const pausedMs = before > FREE_RUNS ? pauseAfter(before - FREE_RUNS - 1, AGAIN_PAUSES) : 0;
  const isAtOnce = last !== undefined && began - last.endedAt <= pausedMs + AT_ONCE_MS;
  const inARow = isAtOnce ? before + 1 : 0;
  runs.set(name, { endedAt: performance.now(), inARow });
  return inARow > FREE_RUNS ? pauseAfter(inARow - FREE_RUNS - 1, AGAIN_PAUSES) : 0;
}

async function handle({ handlers, log, onFailure }: Worker, item: Claimed, run: Run): Promise<Outcome> {
  const { kind, subject, attempts } = item;
  try {
    const handler = handlers[kind];
    if (handler === undefined) throw new BugError(`no handler for ${kind}`);
    return { done: await handler(subject, run) };
  } catch (error) {
    onFailure?.(kind, subject, error);
    log.warn({ work: kind, subject, attempts: attempts + 1, ...describeError(error) }, 'job failed');
    return { failed: error };
  }
}

/**
 * Whether a worker runs a row again itself: only a poll, and not if its failures must be recorded in the table, if other rows
 * wait for it, or if it takes long.
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
    // Moving the clock ahead makes a kept row due, as it does in the table. Setting the clock back delays none, because the timer
    // counts, too.
    if (dueIn > now.timer && dueAt > now.clock) continue;
    kept.delete(name);
    run(worker, item, lease, true);
  }
}

const isOlder = ({ doubtedAt }: Worker, { at }: Lease, ms: number): boolean =>
  at < doubtedAt || performance.now() - at > ms;

/** Renews all kept rows in one statement, except those renewed just now. Rows that belong to another worker are dropped. */
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
    log.error(describeError(error), 'kept jobs not released'),
  );
}
