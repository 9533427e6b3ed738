/**
 * Numbers for those who run the server: read only, and each answered from an index, a few rows or PostgreSQL's own
 * statistics, so that asking often costs little however large the tables are.
 */
import type { Tx } from '../base/db.ts';

/** With the pauses that double, so many failures in a row have taken about eight seconds: no hiccup any more. */
const FAILING_ATTEMPTS = 5;

export const sql = {
  ping: 'select 1 as one',
  // What a worker has in hand is not waiting.
  waiting: `select kind, count(*) filter (where dead_at is null and due_at <= $1) as due, count(dead_at) as dead,
      count(*) filter (where dead_at is null and attempts >= ${FAILING_ATTEMPTS}) as failing,
      min(due_at) filter (where dead_at is null and due_at <= $1) as oldest
    from work where leased_until is null or leased_until < clock_timestamp() group by kind order by kind`,
  newestEntry: 'select coalesce(max(seq), 0) as newest from entries',
  // Counted where PostgreSQL has not yet estimated it, which it has not while the table is small.
  rows: `select c.relname as name, case c.relname when 'quotes'
        then case when c.reltuples < 0 then (select count(*) from quotes) else c.reltuples::bigint end
        else case when c.reltuples < 0 then (select count(*) from orders) else c.reltuples::bigint end end as count
    from pg_class c where c.oid in ('quotes'::regclass, 'orders'::regclass)`,
} as const;

export interface WaitingRow {
  kind: string;
  due: bigint;
  dead: bigint;
  /** Failed again and again, and waiting for the next try: not due, and yet not well. */
  failing: bigint;
  oldest: Date | null;
}

export const ping = (tx: Tx) => tx.row<{ one: number }>(sql.ping);
export const waiting = (tx: Tx, now: Date) => tx.rows<WaitingRow>(sql.waiting, [now]);
export const newestEntry = (tx: Tx) => tx.row<{ newest: bigint }>(sql.newestEntry);
export const rowCounts = (tx: Tx) => tx.rows<{ name: string; count: bigint }>(sql.rows);
