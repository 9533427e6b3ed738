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
/** For a limit of nothing, where no time would be right. */
const NEVER_ASK_AGAIN_MS = 3_600_000;

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
      // A key that may ask nothing at all is asked to come back in a while: a person may have changed that by then.
      const untilOneMs = allowed ? 0 : perMinute > 0 ? ((1 - tokens) * 60_000) / perMinute : NEVER_ASK_AGAIN_MS;
      const untilFullS = perMinute > 0 ? Math.ceil(((perMinute - left) * 60) / perMinute) : NEVER_ASK_AGAIN_MS / 1000;
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
