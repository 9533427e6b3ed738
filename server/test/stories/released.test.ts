/** Legal releases: of which orders, once, and where the released money lies. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { heldSale } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;
before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
});
after(async () => await world?.close());

const COIN = 'usdc.matic20';
const both = async (path: string, body: Record<string, unknown> = {}) => await oneOrTwoDo(finn, ada, path, body);
async function does(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const done = await both(path, body);
  assert.equal(done.status, 200, `${path}: ${JSON.stringify(done.body)}`);
}

/** A sale whose bank payout was rejected: its coins are converted. */
async function payoutHeld(): Promise<Sale> {
  const order = await world.sells('10', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
  await world.pays(order, '10');
  await world.mines(2);
  await world.becomes(order, 'payout_held');
  return order;
}

test('only a blocked order is released by law, and once', async () => {
  const { order } = await heldSale(world, '10');
  const release = () => both(`/orders/${order.id}/release-blocked`, { legalAct: 'court 23/2026' });
  const early = await release();
  assert.equal(early.body.reason, 'order_over', JSON.stringify(early.body));
  assert.match(String(early.body.error), /on_hold/);
  await does(`/orders/${order.id}/block`);
  const books = await world.balances();
  assert.equal((await release()).status, 200);
  assert.equal((await world.changesSince(books))[`suspense:evm.matic20:${COIN}`], 10_000_000n);
  const again = await release();
  assert.equal(again.body.reason, 'order_over', JSON.stringify(again.body));
  assert.equal((await world.changesSince(books))[`suspense:evm.matic20:${COIN}`], 10_000_000n);
});

test('released money is in suspense on the rail of its asset', async () => {
  const order = await payoutHeld();
  await does(`/orders/${order.id}/block`);
  await does(`/orders/${order.id}/release-blocked`, { legalAct: 'court 24/2026' });
  const released = (await world.traceOf(order)).deposits.filter(({ origin }) => origin === 'released');
  assert.deepEqual(
    released.map(({ rail, asset, state }) => [rail, asset, state]),
    [['bank.simulated', 'inr', 'suspense']],
  );
});
