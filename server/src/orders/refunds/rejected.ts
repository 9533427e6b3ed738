/**
 * Refunds that are rejected, cancelled, found or returned. These cases call each other, so they share one file: a rejected refund
 * of a compensation, or of released money, cancels the others of its order, and a cancelled one is rejected.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { chart, move, post } from '../../ledger/index.ts';
import { PRICED_FEES } from '../../quotes/index.ts';
import { cancelUnlessSubmitted, type Payout, payoutByKey, recordRejected } from '../../rails/payouts.ts';
import { bookedRefund } from '../advance.ts';
import type { Rails } from '../context.ts';
import { mayRetryByItself, PAID_BEFORE } from '../decide.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import * as depositStore from '../deposits/store.ts';
import { feeAccount, voidRefund } from '../entries.ts';
import type { Order } from '../store.ts';
import { isPaidOut } from './lost.ts';
import { makeGoodOfReleased, releasedRefunds } from './released.ts';
import { foundFor, oweCancelled, replacementOf } from './replaced.ts';
import { announceRefund, CANCELLABLE, inSuspense, refundCase } from './request.ts';
import { sendFromSuspense } from './screen.ts';
import { endOrderRefund, goesToLoss, heldParts, settleFound, tryAgainHeld } from './settled.ts';
import { changeRefund, type LockedRefund, lockRefund, refundsOfDeposit } from './store.ts';

export async function refundRejected(context: Rails, tx: Tx, payout: Payout, why: string, now: Date): Promise<void> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked === undefined) return;
  const { refund, order } = locked;
  if (refund.key !== payout.id || (refund.state !== 'created' && refund.state !== 'submitted')) return;
  const failed = await changeRefund(tx, refund, { state: 'rejected', now });
  const isMade = (await foundFor(tx, { ...locked, refund: failed })) !== undefined;
  // The gate holds a refund of a reversed deposit, so another attempt in full could not leave: people decide about the rest.
  const again = mayRetryByItself(why, refund.attempt) && !isMade && locked.deposit.state !== 'lost';
  if (refund.source === 'order') {
    assert(order !== undefined, `refund ${refund.id} has no order`);
    await closeCases(tx, { kind: 'hold_too_late', subject: `refund:${refund.id}`, outcome: `refused: ${why}`, now });
    if (again && !(await isPaidOut(tx, order.id)) && (await heldParts(tx, order.id)) === undefined)
      return await tryAgainHeld(context, tx, { ...locked, refund: failed }, now);
    return await endOrderRefund(context, tx, order.id, payout, now, why);
  }
  await post(tx, {
    id: `${payout.id}:void`,
    kind: 'void_refund',
    ...defined({ orderId: refund.orderId ?? undefined }),
    at: now,
    facts: { why, payout: payout.id },
    lines: voidRefund(bookedRefund(failed)),
  });
  if (await goesToLoss(tx, { ...locked, refund: failed }, payout, why, now)) return;
  if (!isMade) {
    if (await endsCompensation(context, tx, locked, now)) return;
    if (await endsReleased(context, tx, locked, now)) return;
  }
  // Where the wallet has too little for another attempt, nothing would try again: an operator sends it.
  if (again && (await sendFromSuspense(context, tx, { ...locked, refund: failed }, now)) === undefined) return;
  await refundCase(tx, failed, 'refund_rejected', why, now);
  await announceRefund(tx, order, now);
  await settleFound(context, tx, failed.id, now);
}

/**
 * The rail settled a refund attempt that it had rejected: cancels the next attempt if its submission has not begun, and settles
 * the refund, or the one that has replaced it. The caller has booked the payment as a loss.
 */
export async function refundFound(context: Rails, tx: Tx, paid: Payout, now: Date): Promise<void> {
  const locked = paid.refundId === null ? undefined : await lockRefund(tx, paid.refundId);
  if (locked === undefined) return;
  const { refund } = locked;
  const id = refund.state === 'cancelled' ? await replacementOf(tx, locked, now) : refund.id;
  if (id === undefined) return await oweCancelled(tx, locked, now);
  if (await cancelUnsubmitted(context, tx, id, PAID_BEFORE, now)) return;
  await settleFound(context, tx, id, now);
}

