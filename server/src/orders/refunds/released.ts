/** Money released by law whose order's deposit is reversed afterwards: the part that we still hold covers the debt or loss. */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { closeCases, upsertCase } from '../../compliance/index.ts';
import { chart, type Entry, type Line, move, post } from '../../ledger/index.ts';
import { custodyOf, fromPosition } from '../advance.ts';
import type { Rails } from '../context.ts';
import { lossAccount } from '../deposits/replace.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { linesFor } from '../entries.ts';
import type { Order } from '../store.ts';
import { giveUpLost, lostOf } from './lost.ts';
import { inSuspense, requestRefund } from './request.ts';
import { type Refund, refundsOf } from './store.ts';

/** Refunds of an order's released money, which is the whole amount that the order had accepted. */
export async function releasedRefunds(tx: Tx, orderId: bigint): Promise<Refund[]> {
  const released = (await depositStore.depositsOf(tx, orderId)).filter(({ origin }) => origin === 'released');
  return (await refundsOf(tx, orderId)).filter(({ depositId }) => released.some(({ id }) => id === depositId));
}

/**
 * We hold released money, and a deposit of its order was reversed since: the money covers that loss before any of it is paid to
 * the customer. The order's conversion, if there was one, is undone, as if the deposit had been reversed before the release
 * (blocked.ts). The remainder is refunded. A submitted refund may still arrive; if it fails or is returned, it ends here as well.
 *
 * @param has.goneUnits the part of the deposit that is no longer in suspense, because banks kept it on the way
 */
export async function makeGoodOfReleased(
  context: Rails,
  tx: Tx,
  has: { order: Order; row: DepositRow; goneUnits: bigint; now: Date },
): Promise<void> {
  const { order, row, goneUnits, now } = has;
  const deposits = await depositStore.depositsOf(tx, order.id);
  const lost = deposits.filter((one) => one.state === 'lost' && one.stateBeforeLoss === 'applied');
  const freeUnits = inSuspense(row) - goneUnits;
  // Not while a refund is under way, or after one has settled.
  if (lost.length === 0 || row.refundUnits > 0n || freeUnits <= 0n) return;
  const posting = {
    id: `dep_${row.id}:makes_good:${lost[0]?.id}`,
    kind: 'deposit_replaced',
    orderId: order.id,
    at: now,
    facts: { deposit: String(row.id), lost: lost.map(({ id }) => String(id)).join(' ') },
  };
  if (row.asset !== order.depositAsset)
    return await exchangeBack(context, tx, { order, row, freeUnits, deposits, posting, now });
  const suspense = chart.suspense(row.rail, row.asset);
  const lines: Line[] = [];
  let leftUnits = freeUnits;
  for (const one of lost) {
    const units = leftUnits < one.lostUnits ? leftUnits : one.lostUnits;
    if (units === 0n) break;
    leftUnits -= units;
    lines.push(...move(suspense, lossAccount(order, one), units));
    const about = { subject: `deposit:${one.id}`, now };
    if (units === one.lostUnits) {
      await depositStore.markReplaced(tx, one.id);
      await closeCases(tx, { ...about, outcome: `covered by money that was released by law, deposit ${row.id}` });
      continue;
    }
    await depositStore.replacePart(tx, one.id, units);
    await upsertCase(tx, {
      ...about,
      kind: one.lostTo === chart.loss(one.asset).code ? 'deposit_lost' : 'customer_owes',
      reason: 'reversed, and covered in part by money that was released by law; the rest is in units',
      facts: { units: String(one.lostUnits - units), asset: one.asset, reference: one.reference },
    });
  }
  const posted = await post(tx, { ...posting, lines });
  assert(posted.outcome === 'posted', `released deposit ${row.id} is not in suspense`);
  if (leftUnits === 0n) return await depositStore.changeDeposit(tx, row.id, { state: 'reversed', why: 'deposit_lost' });
  await depositStore.changeDeposit(tx, row.id, { state: row.state, takenUnits: row.units - leftUnits });
  await requestRefund(context, tx, { depositId: row.id, units: leftUnits, why: 'released_by_law', order, now });
}

/** Undoes the exchange and refunds the remainder of the deposit after the loss is covered. */
async function exchangeBack(
  context: Rails,
  tx: Tx,
  back: {
    order: Order;
    row: DepositRow;
    freeUnits: bigint;
    deposits: readonly DepositRow[];
    posting: Omit<Entry, 'lines'>;
    now: Date;
  },
): Promise<void> {
  const { order, row, freeUnits, deposits, posting, now } = back;
  const payout = chart.order(order.id, order.partnerId, order.payoutAsset);
  const deposit = chart.order(order.id, order.partnerId, order.depositAsset);
  const lost = lostOf(order, deposits);
  const receivedUnits = order.receivedUnits ?? order.depositUnits;
  const leftUnits = receivedUnits - order.refundedUnits - lost.reduce((sum, { units }) => sum + units, 0n);
  const suspense = chart.suspense(order.depositRail, order.depositAsset);
  const lines = [
    ...move(chart.suspense(row.rail, row.asset), payout, freeUnits),
    // The part that banks kept on the way.
    ...(freeUnits === order.payoutUnits ? [] : move(chart.loss(row.asset), payout, order.payoutUnits - freeUnits)),
    ...linesFor('reverse_conversion_and_give_up', { ...order, receivedUnits }, custodyOf(context.rails, order), {
      lost,
    }),
    ...(leftUnits > 0n ? move(deposit, suspense, leftUnits) : []),
  ];
  let posted = await post(tx, { ...posting, lines });
  // The treasury has spent the proceeds of the conversion since: the position account covers them, as at the conversion.
  if (posted.outcome === 'short')
    posted = await post(tx, { ...posting, lines: lines.flatMap(fromPosition(order.depositAsset)) });
  // The fees have been paid out to the partner: the money stays here, and operators undo the exchange through the reversed
  // deposit's case once the fees are available again.
  if (posted.outcome !== 'posted') return;
  await depositStore.changeDeposit(tx, row.id, { state: 'reversed', why: 'deposit_lost' });
  await giveUpLost(tx, order, deposits, now);
  if (leftUnits === 0n) return;
  const rest = await depositStore.insertDeposit(tx, {
    ...{
      rail: order.depositRail,
      externalId: `released:${order.id}:${order.depositAsset}`,
      asset: order.depositAsset,
    },
    ...{ units: leftUnits, target: '', orderId: order.id, partnerId: order.partnerId, state: 'suspense' },
    ...{ reference: row.reference, facts: {}, seenAt: now, payer: 'unknown', origin: 'released' },
  });
  const why = 'released_by_law';
  await depositStore.changeDeposit(tx, rest.id, { state: 'suspense', bookedTo: suspense.code, why, confirmedAt: now });
  await requestRefund(context, tx, { depositId: rest.id, units: leftUnits, why, order, now });
}
