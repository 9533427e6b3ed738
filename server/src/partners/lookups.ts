/**
 * Key look-ups: bounds the database work that strangers can cause by presenting unknown keys.
 *
 * A key has to be looked up before its partner is known, so anyone can cause look-ups, and they run on the connections that
 * workers use. So one statement runs at a time and covers all waiting keys; strangers occupy at most one connection. Keys found
 * here before go first and are always accepted. A bounded number of others wait, each once; keys that were not found are cached
 * for a while, in a separate cache that cannot evict real ones.
 *
 * Not here: how many look-ups one network address may cause (decided where requests are read, through `mayLookUp`).
 */
import { Unavailable } from '../base/errors.ts';

export interface Lookups<V> {
  /**
   * @param mayLookUp called before the database is read for a key that was never found here; throws to refuse
   * @throws Unavailable when too many others are waiting
   */
  find(key: string, mayLookUp?: () => void): Promise<V | undefined>;
}

/** Keys per statement. */
const BATCH = 200;
/** Maximum number of waiting keys never found here. */
const MOST_WAITING = 1_000;
const UNKNOWN_FOR_MS = 3_000;
/** Maximum number of cached unknown keys, and of cached known keys. */
const MOST_REMEMBERED = 10_000;

interface Waiting<V> {
  promise: Promise<V | undefined>;
  tell(found: V | undefined): void;
  fail(error: unknown): void;
}

/** @param read looks up to 200 keys up in one statement; unknown keys are omitted */
export function openLookups<V>(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>): Lookups<V> {
  const foundBefore = new Set<string>();
  const unknownUntil = new Map<string, number>();
  const first = new Map<string, Waiting<V>>();
  const others = new Map<string, Waiting<V>>();
  let isReading = false;

  async function readAll(): Promise<void> {
    while (first.size + others.size > 0) {
      const batch = [...first, ...others].slice(0, BATCH);
      for (const [key] of batch) for (const queue of [first, others]) queue.delete(key);
      try {
        const found = await read(batch.map(([key]) => key));
        for (const [key, { tell }] of batch) {
          note(key, found.has(key));
          tell(found.get(key));
        }
      } catch (error) {
        for (const [, { fail }] of batch) fail(error);
      }
    }
    isReading = false;
  }

  function note(key: string, isFound: boolean): void {
    foundBefore.delete(key);
    unknownUntil.delete(key);
    if (isFound) foundBefore.add(key);
    else unknownUntil.set(key, performance.now() + UNKNOWN_FOR_MS);
    for (const memory of [foundBefore, unknownUntil])
      if (memory.size > MOST_REMEMBERED) memory.delete(memory.keys().next().value ?? key);
  }

  return {
    find(key, mayLookUp) {
      const waiting = first.get(key) ?? others.get(key);
      if (waiting !== undefined) return waiting.promise;
      const isKnown = foundBefore.has(key);
      if (!isKnown) {
        if ((unknownUntil.get(key) ?? 0) > performance.now()) return Promise.resolve(undefined);
        mayLookUp?.();
        if (others.size >= MOST_WAITING)
          throw new Unavailable('keys', 'too many unknown keys are being looked up', { retryAfterMs: 1_000 });
      }
      const { promise, resolve: tell, reject: fail } = Promise.withResolvers<V | undefined>();
      (isKnown ? first : others).set(key, { promise, tell, fail });
      if (!isReading) {
        isReading = true;
        // Runs after the current event-loop turn, so that keys that arrived together are read in one statement.
        setImmediate(() => void readAll());
      }
      return promise;
    },
  };
}
