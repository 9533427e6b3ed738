/**
 * Deposits whose payer has a hit in a sanctions list, undecided or true: their money is frozen. The gate stops every refund and payout of
 * it (payouts/gate.ts). Here is what stops other uses of money in suspense: as the deposit of an order, as a payment of a debt, as dust.
 */
import type { Tx } from '../../base/db.ts';
import { listedPayers } from '../../compliance/index.ts';
import { unfit } from './replace.ts';

/** Why a deposit is not used for anything but a refund; undefined if its payer has no hit. */
export const whyListed = async (tx: Tx, depositId: bigint): Promise<string | undefined> =>
  (await listedPayers(tx, [depositId])).size === 0
    ? undefined
    : 'its payer resembles a name on a sanctions list: operators must decide that it is another person';

/** @throws Refusal 'deposit_unfit' */
export async function requireUnlistedPayer(tx: Tx, depositId: bigint): Promise<void> {
  const why = await whyListed(tx, depositId);
  if (why !== undefined) throw unfit(why);
}
