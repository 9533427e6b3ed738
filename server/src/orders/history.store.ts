/**
 * The history of an order: one row per change of its state.
 */
import type { Tx } from '../base/db.ts';
import type { OrderEvent, OrderState } from './machine.ts';
import type { Order } from './store.ts';

export function insertHistory(
  tx: Tx,
  step: {
    order: Order;
    from: OrderState | 'none';
    event: OrderEvent | 'created';
    facts: Record<string, unknown>;
    at: Date;
  },
): void {
  tx.defer(
    `insert into order_history (order_id, version, partner_id, state_from, event, state_to, facts, at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      step.order.id,
      step.order.version,
      step.order.partnerId,
      step.from,
      step.event,
      step.order.state,
      JSON.stringify(step.facts),
      step.at,
    ],
  );
}

/** The history of several orders, each order's oldest step first. */
export const stepsOf = (tx: Tx, orderIds: readonly bigint[]) =>
  tx.rows<{ orderId: bigint; version: number; stateFrom: string; event: string; stateTo: string }>(
    `select order_id, version, state_from, event, state_to from order_history where order_id = any($1::bigint[])
      order by order_id, version`,
    [orderIds],
  );

export const history = (tx: Tx, orderId: bigint) =>
  tx.rows<{
    version: number;
    stateFrom: string;
    event: string;
    stateTo: string;
    facts: Record<string, unknown>;
    at: Date;
  }>('select version, state_from, event, state_to, facts, at from order_history where order_id = $1 order by version', [
    orderId,
  ]);

/** When the last deposit on the order's account arrived: by the rail's clock, and never later than we saw it. */
export async function completedAt(tx: Tx, orderId: bigint): Promise<Date | undefined> {
  const row = await tx.row<{ at: Date | null }>(
    `select max(least(seen_at, coalesce(came_at, seen_at))) as at from deposits where order_id = $1 and state = 'applied'`,
    [orderId],
  );
  return row?.at ?? undefined;
}
