/**
 * Opening: the native coin that a hot wallet has before the first order, taken into the books once as the operator's own.
 *
 * Native coin leaves no log that a follower could find, so it is booked as it is found the first time. Tokens need none of
 * this: they come from a known source and are booked by the follower.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import { chart, isPosted, move, post } from '../ledger/index.ts';
import type { ChainRail } from '../rails/chain.ts';

/** Books it, unless that was done; a wallet that has none is looked at again at the next start. @throws Unavailable */
export async function bookOpening({ db, clock }: { db: Database; clock: Clock }, rail: ChainRail): Promise<void> {
  const wallet = rail.wallets.payouts;
  const asset = await db.asSystem((tx) => rail.nativeAsset(tx));
  if (asset === undefined) return;
  const id = `opening:${rail.code}:${asset}`;
  if (await db.asSystem((tx) => isPosted(tx, id))) return;
  const units = await rail.balance(wallet, asset);
  if (units === 0n) return;
  const lines = move(chart.custody(rail.code, wallet, asset), chart.capital(asset), units);
  await db.asSystem((tx) => post(tx, { id, kind: 'capital', at: clock.now(), lines }));
}
