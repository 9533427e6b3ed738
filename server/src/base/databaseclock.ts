/**
 * Database clock: the one time that all servers of an installation share, carried on by this process's own timer.
 *
 * It asks PostgreSQL what time it is, and from there counts by the monotonic timer until it asks again. So a step of this
 * machine's clock, ahead or back, moves no due time, and a server whose clock is wrong agrees with the others. Where the
 * database is away it goes on counting.
 *
 * An answer is uncertain by its round trip. A difference within `TOLERATED_MS` is taken for that, so that time does not jump
 * back and forth by a millisecond; a larger one is followed at once, back too.
 */
import type { Clock } from './clock.ts';
import type { Database, Tx } from './db.ts';

const LOOK_EVERY_MS = 2_000;
const TOLERATED_MS = 50;

export interface DatabaseClock extends Clock {
  stop(): void;
}

/** What time PostgreSQL says it is at this statement. */
export async function databaseNow(tx: Tx): Promise<Date> {
  const row = await tx.row<{ at: Date }>('select clock_timestamp() as at');
  return row?.at ?? new Date();
}

/** A clock that shows `now` at this moment and goes on by the monotonic timer. */
export function countingFrom(now: Date): Clock {
  const offsetMs = now.getTime() - performance.now();
  return { now: () => new Date(offsetMs + performance.now()) };
}

/** How far this machine's clock is ahead of the database's, in milliseconds; below zero where it is behind. */
export async function clockAheadMs(tx: Tx): Promise<number> {
  const before = Date.now();
  const there = await databaseNow(tx);
  return Math.round((before + Date.now()) / 2 - there.getTime());
}

/** @throws what the database throws, where it does not answer the first time */
export async function openDatabaseClock(db: Database, everyMs = LOOK_EVERY_MS): Promise<DatabaseClock> {
  const look = async (): Promise<number> => {
    const asked = performance.now();
    const there = await db.asSystem(databaseNow);
    return there.getTime() - (asked + performance.now()) / 2;
  };
  let offsetMs = await look();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .then((seenMs) => {
        if (Math.abs(seenMs - offsetMs) > TOLERATED_MS) offsetMs = seenMs;
      })
      .catch(() => {}) // the database is away: what needs it waits, and this goes on counting
      .finally(() => {
        isLooking = false;
      });
  }, everyMs);
  timer.unref();
  return {
    now: () => new Date(offsetMs + performance.now()),
    stop: () => clearInterval(timer),
  };
}
