/**
 * Actions: what an operator, or the sandbox in place of one, decides about one order.
 *
 * Each action is an event of the state machine and throws a Refusal if the machine has no such transition. Each records who
 * decided and why in the order's history.
 */
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert, Refusal } from '../base/errors.ts';
import { enqueue } from '../base/jobs.ts';
import { closeCases, isRefusedByTravelRule, TOO_LATE } from '../compliance/index.ts';
import { findCustomer, lockCustomer } from '../customers/index.ts';
import { marketById } from '../partners/index.ts';
import { requireWithinLevel, requote } from '../quotes/index.ts';
import { cancelUnlessSubmitted, payoutByKey, payoutsOf, recordRejected } from '../rails/payouts.ts';
import { type AdvanceFacts, advance, change } from './advance.ts';
import type { Action, GateContext, OrdersContext, Rails, RefundTo } from './context.ts';
import { holdBeforePayout, isHeldByOperator, lastHold } from './decide.ts';
import * as depositStore from './deposits/store.ts';
import { payoutId } from './entries.ts';
import { history } from './history.store.ts';
import { lockOrder, requireNotHeldSince } from './lock.ts';
import { isFinal, next, type OrderEvent } from './machine.ts';
import { lockRetryable, requireNotHeldByOperator } from './payouts/elsewhere.ts';
import { approveRefund, approveStanding } from './payouts/gate.ts';
import { payoutOf, refundOf } from './payouts/leaving.ts';
import { refundAddressOn } from './refunds/actions.ts';
import { cancelUnsubmittedRefunds, unsubmitRefunds } from './refunds/cancel.ts';
import { requireFits } from './refunds/destinations.ts';
import { isPaidOut } from './refunds/lost.ts';
import { awaitDestination, startRefund } from './refunds/refunds.ts';
import { wholeOf } from './refunds/request.ts';
import { onlyDeposit, senderOfOrder } from './refunds/to-sender.ts';
import type { Order } from './store.ts';
import * as store from './store.ts';

/** The operators who approve the action, including the screening hits that it lets pass. */
const approval = ({ by, people, why, now, pastHits, seen }: Action) => ({
  ...{ people: people ?? [by], reason: why, pastHits, seen, now },
});

/**
 * Cancels an order before any money was seen. If operators assigned a partial deposit to the order, it stays open until its
 * deadline, which handles partial deposits. A cancelled order has no deadline, so the deposit would stay in it forever.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function cancel(context: Rails, tx: Tx, action: Action): Promise<Order> {
  const { id, state } = await lockOrder(tx, action.orderId);
  if (state === 'created' && (await depositStore.depositsOf(tx, id)).some((row) => row.state === 'confirmed'))
    throw new Refusal('order_over', { state, why: 'part_arrived' });
  return await perform(context, tx, action, 'cancelled', { failure: 'other' });
}

/**
 * Releases a held order. With the release, the operators approve everything that screening and limits have found so far. An order
 * that was underpaid, or whose deposit was reversed, cannot be released: its payout would exceed what we received. For an order
 * whose payout was rejected, a release ends the operator's hold and approves nothing: the order waits as it did before the hold.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function release(context: GateContext, tx: Tx, action: Action): Promise<Order> {
  const order = await store.lock(tx, action.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  if (order.state === 'payout_held') return await releaseRejected(context, tx, order, action);
  await requireNotRefused(tx, order);
  const why = holdBeforePayout(order, await depositStore.hasLostDeposit(tx, order.id));
  if (why !== undefined) throw new Refusal('order_over', { state: order.state, why });
  // Customers are locked before accounts. The approval reads the customer's block, but only after the release has posted, so the
  // customer is locked now.
  await lockCustomer(tx, order.customerId);
  const released = await perform(context, tx, action, 'released', {});
  await approveStanding(context, tx, await payoutOf(tx, released), approval(action));
  return released;
}

/**
 * An order that the travel rule has refused only returns its deposit. A release or another price would leave it to policies about
 * prices and waiting, which refund without operators.
 *
 * @throws Refusal 'order_over'
 */
