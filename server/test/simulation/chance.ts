/** Chance: numbers that look random and follow from a seed. */

export interface Chance {
  /** From 0 up to, and without, 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  /** Whether something of this likelihood happens. */
  happens(rate: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** Mulberry32: small, quick, and good enough to choose who goes next. */
export function chanceOf(seed: number): Chance {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    happens: (rate) => rate > 0 && next() < rate,
    pick: (from) => {
      if (from.length === 0) throw new Error('there is nothing to pick from');
      return from[int(0, from.length - 1)] as (typeof from)[number];
    },
  };
}
