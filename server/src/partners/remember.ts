/**
 * Remember: a cache for a few seconds, with a bounded number of keys.
 *
 * Rows that people change (a suspension, a fee, a limit) must take effect without a restart, so nothing is cached longer than
 * `forMs`, and the oldest entry is evicted beyond `most`. `undefined` is not cached: unknown keys that a stranger sends must
 * not evict real ones.
 *
 * Only completed results are shared, never a pending read, because that belongs to another transaction, which may still fail.
 */
export interface Memory<V> {
  get(key: string, read: () => Promise<V>): Promise<V>;
  forget(): void;
}

const memories: Pick<Memory<unknown>, 'forget'>[] = [];

/** Empties all caches, for a process that continues with another database, as tests do between files. */
export function forgetAll(): void {
  for (const memory of memories) memory.forget();
}

export function remember<V>({ forMs, most }: { forMs: number; most: number }): Memory<V> {
  const kept = new Map<string, { until: number; value: V }>();
  const memory: Memory<V> = {
    async get(key, read) {
      const found = kept.get(key);
      if (found !== undefined && found.until > performance.now()) return found.value;
      const value = await read();
      kept.delete(key);
      if (value === undefined) return value;
      kept.set(key, { until: performance.now() + forMs, value });
      if (kept.size > most) kept.delete(kept.keys().next().value ?? key);
      return value;
    },
    forget: () => kept.clear(),
  };
  memories.push(memory);
  return memory;
}
