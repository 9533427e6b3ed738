/** Where an order's payout goes. */
import type { Tx } from '../../base/db.ts';
import { payoutsOf } from '../../rails/payouts.ts';
import type { Order } from '../store.ts';

export interface Destination {
  address: string | null;
  fiatAccountId: bigint | null;
}

/** The one that the order was created with. */
export const ownDestination = ({ payoutAddress, fiatAccountId }: Order): Destination => ({
  address: payoutAddress,
  fiatAccountId: payoutAddress === null ? fiatAccountId : null,
});

/** That of the last attempt: people may have named another than the order's own (elsewhere.ts). Before the first, its own. */
export async function destinationNow(tx: Tx, order: Order): Promise<Destination> {
  if (order.payoutAttempt === 0) return ownDestination(order);
  // A payout that came back and is paid again is a refund's attempt: that names its own destination.
  const attempts = (await payoutsOf(tx, order.id)).filter(({ refundId }) => refundId === null);
  const last = attempts.toSorted((a, b) => a.attempt - b.attempt).at(-1);
  return last === undefined ? ownDestination(order) : { address: last.address, fiatAccountId: last.fiatAccountId };
}
