/**
 * Remember: what was read a moment ago, for a few seconds and a bounded number of keys.
 *
 * Rows that change by hand (a suspension, a fee, a limit) must act without a restart, so nothing is kept longer than
 * `forMs`, and the oldest goes when `most` are kept. `undefined` is not kept: what a stranger made up must not push out
 * what is real.
 *
 * Only answers are shared, never a read under way: it belongs to somebody's transaction, which may yet fail.
 */
export interface Memory<V> {
  get(key: string, read: () => Promise<V>): Promise<V>;
  forget(): void;
}

export function remember<V>({ forMs, most }: { forMs: number; most: number }): Memory<V> {
  const kept = new Map<string, { until: number; value: V }>();
  return {
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
}
