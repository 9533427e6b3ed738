/**
 * Deposits and refunds, and their destinations: our own endpoints beside the interface. A partner reads the history of an
 * order's money, and names the refund destination in advance or when asked. It does the same for a returned payout, which is
 * then paid again.
 */
import * as base from '../../../base/fields.ts';
import { findCustomer } from '../../../customers/index.ts';
import { type Direction, MOST_ASKED } from '../../../orders/index.ts';
import { recordActivity, requireNotHeld } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { id, missingFields, ofText, optional, required, text, wholeNumber } from '../fields.ts';
import { ok, type SignedRequest, throughOf } from '../route.ts';
import { publicMoneyShape } from '../shapes.ts';
import { accountNumberOf } from './accounts.ts';
import { orderIn, orderNumberOf, transactionFields } from './orders.ts';

const refundId = ofText(18, { ...base.id, rule: 'the refundId of a refund of this transaction' });

export const refundsFields = {
  ...transactionFields,
  before: optional(refundId),
  limit: optional(wholeNumber({ min: 1, max: MOST_ASKED })),
};

/** For both directions, because a purchase's transaction has only the interface's own fields. */
export const refundsIn =
  (direction: Direction) =>
  (input: SignedRequest<typeof refundsFields>): Promise<Reply> =>
    input.readOnly(async (tx) => {
      const { before, limit: most = MOST_ASKED } = input.values;
      const order = await orderIn(direction, tx, input);
      return ok({
        transactionId: String(order.id),
        ...publicMoneyShape(await input.deps.orders.publicMoney(tx, order, { before, most })),
      });
    });

export const destinationFields = {
  customerId: required(id),
  transactionId: required(id),
  address: optional(text()),
  fiatAccountId: optional(id),
};

/** The partner role checks the order's partner; the system role changes the refund that waits for the destination. */
export const nameDestinationIn =
  (direction: Direction) =>
  async ({ deps, caller, values, inTx }: SignedRequest<typeof destinationFields>): Promise<Reply> => {
    const { address, fiatAccountId } = values;
    // Exactly one of the two: which one depends on what is refunded.
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
      // A destination held by a containment cannot be named.
      await requireNotHeld(tx, { ...through, fiatAccountId: account, address: address ?? null, orderId: null, now });
      await deps.orders.nameDestination(tx, { orderId: order.id, to, now });
      const facts = account === null ? { address } : { account: String(account) };
      const action = 'refund_destination.named';
      recordActivity(tx, through, { action, subject: `order:${order.id}`, facts, now });
    });
    return ok({ transactionId: String(order.id), ...(address === undefined ? { fiatAccountId } : { address }) });
  };
