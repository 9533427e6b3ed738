/**
 * Effect of a customer's block on money under way: the gate checks every payout and refund that is not submitted again, and holds
 * it. A submitted one can no longer be cancelled; a case reports it.
 */
import type { Tx } from '../base/db.ts';
import { enqueue } from '../base/jobs.ts';
import { closeCases, upsertCase } from '../compliance/index.ts';
import { blockForDebt, debtEnded } from '../customers/index.ts';
import * as store from './store.ts';

export interface UnderWay {
  /** Payouts and refunds that are not submitted: the gate holds them. */
  held: string[];
  /** Payouts and refunds that may still arrive. */
  submitted: string[];
  /** Orders that wait for funds: held before they are paid. */
  orders: bigint[];
}

/** More than any customer has under way, and still few enough for an operator to review. */
const MOST = 1_000;

/**
 * Called after a block, in the same transaction: enqueues a new check of all payouts, refunds and orders of the customer that are
 * under way.
 *
 * @param known ids of submitted payments that another case is about: this one does not name them
 */
export async function blockedNow(
  tx: Tx,
  customerId: string,
  now: Date,
  known: ReadonlySet<string> = new Set(),
): Promise<UnderWay> {
  const { payouts, orders } = await store.underWay(tx, customerId, MOST);
  for (const { id } of payouts) enqueue(tx, { kind: 'send_payout', subject: id, dueAt: now });
  for (const id of orders) enqueue(tx, { kind: 'fund_order', subject: String(id), dueAt: now });
  const ids = (isOut: boolean) => payouts.filter(({ submitted }) => submitted === isOut).map(({ id }) => id);
  const underWay = { held: ids(false), submitted: ids(true).filter((id) => !known.has(id)), orders };
  // An open case may be about an earlier block: what was submitted since must be named too.
  if (underWay.submitted.length > 0)
    await upsertCase(tx, {
      ...lateCase(customerId),
      reason: `${underWay.submitted.length} submitted before the block`,
      facts: { payouts: underWay.submitted },
      now,
    });
  return underWay;
}

const lateCase = (customerId: string) => ({ kind: 'block_too_late', subject: `customer:${customerId}` }) as const;

/**
 * Blocks a customer because of a debt, with the same effect on money under way as an operator's block. The caller has locked the
 * customer.
 *
 * @param debt.payments ids of the payments that made the debt: the debt's own case is about them
 */
export async function blockDebtor(
  tx: Tx,
  customerId: string,
  { payments = [], now }: { payments?: readonly string[]; now: Date },
): Promise<void> {
  await blockForDebt(tx, customerId, now);
  await blockedNow(tx, customerId, now, new Set(payments));
}

/** The customer owes nothing any more. If that ends the block, its case ends too; what it has held stays with operators. */
export async function unblockDebtor(tx: Tx, customerId: string, now: Date): Promise<void> {
  if (await debtEnded(tx, customerId, now))
    await closeCases(tx, { ...lateCase(customerId), outcome: 'the debt and its block have ended', now });
}
