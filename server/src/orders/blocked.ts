/**
 * Effect of a customer's block on money under way: the gate checks every payout and refund that is not submitted again, and holds
 * it. A submitted one can no longer be cancelled; a case reports it.
 */
import type { Tx } from '../base/db.ts';
import { enqueue } from '../base/jobs.ts';
import { openCase } from '../compliance/index.ts';
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
 */
export async function blockedNow(tx: Tx, customerId: string, now: Date): Promise<UnderWay> {
  const { payouts, orders } = await store.underWay(tx, customerId, MOST);
  for (const { id } of payouts) enqueue(tx, { kind: 'send_payout', subject: id, dueAt: now });
  for (const id of orders) enqueue(tx, { kind: 'fund_order', subject: String(id), dueAt: now });
  const ids = (isOut: boolean) => payouts.filter(({ submitted }) => submitted === isOut).map(({ id }) => id);
  const underWay = { held: ids(false), submitted: ids(true), orders };
  if (underWay.submitted.length > 0)
    await openCase(tx, {
      kind: 'block_too_late',
      subject: `customer:${customerId}`,
      reason: `${underWay.submitted.length} submitted before the block`,
      facts: { payouts: underWay.submitted },
      now,
    });
  return underWay;
}
