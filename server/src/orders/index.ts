/**
 * Orders: a quote with a leg in and a leg out, and both legs are rails.
 *
 * `create` writes an order, `facts` takes what rails report, `handlers` does the work that falls due; all three end in
 * `advance` (advance.ts), the only place where an order changes its state. Direction is a word that partners use: the code
 * here does the same for both.
 *
 * The way through the files: machine.ts (the table) → decide.ts (pure decisions) → entries.ts (postings) → advance.ts (the
 * one write) → create.ts, facts.ts, work.ts (what leads to it) → trace.ts (where the money is).
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Screener } from '../compliance/index.ts';
import type { Rail } from '../rails/rail.ts';
import { type CreateAsk, create } from './create.ts';
import { type Direction, type Order, store } from './store.ts';

export { type Act, cancel, passDeadline, reject, release } from './acts.ts';
export { orderFacts } from './facts.ts';
export { isFinal, type OrderState, STATES } from './machine.ts';
export { type Direction, type Order } from './store.ts';
export { invariantBroken, type MoneyTrace, trace } from './trace.ts';
export { orderHandlers } from './work.ts';

export interface OrdersContext {
  db: Database;
  clock: Clock;
  log: Log;
  rails: ReadonlyMap<string, Rail>;
  screener: Screener;
}

export interface Orders {
  /** @see create.ts */
  create(tx: Tx, ask: CreateAsk): Promise<Order>;
  /**
   * One order of the partner at the door.
   * @throws Refusal 'unknown_order' also where direction or customer are other ones
   */
  get(tx: Tx, ask: { id: bigint; direction?: Direction; customerId?: string }): Promise<Order>;
  /** Newest first; `page` from 1. Past the end: none. */
  list(
    tx: Tx,
    ask: { customerId: string; direction: Direction; page: number; pageSize: number },
  ): Promise<{ orders: Order[]; total: bigint }>;
}

export function openOrders(context: Pick<OrdersContext, 'rails'>): Orders {
  return {
    create: (tx, ask) => create(context, tx, ask),

    async get(tx, ask) {
      const order = await store.get(tx, ask.id);
      const asked =
        order !== undefined &&
        (ask.direction === undefined || order.direction === ask.direction) &&
        (ask.customerId === undefined || order.customerId === ask.customerId);
      if (!asked) throw new Refusal('unknown_order', {});
      return order;
    },

    async list(tx, { customerId, direction, page, pageSize }) {
      const total = await store.count(tx, customerId, direction);
      const upTo = total - BigInt(page - 1) * BigInt(pageSize);
      const orders =
        upTo <= 0n ? [] : await store.page(tx, { customerId, direction, above: upTo - BigInt(pageSize), upTo });
      return { orders, total };
    },
  };
}

/** Orders under way by state, with the oldest of each, for metrics. */
export const openByState = (tx: Tx) => store.open(tx);
