/**
 * Which orders an operator may requote. Also the waiting time of an order that is held twice, the cases of an order that continues,
 * and the automatic retry of a payout.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openCase } from '../../src/compliance/index.ts';
import { orderFacts } from '../../src/orders/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { heldSale } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
before(async () => {
  ({ world, ada } = await openStaffedStory({ ada: 'admin' }));
});
after(async () => await world?.close());

async function does(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const said = await ada.does(path, body);
  assert.equal(said.status, 200, `${path}: ${JSON.stringify(said.body)}`);
}

async function paid(ending?: string): Promise<Sale> {
  const customer = await world.verifiedCustomer(ending === undefined ? {} : { ending });
  const order = await world.sells('10', 'usdc', { customer });
  await world.pays(order, '10');
  await world.mines(2);
  return order;
}

const eventsOf = async (order: Sale): Promise<string[]> =>
  (await world.traceOf(order)).history.map(({ event }) => event);
const waitsUntil = async (order: Sale): Promise<Date | null> => (await world.traceOf(order)).order.waitsUntil;
const outcomesOf = (order: Sale, kind: string) =>
  world.read((tx) =>
    tx.rows<{ outcome: string | null }>('select outcome from cases where subject = $1 and kind = $2 order by id', [
      `order:${order.id}`,
      kind,
    ]),
  );

test('an order that an operator holds once more waits no longer than before, and may be requoted', async () => {
  await world.setsAside('inr', 0n);
  const order = await paid();
  await world.isShort(order);
  await does(`/orders/${order.id}/hold`);
  const until = await waitsUntil(order);
  assert.ok(until !== null);
  await does(`/orders/${order.id}/hold`);
  assert.deepEqual(await waitsUntil(order), until, 'the second hold began the waiting time again');
  await does(`/orders/${order.id}/requote`);
  assert.ok((await eventsOf(order)).includes('requoted'));
  await world.bank.fund({ currency: 'INR', units: 10_000_000n, id: 'enough' });
  await world.reaches(order, 6);
});

test('an order whose payout was rejected is not requoted while an operator holds it, and is after the release', async () => {
  const order = await paid('9001');
  await world.becomes(order, 'payout_held');
  await does(`/orders/${order.id}/hold`);
  const refused = await ada.does(`/orders/${order.id}/requote`);
  assert.deepEqual([refused.status, refused.body.reason], [409, 'order_over'], JSON.stringify(refused.body));
  assert.match(String(refused.body.error), /held_by_operator/);
  assert.ok(!(await eventsOf(order)).includes('requoted'));
  await does(`/orders/${order.id}/release`);
  await does(`/orders/${order.id}/requote`);
  assert.ok((await eventsOf(order)).includes('requoted'));
});

test('an order that waits for funds is requoted in its place, and a case that an older server opened for it closes', async () => {
  await world.setsAside('inr', 0n);
  const order = await paid();
  await world.isShort(order);
  await does(`/orders/${order.id}/requote`);
  await world.until('it waits again', async () => (await world.stateOf(order)) === 'awaiting_liquidity');
  assert.ok(!(await eventsOf(order)).includes('held'), 'it was held for the requote');
  const about = { kind: 'treasury_short', subject: `order:${order.id}`, orderId: order.id } as const;
  await world.read((tx) => openCase(tx, { ...about, reason: 'short of inr', now: world.clock.now() }));
  await world.bank.fund({ currency: 'INR', units: 10_000_000n, id: 'more' });
  await world.reaches(order, 6);
  assert.deepEqual(await outcomesOf(order, 'treasury_short'), [{ outcome: 'continued: funded' }]);
});

test('a payout that never arrived is retried automatically, once, however often that is reported', async () => {
  const stop = { kind: 'payouts', subject: 'all' };
  await does('/kill-switches', stop);
  const order = await paid();
  await world.becomes(order, 'paying_out');
  const [first] = (await world.traceOf(order)).payouts;
  assert(first);
  const fact = { type: 'payout_rejected', rail: first.rail, key: first.id, why: 'never_arrived' } as const;
  const report = () => world.read((tx) => orderFacts(world.server.orders)(tx, fact));
  await report();
  assert.deepEqual((await eventsOf(order)).slice(-2), ['payout_rejected', 'retried']);
  assert.deepEqual((await world.traceOf(order)).history.at(-1)?.facts, { why: 'never_arrived' });
  assert.deepEqual(await outcomesOf(order, 'payout_held'), [{ outcome: 'retried automatically' }]);
  // The same report once more: the order has another payout by now.
  await report();
  assert.deepEqual(
    (await world.traceOf(order)).payouts.map(({ state }) => state),
    ['rejected', 'created'],
  );
  await does('/kill-switches/lift', stop);
  await world.reaches(order, 6);
});

test('the assignment of an unknown deposit is refused', async () => {
  const { order } = await heldSale(world, '10');
  const refused = await ada.does('/deposits/999999999/assign', { order: String(order.id) });
  assert.deepEqual([refused.status, refused.body.reason], [404, 'unknown_deposit'], JSON.stringify(refused.body));
});
