/**
 * The scheduler: one step at a time, chosen by the seed.
 *
 * Every action of a process of ours that others could notice (a statement, a commit, a call) waits here as a *point* until it is
 * chosen. Between two points only that process's code runs. So the order of all events is a list of choices, and the same seed
 * makes the same ones.
 *
 * PostgreSQL takes part: a statement may wait for a lock that another step holds. The scheduler asks PostgreSQL and does not
 * guess by a timeout: a statement without an answer is either blocked by another, or still being processed and waited for. The
 * backend of a blocked one is stopped (SIGSTOP), and continues when its lock has been granted, one at a time and in the order in
 * which they began to wait. So two that are released by one commit do not race, and PostgreSQL decides nothing by chance. A
 * deadlock is found here too, at once, and ends the statement that closed the circle.
 *
 * When no process can continue, time jumps to the next due event.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { patience } from '../support/patience.ts';
import type { Chance } from './chance.ts';
import { installTime, quiet, realSleep, type Time, type Timer } from './time.ts';

/** A process of ours, as far as time and its end are concerned. */
export interface Simulated {
  readonly name: string;
  dead: boolean;
  /** Does nothing before this. */
  frozenUntil: number;
}

export interface Context {
  process: Simulated | undefined;
  task: string;
}

interface Step {
  context: Context;
  point: string;
  run: () => Promise<unknown>;
  /** The backend that may wait for a lock. */
  pid: () => number | undefined;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

interface Blocked {
  step: Step;
  pid: number;
  /** It is being waited for just now. */
  looked: boolean;
  ended: { value: unknown } | { error: unknown } | undefined;
  running: Promise<unknown>;
}

/** Thrown within a step whose process is gone: no caller gets its result. */
export class Gone extends Error {}

/** PostgreSQL's knowledge of its locks, and control of its backends. */
export interface Locks {
  /** It waits for a lock, and has not been granted it. */
  isWaiting(pid: number): Promise<boolean>;
  /** For each, the backends that it waits for. */
  blockers(pids: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>>;
  halt(pid: number): void;
  resume(pid: number): void;
  cancel(pid: number): Promise<void>;
  /** Called with those that wait for each other. */
  deadlocked(pids: readonly number[]): void;
}

export interface Scheduler {
  readonly time: Time;
  /** In a context, from here on. */
  within<T>(context: Context, body: () => T): T;
  context(): Context;
  /** A step of the calling process. */
  perform<T>(point: string, run: () => Promise<T>, pid?: () => number | undefined): Promise<T>;
  /** After a commit or rollback: blocked statements may continue. */
  released(): Promise<void>;
  /** Steps and timers of a process are dropped; its blocked statements are cancelled. */
  forget(process: Simulated): Promise<void>;
  /** Runs until `done`. */
  run(done: () => boolean): Promise<void>;
  /** Calls back in `ms`, on behalf of the environment and no process. */
  after(ms: number, body: () => void): void;
  readonly steps: number;
  readonly waits: number;
  digest(): string;
  /** Every point in the order in which it was passed, with its time. */
  readonly schedule: readonly string[];
  stop(): void;
}

/** Longer than any unblocked statement may take. */
const PATIENCE_MS = 20_000;
const GLANCE_MS = 4;
/** Due work that no worker has claimed is enqueued again after this. */
const ENQUEUED_AGAIN_MS = 2_500;

// Long because the scheduler is one closure: points, locks and time share one state.
export function openScheduler(options: {
  chance: Chance;
  locks: Locks;
  /** When something falls due without a timer, and a call to the process concerned. */
  nextDue: () => Promise<number | undefined>;
  wake: () => void;
}): Scheduler {
  const { chance, locks } = options;
  const storage = new AsyncLocalStorage<Context>();
  const world: Context = { process: undefined, task: 'world' };
  const context = () => storage.getStore() ?? world;
  const time = installTime(chance, () => context().process);
  const hash = createHash('sha256');
  const schedule: string[] = [];
  let ready: Step[] = [];
  let blocked: Blocked[] = [];
  let steps = 0;
  let waits = 0;
  let wokenAt = 0;

  function note(what: string): void {
    hash.update(`${what}\n`);
    schedule.push(`${((time.now() % 3_600_000) / 1000).toFixed(3)} ${what}`);
  }

  const canGo = (process: Simulated | undefined) =>
    process === undefined || (!process.dead && process.frozenUntil <= time.now());

  function perform<T>(
    point: string,
    run: () => Promise<T>,
    pid: () => number | undefined = () => undefined,
  ): Promise<T> {
    const own = context();
    if (own.process?.dead) return new Promise(() => {});
    return new Promise<T>((resolve, reject) => {
      ready.push({ context: own, point, run, pid, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  async function take(step: Step): Promise<void> {
    steps += 1;
    note(`${step.context.process?.name ?? '-'} ${step.point}`);
    const one: Blocked = { step, pid: 0, looked: false, ended: undefined, running: Promise.resolve() };
    one.running = storage
      .run(step.context, step.run)
      .then((value) => void (one.ended = { value }))
      .catch((error: unknown) => void (one.ended = { error }));
    if (await hasEnded(one)) {
      tell(one);
      // A failed statement has released its locks.
      if (one.ended !== undefined && 'error' in one.ended) await released();
      return;
    }
    waits += 1;
    note(`waits ${step.point}`);
    one.pid = step.pid() as number;
    locks.halt(one.pid);
    blocked.push(one);
    await breakDeadlock();
  }

  /** Until it has ended (true), or PostgreSQL reports that it is blocked (false). */
  async function hasEnded(one: Blocked): Promise<boolean> {
    // Nearly all have ended at the first check, and starting a patience timer costs as much as a statement.
    let isOver: (() => boolean) | undefined;
    for (;;) {
      if (one.ended === undefined) await Promise.race([one.running, realSleep(GLANCE_MS)]);
      if (one.ended !== undefined) return true;
      isOver ??= patience(PATIENCE_MS);
      const pid = one.step.pid();
      if (pid !== undefined && (await locks.isWaiting(pid))) return one.ended !== undefined;
      if (isOver()) throw new Error(`no answer to ${one.step.point}`);
    }
  }

  function tell({ step, ended }: Blocked): void {
    if (ended === undefined || step.context.process?.dead) return;
    if ('value' in ended) step.resolve(ended.value);
    else if (!(ended.error instanceof Gone)) step.reject(ended.error);
  }

  async function released(): Promise<void> {
    // One that continues may release another.
    for (let moved = true; moved; ) {
      moved = false;
      for (const one of [...blocked]) {
        if (!blocked.includes(one) || one.looked || one.step.context.process?.dead) continue;
        if (await locks.isWaiting(one.pid)) continue;
        locks.resume(one.pid);
        one.looked = true;
        const ended = await hasEnded(one);
        one.looked = false;
        if (!ended) {
          locks.halt(one.pid);
          continue;
        }
        blocked = blocked.filter((other) => other !== one);
        note(`goes on ${one.step.point}`);
        tell(one);
        // It reaches its next point before the process that released it does, so that speed does not matter.
        await quiet();
        moved = true;
      }
    }
    await breakDeadlock();
  }

  /** A circle of blocked statements never ends: the last of them gets PostgreSQL's deadlock error. */
  async function breakDeadlock(): Promise<void> {
    if (blocked.length < 2) return;
    const edges = await locks.blockers(blocked.map(({ pid }) => pid));
    // Each is checked once: many that queue for one lock all wait for each other's predecessors.
    const circleOf = (start: number, way: readonly number[], seen: Set<number>): readonly number[] | undefined => {
      for (const next of edges.get(way.at(-1) as number) ?? []) {
        if (next === start) return way;
        if (seen.has(next)) continue;
        const circle = circleOf(start, [...way, next], seen.add(next));
        if (circle !== undefined) return circle;
      }
      return undefined;
    };
    for (const one of blocked.toReversed()) {
      const circle = one.looked ? undefined : circleOf(one.pid, [one.pid], new Set());
      if (circle === undefined) continue;
      note(`deadlock ${one.step.point}`);
      locks.deadlocked(circle);
      blocked = blocked.filter((other) => other !== one);
      await giveUp(one);
      one.ended = { error: Object.assign(new Error('deadlock detected'), { code: '40P01' }) };
      tell(one);
      return await released();
    }
  }

  async function giveUp(one: Blocked): Promise<void> {
    locks.resume(one.pid);
    while (one.ended === undefined) {
      await locks.cancel(one.pid);
      await Promise.race([one.running, realSleep(100)]);
    }
  }

  async function forget(process: Simulated): Promise<void> {
    ready = ready.filter((step) => step.context.process !== process);
    const own = blocked.filter((one) => one.step.context.process === process);
    blocked = blocked.filter((one) => one.step.context.process !== process);
    for (const timer of time.timers) if (timer.owner === process) time.timers.delete(timer);
    for (const one of own) await giveUp(one);
  }

  const dueOf = ({ at, owner }: Timer) => Math.max(at, (owner as Simulated | undefined)?.frozenUntil ?? 0);

  function dueTimers(): Timer[] {
    return [...time.timers].filter((timer) => dueOf(timer) <= time.now()).toSorted((a, b) => a.seq - b.seq);
  }

  /** To the next timer, thaw or due work, whichever comes first. */
  async function jump(): Promise<void> {
    const from = time.now();
    const timer = Math.min(...[...time.timers].map(dueOf), Number.POSITIVE_INFINITY);
    const thaw = Math.min(
      ...ready.flatMap(({ context: { process } }) => (process === undefined ? [] : [process.frozenUntil])),
      Number.POSITIVE_INFINITY,
    );
    const due = (await options.nextDue()) ?? Number.POSITIVE_INFINITY;
    // Work enqueued and not claimed (another row of its worker is before it, a clock is behind) is enqueued again.
    const work = Math.max(due + 1, wokenAt + ENQUEUED_AGAIN_MS);
    const next = Math.min(timer, thaw, work);
    if (next === Number.POSITIVE_INFINITY) throw new Error('nothing will ever happen again');
    time.advanceTo(Math.max(next, from));
    note(`time ${Math.round(time.now() - from)}`);
    if (work <= Math.min(timer, thaw)) {
      wokenAt = time.now();
      options.wake();
    }
  }

  async function run(done: () => boolean): Promise<void> {
    for (;;) {
      await quiet();
      if (done()) return;
      const timers = dueTimers();
      const steppable = ready.filter(({ context: { process } }) => canGo(process));
      const choices = timers.length + steppable.length;
      if (choices > 0) {
        const at = chance.int(0, choices - 1);
        time.advanceTo(time.now() + chance.int(0, 2));
        const timer = timers[at];
        if (timer !== undefined) {
          time.timers.delete(timer);
          note(`timer ${timer.seq}`);
          timer.run();
          continue;
        }
        const step = steppable[at - timers.length] as Step;
        ready.splice(ready.indexOf(step), 1);
        await take(step);
        continue;
      }
      await jump();
    }
  }

  return {
    time,
    within: (given, body) => storage.run(given, body),
    context,
    perform,
    released,
    forget,
    run,
    after(ms, body) {
      storage.run(world, () => void setTimeout(body, ms));
    },
    get steps() {
      return steps;
    },
    get waits() {
      return waits;
    },
    digest: () => hash.copy().digest('hex').slice(0, 16),
    schedule,
    stop: () => time.remove(),
  };
}