/**
 * A refund was returned: its money is in suspense (the caller has booked it there) and is still owed. An operator or the customer
 * names another destination. If an earlier attempt has settled after all, nothing is owed any more, and the money in suspense
 * covers the loss that was booked.
 *
 * @param units the amount that was returned: a bank may have kept some of it on the way
 * @returns how much of it is the refund's, which is at most what was sent; undefined if this attempt did not settle the refund: the
 *   returned money is unassigned then
 */
export async function refundReturned(
  context: Rails,
  tx: Tx,
  payout: Payout,
  { units, why, now }: { units: bigint; why: string; now: Date },
): Promise<bigint | undefined> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked === undefined || locked.refund.key !== payout.id || locked.refund.state !== 'settled') return undefined;
  const { refund } = locked;
  await wakeDeposit(tx, locked.deposit, { by: 'the rail', why: 'some of it came back', now });
  const netUnits = units < refund.netUnits ? units : refund.netUnits;
  const isMade = (await foundFor(tx, locked)) !== undefined;
  const back = await changeRefund(tx, refund, {
    state: isMade ? 'rejected' : 'returned',
    source: 'suspense',
    netUnits,
    costUnits: refund.grossUnits - netUnits,
    now,
  });
  if (await goesToLoss(tx, { ...locked, refund: back }, payout, why, now)) return netUnits;
  if (!isMade && (await endsCompensation(context, tx, locked, now))) return netUnits;
  if (!isMade && (await endsReleased(context, tx, locked, now))) return netUnits;
  await refundCase(tx, back, 'refund_returned', why, now);
  await announceRefund(tx, locked.order, now);
  if (isMade) await settleFound(context, tx, back.id, now);
  return netUnits;
}

/**
 * Cancels a reversed deposit's refunds that have not left: waiting refunds are cancelled, and a created payout is cancelled
 * unless its submission has begun. A returned refund is cancelled too, because we hold its money.
 *
 * @returns units that cancelled refunds had named and that are no longer in suspense: fees kept of a returned one, and the part
 *   that its bank kept on the way
 */
export async function cancelRefunds(context: Rails, tx: Tx, depositId: bigint, now: Date): Promise<bigint> {
  let goneUnits = 0n;
  for (const { id } of await refundsOfDeposit(tx, depositId)) {
    await cancelUnsubmitted(context, tx, id, REVERSED, now);
    const locked = await lockRefund(tx, id);
    if (locked === undefined || locked.refund.source !== 'suspense' || !CANCELLABLE.includes(locked.refund.state))
      continue;
    await changeRefund(tx, locked.refund, { state: 'cancelled', now });
    await closeCases(tx, { subject: `refund:${id}`, outcome: 'cancelled', now });
    // A fee is charged only when money leaves. Only an order's refund keeps fees, and it is paid out of suspense only after it
    // was returned.
    goneUnits += locked.refund.costUnits;
  }
  return goneUnits;
}

/**
 * The rail reversed a deposit that an order accepted: compensations that have not left return to the fee account. A submitted one
 * may still arrive; if it fails or is returned, it ends here as well.
 */
