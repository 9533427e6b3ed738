/**
 * What came in and goes back, and where to: endpoints of our own, beside the interface. A partner reads what has come of an
 * order's money, and names where it goes up front or when it is asked for; the same of a payout that came back, which is paid
 * again.
 */
import { findCustomer } from '../../../customers/index.ts';
import { type Direction, MOST_ASKED } from '../../../orders/index.ts';
import { recordActivity, requireNotHeld } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { id, Malformed, missingFields, optional, reader, required, text, wholeNumber } from '../fields.ts';
import { ok, type SignedRequest, throughOf } from '../route.ts';
import { toldShape } from '../shapes.ts';
import { accountNumberOf } from './accounts.ts';
import { orderIn, orderNumberOf, transactionFields } from './orders.ts';

const refundId = reader({ type: 'string', pattern: '^[0-9]{1,18}$' }, (value): bigint => {
  const read = text({ max: 18 })(value);
  if (!/^[0-9]{1,18}$/.test(read)) throw new Malformed('must be the refundId of a refund of this transaction');
  return BigInt(read);
});

export const refundsFields = {
  ...transactionFields,
  before: optional(refundId),
  limit: optional(wholeNumber({ min: 1, max: MOST_ASKED })),
};

/** Of both directions alike: a purchase's transaction has the interface's own fields and no others. */
export const refundsIn =
  (direction: Direction) =>
  (input: SignedRequest<typeof refundsFields>): Promise<Reply> =>
    input.readOnly(async (tx) => {
      const { before, limit: most = MOST_ASKED } = input.values;
      const order = await orderIn(direction, tx, input);
      return ok({
        transactionId: String(order.id),
        ...toldShape(await input.deps.orders.told(tx, order, { before, most })),
      });
    });

export const destinationFields = {
  customerId: required(id),
  transactionId: required(id),
  address: optional(text()),
  fiatAccountId: optional(id),
};

/** Whoever's order it is is asked at the partner role; what waits for the destination is no partner's to change. */
export const nameDestinationIn =
  (direction: Direction) =>
  async ({ deps, caller, values, inTx }: SignedRequest<typeof destinationFields>): Promise<Reply> => {
    const { address, fiatAccountId } = values;
    // One of the two, and not both: which it is depends on what goes back.
    if ((address === undefined) === (fiatAccountId === undefined)) throw missingFields(['address or fiatAccountId']);
    const order = await inTx(async (tx) => {
      const customer = await findCustomer(tx, values.customerId);
      return await deps.orders.get(tx, { id: orderNumberOf(values.transactionId), direction, customerId: customer.id });
    });
    const account = fiatAccountId === undefined ? null : accountNumberOf(fiatAccountId);
    const to = account === null ? { address } : { fiatAccountId: account };
    const now = deps.clock.now();
    const through = throughOf(caller);
    await deps.db.asSystem(async (tx) => {
      // What is held is named for nothing else either.
      await requireNotHeld(tx, { ...through, fiatAccountId: account, address: address ?? null, orderId: null, now });
      await deps.orders.nameDestination(tx, { orderId: order.id, to, now });
      const facts = account === null ? { address } : { account: String(account) };
      const action = 'refund_destination.named';
      recordActivity(tx, through, { action, subject: `order:${order.id}`, facts, now });
    });
    return ok({ transactionId: String(order.id), ...(address === undefined ? { fiatAccountId } : { address }) });
  };
