/**
 * Remember: a cache for a few seconds, with a bounded number of keys.
 *
 * Rows that people change (a suspension, a fee, a limit) must take effect without a restart, so nothing is cached longer than
 * `forMs`, and the oldest entry is evicted beyond `most`. `undefined` is not cached: a stranger's made-up keys must not evict
 * real ones.
 *
 * Only results are shared, never a read under way: it belongs to another transaction, which may still fail.
 */
export interface Memory<V> {
  get(key: string, read: () => Promise<V>): Promise<V>;
  forget(): void;
}

const memories: Pick<Memory<unknown>, 'forget'>[] = [];

/** Forgets everything, for a process that goes on with another database: that of the next file of tests. */
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
