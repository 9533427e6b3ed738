/** Locks of orders. Lock order: orders, then deposits, then accounts. */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { lockCustomer } from '../customers/index.ts';
import { payoutByKey } from '../rails/payouts.ts';
import { isHeldSince } from './decide.ts';
import { history } from './history.store.ts';
import { lockRefund } from './refunds/store.ts';
import type { Order } from './store.ts';
import * as store from './store.ts';

/** Loads an order and locks it until `tx` ends. @throws Refusal 'unknown_order' */
export async function lockOrder(tx: Tx, id: bigint): Promise<Order> {
  const order = await store.lock(tx, id);
  if (order === undefined) throw new Refusal('unknown_order', {});
  return order;
}

/**
 * For an action that operators confirmed in an earlier transaction, at this version of the order: it must not undo a hold that
 * was placed since.
 *
 * @throws Refusal 'order_over'
 */
export async function requireNotHeldSince(
  tx: Tx,
  { id, state }: Order,
  seenVersion: number | undefined,
): Promise<void> {
  if (seenVersion !== undefined && isHeldSince(await history(tx, id), seenVersion))
    throw new Refusal('order_over', { state, why: 'held_by_operator' });
}

/**
 * Locks a payout's order before the payout, as the lock order requires everywhere. For a refund's payout it also locks the
 * deposit and the refund, because a refund from suspense may have no order.
 */
export async function lockOrderOf(tx: Tx, { rail, key }: { rail: string; key: string }): Promise<Order | undefined> {
  const payout = await payoutByKey(tx, rail, key);
  if (payout !== undefined && payout.refundId !== null) return (await lockRefund(tx, payout.refundId))?.order;
  return payout?.orderId == null ? undefined : await store.lock(tx, payout.orderId);
}

/**
 * Locks the orders of a rail's deposits, and then their customers, each in id order: a reversed deposit may become its customer's
 * debt.
 */
export async function lockOrdersOf(
  tx: Tx,
  { rail, externalIds }: { rail: string; externalIds: readonly string[] },
): Promise<void> {
  const orders = await tx.rows<{ customerId: string }>(
    `select customer_id from orders where id in (select order_id from deposits where rail = $1 and external_id = any($2))
      order by id for update`,
    [rail, externalIds],
  );
  for (const id of [...new Set(orders.map(({ customerId }) => customerId))].toSorted()) await lockCustomer(tx, id);
}
