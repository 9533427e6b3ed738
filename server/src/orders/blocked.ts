/**
 * What a customer's block does to money that is under way: whatever is not submitted looks at the gate at once and is held
 * there; whatever is submitted already cannot be stopped by us, and a case says so.
 */
import type { Tx } from '../base/db.ts';
import { enqueue } from '../base/jobs.ts';
import { openCase } from '../compliance/index.ts';
import { store } from './store.ts';

export interface UnderWay {
  /** Payouts and refunds that are not submitted: the gate holds them. */
  held: string[];
  /** Payouts and refunds that may still arrive. */
  submitted: string[];
  /** Orders that wait for funds: held before they are paid. */
  orders: bigint[];
}

/** No customer has more under way that a person could look at. */
const MOST = 1_000;

/** Has everything of a customer's that is under way look again now, after a block in the same transaction. */
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
