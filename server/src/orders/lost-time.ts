/**
 * Lost time: what chain and bank did after the backup that these books were put back to.
 *
 * Until that is read and decided an order may have been paid already. What a machine would do about it by itself then waits, and
 * goes on by itself: giving a deposit back, asking for the price of now. Payouts wait at their rails (rails/chain.sends.ts) and at
 * the gate (gate.ts); what people decide is theirs.
 *
 * An order that is made of a late deposit after a restore may be the second one of it: the first, its key and its price are lost. What
 * pays it waits for whatever may have paid that one.
 */
import type { Tx } from '../base/db.ts';
import type { FollowOn, Rail } from '../rails/rail.ts';
import { type Order, store } from './store.ts';

/** How often it is looked again. */
export const LOST_TIME_EVERY_MS = 5_000;

/** What a rail is told of an order made of another order's deposit. */
export const followOnOf = (order: Order | undefined): FollowOn | undefined =>
  order?.follows == null ? undefined : { madeAt: order.createdAt };

/** The same by its number; undefined where there is none. */
export const followOnById = async (tx: Tx, id: bigint | null): Promise<FollowOn | undefined> =>
  id === null ? undefined : followOnOf(await store.get(tx, id));

/** Whether the rail that pays an order may have paid it in that time. @see Rail.mayHavePaid */
export const mayHavePaid = async (
  { rails }: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  order: Order,
): Promise<'unread' | 'undecided' | undefined> => await rails.get(order.payoutRail)?.mayHavePaid?.(tx, order);
