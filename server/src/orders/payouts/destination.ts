/** Where an order's payout goes. */
import type { Tx } from '../../base/db.ts';
import { payoutsOf } from '../../rails/payouts.ts';
import type { Order } from '../store.ts';

export interface Destination {
  address: string | null;
  fiatAccountId: bigint | null;
}

/** The destination that the order was created with. */
export const ownDestination = ({ payoutAddress, fiatAccountId }: Order): Destination => ({
  address: payoutAddress,
  fiatAccountId: payoutAddress === null ? fiatAccountId : null,
});

/**
 * The destination of the last attempt, which an operator or the partner may have changed (elsewhere.ts). Before the first
 * attempt: the order's own.
 */
export async function destinationNow(tx: Tx, order: Order): Promise<Destination> {
  if (order.payoutAttempt === 0) return ownDestination(order);
  // A returned payout that is paid again is an attempt of a refund, which has its own destination.
  const attempts = (await payoutsOf(tx, order.id)).filter(({ refundId }) => refundId === null);
  const last = attempts.toSorted((a, b) => a.attempt - b.attempt).at(-1);
  return last === undefined ? ownDestination(order) : { address: last.address, fiatAccountId: last.fiatAccountId };
}
