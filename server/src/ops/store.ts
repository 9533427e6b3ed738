/**
 * Numbers for operators: each read from an index, a few rows or PostgreSQL's own statistics, so that frequent reads cost
 * little however large the tables are. The only row written is the one that proves that writing works.
 */
import type { Tx } from '../base/db.ts';

/** With doubling pauses, this many failures take about eight seconds: more than a hiccup. */
const FAILING_ATTEMPTS = 5;

export const sql = {
  ping: 'select 1 as one',
  // Jobs that a worker is running are not waiting.
  waiting: `select kind, count(*) filter (where dead_at is null and due_at <= $1) as due, count(dead_at) as dead,
      count(*) filter (where dead_at is null and attempts >= ${FAILING_ATTEMPTS}) as failing,
      min(due_at) filter (where dead_at is null and due_at <= $1) as oldest,
      count(*) filter (where dead_at is null and slept_at > $1 + interval '3 s') as asleep
    from jobs where leased_until is null or leased_until < clock_timestamp() group by kind order by kind`,
  // Counted exactly while PostgreSQL has no estimate yet, as for a small table.
  rows: `select c.relname as name, case c.relname when 'quotes'
        then case when c.reltuples < 0 then (select count(*) from quotes) else c.reltuples::bigint end
        else case when c.reltuples < 0 then (select count(*) from orders) else c.reltuples::bigint end end as count
    from pg_class c where c.oid in ('quotes'::regclass, 'orders'::regclass)`,
} as const;

export interface WaitingRow {
  kind: string;
  due: bigint;
  dead: bigint;
  /** Jobs that failed repeatedly and wait for the next attempt: not due, and yet unhealthy. */
  failing: bigint;
  oldest: Date | null;
  /** Jobs whose waiting time begins in the future, because the clock that wrote it was ahead. Workers correct it. */
  asleep: bigint;
}

/** Probe rows take a page each: eight megabytes. */
const MOST_PROBE_BYTES = 8 * 1024 * 1024;
/** With the table's fill factor, a second one does not fit into the same page. */
const FILLER = 'x'.repeat(1_000);

/** Inserts a row that makes the file grow. @returns whether there are so many rows that they should be deleted */
export async function probeWrite(tx: Tx): Promise<boolean> {
  await tx.run('set local statement_timeout = 5000');
  await tx.run('insert into write_probe (filler) values ($1)', [FILLER]);
  const row = await tx.row<{ bytes: bigint }>(`select pg_relation_size('write_probe') as bytes`);
  return (row?.bytes ?? 0n) > MOST_PROBE_BYTES;
}

/**
 * Deletes the probe rows. Gives up at once while another session, such as a dump, reads the table; the next call tries again.
 */
export async function emptyProbe(tx: Tx): Promise<void> {
  await tx.run('set local lock_timeout = 100');
  await tx.run('truncate write_probe');
}

export const ping = (tx: Tx) => tx.row<{ one: number }>(sql.ping);
export const waiting = (tx: Tx, now: Date) => tx.rows<WaitingRow>(sql.waiting, [now]);
export const rowCounts = (tx: Tx) => tx.rows<{ name: string; count: bigint }>(sql.rows);
