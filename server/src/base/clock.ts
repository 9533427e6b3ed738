/**
 * Clock: the source of time.
 *
 * Due times, expiries and stored timestamps come from a clock that is passed as a parameter, so that tests and the sandbox can
 * move it. Signatures, leases and chain heads use real time, because they depend on the outside world.
 */
export interface Clock {
  now(): Date;
  /**
   * Converts an outside time, such as a block's, to the time that this clock showed at that moment, so that it can be compared
   * with stored timestamps. Absent if this clock shows real time.
   */
  at?(outside: Date): Date;
}

/** An outside time, converted to our clock. */
export const onClock = (clock: Clock, outside: Date): Date => clock.at?.(outside) ?? outside;

export const systemClock: Clock = { now: () => new Date() };

/** A clock that follows real time plus an offset that can be increased. */
export function movableClock(): Clock & { advance(ms: number): void } {
  let offsetMs = 0;
  const moves: { since: number; offsetMs: number }[] = [];
  return {
    now: () => new Date(Date.now() + offsetMs),
    // Block times are whole seconds: a block of the second in which the clock was moved counts as after the move.
    at: (outside) => later(outside, moves.findLast(({ since }) => since < outside.getTime() + 1000)?.offsetMs ?? 0),
    advance(ms) {
      offsetMs += ms;
      moves.push({ since: Date.now(), offsetMs });
    },
  };
}

export const later = (from: Date, ms: number): Date => new Date(from.getTime() + ms);

/**
 * Whether the text is a calendar day, `YYYY-MM-DD`, without a time. JavaScript reads 31 February as 3 March, and PostgreSQL
 * throws an error.
 */
export function isCalendarDay(text: string): boolean {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return date !== undefined && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** The day of a time, in UTC: `YYYY-MM-DD`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Whether the text is a day on which money may have moved. */
export const isDay = (text: string): boolean => isCalendarDay(text) && text >= '1990';