export async function cancelCompensations(context: Rails, tx: Tx, order: Order, now: Date): Promise<void> {
  for (const known of await depositStore.depositsOf(tx, order.id)) {
    if (known.origin !== 'compensation' || known.state === 'reversed') continue;
    await wakeDeposit(tx, known, { by: 'the rail', why: REVERSED, now });
    const goneUnits = await cancelRefunds(context, tx, known.id, now);
    const row = await depositStore.lockDepositById(tx, known.id);
    assert(row !== undefined, `deposit ${known.id} has disappeared`);
    // Skipped if its refund is under way or has settled, or if cancelling its payout just now has already ended it.
    if (row.state === 'reversed' || row.refundUnits > 0n || inSuspense(row) === 0n) continue;
    const fee = PRICED_FEES.find((kind) => kind === row.facts.fee);
    assert(fee !== undefined, `deposit ${row.id} does not name its fee`);
    const lines = move(chart.suspense(row.rail, row.asset), feeAccount(fee, order), inSuspense(row) - goneUnits);
    if (lines.length > 0) {
      const facts = { deposit: String(row.id), why: REVERSED };
      const entry = { id: `ord_${row.externalId}:undone`, kind: 'compensation_undone', orderId: order.id, at: now };
      const posted = await post(tx, { ...entry, facts, lines });
      assert(posted.outcome === 'posted', `compensation ${row.externalId} is not in suspense`);
    }
    await depositStore.changeDeposit(tx, row.id, { state: 'reversed', why: 'deposit_lost' });
  }
}

/**
 * Ends a compensation that has not left, or was returned, if a deposit of its order was reversed meanwhile.
 *
 * @returns whether that was the case
 */
export async function endsCompensation(
  context: Rails,
  tx: Tx,
  { order, deposit }: Pick<LockedRefund, 'order' | 'deposit'>,
  now: Date,
): Promise<boolean> {
  if (deposit.origin !== 'compensation' || order === undefined) return false;
  if (!(await depositStore.hasLostDeposit(tx, order.id))) return false;
  await cancelCompensations(context, tx, order, now);
  return true;
}

/** A deposit of the order was reversed: cancels the refunds of its released money whose submission has not begun. */
export async function cancelReleasedRefunds(context: Rails, tx: Tx, order: Order, now: Date): Promise<void> {
  for (const { id } of await releasedRefunds(tx, order.id)) await cancelUnsubmitted(context, tx, id, REVERSED, now);
}

/** A deposit of an order was reversed: released money of the order that has not left is not paid out. */
export async function cancelReleased(context: Rails, tx: Tx, order: Order, now: Date): Promise<void> {
  for (const known of await depositStore.depositsOf(tx, order.id)) {
    if (known.origin !== 'released' || inSuspense(known) + known.refundUnits === 0n) continue;
    await wakeDeposit(tx, known, { by: 'the rail', why: REVERSED, now });
    const goneUnits = await cancelRefunds(context, tx, known.id, now);
    const row = await depositStore.lockDepositById(tx, known.id);
    assert(row !== undefined, `deposit ${known.id} has disappeared`);
    await makeGoodOfReleased(context, tx, { order, row, goneUnits, now });
  }
}

/**
 * Ends the refund of released money that has not left, or was returned, if a deposit of its order was reversed meanwhile.
 * @returns whether that was the case
 */
export async function endsReleased(
  context: Rails,
  tx: Tx,
  { order, deposit }: Pick<LockedRefund, 'order' | 'deposit'>,
  now: Date,
): Promise<boolean> {
  if (deposit.origin !== 'released' || order === undefined) return false;
  if (!(await depositStore.hasLostDeposit(tx, order.id))) return false;
  await cancelReleased(context, tx, order, now);
  return true;
}

/** Cancels a refund attempt whose submission has not begun. @returns whether it was cancelled */
export async function cancelUnsubmitted(context: Rails, tx: Tx, id: bigint, why: string, now: Date): Promise<boolean> {
  const locked = await lockRefund(tx, id);
  if (locked === undefined || locked.refund.key === null) return false;
  const { state, rail, key } = locked.refund;
  if (state !== 'created' && state !== 'submitted') return false;
  const payout = await payoutByKey(tx, rail, key);
  if (payout === undefined) return false;
  const isListed = state === 'submitted' && payout.state === 'submitted';
  if (isListed && (await context.rails.get(rail)?.unlist?.(tx, key, why)) === true)
    await recordRejected(tx, { rail, key, why, now });
  else if (!(await cancelUnlessSubmitted(tx, key, why, now))) return false;
  await refundRejected(context, tx, payout, why, now);
  return true;
}

export const REVERSED = 'the deposit was reversed';
