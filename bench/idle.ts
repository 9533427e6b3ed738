/**
 * Cost of an idle server: transactions, rows and WAL of its whole PostgreSQL per second, including the sandbox's own bank, and
 * CPU time of its processes.
 *
 * Counted by PostgreSQL's statistics over a time without requests. A backend reports its counts up to REPORTED_MS late, so the
 * figures of a short time are off by that much at either end. WAL is a difference of positions, which is exact at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { cpuOf } from './cpu.ts';

export interface Idle {
  seconds: number;
  /** All counts are per second. */
  transactions: number;
  rowsInserted: number;
  rowsUpdated: number;
  rowsDeleted: number;
  walBytes: number;
  /** Percent of one core. */
  cpu: number;
}

export const IDLE_GOALS = { transactions: 5, rowsUpdated: 2, walBytes: 2_000, cpu: 1 } as const;

export type Counts = Omit<Idle, 'seconds' | 'cpu'>;

/**
 * After this time without work a backend has reported all its counts: one that becomes idle within a second of its last report
 * waits for another ten seconds (PGSTAT_IDLE_INTERVAL of PostgreSQL 15 and later).
 */
export const REPORTED_MS = 11_000;

/** @returns the counts, and `at`: the database's time */
export async function countsOf(client: pg.Client): Promise<Counts & { at: Date }> {
  const { rows } = await client.query(
    `select xact_commit + xact_rollback as transactions, tup_inserted as "rowsInserted", tup_updated as "rowsUpdated",
            tup_deleted as "rowsDeleted", pg_current_wal_insert_lsn() - '0/0'::pg_lsn as "walBytes"
       from pg_stat_database where datname = current_database()`,
  );
  const { rows: now } = await client.query<{ at: Date }>('select now() as at');
  const numbers = Object.entries(rows[0]).map(([name, value]) => [name, Number(value)]);
  return { ...(Object.fromEntries(numbers) as Counts), at: now[0]?.at ?? new Date() };
}

/**
 * @param server.pids  pids of the server; its PostgreSQL is a descendant
 * @param how.settleMs time to wait first, so that work left by the start has finished
 */
export async function measureIdle(
  { adminUrl, pids }: { adminUrl: string; pids: readonly number[] },
  { settleMs, ms }: { settleMs: number; ms: number },
): Promise<Idle> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  try {
    await sleep(settleMs);
    const [before, cpuBefore, began] = [await countsOf(client), cpuOf(pids), performance.now()];
    await sleep(ms);
    const [after, cpuAfter, seconds] = [await countsOf(client), cpuOf(pids), (performance.now() - began) / 1_000];
    const rate = (name: keyof Counts) => (after[name] - before[name]) / seconds;
    return {
      seconds,
      transactions: rate('transactions'),
      rowsInserted: rate('rowsInserted'),
      rowsUpdated: rate('rowsUpdated'),
      rowsDeleted: rate('rowsDeleted'),
      walBytes: rate('walBytes'),
      cpu: (cpuAfter - cpuBefore) / seconds / 10_000,
    };
  } finally {
    await client.end();
  }
}

export function idleLine({
  seconds,
  transactions,
  rowsUpdated,
  rowsInserted,
  rowsDeleted,
  walBytes,
  cpu,
}: Idle): string {
  const goals = IDLE_GOALS;
  return [
    `idle for ${seconds.toFixed(0)} s, per second: ${transactions.toFixed(1)} transactions (goal ${goals.transactions})`,
    `${rowsUpdated.toFixed(1)} row updates (goal ${goals.rowsUpdated}), ${rowsInserted.toFixed(1)} inserts, ${rowsDeleted.toFixed(1)} deletes`,
    `${(walBytes / 1_000).toFixed(1)} kB of WAL (goal ${goals.walBytes / 1_000})`,
    `${cpu.toFixed(1)} % of a core (goal ${goals.cpu})`,
  ].join(', ');
}
