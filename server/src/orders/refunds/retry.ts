/** Refunds that operators send again, to the same destination or another. */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { advance } from '../advance.ts';
import type { OrdersContext, Rails, RefundTo } from '../context.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import * as depositStore from '../deposits/store.ts';
import { requireNotHeldSince } from '../lock.ts';
import { approveRefund } from '../payouts/gate.ts';
import { refundOf } from '../payouts/leaving.ts';
import type { SeenFinding } from '../payouts/rules.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { isRejectedPart } from './cancel.ts';
import { requireFits } from './destinations.ts';
import { endOfLost, giveUpLost, isPaidOut, lostOf } from './lost.ts';
import { isKept, screenOrderRefund } from './refunds.ts';
import { comesNext, destinationColumns, outgoing, wholeOf } from './request.ts';
import { changeRefund, lockRefund, type Refund, refundsOf } from './store.ts';

/**
 * Sets or changes a refund's destination, and sends it there after screening.
 *
 * @throws Refusal 'refund_under_way' if it was submitted or has settled; 'unknown_account' | 'malformed_field' if it cannot
 *   arrive there
 */
export async function sendRefundTo(
  context: Rails,
  tx: Tx,
  { refund, order }: { refund: Refund; order: Order | undefined },
  to: RefundTo,
  now: Date,
): Promise<Refund> {
  const may: Refund['state'][] = ['needs_destination', 'screening', 'held', 'rejected', 'returned'];
  if (refund.source !== 'suspense' || !may.includes(refund.state))
    throw new Refusal('refund_under_way', { refund: String(refund.id), state: refund.state });
  await requireFits(context, tx, outgoing(refund, order), to);
  const deposit = await depositStore.lockDepositById(tx, refund.depositId);
  assert(deposit !== undefined, `deposit ${refund.depositId} is gone`);
  await wakeDeposit(tx, deposit, { by: 'a destination', why: 'a destination was named', now });
  const changed = await changeRefund(tx, refund, { state: 'screening', to: destinationColumns(to), now });
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome: 'a destination was named', now });
  await comesNext(tx, changed, now);
  return changed;
}

/**
 * Retries the refund of an order that the rail rejected: all parts that failed, optionally to another destination. A part that
 * its rail has reversed meanwhile is given up; if that is the whole amount, the order ends.
 *
 * @throws Refusal 'unknown_order' | 'unknown_account' | 'malformed_field' | 'order_over' | 'destination_held' | 'funds_short' |
 *   'refund_under_way' if the payout that it replaces has settled after all
 */
export async function retryRefund(
  context: OrdersContext,
  input: {
    orderId: bigint;
    by: string;
    people?: readonly string[];
    pastHits?: boolean | undefined;
    seen?: readonly SeenFinding[] | undefined;
    seenVersion?: number | undefined;
    why: string;
    to?: RefundTo | undefined;
    now: Date;
  },
): Promise<Order> {
  const { orderId, by, why, now } = input;
  const before = await context.db.asSystem(async (tx) => ({
    order: await store.get(tx, orderId),
    refunds: await refundsOf(tx, orderId),
  }));
  if (before.order === undefined) throw new Refusal('unknown_order', {});
  const last = before.refunds.find(({ state, source }) => state === 'rejected' && source === 'order');
  if (before.order.state !== 'refund_held' || last === undefined)
    throw new Refusal('order_over', { state: before.order.state });
  const { order: held } = before;
  const to = input.to ?? { address: last.address ?? undefined, fiatAccountId: last.fiatAccountId ?? undefined };
  // The destination may be the account of its sender, which callers cannot name by id.
  await context.db.asSystem((tx) => requireFits(context, tx, wholeOf(held, last.depositId), to));
  const verdict = await screenOrderRefund(context, orderId, to);
  const retried = await context.db.asSystem(async (tx) => {
    const order = await store.lock(tx, orderId);
    if (order?.state !== 'refund_held') throw new Refusal('order_over', { state: order?.state });
    await requireNotHeldSince(tx, order, input.seenVersion);
    if (input.people !== undefined)
      await approveRefund(context, tx, await refundOf(tx, order, to), {
        ...{ people: input.people, reason: why, pastHits: input.pastHits, seen: input.seen, now },
      });
    if (await isKept(context, tx, order, { to, verdict, now })) return undefined;
    if (await isPaidOut(tx, orderId))
      throw new Refusal('refund_under_way', { orderId: String(orderId), state: order.state });
    const again: Refund[] = [];
    for (const { id } of (await refundsOf(tx, orderId)).filter(isRejectedPart)) {
      const locked = await lockRefund(tx, id);
      assert(locked !== undefined, `refund ${id} has disappeared`);
      const { refund, deposit } = locked;
      if (deposit.state === 'lost') await changeRefund(tx, refund, { state: 'cancelled', now });
      else {
        const attempt = refund.attempt + 1;
        const key = `ref_${refund.id}_${attempt}`;
        again.push(await changeRefund(tx, refund, { state: 'created', attempt, key, to: destinationColumns(to), now }));
      }
    }
    const deposits = await depositStore.depositsOf(tx, orderId);
    const lost = lostOf(order, deposits);
    await closeCases(tx, { subject: `order:${orderId}`, outcome: `retried by ${by}`, now });
    const event = again.length === 0 ? endOfLost(await refundsOf(tx, orderId)) : 'retried';
    const facts = { by, why };
    const advanced = await advance(context, tx, order, event, { now, refunds: again, lost, facts });
    if (advanced.outcome === 'ignored') throw new Refusal('funds_short', { asset: order.depositAsset });
    if (lost.length > 0) await giveUpLost(tx, order, deposits, now);
    return advanced.order;
  });
  if (retried === undefined) throw new Refusal('destination_held', { orderId: String(orderId) });
  return retried;
}