async function requireNotRefused(tx: Tx, { id, state }: Order): Promise<void> {
  if (await isRefusedByTravelRule(tx, id)) throw new Refusal('order_over', { state, why: TOO_LATE });
}

async function releaseRejected(context: Rails, tx: Tx, order: Order, { by, why, now }: Action): Promise<Order> {
  if (!isHeldByOperator(await history(tx, order.id))) throw new Refusal('order_over', { state: order.state });
  await closeCases(tx, { kind: 'payout_held', subject: `order:${order.id}`, outcome: `released by ${by}`, now });
  const reason = 'released: retry its payout, or refund it';
  const { order: released } = await advance(context, tx, order, 'released', { now, reason, facts: { by, why } });
  // A refund that was requested before the hold continues if its destination is named.
  if (order.refundRequest !== null) enqueue(tx, { kind: 'refund_order', subject: String(order.id), dueAt: now });
  return released;
}

/**
 * Refunds the deposit of a held order. The destination is screened first, outside the transaction that acts on the answer.
 *
 * @param refund.failure why, in the partner's terms: wrong amount, wrong payer name, or other
 * @param refund.address,refund.fiatAccountId destination: the customer's address on a chain, or a bank account
 * @param refund.toSender instead of a destination: refund to the bank account that the order's only deposit came from
 * @throws Refusal 'unknown_order' | 'order_over' | 'destination_held' | 'does_not_fit' when the order has no such deposit
 */
export async function refundOrder(
  context: OrdersContext,
  action: Action,
  refund: { failure: 'amount' | 'name' | 'other'; address?: string; fiatAccountId?: bigint; toSender?: boolean },
): Promise<Order> {
  const { failure, address, fiatAccountId, toSender = false } = refund;
  const { to, senderOf } = await context.db.asSystem(async (tx): Promise<{ to: RefundTo; senderOf?: bigint }> => {
    const order = await lockOrder(tx, action.orderId);
    const sender = toSender ? await senderOfOrder(context, tx, order, action.now) : undefined;
    const named =
      address === undefined
        ? { fiatAccountId: sender?.fiatAccountId ?? fiatAccountId }
        : { address: await refundAddressOn(context, tx, order.depositRail, address) };
    await requireFits(context, tx, wholeOf(order, sender?.senderOf), named);
    await approveRefund(context, tx, await refundOf(tx, order, named), approval(action));
    return { to: named, ...(sender === undefined ? {} : { senderOf: sender.senderOf }) };
  });
  const before = async (tx: Tx, order: Order) => {
    // Checks again that no other deposit has arrived for the order while the destination was screened.
    if (senderOf !== undefined) await onlyDeposit(tx, order);
    await requireNotHeldSince(tx, order, action.seenVersion);
    return order.state === 'refunding' ? order : await heldBack(context, tx, order, action);
  };
  const approvedBy = approval(action);
  return await startRefund(context, {
    ...{ ...action, failure, to, senderOf, approvedBy },
    before: async (tx, order) => await before(tx, order),
  });
}

/**
 * Requests the refund of a held order that has no refund destination. The order keeps the money. The customer's page and the
 * partner ask for the destination. Once the customer, the partner or an operator names it, it is screened and the refund leaves.
 *
 * @throws Refusal 'unknown_order' | 'order_over' | 'payout_submitted' | 'refund_under_way' if the order turns out to be paid
 */
export async function requestOrderRefund(
  context: Rails,
  tx: Tx,
  action: Action,
  { failure }: { failure: 'amount' | 'name' | 'other' },
): Promise<Order> {
  const { by, why, now } = action;
  const found = await lockOrder(tx, action.orderId);
  requireRefundable(found);
  await requireNotHeldSince(tx, found, action.seenVersion);
  const order = await heldBack(context, tx, found, action);
  if (await isPaidOut(tx, order.id))
    throw new Refusal('refund_under_way', { orderId: String(order.id), state: order.state });
  const decidedHold = lastHold(await history(tx, order.id))?.version;
  // The old case is closed first, because the new one says what the order waits for now.
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `refund requested by ${by}`, now });
  const wanted = { by, why, failure, ...defined({ decidedHold }) };
  await awaitDestination(tx, order, wanted, now);
  return order;
}

