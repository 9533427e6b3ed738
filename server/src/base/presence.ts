/**
 * Presence of workers, read by others: whether any process runs jobs on this database, and since when none does.
 *
 * Every worker holds an advisory lock for as long as it lives and its loop runs (jobs.store.ts). PostgreSQL frees the lock when
 * the process is killed, and ends its connection when it is frozen for twenty seconds. So no worker leaves a false trace, and
 * none has to report anything more often than it does.
 *
 * Not here: whether the work is done in time, which the due times of jobs show.
 */
import type { Database, Tx } from './db.ts';
import { PRESENT } from './jobs.store.ts';

/**
 * The number of workers that hold their lock. For a moment it may be one too many, while a worker takes the lock of a dead one
 * to find out that it is dead; it is never too few.
 */
export async function workersAlive(tx: Tx): Promise<number> {
  const row = await tx.row<{ alive: bigint }>(`select count(distinct objid) as alive from pg_locks where ${PRESENT}`);
  return Number(row?.alive ?? 0n);
}

const LOOK_EVERY_MS = 5_000;

export interface Workforce {
  /** Milliseconds since a worker was last seen alive, or since this process began to look. */
  unseenMs(): number;
  /** Looks now. @returns how many are alive */
  look(): Promise<number>;
  stop(): void;
}

/** Polls for workers every few seconds: with rare polls, a worker that restarts looks the same as one that is missing. */
export function watchWorkers(db: Pick<Database, 'asSystem'>, everyMs = LOOK_EVERY_MS): Workforce {
  let seenAt = performance.now();
  const look = async (): Promise<number> => {
    const alive = await db.asSystem(workersAlive);
    if (alive > 0) seenAt = performance.now();
    return alive;
  };
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(() => {}) // the database is unreachable, which has a check of its own
      .finally(() => {
        isLooking = false;
      });
  }, everyMs);
  timer.unref();
  return { unseenMs: () => performance.now() - seenAt, look, stop: () => clearInterval(timer) };
}
