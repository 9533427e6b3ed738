/**
 * Clock: where the time comes from.
 *
 * Due times, expiries and what is written into rows are asked of a clock that is passed in, so that tests and the
 * sandbox can move it. Signatures, leases and chain heads stay on real time: they are about the world, not about us.
 */
export interface Clock {
  now(): Date;
  /**
   * A moment of the outside, such as a block's time, as this clock showed it then: so that it is compared with what this clock
   * has written into rows. Absent where the clock is the outside's own.
   */
  at?(outside: Date): Date;
}

/** The time of something outside, on the scale of our clock. */
export const onClock = (clock: Clock, outside: Date): Date => clock.at?.(outside) ?? outside;

export const systemClock: Clock = { now: () => new Date() };

/** A clock that runs with real time plus an offset one can move forward. */
export function movableClock(): Clock & { advance(ms: number): void } {
  let offsetMs = 0;
  const moves: { since: number; offsetMs: number }[] = [];
  return {
    now: () => new Date(Date.now() + offsetMs),
    // Blocks tell whole seconds: one of the second in which the clock was moved counts as after it.
    at: (outside) => later(outside, moves.findLast(({ since }) => since < outside.getTime() + 1000)?.offsetMs ?? 0),
    advance(ms) {
      offsetMs += ms;
      moves.push({ since: Date.now(), offsetMs });
    },
  };
}

export const later = (from: Date, ms: number): Date => new Date(from.getTime() + ms);

/** A day as `YYYY-MM-DD`, of no time before ours. Of the 31st of February JavaScript makes the 3rd of March, and PostgreSQL an error. */
export function isDay(text: string): boolean {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return date !== undefined && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && text >= '1990';
}
