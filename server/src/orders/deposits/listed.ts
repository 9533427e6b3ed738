/**
 * Deposits whose payer has a hit in a sanctions list, undecided or true: their money is frozen. The gate stops every refund and payout of
 * it (payouts/gate.ts). Here is what stops other uses of money in suspense: as the deposit of an order, as a payment of a debt, as dust.
 *
 * After some of these uses no gate asks for the payer, and nothing compares its name later. So operators also have to wait until it was
 * compared with the newest lists.
 */
import type { Tx } from '../../base/db.ts';
import { listedPayers } from '../../compliance/index.ts';
import type { GateRules } from '../payouts/rules.ts';
import { unfit } from './replace.ts';

/** Says whether a payer must first be compared. */
export type Compares = { gate: Pick<GateRules, 'isPayerDue'> };

/** Why a deposit is not used for anything but a refund; undefined if its payer has no hit. */
export const whyListed = async (tx: Tx, depositId: bigint): Promise<string | undefined> =>
  (await listedPayers(tx, [depositId])).size === 0
    ? undefined
    : 'its payer resembles a name on a sanctions list: operators must decide that it is another person';

/** The same, also if its payer was not compared yet. */
export async function whyNotCleared({ gate }: Compares, tx: Tx, depositId: bigint): Promise<string | undefined> {
  // First, because a result is stored together with its hits: read in the other order, a hit stored between the two is not seen.
  const isDue = await gate.isPayerDue?.(tx, depositId);
  const listed = await whyListed(tx, depositId);
  if (listed !== undefined || isDue !== true) return listed;
  return 'its payer must first be compared with the newest sanctions lists: try again in a minute, and if that does not help, read `sanctions lists` and the case names_unscreened';
}

/** @throws Refusal 'deposit_unfit' */
export async function requireUnlistedPayer(context: Compares, tx: Tx, depositId: bigint): Promise<void> {
  const why = await whyNotCleared(context, tx, depositId);
  if (why !== undefined) throw unfit(why);
}
