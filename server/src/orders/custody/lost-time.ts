/**
 * Lost time: what chains and banks did after the backup from which this database was restored.
 *
 * Until that is read and decided, an order may already have been paid. Automatic steps that depend on it wait and then
 * continue by themselves: refunding a deposit, using the current price. Payouts wait at their rails (rails/chain.sends.ts)
 * and at the gate (gate.ts); people's decisions are not affected.
 *
 * An order made from a late deposit after a restore may be the second one made of it: the first order, its key and its price
 * are lost. Its payout waits for whatever may have paid the first one.
 */
import type { Tx } from '../../base/db.ts';
import type { FollowOn, Rail } from '../../rails/rail.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';

/** How often to check again. */
export const LOST_TIME_EVERY_MS = 5_000;

/** What a rail is told about a follow-on order. */
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
