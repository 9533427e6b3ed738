/**
 * Rate limit: so many requests a minute per key, as a bucket that refills evenly. What the key is, a protocol says: an API
 * key whose signature was right, or a network address.
 *
 * Counted in this process's memory: with several API processes behind a balancer a key gets the limit of each.
 */
export interface Allowance {
  allowed: boolean;
  /** RateLimit headers, and Retry-After where refused. */
  headers: Record<string, string>;
  retryAfterMs: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** More keys than any installation has in use at once; the least recently used goes first. */
const MAX_KEYS = 10_000;

export function openLimiter(now: () => number = () => performance.now()) {
  const buckets = new Map<string, Bucket>();
  return {
    take(key: string, perMinute: number): Allowance {
      const at = now();
      const before = buckets.get(key) ?? { tokens: perMinute, at };
      const tokens = Math.min(perMinute, before.tokens + ((at - before.at) * perMinute) / 60_000);
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.delete(key);
      buckets.set(key, { tokens: left, at });
      if (buckets.size > MAX_KEYS) {
        const [oldest] = buckets.keys();
        buckets.delete(oldest ?? key);
      }
      const untilOneMs = allowed ? 0 : ((1 - tokens) * 60_000) / perMinute;
      const untilFullS = Math.ceil(((perMinute - left) * 60) / perMinute);
      return {
        allowed,
        retryAfterMs: untilOneMs,
        headers: {
          'ratelimit-limit': String(perMinute),
          'ratelimit-remaining': String(Math.floor(left)),
          'ratelimit-reset': String(untilFullS),
        },
      };
    },
  };
}
