/** Other customers of a partner who are paid at an address: a blocked person must not be paid there as another customer. */
import type { Tx } from '../../base/db.ts';
import { blockedAmong } from '../../customers/index.ts';

const sql = {
  othersAt: `select distinct o.customer_id from payouts p join orders o on o.id = p.order_id
     where p.address = $1 and o.partner_id = $2 and o.customer_id <> $3 limit $4`,
} as const;

/** Many customers may use one address of an exchange. */
const MOST_OTHERS = 2_000;

/**
 * Blocked customers of a partner, other than the paid one, with a payout or refund to this address in any state, the longest blocked
 * first. Rows of all customers who have one are share-locked until `tx` ends, as in `blockOf`.
 *
 * @param of.address as the rail spells it
 */
export async function blockedAtAddress(
  tx: Tx,
  of: { address: string; partnerId: bigint; customerId: string },
): Promise<{ customerId: string; blockedAt: Date }[]> {
  const values = [of.address, of.partnerId, of.customerId, MOST_OTHERS];
  const others = await tx.rows<{ customerId: string }>(sql.othersAt, values);
  return others.length === 0
    ? []
    : await blockedAmong(
        tx,
        others.map(({ customerId }) => customerId),
      );
}
