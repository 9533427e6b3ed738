/**
 * Lost time: the time between the backup and the restore of this database. Chains and banks may have paid orders in it.
 *
 * Until those payments are read and decided, an order may already have been paid. Automatic steps that depend on this wait and
 * then continue: refunding a deposit, using the current price. Payouts wait at their rails (rails/chain.sends.ts) and at the gate
 * (gate.ts); operators' decisions are not affected.
 *
 * After a restore, an order made from a late deposit may be the second one made from it: the first order, its key and its price
 * are lost. Its payout waits for the decision about any payment that may have paid the first one.
 */
import type { Tx } from '../../base/db.ts';
import type { FollowOn, Rail } from '../../rails/rail.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';

/** How often to check again. */
export const LOST_TIME_EVERY_MS = 5_000;

/** The information about a follow-on order that its rail needs. */
export const followOnOf = (order: Order | undefined): FollowOn | undefined =>
  order?.follows == null ? undefined : { madeAt: order.createdAt };

/** The same by order id; undefined when there is none. */
export const followOnById = async (tx: Tx, id: bigint | null): Promise<FollowOn | undefined> =>
  id === null ? undefined : followOnOf(await store.get(tx, id));

/** Whether the rail that pays an order may have paid it in the lost time. @see Rail.mayHavePaid */
export const mayHavePaid = async (
  { rails }: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  order: Order,
): Promise<'unread' | 'undecided' | undefined> => await rails.get(order.payoutRail)?.mayHavePaid?.(tx, order);
