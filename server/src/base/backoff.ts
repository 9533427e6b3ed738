/**
 * Back-off: how long to wait after a failure before the next try. Each failure in a row doubles the pause, up to a longest
 * one, so that what is away for long is not asked without end, and what was away for a moment is asked soon.
 *
 * Not here: whether there may be another try at all. Reads, due work and deliveries are tried again; what moves money is tried
 * again only by whoever has proved that it is not on its way (rails/payouts.ts).
 */
export interface Pauses {
  firstMs: number;
  longestMs: number;
}

/** @param failures in a row before this one: 0 after the first */
export const pauseAfter = (failures: number, { firstMs, longestMs }: Pauses): number =>
  Math.min(firstMs * 2 ** failures, longestMs);

/** Between three and five quarters of it, so that what failed together does not come back together. */
export const shaken = (ms: number): number => ms * (0.75 + Math.random() / 2);
