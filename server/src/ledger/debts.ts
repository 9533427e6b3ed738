/** Debts of customers: money that was reversed or recalled after it had been paid out. One account per customer and asset. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface Debt {
  /** Id of the account: the cursor of lists. */
  id: bigint;
  account: string;
  customerId: string;
  partnerId: bigint;
  asset: AssetCode;
  units: bigint;
  /** When the account last left zero. */
  since: Date;
}

/** Unpaid debts in order of account id, which is the order in which customers first owed something. */
export const debtsAfter = (
  tx: Tx,
  input: {
    partnerId?: bigint | undefined;
    customerId?: string | undefined;
    asset?: AssetCode | undefined;
    after: bigint;
    limit: number;
  },
): Promise<Debt[]> =>
  tx.rows<Debt>(
    `select a.id, a.code as account, split_part(a.code, ':', 2) as customer_id, a.partner_id, a.asset,
            (a.debits - a.credits)::numeric(78,0) as units, s.since
       from accounts a
      cross join lateral (
        select max(m.at) filter (where m.owed_before <= 0) as since
          from (select e.at, coalesce(sum(case when t.debit = a.id then t.units else -t.units end) over (order by e.seq, t.line
                         rows between unbounded preceding and 1 preceding), 0) as owed_before
                  from transfers t join entries e on e.id = t.entry
                 where (t.debit = a.id or t.credit = a.id) and t.step in ('post', 'settle')) m) s
      where a.kind = 'receivable' and a.debits > a.credits and a.id > $1
        and ($2::bigint is null or a.partner_id = $2) and ($3::text is null or split_part(a.code, ':', 2) = $3)
        and ($4::text is null or a.asset = $4)
      order by a.id limit $5`,
    [input.after, input.partnerId ?? null, input.customerId ?? null, input.asset ?? null, input.limit],
  );
