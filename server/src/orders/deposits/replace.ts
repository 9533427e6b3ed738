/**
 * Replacing a reversed deposit: an order accepted a deposit, its rail reversed it, and other or the same money has arrived since.
 *
 * Until the reversed deposit is replaced, other money of the same order is not refunded and creates no new order, because the
 * order may have been paid out against the reversed deposit.
 */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases, openCase, upsertCase } from '../../compliance/index.ts';
import { type Account, balance, chart, move, post } from '../../ledger/index.ts';
import { assets } from '../../partners/index.ts';
import { change } from '../advance.ts';
import { unblockDebtor } from '../blocked.ts';
import { isFinal } from '../machine.ts';
import type { Order } from '../store.ts';
import { wakeDeposit } from './dormant.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

export const unfit = (reason: string) => new Refusal('deposit_unfit', { why: reason });

/** The reversed deposit that is not replaced yet, if the order still claims it. */
export const standingLoss = (deposits: readonly DepositRow[]): DepositRow | undefined =>
  deposits.find(
    (one) => one.state === 'lost' && one.lostUnits > 0n && one.lostTo !== null && one.stateBeforeLoss !== 'reversed',
  );

/** The account on which the reversed deposit is booked: the customer's debt, or a loss. */
export function lossAccount(order: Pick<Order, 'customerId' | 'partnerId'>, lost: DepositRow): Account {
  const owed = chart.receivable(order.customerId, order.partnerId, lost.asset);
  return lost.lostTo === owed.code ? owed : chart.loss(lost.asset);
}

/**
 * Whether a deposit is the reversed money itself: the same transaction, included again. Then no decision is needed. Refunding it,
 * or paying it out as a second deposit, would pay for one deposit twice.
 */
export const isSameMoney = (order: Order, row: DepositRow, lost: DepositRow): boolean =>
  (lost.refundUnits === 0n || isFinal(order.state)) &&
  row.rail === lost.rail &&
  row.asset === lost.asset &&
  row.reference === lost.reference &&
  row.units >= lost.lostUnits;

/**
 * Replaces a reversed deposit with other money, in whole or in part: the loss or the customer's debt decreases by that amount. A
 * blocked customer stays blocked until two operators decide otherwise.
 *
 * @param by.units how much of the money is used; default: as much as is needed. The rest stays in suspense
 */
export async function replaceLost(
  tx: Tx,
  { by, why, now, units }: { by: string; why: string; now: Date; units?: bigint | undefined },
  { order, row, lost }: { order: Order; row: DepositRow; lost: DepositRow },
): Promise<Order> {
  if (row.asset !== lost.asset) throw unfit('its asset differs from that of the reversed deposit');
  // If the order continues, the refunded part no longer belongs to it.
  if (lost.refundUnits > 0n && !isFinal(order.state))
    throw unfit('a part of the reversed deposit had already been refunded');
  const freeUnits = row.units - row.takenUnits - row.refundUnits;
  const kept = units ?? least(freeUnits, lost.lostUnits);
  if (kept <= 0n || kept > freeUnits) throw unfit('less than this amount of it is in suspense');
  if (kept > lost.lostUnits) throw unfit('it is more than is still lost or owed');
  await wakeDeposit(tx, row, { by, why, now });
  const posted = await post(tx, {
    id: row.takenUnits === 0n ? `dep_${row.id}:replaces` : `dep_${row.id}:replaces:${row.takenUnits}`,
    kind: 'deposit_replaced',
    orderId: order.id,
    at: now,
    facts: { by, why, replaces: String(lost.id) },
    lines: move(chart.suspense(row.rail, row.asset), lossAccount(order, lost), kept),
  });
  assert(posted.outcome === 'posted', `deposit ${row.id} is not in suspense`);
  await depositStore.giveDepositTo(tx, row.id, order.id);
  if (row.partnerId === null) await depositStore.nameDepositPartner(tx, row.id, order.partnerId);
  const bookedTo = chart.order(order.id, order.partnerId, order.depositAsset).code;
  const takenUnits = row.takenUnits + kept;
  await depositStore.changeDeposit(tx, row.id, { state: 'applied', bookedTo, takenUnits, dust: false });
  await closeCases(tx, { subject: `deposit:${row.id}`, outcome: `assigned to order ${order.id} by ${by}`, now });
  const left = lost.lostUnits - kept;
  if (left === 0n) {
    await depositStore.markReplaced(tx, lost.id);
    await closeCases(tx, {
      subject: `deposit:${lost.id}`,
      outcome: `replaced by deposit ${row.id}, by ${by}`,
      now,
    });
  } else {
    await depositStore.replacePart(tx, lost.id, kept);
    await upsertCase(tx, {
      kind: lost.lostTo === chart.loss(lost.asset).code ? 'deposit_lost' : 'customer_owes',
      subject: `deposit:${lost.id}`,
      reason: `reversed, and replaced in part, last by deposit ${row.id}; the rest is in units`,
      facts: { units: String(left), asset: lost.asset, reference: lost.reference },
      now,
    });
  }
  const excessUnits = freeUnits - kept;
  if (excessUnits > 0n)
    await openCase(tx, {
      kind: 'overpaid',
      subject: `deposit:${row.id}`,
      orderId: order.id,
      partnerId: order.partnerId,
      reason:
        left === 0n
          ? 'more came than had been reversed; the rest is in suspense'
          : 'a part was kept for what had been reversed; the rest is in suspense',
      facts: { units: String(excessUnits), asset: row.asset },
      now,
    });
  if (left > 0n) return order;
  return await change(tx, order, { exception: 'deposit_replaced', depositReference: row.reference, now });
}

/** The money that a customer owed has arrived again: lifts the block for that debt, unless the customer has another debt. */
export async function endDebtBlock(tx: Tx, { customerId, partnerId }: Order, now: Date): Promise<void> {
  for (const asset of (await assets(tx)).keys())
    if ((await balance(tx, chart.receivable(customerId, partnerId, asset))).units > 0n) return;
  await unblockDebtor(tx, customerId, now);
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
