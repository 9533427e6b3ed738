/**
 * Balances of the custody accounts over time, for charts: what each wallet had at several instants, according to the books.
 *
 * They are the sums of the daily totals before the day of an instant, and of that day's own entries (daily.ts). A balance at an
 * instant counts the entries before that instant.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { startOfDay, transfersOf, uncounted } from './daily.ts';
import { longReport } from './reports.ts';

export interface WalletAt {
  at: Date;
  rail: string;
  wallet: string;
  asset: AssetCode;
  units: bigint;
}

/**
 * @param input `at` in ascending order; `asset` limits the accounts to one asset
 * @returns one row per instant and wallet, wallets by rail, name and asset; a wallet that never had anything has none
 */
export async function custodyAt(
  tx: Tx,
  input: { at: readonly Date[]; asset?: AssetCode | undefined },
): Promise<WalletAt[]> {
  await longReport(tx);
  return await tx.rows<WalletAt>(
    `with own as materialized (
            select id, code, split_part(code, ':', 2) as rail, split_part(code, ':', 3) as wallet, asset
              from accounts where kind = 'custody' and (debits <> 0 or credits <> 0) and ($2::text is null or asset = $2)),
          points as (select p.at, p.n, p.day from unnest($1::timestamptz[], $3::timestamptz[]) with ordinality as p (at, day, n)),
          lacking as materialized (${uncounted('(select max(at) from points)')}),
          -- Of days before that of an instant, and of entries before that day which no total counts yet: the number of the
          -- last instant that they do not count for.
          earlier as (
            select o.id, width_bucket(d.day::timestamp at time zone 'UTC', $3::timestamptz[]) as n, d.debits - d.credits as units
              from own o join daily_totals d on d.account = o.code
            union all
            select o.id, width_bucket(i.at, $3::timestamptz[]), case when t.debit = o.id then t.units else -t.units end
              from ${transfersOf('lacking')} join own o on o.id in (t.debit, t.credit)
             where t.step in ('post', 'settle')),
          -- Computed once, and not for each wallet and instant.
          stored as materialized (select id, n, sum(units) as units from earlier group by 1, 2),
          -- The entries of each day up to its last instant, once: the number of the first instant that they count for.
          moved as materialized (
            select i.day, width_bucket(i.at, $1::timestamptz[]) + 1 as n, t.debit, t.credit, t.units
              from ${transfersOf(`(
                select d.day, e.id, e.at from (select day, max(at) as upto from points group by day) d cross join lateral (
                  select id, at from entries where at >= d.day and at < d.upto order by at offset 0) e)`)}
             where t.step in ('post', 'settle')),
          -- Each side on its own: a join by either side would compare each transfer with each wallet.
          today as materialized (
            select o.id, m.day, m.n, sum(m.units) as units
              from (select day, n, debit as id, units from moved union all select day, n, credit, -units from moved) m
              join own o on o.id = m.id
             group by 1, 2, 3)
     select p.at, o.rail, o.wallet, o.asset,
            (coalesce((select sum(s.units) from stored s where s.id = o.id and s.n < p.n), 0)
              + coalesce((select sum(t.units) from today t where t.id = o.id and t.day = p.day and t.n <= p.n), 0))::numeric(78,0) as units
       from own o cross join points p
      order by o.rail, o.wallet, o.asset, p.at`,
    [input.at, input.asset, input.at.map(startOfDay)],
  );
}
