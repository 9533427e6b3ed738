/**
 * Balances of the custody accounts over time, for charts: what each wallet had at several instants, according to the books.
 *
 * They are computed backward from the balances of now, so a span costs the postings since its first instant, and not the whole
 * journal. A balance at an instant counts the entries before that instant.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { longReport } from './reports.ts';
import { EITHER_SIDE } from './store.ts';

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
    `with own as (
            select id, split_part(code, ':', 2) as rail, split_part(code, ':', 3) as wallet, asset, debits - credits as units
              from accounts where kind = 'custody' and (debits <> 0 or credits <> 0) and ($2::text is null or asset = $2)),
          since as (
            -- How many of the instants an entry does not count for yet: at these, the wallet was without its amount.
            select a.id, width_bucket(e.at, $1::timestamptz[]) as instants,
                   sum(case when t.debit = a.id then t.units else -t.units end) as units
              from entries e join transfers t on t.entry = e.id and t.step in ('post', 'settle') ${EITHER_SIDE}
             where e.at >= ($1::timestamptz[])[1] and a.id in (select id from own)
             group by 1, 2)
     select p.at, o.rail, o.wallet, o.asset,
            (o.units - coalesce(sum(s.units) over (partition by o.id order by p.n desc), 0))::numeric(78,0) as units
       from own o cross join unnest($1::timestamptz[]) with ordinality as p (at, n)
       left join since s on s.id = o.id and s.instants = p.n
      order by o.rail, o.wallet, o.asset, p.at`,
    [input.at, input.asset],
  );
}
