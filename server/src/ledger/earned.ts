/**
 * Revenue by day, partner, market and asset: what fee accounts received and returned, and what cost accounts were charged.
 *
 * `daily_revenue` has the sums of whole days (UTC), made of sealed entries, one seal after the other (daily.ts). The report reads
 * them, and the journal only for days that the span cuts and for entries that no sum counts yet. `verify-ledger` computes the sums
 * again.
 *
 * The market and the partner are those of the entry's order, which never change. They are read from `orders`: only here and in
 * customers.ts does the ledger read tables of other modules. The sums are grouped by them in one statement with the entries that no sum
 * counts yet, and both the job that sums and `verify-ledger` need them. In reports/, the ledger would have to export the parts of that
 * statement.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { DAY, startOfDay, transfersOf, uncounted } from './daily.ts';
import { SETTLEMENTS } from './partnerfees.ts';

export const EARNING_KINDS = ['fee_operator', 'fee_partner', 'fee_rail', 'fee_chain', 'cost'] as const;
export type EarningKind = (typeof EARNING_KINDS)[number];

export interface Earned {
  /** YYYY-MM-DD. */
  day: string;
  /** Null for postings without an order: mostly charges of chains and banks. */
  partnerId: bigint | null;
  marketId: bigint | null;
  kind: EarningKind;
  asset: AssetCode;
  /** Fees: received minus refunded; costs: charged. */
  units: bigint;
}

const DAY_MS = 86_400_000;

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ');

/**
 * Sums of entries, which `entries` lists by `id`, `day`, `kind` and `order_id`. Settlements are left out: paying a partner its fees does
 * not reduce what it earned. Each row is looked up, because PostgreSQL cannot estimate how few entries these are.
 */
const earnedOf = (entries: string): string => `
  select i.day, coalesce(o.partner_id, 0) as partner_id, coalesce(o.market_id, 0) as market_id, a.asset, a.kind,
         sum(case when (i.credit = a.id) = (a.kind <> 'cost') then i.units else -i.units end)::numeric(78,0) as units
    from (select i.day, i.order_id, t.debit, t.credit, t.units from ${transfersOf(`(${entries})`)}
           where t.step in ('post', 'settle') and i.kind not in (${quoted(SETTLEMENTS)})) i
   cross join lateral (values (i.debit), (i.credit)) as side (account)
   cross join lateral (select id, kind, asset from accounts where id = side.account offset 0) a
    left join lateral (select partner_id, market_id from orders where id = i.order_id offset 0) o on true
   where a.kind in (${quoted(EARNING_KINDS)})
   group by 1, 2, 3, 4, 5`;

const ofSeals = (after: string, upTo: string): string =>
  earnedOf(`select e.id, e.kind, e.order_id, ${DAY} as day from sealed_entries s join entries e on e.seq = s.entry_seq
             where s.seal > ${after} and s.seal <= ${upTo}`);

/** Adds the entries of the seals above one number up to another to the sums. */
export async function addToDailyRevenue(tx: Tx, after: bigint, upTo: bigint): Promise<void> {
  await tx.run(
    `insert into daily_revenue (day, partner_id, market_id, asset, kind, units) ${ofSeals('$1', '$2')}
     on conflict (day, partner_id, market_id, asset, kind) do update set units = daily_revenue.units + excluded.units`,
    [after, upTo],
  );
}

/** Days and rows whose stored sums are not those of their entries, a thousand at most. */
export const wrongRevenue = (tx: Tx): Promise<{ day: string; row: string }[]> =>
  tx.rows(
    `with computed as (${ofSeals('0', '(select revenue_to from daily_totals_progress)')})
     select day::text, concat_ws(':', kind, partner_id, market_id, asset) as row
       from computed c full join daily_revenue d using (day, partner_id, market_id, asset, kind)
      where c.units is distinct from d.units order by 1, 2 limit 1000`,
  );

/**
 * Revenue of a span, in no particular order. Both ends may cut a day.
 *
 * @param input.partnerId, input.marketId only orders of these
 */
export async function earnedWithin(
  tx: Tx,
  { from, until, ...of }: { from: Date; until: Date; partnerId?: bigint | undefined; marketId?: bigint | undefined },
): Promise<Earned[]> {
  const first = startOfDay(new Date(from.getTime() + DAY_MS - 1));
  const end = startOfDay(until);
  // Whole days are those from `first` to before `end`; what is before and after them is read from the journal.
  const cut =
    first >= end
      ? [[from, until]]
      : [
          [from, first],
          [end, until],
        ];
  const spans = cut.filter(([a, b]) => a !== undefined && b !== undefined && a < b);
  const rows = await tx.rows<Omit<Earned, 'partnerId' | 'marketId'> & { partnerId: bigint; marketId: bigint }>(
    `with lacking as materialized (
            select id, at from (${uncounted('$4', 'revenue_to')}) u where at >= $3),
          single as (
            select e.id, e.kind, e.order_id, ${DAY} as day
              from unnest($1::timestamptz[], $2::timestamptz[]) as s (since, before)
             cross join lateral (select * from entries where at >= s.since and at < s.before order by at offset 0) e
            union all
            select e.id, e.kind, e.order_id, ${DAY} as day
              from lacking l cross join lateral (select * from entries where id = l.id offset 0) e),
          parts as (
            select day, partner_id, market_id, asset, kind, units from daily_revenue
             where day >= ($3 at time zone 'UTC')::date and day < ($4 at time zone 'UTC')::date
            union all ${earnedOf('select * from single')})
     select day::text, partner_id, market_id, asset, kind, sum(units)::numeric(78,0) as units from parts
      where ($5::bigint is null or partner_id = $5) and ($6::bigint is null or market_id = $6)
      group by 1, 2, 3, 4, 5`,
    [spans.map(([a]) => a), spans.map(([, b]) => b), first, first >= end ? first : end, of.partnerId, of.marketId],
  );
  const known = (id: bigint): bigint | null => (id === 0n ? null : id);
  return rows.map((row) => ({ ...row, partnerId: known(row.partnerId), marketId: known(row.marketId) }));
}
