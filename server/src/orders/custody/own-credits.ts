/**
 * Credits from an own address that the books received before the transfer there: one step of a chain may make both final, and a
 * restored database reads the credit before two people have matched the transfer. They wait in suspense, as money of an unknown
 * sender. When the transfer is booked, they are booked as its return: custody moves, and suspense no longer owes them.
 *
 * Not here: a credit for which the books have enough at the own address (treasury/transfers.ts).
 */
import type { Tx } from '../../base/db.ts';
import { closeCases } from '../../compliance/index.ts';
import { type Account, chart, move, post } from '../../ledger/index.ts';
import type { Rail } from '../../rails/rail.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import { heldAmong } from '../deposits/held.store.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';

/**
 * Locks the credits from an address that are wholly in suspense and undecided, the oldest first. Deposits
 * are locked before accounts, so the caller has booked nothing yet.
 */
export async function lockCreditsFrom(
  { rails }: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  from: { rail: string; asset: string; address: string },
): Promise<DepositRow[]> {
  const { rail, asset, address } = from;
  const all = await depositStore.creditsInSuspense(tx, { rail, asset });
  const ours = (await rails.get(rail)?.cameFrom?.(tx, address, all)) ?? [];
  const credits = await depositStore.lockCredits(tx, { rail, asset, externalIds: ours });
  // Read after the lock: an operator may just have held one.
  const held = await heldAmong(tx, credits);
  return credits.filter(({ id }) => !held.has(id));
}

/** Books them as come back from the own address, as far as the books have that much there. */
export async function takeCreditsBack(
  tx: Tx,
  credits: readonly DepositRow[],
  { own, key, now }: { own: Account; key: string; now: Date },
): Promise<void> {
  for (const row of credits) {
    const { id, rail, externalId, asset, units, reference } = row;
    await wakeDeposit(tx, row, { by: 'the rail', why: 'it came back from an own address', now });
    const posted = await post(tx, {
      ...{ id: `back_${rail}_${externalId}`, kind: 'transfer_back', at: now, facts: { reference, transfer: key } },
      lines: move(chart.suspense(rail, asset), own, units),
    });
    if (posted.outcome === 'short') continue;
    await depositStore.changeDeposit(tx, id, { state: 'applied', bookedTo: own.code, takenUnits: units, dust: false });
    await closeCases(tx, { subject: `deposit:${id}`, outcome: `it came back from an own address, after ${key}`, now });
  }
}
