/**
 * Time that stands still until it is moved, for this whole process: `Date`, `setTimeout`, `performance.now`. Random numbers, too,
 * follow from the seed while it is in place.
 *
 * The real ones are kept here for the code that has to wait for PostgreSQL. PostgreSQL's own time is in database.ts.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Chance } from './chance.ts';

const real = {
  Date,
  setTimeout,
  clearTimeout,
  now: performance.now.bind(performance),
  random: Math.random,
  randomInt: crypto.randomInt,
  randomBytes: crypto.randomBytes,
  randomUUID: crypto.randomUUID,
};

export const realSleep = (ms: number): Promise<void> => new Promise((wake) => real.setTimeout(wake, ms));
export const realNow = (): number => real.now();
/** Runs everything that can run without new input from outside. */
export const quiet = (): Promise<void> => new Promise((wake) => setImmediate(() => setImmediate(wake)));

export interface Timer {
  at: number;
  seq: number;
  /** Runs in the context it was set in. */
  run: () => void;
  owner: unknown;
}

export interface Time {
  now(): number;
  advanceTo(ms: number): void;
  timers: Set<Timer>;
  remove(): void;
}

/** The start time of every run: rows of the same seed have the same content. */
const EPOCH = Date.UTC(2027, 0, 4, 9);
/** Caches of modules expire between two runs. */
const BETWEEN_RUNS_MS = 100 * 86_400_000;
let runs = 0;

/** @param ownerOf the owner of a timer that is set now */
export function installTime(chance: Chance, ownerOf: () => unknown): Time {
  let now = EPOCH;
  let seq = 0;
  runs += 1;
  const sinceStart = runs * BETWEEN_RUNS_MS;
  const timers = new Set<Timer>();

  class VirtualDate extends real.Date {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [now] : given) as [number]));
    }
    static override now(): number {
      return Math.floor(now);
    }
  }
  const set = (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    seq += 1;
    const within = AsyncLocalStorage.snapshot();
    const at = now + Math.max(0, Number.isFinite(ms) ? ms : 0);
    const timer = { at, seq, owner: ownerOf(), run: () => within(() => fn(...args)) };
    timers.add(timer);
    return { timer, ref: () => undefined, unref: () => undefined, hasRef: () => true };
  };
  const clear = (handle: { timer?: Timer } | undefined) => {
    if (handle?.timer !== undefined) timers.delete(handle.timer);
  };
  Object.assign(globalThis, { Date: VirtualDate, setTimeout: set, clearTimeout: clear });
  performance.now = () => now - EPOCH + sinceStart;
  const restoreRandomness = seedRandomness(chance);

  return {
    now: () => now,
    advanceTo(ms) {
      if (ms > now) now = ms;
    },
    timers,
    remove() {
      Object.assign(globalThis, { Date: real.Date, setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
      performance.now = real.now;
      restoreRandomness();
    },
  };
}

/** Random numbers of this process follow from the seed until the returned function is called. */
export function seedRandomness(chance: Chance): () => void {
  const bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => chance.int(0, 255)));
  Math.random = chance.next;
  Object.assign(crypto, {
    randomInt: (low: number, high?: number) =>
      high === undefined ? chance.int(0, low - 1) : chance.int(low, high - 1),
    randomBytes: bytes,
    randomUUID: () => {
      const hex = bytes(16).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
  });
  syncBuiltinESMExports();
  return () => {
    Math.random = real.random;
    const { randomInt, randomBytes, randomUUID } = real;
    Object.assign(crypto, { randomInt, randomBytes, randomUUID });
    syncBuiltinESMExports();
  };
}
