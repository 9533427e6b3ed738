/**
 * Addresses to which money is about to go: destinations of open orders, and of payouts and refunds under way. Their risk is
 * requested in advance (compliance/address-risk).
 */
import type { Tx } from '../../base/db.ts';

/** Excludes states without a further step, like the partial index that it uses. */
const OPEN = `select payout_rail as rail, payout_address as address from orders
    where state not in ('settled', 'refunded', 'expired', 'cancelled', 'frozen') and payout_address is not null
  union select rail, address from payouts where ended_at is null and address is not null limit $1`;

/** Each address once, in no particular order. */
export const openAddresses = (tx: Tx, limit: number): Promise<{ rail: string; address: string }[]> =>
  tx.rows<{ rail: string; address: string }>(OPEN, [limit]);
