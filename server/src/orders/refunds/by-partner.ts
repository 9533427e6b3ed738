/**
 * A partner's actions on the money of its own order, for its customer: cancel an order that has received nothing, refund money
 * that is held or in suspense, and pay an order to another destination after its payout was rejected or returned.
 *
 * None of these decides about money under review: a hold by screening, a limit, a name check, an operator or the law waits for an
 * operator. Each action uses the same functions as an operator's decision, and leaves through the same gate. The caller has
 * checked that the order is the partner's, and that the destination is the customer's, and confirmed or old enough.
 *
 * For a destination that the order did not name, the gate counts as approvers the partner's key and, if the customer confirmed
 * the destination (`isConfirmed`), the customer. They approve no other finding.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { payoutsOf } from '../../rails/payouts.ts';
import { cancel, requestOrderRefund } from '../actions.ts';
import type { GateContext, OrdersContext, RefundTo } from '../context.ts';
import { awaitsPerson, failureOf, HELD_AT_GATE, holdBeforePayout, isForAPerson } from '../decide.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { history } from '../history.store.ts';
import { lockOrder } from '../lock.ts';
import { isFinal } from '../machine.ts';
import { destinationNow } from '../payouts/destination.ts';
import { retryTo } from '../payouts/elsewhere.ts';
import { publicMoney, publicState } from '../read/public.ts';
import { type PublicReason, publicReason } from '../read/reasons.ts';
import type { Order } from '../store.ts';
import { NAMEABLE, nameDestination, refundDeposit } from './actions.ts';
import { inSuspense, isOpen } from './request.ts';
import { type Refund, refundsOf } from './store.ts';

/** The requester: a key or a member of the partner's team (`key …`, `member …`), for the customer of the order. */
export interface PartnerAsks {
  orderId: bigint;
  by: string;
  now: Date;
}

/**
 * The approvers of a destination. After its cooling-off time a destination may be used, but that does not count as an approval.
 */
const people = (asks: PartnerAsks & { isConfirmed: boolean }, { customerId }: Order): string[] => [
  ...(asks.isConfirmed ? [`customer ${customerId}`] : []),
  asks.by,
];

/** Reasons of holds about which only an operator decides. */
const REVIEWED: readonly PublicReason[] = ['under_review', 'payer_name'];
const underReview = (): Refusal => new Refusal('under_review', {});

/**
 * Cancels an order that has received no money, not even in part. Repeating it for a cancelled order returns that order.
 *
 * @throws Refusal 'unknown_order' | 'order_over' | 'money_arrived'
 */
export async function cancelUnpaid(context: GateContext, tx: Tx, asks: PartnerAsks): Promise<Order> {
  const order = await lockOrder(tx, asks.orderId);
  if (order.state === 'cancelled') return order;
  if (order.state === 'frozen') throw new Refusal('money_arrived', {});
  if (isFinal(order.state)) throw new Refusal('order_over', { state: order.state });
  const came = (await depositStore.depositsOf(tx, order.id)).some(({ state }) => state !== 'reversed');
  if (order.state !== 'created' || came) throw new Refusal('money_arrived', {});
  return await cancel(context, tx, { orderId: order.id, by: asks.by, why: 'its partner cancelled it', now: asks.now });
}

/**
 * Refunds the amount held of an order. The order keeps the money until the destination is screened.
 *
 * @throws Refusal 'under_review' | 'order_over' | 'refund_under_way' | 'payout_submitted' | the refusals of naming a destination
 */
export async function refundHeldFor(
  context: GateContext,
  tx: Tx,
  asks: PartnerAsks & { to: RefundTo },
): Promise<Order> {
  const order = await lockOrder(tx, asks.orderId);
  const { state } = order;
  if (state === 'frozen') throw underReview();
  if (state === 'refunding' || state === 'refunded')
    throw new Refusal('refund_under_way', { orderId: String(order.id), state });
  if (state !== 'on_hold' && state !== 'payout_held' && state !== 'awaiting_liquidity')
    throw new Refusal('order_over', { state });
  await requireNotReviewed(tx, order);
  // Naming a destination for the order also sends its money in suspense there, so that money is checked, too.
  const open = (await refundsOf(tx, order.id)).filter((one) => one.source === 'suspense' && isOpen(one));
  const refunded = new Set(open.map(({ depositId }) => depositId));
  const deposits = (await depositStore.depositsOf(tx, order.id)).filter(({ id }) => refunded.has(id));
  if (deposits.some(isReviewed) || (await isHeldAtGate(tx, order, open))) throw underReview();
  if (order.refundRequest === null)
    await requestOrderRefund(
      context,
      tx,
      { orderId: order.id, by: asks.by, why: 'its partner asked for it', now: asks.now },
      { failure: failureOf(holdBeforePayout(order, false) ?? '') },
    );
  await nameDestination(context, tx, { orderId: order.id, to: asks.to, by: 'partner', now: asks.now });
  return await lockOrder(tx, order.id);
}

