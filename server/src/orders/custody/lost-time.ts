/**
 * Lost time: the time between the backup and the restore of this database. Chains and banks may have paid orders in it.
 *
 * Until those payments are read and decided, any order may already have been paid. Automatic steps that depend on this wait, and
 * continue afterwards: refunding a deposit, using the current price. Payouts wait at their rails (rails/chain.sends.ts) and at
 * the gate (gate.ts); operators' decisions are not affected.
 *
 * After a restore, an order made from a late deposit may be the second one made from it, because the first order, its key and its
 * price are lost. So its payout waits until every payment that may have paid the first order is decided.
 */
import type { Tx } from '../../base/db.ts';
import type { FollowOn, Rail } from '../../rails/rail.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';

/** How often to check again. */
export const LOST_TIME_EVERY_MS = 5_000;

/** What a rail needs to know about a follow-on order. */
export const followOnOf = (order: Order | undefined): FollowOn | undefined =>
  order?.follows == null ? undefined : { madeAt: order.createdAt };

/** As `followOnOf`, by order id; undefined if there is none. */
export const followOnById = async (tx: Tx, id: bigint | null): Promise<FollowOn | undefined> =>
  id === null ? undefined : followOnOf(await store.get(tx, id));

/** Whether the rail that pays an order may have paid it in the lost time. @see Rail.mayHavePaid */
export const mayHavePaid = async (
  { rails }: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  order: Order,
): Promise<'unread' | 'undecided' | undefined> => await rails.get(order.payoutRail)?.mayHavePaid?.(tx, order);

/**
 * Whether the rail that an order's money came by may have returned it in the lost time. An order that was created since the restore
 * received nothing before, unless operators gave it an older deposit: one that did not come to its own target.
 *
 * @param deposits those that came to the rail for it @see Rail.mayHaveReturned
 */
export const mayHaveReturned = async (
  { rails }: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  order: Order,
  deposits: readonly { target: string }[],
): Promise<'unread' | 'undecided' | undefined> => {
  const { depositRail, depositAsset: asset, follows } = order;
  const units = order.receivedUnits ?? order.depositUnits;
  const isGiven = deposits.some(({ target }) => target !== order.depositTarget);
  const createdAt = isGiven ? new Date(0) : order.createdAt;
  return await rails.get(depositRail)?.mayHaveReturned?.(tx, { asset, units, createdAt, follows });
};
