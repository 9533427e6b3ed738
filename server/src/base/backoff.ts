/**
 * Back-off: how long to wait after a failure before the next try. Each consecutive failure doubles the pause, up to a
 * maximum: a short outage is noticed quickly, and a long one is not polled needlessly.
 *
 * Not here: whether another try is allowed at all. Reads, jobs and webhook deliveries are retried; a call that moves money is
 * retried only by code that has proved the previous attempt is not under way (rails/payouts.ts).
 */
export interface Pauses {
  firstMs: number;
  longestMs: number;
}

/** @param failures number of earlier consecutive failures: 0 after the first one */
export const pauseAfter = (failures: number, { firstMs, longestMs }: Pauses): number =>
  Math.min(firstMs * 2 ** failures, longestMs);

/** 75 % to 125 % of `ms` at random, so that calls that failed together do not retry together. */
export const shaken = (ms: number): number => ms * (0.75 + Math.random() / 2);
