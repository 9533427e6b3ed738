/** Whom payouts pay, for the audit of files that name them. */
import type { Tx } from '../../base/db.ts';

/**
 * @param keys ids of payouts
 * @returns `customer:<id>`, or `deposit:<id>` for money that goes back to its payer and belongs to no order; each once
 */
export const payeesOf = async (tx: Tx, keys: readonly string[]): Promise<string[]> =>
  (
    await tx.rows<{ subject: string }>(
      `select distinct coalesce('customer:' || o.customer_id, 'deposit:' || r.deposit_id) as subject
        from payouts p left join orders o on o.id = p.order_id left join refunds r on r.id = p.refund_id
        where p.id = any($1::text[]) order by 1`,
      [keys],
    )
  ).map(({ subject }) => subject);
