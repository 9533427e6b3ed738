/**
 * Addresses that money is about to go to: destinations of open orders, and of payouts and refunds under way. Their risk is asked
 * beforehand (compliance/address-risk).
 */
import type { Tx } from '../../base/db.ts';

/** The states without a further step, as in the index that it reads. */
const OPEN = `select payout_rail as rail, payout_address as address from orders
    where state not in ('settled', 'refunded', 'expired', 'cancelled', 'frozen') and payout_address is not null
  union select rail, address from payouts where ended_at is null and address is not null limit $1`;

/** Each once, in no order. */
export const openAddresses = (tx: Tx, limit: number): Promise<{ rail: string; address: string }[]> =>
  tx.rows<{ rail: string; address: string }>(OPEN, [limit]);
