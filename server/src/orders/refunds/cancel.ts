/** Cancelling refunds that are not submitted. If a refund is submitted, its outcome is awaited. */
import type { Tx } from '../../base/db.ts';
import type { Rails } from '../context.ts';
import { HELD_AT_GATE, PAID_BEFORE } from '../decide.ts';
import { cancelUnsubmitted, REVERSED } from './rejected.ts';
import { CANCELLABLE, refundCase } from './request.ts';
import { changeRefund, lockRefund, type Refund, refundsOf } from './store.ts';

/**
 * Cancels each part of an order's refund that is not submitted. A submitted part may still arrive. The others are cancelled
 * nevertheless, and a case names the submitted one.
 *
 * @returns the number of cancelled parts, and the payouts that were already submitted
 */
export async function unsubmitRefunds(
  context: Rails,
  tx: Tx,
  orderId: bigint,
  { by, now }: { by: string; now: Date },
): Promise<{ cancelled: number; notCancelled: string[] }> {
  const parts = (await refundsOf(tx, orderId)).filter(
    ({ source, state }) => source === 'order' && (state === 'created' || state === 'submitted'),
  );
  const tooLate: Refund[] = [];
  for (const part of parts)
    if (!(await cancelUnsubmitted(context, tx, part.id, `${HELD_AT_GATE}by ${by}`, now))) tooLate.push(part);
  for (const part of tooLate) await refundCase(tx, part, 'hold_too_late', `submitted before ${by} held its order`, now);
  return { cancelled: parts.length - tooLate.length, notCancelled: tooLate.flatMap(({ key }) => key ?? []) };
}

/** The rail settled a payout that it had rejected: cancels the order's refunds that are not submitted. */
export async function cancelRefunding(context: Rails, tx: Tx, orderId: bigint, now: Date): Promise<void> {
  for (const { id } of (await refundsOf(tx, orderId)).filter(({ source }) => source === 'order'))
    await cancelUnsubmitted(context, tx, id, PAID_BEFORE, now);
}

/** The deposit was reversed: cancels the repeated payment of a returned payout if it is not submitted. */
export async function cancelPayingAgain(context: Rails, tx: Tx, orderId: bigint, now: Date): Promise<void> {
  for (const { id } of (await refundsOf(tx, orderId)).filter(({ purpose }) => purpose === 'payout'))
    await cancelUnsubmitted(context, tx, id, REVERSED, now);
}

export const isCancellable = (state: Refund['state']): boolean => CANCELLABLE.includes(state);
export const isRejectedPart = ({ state, source }: Refund): boolean => state === 'rejected' && source === 'order';

/** The order was blocked by law: cancels its refunds. The order's account still holds the money, which the caller moves. */
export async function cancelUnsubmittedRefunds(tx: Tx, orderId: bigint, now: Date): Promise<void> {
  for (const { id } of (await refundsOf(tx, orderId)).filter(isRejectedPart)) {
    const locked = await lockRefund(tx, id);
    if (locked !== undefined) await changeRefund(tx, locked.refund, { state: 'cancelled', now });
  }
}