/** @throws Refusal 'order_over' if the order is not held and cannot be, or if its refund is under way */
export function requireRefundable({ state }: Order): void {
  const isToBeHeld = state !== 'refunding' && GOES_ON.includes(state);
  if (!isToBeHeld && next(state, 'refund_requested') === undefined) throw new Refusal('order_over', { state });
}

/**
 * Sends a payout that the rail rejected again, under a new payout id, to the destination of the last attempt. If the deposit has
 * been reversed since, the retry is refused: the order can only be refunded.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function retry(context: GateContext, tx: Tx, action: Action): Promise<Order> {
  const order = await lockRetryable(tx, action.orderId);
  await approveStanding(context, tx, await payoutOf(tx, order), approval(action));
  return await perform(context, tx, action, 'retried', {});
}

/**
 * Puts an order under an operator's control: the order is held, or its payout or refund is, and nothing more is submitted. An
 * order that is already held is held again, for this reason: neither partner nor policy nor an earlier decision continues it. A
 * rejected payout is not retried before an operator releases the order. If the order has several refunds, those that are not
 * submitted are cancelled, and the order is held once the others have ended.
 *
 * @param heldBy a hold of an operator ends only by a release
 * @returns the order, and the refund payouts that were already submitted
 * @throws Refusal 'unknown_order' | 'order_over' if no part of the order continues automatically | 'payout_submitted' if
 *   everything was already submitted
 */
export async function holdBack(
  context: Rails,
  tx: Tx,
  action: Action,
  heldBy: 'operator' | 'rule' = 'operator',
): Promise<{ order: Order; notCancelled: string[] }> {
  const order = await lockOrder(tx, action.orderId);
  const { by, why, now } = action;
  const given = { now, reason: why, facts: { by, why, heldBy } };
  const held = (after: Order, notCancelled: string[] = []) => ({ order: after, notCancelled });
  switch (order.state) {
    case 'deposit_confirmed':
    case 'awaiting_liquidity':
      return held((await advance(context, tx, order, 'held', given)).order);
    case 'on_hold':
    case 'payout_held':
    case 'refund_held':
      // The new case says why it is held now. The history and the closed case keep the earlier reason.
      await closeCases(tx, { kind: order.state, subject: `order:${order.id}`, outcome: `held again by ${by}`, now });
      return held((await advance(context, tx, order, 'held', given)).order);
    case 'paying_out':
      await unsubmit(context, tx, order, `held by ${by}`, now);
      return held((await advance(context, tx, order, 'payout_rejected', given)).order);
    case 'refunding': {
      const { cancelled, notCancelled } = await unsubmitRefunds(context, tx, order.id, { by, now });
      if (cancelled === 0) throw submitted(order, notCancelled, 'submitted');
      return held(await lockOrder(tx, order.id), notCancelled);
    }
    default:
      throw new Refusal('order_over', { state: order.state });
  }
}

const submitted = ({ id }: Order, payouts: readonly string[], state: string | undefined) =>
  new Refusal('payout_submitted', { orderId: String(id), payout: payouts.join(', '), state });

/** Cancels an order's payout before it is submitted. @throws Refusal 'payout_submitted' */
async function unsubmit(context: Rails, tx: Tx, order: Order, why: string, now: Date): Promise<void> {
  const key = payoutId(order);
  if (await cancelUnlessSubmitted(tx, key, why, now)) return;
  const payout = await payoutByKey(tx, order.payoutRail, key);
  const rail = context.rails.get(order.payoutRail);
  // A payout that the rail has only listed for its next file can still be cancelled.
  if (payout?.state === 'submitted' && (await rail?.unlist?.(tx, key, why)) === true) {
    await recordRejected(tx, { rail: order.payoutRail, key, why, now });
    return;
  }
  throw submitted(order, [key], payout?.state);
}

