/**
 * Database clock: one time shared by all servers of an installation, continued by this process's own timer.
 *
 * It reads the time from PostgreSQL and counts on with the monotonic timer until it reads again. So a step of this machine's
 * clock, forward or back, moves no due time, and a server whose clock is wrong still agrees with the others. While the
 * database is unreachable it keeps counting.
 *
 * The error of a reading is at most its round trip. Differences up to `TOLERATED_MS` are ignored, so that time does not jitter by
 * a millisecond; a larger difference is adopted at once, also backwards.
 */
import type { Clock } from './clock.ts';
import type { Database, Tx } from './db.ts';

const LOOK_EVERY_MS = 10_000;
const TOLERATED_MS = 50;

export interface DatabaseClock extends Clock {
  stop(): void;
}

/** PostgreSQL's time at this statement. */
export async function databaseNow(tx: Tx): Promise<Date> {
  const row = await tx.row<{ at: Date }>('select clock_timestamp() as at');
  return row?.at ?? new Date();
}

/** A clock that shows `now` at this moment and continues with the monotonic timer. */
export function countingFrom(now: Date): Clock {
  const offsetMs = now.getTime() - performance.now();
  return { now: () => new Date(offsetMs + performance.now()) };
}

/** How far this machine's clock is ahead of the database's, in milliseconds; negative when it is behind. */
export async function clockAheadMs(tx: Tx): Promise<number> {
  const before = Date.now();
  const there = await databaseNow(tx);
  return Math.round((before + Date.now()) / 2 - there.getTime());
}

/** @throws the database's error if the first reading fails */
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
      .catch(() => {}) // the database is unreachable: work that needs it waits, and the clock keeps counting
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
