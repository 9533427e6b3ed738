/**
 * Undoing an exchange: the order's payout was returned and its deposit was reversed, so neither side has received anything.
 *
 * The customer no longer owns the returned money, and no longer owes the debt: two operators undo the conversion, with its fees.
 * The part of the returned money that banks kept on the way is our loss. The order stays settled, marked as undone; it is not
 * paid again.
 *
 * The same applies to released money of a converted order, if the fees needed to undo its conversion were not available at once
 * (refunds/released.ts).
 *
 * Not here: a reversed deposit that is there again (replace.ts), and a debt that will not be paid (correct.ts).
 */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { chart, type Entry, type Line, move, post } from '../../ledger/index.ts';
import { payoutsOf } from '../../rails/payouts.ts';
import type { Rail } from '../../rails/rail.ts';
import { change, custodyOf, fromPosition } from '../advance.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import { areHeld } from '../deposits/held.store.ts';
import { lossAccount } from '../deposits/replace.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { linesFor } from '../entries.ts';
import { isCancellable } from '../refunds/cancel.ts';
import { cancelRefunds } from '../refunds/rejected.ts';
import { inSuspense } from '../refunds/request.ts';
import { refundsOfDeposit } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';

const unfit = (why: string) => new Refusal('does_not_fit', { why });

/** Both sides of the exchange, locked. */
interface Undoing {
  order: Order;
  lost: DepositRow;
  back: DepositRow;
}

/**
 * @param lost the reversed deposit, locked with its order
 * @param backId the deposit of the order's returned payout
 * @throws Refusal 'unknown_deposit' | 'does_not_fit' if part of the exchange is still valid
 */
export async function requireUndone(tx: Tx, lost: DepositRow, backId: bigint): Promise<Undoing> {
  const order = lost.orderId === null ? undefined : await store.lock(tx, lost.orderId);
  const back = await depositStore.lockDepositById(tx, backId);
  if (back === undefined) throw new Refusal('unknown_deposit', {});
  const isReleased = order?.state === 'frozen' && back.origin === 'released' && back.asset === order.payoutAsset;
  if (order === undefined || back.orderId !== order.id || (back.origin !== 'returned' && !isReleased))
    throw unfit('the named deposit is not the returned payout of this order');
  // The order was cancelled and paid after all: the debt replaces the exchange.
  const isPaid = order.state === 'settled' || (order.state === 'cancelled' && lost.stateBeforeLoss === 'applied');
  if (lost.state !== 'lost' || (!isPaid && !isReleased)) throw unfit('the order does not stand as paid');
  if (lost.lostUnits !== (order.receivedUnits ?? order.depositUnits))
    throw unfit(
      'a part of the order’s deposit is still there: assign or refund what arrived, and write off the rest as a debt',
    );
  if (back.state !== 'suspense' || back.takenUnits > 0n) throw unfit('the returned money is not in suspense');
  if (await areHeld(tx, [back])) throw unfit('an operator holds the deposit: release it first');
  if ((await payoutsOf(tx, order.id)).some(({ refundId, state }) => refundId === null && state === 'settled'))
    throw unfit('another payout of the order has left and not come back');
  for (const { state } of await refundsOfDeposit(tx, back.id))
    if (state !== 'cancelled' && !isCancellable(state))
      throw unfit(`the returned money is being paid again, or was: ${state}`);
  return { order, lost, back };
}

/** @param entry the correcting entry, without its lines */
export async function undoExchange(
  context: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  { order, lost, back }: Undoing,
  entry: Omit<Entry, 'lines'> & { by: string },
): Promise<void> {
  const { by, ...posting } = entry;
  const now = entry.at;
  await wakeDeposit(tx, back, { by, why: 'its exchange is undone', now });
  await cancelRefunds(context, tx, back.id, now);
  const free = await depositStore.lockDepositById(tx, back.id);
  assert(free !== undefined, `deposit ${back.id} is gone`);
  const units = inSuspense(free);
  const payout = chart.order(order.id, order.partnerId, order.payoutAsset);
  const taken = units < order.payoutUnits ? units : order.payoutUnits;
  const lines: Line[] = [
    ...move(chart.suspense(back.rail, back.asset), payout, taken),
    // The part that banks kept on the way.
    ...(taken === order.payoutUnits ? [] : move(chart.loss(back.asset), payout, order.payoutUnits - taken)),
    ...linesFor(
      'reverse_conversion_and_give_up',
      { ...order, receivedUnits: order.receivedUnits ?? order.depositUnits },
      custodyOf(context.rails, order),
      { lost: [{ units: lost.lostUnits, bookedTo: lossAccount(order, lost) }] },
    ),
  ];
  const booking = { ...posting, orderId: order.id };
  let posted = await post(tx, { ...booking, lines });
  // The treasury may have spent the conversion's proceeds since: the position account covers the rest.
  if (posted.outcome === 'short')
    posted = await post(tx, { ...booking, lines: lines.flatMap(fromPosition(order.depositAsset)) });
  if (posted.outcome !== 'posted') throw unfit('the books have not got what the exchange took: look at its fees');
  await depositStore.changeDeposit(tx, back.id, { state: 'applied', bookedTo: payout.code, takenUnits: taken });
  await depositStore.markReplaced(tx, lost.id);
  for (const { id } of [lost, back])
    await closeCases(tx, { subject: `deposit:${id}`, outcome: `the exchange is undone, says ${by}`, now });
  await change(tx, order, { exception: 'deposit_lost', now });
}
