/**
 * One debit that paid several payouts: the bank booked a payout file as one, with another amount than the sum of its payouts.
 *
 * Each payout is settled with its own amount. Reconciliation sums by movement: at the bank there is one, the debit; in the books
 * each payout is one. So of the debit each payout's part is booked to the account `difference` under the debit's id, and back
 * from there under the payout's id. What remains in that account is what the debit has beyond the payouts, or lacks.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { chart, move, post } from '../../ledger/index.ts';
import { lockPayout, type Payout } from '../../rails/payouts.ts';
import type { Context, Of } from '../context.ts';
import { bookCost, bookGone, debitEntry, undoDebit } from '../custody/facts.ts';
import { lockOrderOf, lockOrdersOf } from '../lock.ts';
import { payoutSettled } from './facts.ts';

const KIND = 'payout_difference';

/** @throws Refusal 'does_not_fit' if one of the payouts was settled meanwhile */
export async function debitShared(context: Context, tx: Tx, fact: Of<'debit_shared'>): Promise<void> {
  const { rail: code, externalId, name, asset, units, cost } = fact;
  const rail = context.rails.get(code);
  assert(rail !== undefined, `rail ${code} is not running`);
  const payouts = await lockOpen(tx, fact);
  const now = context.clock.now();
  const [id, difference] = [debitEntry(code, externalId), chart.difference(asset)];
  await undoDebit(context, tx, code, externalId, name, externalId);
  const custody = chart.custody(code, rail.wallets.payouts, asset);
  // Before the debit leaves again, so that at most the difference can exceed the free balance.
  for (const { id: key, units: part } of payouts) {
    const facts = { movement: key, debit: externalId, name };
    const entry = { id: `${id}:paid:${key}`, kind: KIND, at: now, facts, lines: move(custody, difference, part) };
    assert(
      (await post(tx, entry)).outcome === 'posted',
      `the part of ${key} in debit ${externalId} could not be booked`,
    );
  }
  for (const { id: key } of payouts)
    await payoutSettled(context, tx, { type: 'payout_settled', rail: code, key, reference: externalId });
  const paidUnits = payouts.reduce((sum, one) => sum + one.units, 0n);
  const facts = { movement: externalId, name, paidUnits: String(paidUnits) };
  await bookGone(context, tx, { id: `${id}:shared`, kind: KIND, rail, to: difference, units, facts });
  await bookCost(context, tx, { rail: code, key: externalId, ...defined({ cost }) });
}

/** The payouts, with their orders, locked. */
async function lockOpen(tx: Tx, { rail, asset, payouts: keys }: Of<'debit_shared'>): Promise<Payout[]> {
  await lockOrdersOf(tx, { rail, externalIds: [], payouts: keys });
  for (const key of keys.toSorted()) await lockOrderOf(tx, { rail, key });
  const payouts: Payout[] = [];
  for (const key of keys.toSorted()) {
    const payout = await lockPayout(tx, key);
    assert(payout?.rail === rail && payout.asset === asset, `payout ${key} is not of ${rail} in ${asset}`);
    if (payout.state === 'settled' || payout.state === 'returned')
      throw new Refusal('does_not_fit', { why: `${key} is ${payout.state} by another movement` });
    payouts.push(payout);
  }
  return payouts;
}
