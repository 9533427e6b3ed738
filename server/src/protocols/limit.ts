/**
 * Rate limit: requests per minute per key, as a bucket that refills evenly. The protocol chooses the key: an API key with a
 * valid signature, or a network.
 *
 * Counted in this process's memory: with several API processes behind a balancer a key gets the limit of each.
 */
import { Refusal } from '../base/errors.ts';

export interface Allowance {
  allowed: boolean;
  /** RateLimit headers, and Retry-After on a refusal. */
  headers: Record<string, string>;
  retryAfterMs: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** More keys than any installation uses at once; beyond it the least recently used key is evicted. */
const MAX_KEYS = 10_000;
/** Retry-After for a limit of zero, for which no time would be right. */
const NEVER_ASK_AGAIN_MS = 3_600_000;

export function openLimiter(now: () => number = () => performance.now()) {
  const buckets = new Map<string, Bucket>();
  return {
    /** @param most burst after a pause; one minute's amount by default */
    take(key: string, perMinute: number, most = perMinute): Allowance {
      const at = now();
      const before = buckets.get(key) ?? { tokens: most, at };
      const tokens = Math.min(most, before.tokens + ((at - before.at) * perMinute) / 60_000);
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.delete(key);
      buckets.set(key, { tokens: left, at });
      if (buckets.size > MAX_KEYS) {
        const [oldest] = buckets.keys();
        buckets.delete(oldest ?? key);
      }
      // With a limit of zero the caller is told to retry later, because an operator may have changed the limit by then.
      const untilOneMs = allowed ? 0 : perMinute > 0 ? ((1 - tokens) * 60_000) / perMinute : NEVER_ASK_AGAIN_MS;
      const untilFullS = perMinute > 0 ? Math.ceil(((most - left) * 60) / perMinute) : NEVER_ASK_AGAIN_MS / 1000;
      return {
        allowed,
        retryAfterMs: untilOneMs,
        headers: {
          'ratelimit-limit': String(most),
          'ratelimit-remaining': String(Math.floor(left)),
          'ratelimit-reset': String(untilFullS),
        },
      };
    },
  };
}

/** Unknown keys that a network may present per minute. A partner has a handful of keys. */
const UNKNOWN_KEYS_PER_MINUTE = 60;

export interface Strangers {
  /** @throws Refusal 'too_many_requests' */
  mayLookUp(address: string): void;
}

/** Nothing is verified yet, so requests are counted by network. In the sandbox there is no limit. */
export function openStrangers({ isLimited }: { isLimited: boolean }): Strangers {
  const limiter = openLimiter();
  return {
    mayLookUp(address) {
      if (!isLimited) return;
      const { allowed, retryAfterMs } = limiter.take(networkOf(address), UNKNOWN_KEYS_PER_MINUTE);
      if (!allowed) throw new Refusal('too_many_requests', { retryAfterMs });
    },
  };
}

/** The network of an address: the holder of one IPv6 address usually has its whole 2^64 block. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [ahead = '', behind] = address.split('::');
  const front = ahead === '' ? [] : ahead.split(':');
  const back = behind === undefined || behind === '' ? [] : behind.split(':');
  const zeros = behind === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  return [...front, ...Array<string>(zeros).fill('0'), ...back].slice(0, 4).join(':');
}
