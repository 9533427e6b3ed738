/**
 * Making good what was taken back: a deposit that an order took, that its rail took away again, and that is there anew.
 *
 * Until it is made good, other money of the same order is not given back and makes no new order: the order may have been
 * paid out for money we did not keep.
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { type Account, chart, move, post } from '../ledger/index.ts';
import { change } from './advance.ts';
import { type DepositRow, type Order, store } from './store.ts';

export const unfit = (reason: string) => new Refusal('deposit_unfit', { why: reason });

/** What was taken back of an order and nobody has made good, as long as the order stands to it. */
export const standingLoss = (deposits: readonly DepositRow[]): DepositRow | undefined =>
  deposits.find(
    (one) =>
      one.state === 'lost' && one.lost_units > 0n && one.lost_to !== null && one.state_before_loss !== 'reversed',
  );

/** Where it stands until then: what its customer owes, or a loss. */
export function lossAccount(order: Pick<Order, 'customerId' | 'partnerId'>, lost: DepositRow): Account {
  const owed = chart.receivable(order.customerId, order.partnerId, lost.asset);
  return lost.lost_to === owed.code ? owed : chart.loss(lost.asset);
}

/**
 * Whether a deposit is the very money that was taken back: the same transaction, in a block again. Nobody has to decide
 * about that, and to give it back or pay for it as a second deposit would be to pay for one deposit twice.
 */
export const isSameMoney = (row: DepositRow, lost: DepositRow): boolean =>
  row.rail === lost.rail &&
  row.asset === lost.asset &&
  row.reference === lost.reference &&
  row.units >= lost.lost_units &&
  lost.refund_units === 0n;

/**
 * What chain or bank took back of an order is there again, from wherever it came: the loss ends, or the customer's debt. A
 * blocked customer stays blocked until an operator says otherwise, with another.
 */
export async function replaceLost(
  tx: Tx,
  { by, why, now }: { by: string; why: string; now: Date },
  { order, row, lost }: { order: Order; row: DepositRow; lost: DepositRow },
): Promise<Order> {
  if (row.asset !== lost.asset || row.units < lost.lost_units)
    throw unfit('it is less than was taken back, or of another asset');
  if (lost.refund_units > 0n) throw unfit('some of what was taken back had been given back before');
  const posted = await post(tx, {
    id: `dep_${row.id}:replaces`,
    kind: 'deposit_replaced',
    orderId: order.id,
    at: now,
    facts: { by, why, replaces: String(lost.id) },
    lines: move(chart.suspense(row.rail, row.asset), lossAccount(order, lost), lost.lost_units),
  });
  assert(posted.outcome === 'posted', `deposit ${row.id} lies in suspense`);
  await store.giveDepositTo(tx, row.id, order.id);
  if (row.partner_id === null) await store.nameDepositPartner(tx, row.id, order.partnerId);
  const bookedTo = chart.order(order.id, order.partnerId, order.depositAsset).code;
  await store.changeDeposit(tx, row.id, { state: 'applied', bookedTo, takenUnits: lost.lost_units, dust: false });
  await store.markReplaced(tx, lost.id);
  const outcome = `replaced by deposit ${row.id}, by ${by}`;
  await closeCases(tx, { subject: `deposit:${lost.id}`, outcome, now });
  await closeCases(tx, { subject: `deposit:${row.id}`, outcome: `given to order ${order.id} by ${by}`, now });
  const excessUnits = row.units - lost.lost_units;
  if (excessUnits > 0n)
    await openCase(tx, {
      kind: 'overpaid',
      subject: `deposit:${row.id}`,
      orderId: order.id,
      partnerId: order.partnerId,
      reason: 'more came than had been taken back; the rest is in suspense',
      facts: { units: String(excessUnits), asset: row.asset },
      now,
    });
  return await change(tx, order, { exception: 'deposit_replaced', depositReference: row.reference, now });
}