/** @throws Refusal 'under_review' */
async function requireNotReviewed(tx: Tx, order: Order): Promise<void> {
  const { reason } = await publicMoney(tx, order);
  // With a request that waits for its destination, an operator has already decided about the earlier hold.
  const isWaiting = order.refundRequest !== null && order.refundAddress === null && order.refundAccountId === null;
  if (reason !== null && REVIEWED.includes(reason) && !isWaiting) throw underReview();
  const steps = await history(tx, order.id);
  // The order may have been held again after the request.
  if (isWaiting ? awaitsPerson(order, steps) : isForAPerson(steps)) throw underReview();
}

/**
 * Refunds a deposit of the order in suspense: an excess, a late or second deposit, another asset.
 *
 * @throws Refusal 'unknown_deposit' | 'under_review' | 'refund_exceeds' | 'refund_under_way' | 'deposit_unfit' | the refusals of
 *   an unsuitable destination
 */
export async function refundSuspenseFor(
  context: GateContext,
  tx: Tx,
  asks: PartnerAsks & { depositId: bigint; to: RefundTo; isConfirmed: boolean },
): Promise<Order> {
  const order = await lockOrder(tx, asks.orderId);
  const deposit = await depositStore.depositById(tx, asks.depositId);
  if (deposit === undefined || deposit.orderId !== order.id) throw new Refusal('unknown_deposit', {});
  const open = (await refundsOf(tx, order.id)).filter((one) => one.depositId === deposit.id && isOpen(one));
  if (open.length === 0 && inSuspense(deposit) <= 0n) throw new Refusal('refund_exceeds', {});
  if (order.state === 'frozen' || isReviewed(deposit) || (await isHeldAtGate(tx, order, open))) throw underReview();
  await refundDeposit(context, tx, {
    ...{ depositId: deposit.id, to: asks.to, by: asks.by, people: people(asks, order) },
    ...{ why: 'its partner asked for it', now: asks.now },
  });
  return await lockOrder(tx, order.id);
}

/** Whether this deposit is under review. */
const isReviewed = ({ origin, why }: DepositRow): boolean =>
  origin === 'released' || REVIEWED.includes(publicReason(why ?? ''));

/** Whether the gate or screening holds one of these refunds. */
async function isHeldAtGate(tx: Tx, order: Order, refunds: readonly Refund[]): Promise<boolean> {
  const attempts = await payoutsOf(tx, order.id);
  return refunds.some(
    ({ state, key }) =>
      state === 'held' ||
      (state === 'rejected' && attempts.find(({ id }) => id === key)?.why?.startsWith(HELD_AT_GATE) === true),
  );
}

/**
 * Pays an order whose payout its rail rejected to another destination, which is first screened outside a transaction. No effect
 * for an order in another state: `changePayoutFor` handles that.
 *
 * @throws Refusal 'under_review' | 'order_over' | 'destination_held' | the refusals of an unsuitable destination
 */
export async function payElsewhereFor(
  context: OrdersContext,
  asks: PartnerAsks & { to: RefundTo; isConfirmed: boolean },
): Promise<void> {
  const order = await context.db.asSystem((tx) => lockOrder(tx, asks.orderId));
  if (order.state !== 'payout_held') return;
  const action = {
    ...{ orderId: order.id, by: asks.by, people: people(asks, order) },
    ...{ why: 'its partner named another destination', now: asks.now },
  };
  await retryTo(context, action, asks.to, requireNotReviewed);
}

/**
 * Pays an order whose payout was returned to another destination. If it is being paid there already, the order is returned
 * unchanged.
 *
 * @throws Refusal 'under_review' | 'order_over' | 'refund_under_way' | the refusals of naming a destination
 */
export async function changePayoutFor(
  context: OrdersContext,
  tx: Tx,
  asks: PartnerAsks & { to: RefundTo },
): Promise<Order> {
  const order = await lockOrder(tx, asks.orderId);
  if (order.state === 'frozen') throw underReview();
  const back = (await refundsOf(tx, order.id)).filter(
    (one) => one.purpose === 'payout' && one.source === 'suspense' && isOpen(one),
  );
  if (back.length > 0) {
    if (await isHeldAtGate(tx, order, back)) throw underReview();
    if (!back.some(({ state }) => NAMEABLE.includes(state)))
      throw new Refusal('refund_under_way', { orderId: String(order.id), state: order.state });
    await nameDestination(context, tx, { orderId: order.id, to: asks.to, by: 'partner', now: asks.now });
    return await lockOrder(tx, order.id);
  }
  const { address = null, fiatAccountId = null } = asks.to;
  const last = await destinationNow(tx, order);
  const isThere = last.address === address && last.fiatAccountId === fiatAccountId;
  if (isThere && order.payoutAttempt > 1 && order.state !== 'payout_held') return order;
  throw new Refusal('order_over', { state: publicState(order.state) });
}
