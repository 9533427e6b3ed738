/** Payouts: how long the engine waits for a rail's answer, and until it asks again about a payout. */
import { describeError } from '../base/log.ts';
import type { Payout } from './payouts.store.ts';

/** A rail that answers late, or throws against its contract, gives no information: the result is unknown. */
export async function within<T>(ms: number, call: () => Promise<T>): Promise<T | { outcome: 'unknown'; why: string }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ outcome: 'unknown'; why: string }>((resolve) => {
    timer = setTimeout(() => resolve({ outcome: 'unknown', why: `no answer within ${Math.round(ms)} ms` }), ms);
  });
  const answer = call().catch((error) => ({ outcome: 'unknown' as const, why: String(describeError(error).message) }));
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

const between = (low: number, value: number, high: number): number => Math.min(Math.max(value, low), high);

/**
 * A pause is half the time for which the outcome has been unknown, from a second up to a minute; five minutes once a case is
 * open.
 */
export function unknownPause(payout: Payout, now: Date): number {
  if (payout.alarmedAt !== null) return 5 * 60_000;
  return between(1_000, (now.getTime() - (payout.unknownSince ?? now).getTime()) / 2, 60_000);
}

/** The statement reports settlement. We poll only to notice a rejection after acceptance. */
export function submittedPause(submittedAt: Date | null, now: Date): number {
  return between(30_000, (now.getTime() - (submittedAt ?? now).getTime()) / 4, 15 * 60_000);
}
