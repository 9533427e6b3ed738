/** Payouts whose outcome operators state with evidence: a chain transaction or a line of a statement. */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { chart } from '../../ledger/index.ts';
import { type Payout, payoutsOf, unitsPaid } from '../../rails/payouts.ts';
import { advance } from '../advance.ts';
import type { Action, Rails } from '../context.ts';
import { PAID_OTHER_AMOUNT, paidOtherwise } from '../decide.ts';
import { owesAfterAll } from '../deposits/owed.ts';
import * as depositStore from '../deposits/store.ts';
import { lockOrder } from '../lock.ts';
import { next } from '../machine.ts';
import { cancelUnsubmittedRefunds } from '../refunds/cancel.ts';
import { requestRefund } from '../refunds/request.ts';
import type { Order } from '../store.ts';

/**
 * Settles an order with an attempt that its rail had rejected and later paid, although the order's terms have changed since. The
 * order's balance covers the loss that was booked. A remainder stays with us as a difference, or is also paid to the payout's
 * destination. An amount paid beyond the balance is booked as a difference.
 *
 * @throws Refusal 'unknown_order' | 'unknown_payout' | 'does_not_fit' | 'order_over' | 'missing_fields'
 */
export async function settleBy(
  context: Rails,
  tx: Tx,
  action: Action & { payout: string; rest?: 'keep' | 'pay' | undefined },
): Promise<Order> {
  const { by, why, now } = action;
  const order = await lockOrder(tx, action.orderId);
  const { paid, restUnits } = await paidBefore(tx, order, action);
  const { payoutRail, payoutAsset } = order;
  const isOwed = restUnits > 0n && action.rest === 'pay';
  const suspense = chart.suspense(payoutRail, payoutAsset);
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `paid by ${paid.id}, says ${by}`, now });
  await cancelUnsubmittedRefunds(tx, order.id, now);
  const { outcome, order: settled } = await advance(context, tx, order, 'payout_found', {
    now,
    paid: { units: unitsPaid(paid), rest: isOwed ? suspense : undefined },
    facts: { by, why, payout: paid.id, reference: paid.reference ?? '', ...paidOtherwise(paid, order) },
    payoutReference: paid.reference ?? '',
    ...(unitsPaid(paid) === order.payoutUnits ? {} : { exception: PAID_OTHER_AMOUNT }),
  });
  assert(outcome === 'advanced', `order ${order.id} cannot be settled in ${order.state}`);
  await closeCases(tx, {
    kind: 'payout_contradiction',
    subject: `payout:${paid.id}`,
    outcome: `it has paid order ${order.id}`,
    now,
  });
  await owesAfterAll(tx, settled, now);
  if (!isOwed) return settled;
  // Treated like a returned payout: the money belongs to the order, and a new attempt pays it.
  const row = await depositStore.insertDeposit(tx, {
    rail: payoutRail,
    externalId: `rest:${paid.id}`,
    asset: payoutAsset,
    units: restUnits,
    target: '',
    orderId: order.id,
    partnerId: order.partnerId,
    state: 'suspense',
    reference: paid.reference ?? '',
    facts: { payout: paid.id },
    seenAt: now,
    payer: 'unknown',
    origin: 'returned',
  });
  await depositStore.changeDeposit(tx, row.id, {
    state: 'suspense',
    bookedTo: suspense.code,
    why: 'paid_too_little',
    confirmedAt: now,
  });
  const to = paid.address === null ? { fiatAccountId: paid.fiatAccountId ?? undefined } : { address: paid.address };
  await requestRefund(context, tx, {
    ...{ depositId: row.id, units: restUnits, why: 'paid_too_little', by, order: settled, now },
    to,
  });
  return settled;
}

/**
 * The attempt that operators say has paid an order, and the order's balance beyond it.
 *
 * @throws Refusal 'unknown_payout' | 'does_not_fit' | 'order_over' | 'missing_fields' if the caller does not say what happens to
 *   the remainder
 */
export async function paidBefore(
  tx: Tx,
  order: Order,
  input: { payout: string; rest?: 'keep' | 'pay' | undefined },
): Promise<{ paid: Payout; restUnits: bigint }> {
  const { state } = order;
  const paid = (await payoutsOf(tx, order.id)).find(({ id }) => id === input.payout);
  if (paid === undefined) throw new Refusal('unknown_payout');
  const wrong = (why: string) => new Refusal('does_not_fit', { why });
  if (paid.refundId !== null || paid.purpose !== 'payout') throw wrong('it is no payout of the order');
  if (paid.state !== 'settled') throw wrong(`its rail does not show it as paid: it is ${paid.state}`);
  if (next(state, 'payout_found') === undefined) throw new Refusal('order_over', { state });
  if (order.refundedUnits > 0n) throw new Refusal('order_over', { state, why: 'partly_refunded' });
  const restUnits = order.payoutUnits - unitsPaid(paid);
  if (restUnits > 0n && input.rest === undefined) throw new Refusal('missing_fields', { names: ['rest'] });
  return { paid, restUnits: restUnits > 0n ? restUnits : 0n };
}
