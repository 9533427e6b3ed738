/**
 * Remember: a cache for a few seconds, with a bounded number of keys, separate for each database that the process has open.
 *
 * Rows that people change (a suspension, a fee, a limit) must take effect without a restart, so nothing is cached longer than
 * `forMs`, and the oldest entry is evicted beyond `most`. `undefined` is not cached: unknown keys that a stranger sends must
 * not evict real ones.
 *
 * Only completed results are shared, never a pending read, because that belongs to another transaction, which may still fail.
 */
import type { Tx } from '../base/db.ts';

export interface Memory<V> {
  /** @param of a transaction on the database that `read` reads */
  get(of: Pick<Tx, 'cacheKey'>, key: string, read: () => Promise<V>): Promise<V>;
  forget(of: Pick<Tx, 'cacheKey'>): void;
}

export function remember<V>({ forMs, most }: { forMs: number; most: number }): Memory<V> {
  const byDatabase = new WeakMap<object, Map<string, { until: number; value: V }>>();
  return {
    async get({ cacheKey }, key, read) {
      const kept = byDatabase.get(cacheKey) ?? new Map<string, { until: number; value: V }>();
      byDatabase.set(cacheKey, kept);
      const found = kept.get(key);
      if (found !== undefined && found.until > performance.now()) return found.value;
      const value = await read();
      kept.delete(key);
      if (value === undefined) return value;
      kept.set(key, { until: performance.now() + forMs, value });
      if (kept.size > most) kept.delete(kept.keys().next().value ?? key);
      return value;
    },
    forget: ({ cacheKey }) => void byDatabase.delete(cacheKey),
  };
}
