/**
 * Payouts: what other modules ask about them. Reads rows, and enqueues those that wait; submits nothing (payouts.ts).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { enqueue } from '../base/jobs.ts';
import {
  attemptsAtRefund,
  countOpen,
  notSubmitted,
  type OpenPayouts,
  type Payout,
  payoutsLike,
  payoutsOfOrder,
  readPayout,
  waitingOf,
} from './payouts.store.ts';

/** A partner's payouts of which no submission has begun: they wait at the gate, or for their turn. */
export const waitingPayouts = async (tx: Tx, partnerId: bigint): Promise<string[]> =>
  (await waitingOf(tx, partnerId)).map(({ id }) => id);

/** For /readyz and metrics: number of open payouts per rail and state, and since when the oldest one is open. */
export const openPayouts = (tx: Tx): Promise<OpenPayouts[]> => countOpen(tx);

/** The amount that left for a settled payout. */
export const unitsPaid = ({ paidUnits, units }: Pick<Payout, 'paidUnits' | 'units'>): bigint => paidUnits ?? units;

/**
 * Checks whether operators may match a payout with a movement of another amount.
 *
 * @param isSaid whether they have confirmed the difference explicitly, so that it is not overlooked
 * @throws Refusal 'does_not_fit'
 */
export function requireOtherAmount(payout: Payout, units: bigint, isSaid: boolean | undefined): void {
  const wrong = (why: string) => new Refusal('does_not_fit', { why });
  if (isSaid !== true)
    throw wrong(
      `the payout is ${payout.units} ${payout.asset}, and ${units} left: confirm the difference with otherAmount`,
    );
  if (payout.endedAt !== null && payout.refundId !== null)
    throw wrong('another amount, and its refund does not wait for it: retry that, and match the new attempt');
}

/** All attempts of an order, oldest first. */
export const payoutsOf = (tx: Tx, orderId: bigint): Promise<Payout[]> => payoutsOfOrder(tx, orderId);

/** All attempts at a refund, oldest first. */
export const payoutsOfRefund = (tx: Tx, refundId: bigint): Promise<Payout[]> => attemptsAtRefund(tx, refundId);

/** One payout by its id, not locked. */
export const findPayout = (tx: Tx, id: string): Promise<Payout | undefined> => readPayout(tx, id);

/** @returns undefined for a key that belongs to no payout of ours on this rail */
export async function payoutByKey(tx: Tx, rail: string, key: string): Promise<Payout | undefined> {
  const payout = await readPayout(tx, key);
  return payout?.rail === rail ? payout : undefined;
}

/** Enqueues all payouts that have not been submitted yet, so that those held by a kill switch continue at once. */
export async function enqueueUnsubmitted(tx: Tx, now: Date): Promise<void> {
  for (const { id } of await notSubmitted(tx)) enqueue(tx, { kind: 'send_payout', subject: id, dueAt: now });
}

/** For operators' look-up: payouts with one of these texts as id, reference or address, newest first. */
export const findPayouts = (tx: Tx, texts: readonly string[]): Promise<Payout[]> => payoutsLike(tx, texts);
