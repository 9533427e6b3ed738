/**
 * Where money goes back to: an endpoint of our own, beside the interface. A partner names it up front or when it is asked
 * for; the same of a payout that came back, which is paid again.
 */
import { findCustomer } from '../../../customers/index.ts';
import type { Direction } from '../../../orders/index.ts';
import type { Reply } from '../../protocol.ts';
import { id, missingFields, optional, required, text } from '../fields.ts';
import { ok, type SignedAsk } from '../route.ts';
import { accountNumberOf } from './accounts.ts';
import { orderNumberOf } from './either.ts';

export const destinationFields = {
  customerId: required(id),
  transactionId: required(id),
  address: optional(text()),
  fiatAccountId: optional(id),
};

/** Whoever's order it is is asked at the partner's door; what waits for the destination is no partner's to change. */
export const nameDestinationIn =
  (direction: Direction) =>
  async ({ deps, values, inTx }: SignedAsk<typeof destinationFields>): Promise<Reply> => {
    const { address, fiatAccountId } = values;
    // One of the two, and not both: which it is depends on what goes back.
    if ((address === undefined) === (fiatAccountId === undefined)) throw missingFields(['address or fiatAccountId']);
    const order = await inTx(async (tx) => {
      const customer = await findCustomer(tx, values.customerId);
      return await deps.orders.get(tx, { id: orderNumberOf(values.transactionId), direction, customerId: customer.id });
    });
    const to = fiatAccountId === undefined ? { address } : { fiatAccountId: accountNumberOf(fiatAccountId) };
    await deps.db.asSystem((tx) => deps.orders.nameDestination(tx, { orderId: order.id, to, now: deps.clock.now() }));
    return ok({ transactionId: String(order.id), ...(address === undefined ? { fiatAccountId } : { address }) });
  };
