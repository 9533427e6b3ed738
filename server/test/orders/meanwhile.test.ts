/** What operators decide between two transactions of the job that refunds an order stays, and the job ends. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Database } from '../../src/base/db.ts';
import type { OrdersContext } from '../../src/orders/context.ts';
import { lastHold } from '../../src/orders/decide.ts';
import { history } from '../../src/orders/history.store.ts';
import { holdBack, type Order, orderHandlers, requestOrderRefund } from '../../src/orders/index.ts';
import * as store from '../../src/orders/store.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';

let fixture: Fixture;
let sale: Awaited<ReturnType<typeof openSaleEnvironment>>;
before(async () => {
  fixture = await freshFixture();
  sale = await openSaleEnvironment(fixture);
});
after(() => fixture?.stop());

const acting = (order: Order) => ({
  ...{ orderId: order.id, by: 'operator:1', people: ['operator:1'], why: 'stepped in', now: fixture.clock.now() },
});
const holds = (order: Order) => fixture.db.asSystem((tx) => holdBack(sale.context, tx, acting(order)));
const requestsRefund = (order: Order) =>
  fixture.db.asSystem((tx) => requestOrderRefund(sale.context, tx, acting(order), { failure: 'other' }));

/** A paid order, held by an operator, whose refund was requested and has no destination yet. */
async function refundable(): Promise<Order> {
  const order = await sale.sells();
  await sale.pays(order);
  await holds(order);
  await requestsRefund(order);
  return order;
}
const reversed = (deposit: number) =>
  fixture.db.asSystem((tx) =>
    sale.report(tx, { type: 'deposit_reversed', rail: 'evm.test', externalId: `hash:${deposit}`, why: 'reorg' }),
  );

/** Runs the job of the refund. `step` is done once, before the n-th transaction. @returns whether it has that many */
async function refunds(order: Order, n: number, step: () => Promise<unknown>): Promise<boolean> {
  let count = 0;
  const db: Database = {
    ...sale.db,
    asSystem: async (body) => {
      count += 1;
      if (count === n) await step();
      return await sale.db.asSystem(body);
    },
  };
  const context: OrdersContext = { ...sale.context, db };
  assert.equal(await orderHandlers(context).refund_order?.(String(order.id)), undefined);
  return count >= n;
}

let paid = 0;
test('an order of which nothing is left ends, or stays on hold if a person holds it meanwhile', async () => {
  const ends: string[] = [];
  for (let n = 1; ; n += 1) {
    const order = await refundable();
    await reversed((paid += 1));
    const isHeld = await refunds(order, n, () => holds(order));
    ends.push(await sale.stateOf(order));
    if (!isHeld) break;
  }
  assert.equal(ends.pop(), 'cancelled', 'an order that nobody holds meanwhile');
  assert.ok(ends.length > 2, `the job has ${ends.length} transactions`);
  assert.deepEqual([...new Set(ends)], ['on_hold']);
});

test('a refund that waits for its destination keeps what a person decides about it meanwhile', async () => {
  for (let n = 1; ; n += 1) {
    const order = await refundable();
    paid += 1;
    const again = async () => {
      await holds(order);
      await requestsRefund(order);
    };
    if (!(await refunds(order, n, again))) break;
    const [{ refundRequest }, hold] = await fixture.db.asSystem(async (tx) => [
      await store.get(tx, order.id).then((found) => found ?? assert.fail()),
      lastHold(await history(tx, order.id)),
    ]);
    assert.equal(refundRequest?.decidedHold, hold?.version, `decided before transaction ${n}`);
  }
});