const GOES_ON: readonly Order['state'][] = ['deposit_confirmed', 'awaiting_liquidity', 'paying_out', 'refunding'];

/** Cancels every automatic step of the order. @throws Refusal 'payout_submitted' if part of it was submitted */
async function heldBack(context: Rails, tx: Tx, order: Order, action: Action): Promise<Order> {
  if (!GOES_ON.includes(order.state)) return order;
  const { order: held, notCancelled } = await holdBack(context, tx, action);
  if (notCancelled.length > 0) throw submitted(held, notCancelled, 'submitted');
  return held;
}

/**
 * Reprices an order that is held, that waits for funds, or whose payout is not submitted yet: at the current price, for the
 * amount received. The order is screened again and then continues automatically.
 *
 * @throws Refusal 'unknown_order' | 'order_over' | 'payout_submitted' | 'amount_outside_limits' | 'amount_below_fees';
 *   Unavailable without a price
 */
export async function reprice(context: Rails, tx: Tx, action: Action): Promise<Order> {
  const before = await lockOrder(tx, action.orderId);
  await requireNotRefused(tx, before);
  if (before.state === 'payout_held') await requireNotHeldByOperator(tx, before);
  const order = before.state === 'awaiting_liquidity' ? before : await heldBack(context, tx, before, action);
  const { by, why, now } = action;
  const isLost = await depositStore.hasLostDeposit(tx, order.id);
  const isPaid = (await payoutsOf(tx, order.id)).some(
    ({ refundId, state }) => refundId === null && state === 'settled',
  );
  if (next(order.state, 'requoted') === undefined || isLost || isPaid)
    throw new Refusal('order_over', {
      state: order.state,
      ...(isLost ? { why: 'deposit_lost' } : isPaid ? { why: 'paid_before' } : {}),
    });
  const market = await marketById(tx, order.marketId);
  const depositUnits = order.receivedUnits ?? order.depositUnits;
  const { level } = await findCustomer(tx, order.customerId);
  await requireWithinLevel(tx, { market, level, depositUnits });
  const input = { partner: { id: order.partnerId }, market, depositUnits, orderId: order.id, now };
  const { id, ...quote } = await requote(tx, input);
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `requoted by ${by}`, now });
  const terms = { ...quote, quoteId: id };
  const advanced = await advance(context, tx, order, 'requoted', {
    now,
    terms,
    facts: { by, why, reason: 'by_operator' },
  });
  assert(advanced.outcome === 'advanced', `order ${order.id} could not be repriced`);
  return advanced.order;
}

/**
 * Blocks an order by law, permanently: the money that we hold of it moves to the blocked account. Nothing more is submitted.
 *
 * @throws Refusal 'unknown_order' | 'order_over' | 'payout_submitted'
 */
export async function block(context: Rails, tx: Tx, action: Action): Promise<Order> {
  await heldBack(context, tx, await lockOrder(tx, action.orderId), action);
  const order = await perform(context, tx, action, 'blocked', {});
  await cancelUnsubmittedRefunds(tx, order.id, action.now);
  return order;
}

/** Moves an order's deadline to now. */
export async function passDeadline(tx: Tx, action: Action): Promise<void> {
  const order = await store.lock(tx, action.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  if (isFinal(order.state)) throw new Refusal('order_over', { state: order.state });
  await change(tx, order, { expiresAt: action.now, now: action.now });
  enqueue(tx, { kind: 'expire_order', subject: String(action.orderId), dueAt: action.now });
}

async function perform(
  context: Rails,
  tx: Tx,
  action: Action,
  event: OrderEvent,
  given: Omit<AdvanceFacts, 'now'>,
): Promise<Order> {
  const order = await store.lock(tx, action.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  // Closes the old cases first, because the transition may open a new one, for example when the treasury is short.
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `${event} by ${action.by}`, now: action.now });
  const advanced = await advance(context, tx, order, event, {
    ...given,
    now: action.now,
    facts: { by: action.by, why: action.why },
  });
  if (advanced.outcome === 'ignored') throw new Refusal('order_over', { state: order.state });
  return advanced.order;
}
