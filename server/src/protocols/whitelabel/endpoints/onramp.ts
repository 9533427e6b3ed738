/** Buying crypto: get. */
import { findCustomer } from '../../../customers/index.ts';
import { assets } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { ok, type SignedAsk } from '../route.ts';
import { onrampShape } from '../shapes.ts';
import { orderNumberOf, type transactionFields } from './offramp.ts';

export async function getOnramp({ deps, values, inTx }: SignedAsk<typeof transactionFields>): Promise<Reply> {
  return await inTx(async (tx) => {
    const customer = await findCustomer(tx, values.customerId);
    const order = await deps.orders.get(tx, {
      id: orderNumberOf(values.transactionId),
      direction: 'onramp',
      customerId: customer.id,
    });
    return ok(onrampShape(order, await assets(tx)));
  });
}
