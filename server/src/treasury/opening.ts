/**
 * Opening: books the native asset that a hot wallet has before the first order, once, as the operator's own funds.
 *
 * The rail counts from this balance: it finds later credits of the native asset by the wallet's balance (rails/chain.native.ts).
 * Tokens need no opening: they come from a known source, and the follower books them.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import { chart, isPosted, move, post } from '../ledger/index.ts';
import { beginNativeWatch, type ChainRail, isNativeWatched } from '../rails/chain.ts';

/** Books the balance and starts counting, unless that has been done. @throws Unavailable */
export async function bookOpening({ db, clock }: { db: Database; clock: Clock }, rail: ChainRail): Promise<void> {
  const asset = await db.asSystem((tx) => rail.nativeAsset(tx));
  const wallet = rail.wallets.payouts;
  const address = rail.walletAddresses[wallet];
  if (asset === undefined || address === undefined) return;
  if (await db.asSystem((tx) => isNativeWatched(tx, rail.code, address))) return;
  const found = await rail.hotNative();
  if (found === undefined) return;
  await db.asSystem(async (tx) => {
    const id = `opening:${rail.code}:${asset}`;
    // An earlier version booked the balance and did not count: counting starts now.
    if (found.units > 0n && !(await isPosted(tx, id))) {
      const lines = move(chart.custody(rail.code, wallet, asset), chart.capital(asset), found.units);
      await post(tx, { id, kind: 'capital', at: clock.now(), lines });
    }
    await beginNativeWatch(tx, rail.code, found);
  });
}
