/**
 * Sends a payout that its rail rejected before any money left to another destination of the same customer, for example because
 * the account is closed or the address cannot receive coins.
 *
 * The order keeps its terms, including its own destination. Its payout now goes to the destination of the last attempt, so that
 * every retry, by an operator or the server, sends it there. The new destination is screened outside before an attempt is
 * created, and the gate treats it as one that the order does not name (`destination.new`).
 *
 * Not here: a payout that left and came back (refunds/actions.ts, nameDestination).
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { closeCases, record } from '../../compliance/index.ts';
import { advance } from '../advance.ts';
import type { Action, OrdersContext, Rails, RefundTo } from '../context.ts';
import { holdBeforePayout, isHeldByOperator } from '../decide.ts';
import * as depositStore from '../deposits/store.ts';
import { history } from '../history.store.ts';
import { lockOrder } from '../lock.ts';
import { refundAddressOn } from '../refunds/actions.ts';
import { requireFits } from '../refunds/destinations.ts';
import { destinationColumns, outgoing } from '../refunds/request.ts';
import type { Order } from '../store.ts';
import { approveRefund, keepVerdict, uncoveredFindings } from './gate.ts';
import { destinationKey, payoutOf, screeningOf } from './leaving.ts';
import { screenOutside } from './rescreen.ts';

/**
 * Locks an order whose payout may be sent again.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function lockRetryable(tx: Tx, orderId: bigint): Promise<Order> {
  const order = await lockOrder(tx, orderId);
  const { state } = order;
  // A rejected refund is retried with its own deposit and destination: retryRefund.
  if (state !== 'payout_held') throw new Refusal('order_over', { state });
  await requireNotHeldByOperator(tx, order);
  const why = holdBeforePayout(order, await depositStore.hasLostDeposit(tx, order.id));
  if (why !== undefined) throw new Refusal('order_over', { state, why });
  return order;
}

/** An operator's hold on a rejected payout ends only with a release. @throws Refusal 'order_over' */
export async function requireNotHeldByOperator(tx: Tx, { id, state }: Order): Promise<void> {
  if (isHeldByOperator(await history(tx, id))) throw new Refusal('order_over', { state, why: 'held_by_operator' });
}

/**
 * A destination at which the order's payout can arrive, in our spelling.
 *
 * @throws Refusal 'unknown_account' | 'malformed_field'
 */
export async function readPayTo(context: Rails, tx: Tx, order: Order, named: RefundTo): Promise<RefundTo> {
  const { payoutRail: rail, payoutAsset: asset } = order;
  const isAddress = named.address !== undefined && context.rails.get(rail)?.kind === 'chain';
  const to = isAddress ? { ...named, address: await refundAddressOn(context, tx, rail, named.address) } : named;
  await requireFits(context, tx, outgoing({ rail, asset }, order), to);
  return to;
}

/**
 * Sends a rejected payout to another destination. The operators approve it as a new destination. A hit of screening or of a list
 * passes only with `pastHits`, and only if it was known before this call.
 *
 * @param requireMay the caller's own checks, repeated after the screener has answered
 * @throws Refusal 'unknown_order' | 'order_over' | 'unknown_account' | 'malformed_field' | 'destination_held' | 'funds_short' | of
 *   `requireMay`
 */
export async function retryTo(
  context: OrdersContext,
  action: Action,
  named: RefundTo,
  requireMay: (tx: Tx, order: Order) => Promise<void> = async () => {},
): Promise<Order> {
  const { orderId, by, people = [by], why, pastHits, seen, now } = action;
  const { to, asked, version } = await context.db.asSystem(async (tx) => {
    await requireMay(tx, await lockOrder(tx, orderId));
    const order = await lockRetryable(tx, orderId);
    const read = await readPayTo(context, tx, order, named);
    const leaving = await payoutOf(tx, order, destinationColumns(read));
    return { to: read, asked: screeningOf(leaving), version: order.version };
  });
  const verdict = await screenOutside(context, asked);
  const retried = await context.db.asSystem(async (tx) => {
    await requireMay(tx, await lockOrder(tx, orderId));
    const order = await lockRetryable(tx, orderId);
    // The payout was sent again meanwhile, and was held or rejected once more: operators decide about that.
    if (order.version !== version) throw new Refusal('order_over', { state: order.state });
    const leaving = await payoutOf(tx, order, destinationColumns(to));
    await approveRefund(context, tx, leaving, { people, reason: why, pastHits, seen, now });
    keepVerdict(tx, leaving, verdict, now);
    const left = await uncoveredFindings(context, tx, leaving, now);
    const never = left.find((finding) => finding.action === null);
    if (never !== undefined) throw new Refusal('order_over', { state: order.state, why: never.rule });
    const outcome = left.length > 0 ? 'held' : 'cleared';
    await record(tx, { orderId, partnerId: order.partnerId, about: 'payout', ...verdict, outcome, now });
    // The screener's answer is stored. An operator can approve the hit once it has been shown.
    if (left.length > 0) return undefined;
    await closeCases(tx, { subject: `order:${orderId}`, outcome: `retried by ${by}`, now });
    const facts = { by, why, to: destinationKey(leaving) };
    const advanced = await advance(context, tx, order, 'retried', { now, payTo: to, facts });
    if (advanced.outcome === 'ignored') throw new Refusal('funds_short', { asset: order.payoutAsset });
    return advanced.order;
  });
  if (retried === undefined) throw new Refusal('destination_held', { orderId: String(orderId) });
  return retried;
}
