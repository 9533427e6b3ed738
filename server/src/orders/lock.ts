/** Locks of orders. Lock order: orders, then deposits, then accounts. */
import { awaitAll, type Tx } from '../base/db.ts';
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
 * Locks the orders of a rail's deposits, those that its targets belong to, and those that its payouts pay, and then their
 * customers, each in id order: a reversed deposit may become its customer's debt.
 *
 * @returns the number of orders
 */
export async function lockOrdersOf(
  tx: Tx,
  of: { rail: string; externalIds: readonly string[]; targets?: readonly string[]; payouts?: readonly string[] },
): Promise<number> {
  const orders = await tx.rows<{ customerId: string }>(
    `select customer_id from orders where id in (
       select order_id from deposits where rail = $1 and external_id = any($2)
       union all select id from orders where deposit_rail = $1 and deposit_target = any($3)
       union all select order_id from payouts where rail = $1 and id = any($4) and refund_id is null)
      order by id for update`,
    [of.rail, of.externalIds, of.targets ?? [], of.payouts ?? []],
  );
  const customers = [...new Set(orders.map(({ customerId }) => customerId))].toSorted();
  await awaitAll(...customers.map((id) => lockCustomer(tx, id)));
  return orders.length;
}
