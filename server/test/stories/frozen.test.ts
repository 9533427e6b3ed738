/**
 * An order that is blocked by law: none of its money moves until a legal release is on record. The same holds for later deposits
 * of the order and for its deposits in suspense.
 */
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

async function does(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const done = await oneOrTwoDo(finn, ada, path, body);
  assert.equal(done.status, 200, `${path}: ${JSON.stringify(done.body)}`);
}

/** A sale of ten tokens that screening holds. */
const onHold = async (refundAddress: string): Promise<Sale> => (await heldSale(world, '10', { refundAddress })).order;

const refunds = async (order: Sale) => (await world.traceOf(order)).refunds.map(({ state }) => state);
const openCases = async (order: Sale) => (await world.casesOf(order)).filter(({ open }) => open);

test('a second deposit of a blocked order is not refunded by policy; operators refund it after the legal release', async () => {
  await world.goesBy('offramp', 'usdc', { second: { then: 'refund' } });
  const back = world.newAddress();
  const order = await onHold(back);
  await does(`/orders/${order.id}/block`);
  await world.pays(order, '5');
  await world.mines(2);
  await world.until(
    'its refund has been looked at',
    async () => !['', 'screening'].includes((await refunds(order))[0] ?? ''),
  );
  assert.deepEqual(await refunds(order), ['held']);
  assert.equal(await world.tokensOf(back, 'usdc'), '0');
  const told = (await openCases(order)).find(({ kind }) => kind === 'refund_destination_held');
  assert.equal(told?.reason, 'order_frozen');
  await does(`/orders/${order.id}/release-blocked`, { legalAct: 'court 22/2026' });
  const second = (await world.traceOf(order)).deposits.find(({ why }) => why === 'second');
  await does(`/deposits/${second?.id}/refund`, { address: back });
  await world.until(`both are paid: ${await refunds(order)}`, async () => {
    await world.mines(1);
    return (await refunds(order)).every((state) => state === 'settled');
  });
  assert.equal(await world.tokensOf(back, 'usdc'), '15');
});

test('a refund out of suspense that waits to be submitted is held when its order is blocked by law', async () => {
  await world.goesBy('offramp', 'usdc', { second: { then: 'refund' } });
  const back = world.newAddress();
  const order = await onHold(back);
  await does('/kill-switches', { kind: 'payouts', subject: 'all' });
  await world.pays(order, '5');
  await world.mines(2);
  await world.until('its refund waits', async () => (await refunds(order))[0] === 'created');
  await does(`/orders/${order.id}/block`);
  await does('/kill-switches/lift', { kind: 'payouts', subject: 'all' });
  await world.until('its refund has been looked at', async () => (await refunds(order))[0] !== 'created');
  assert.deepEqual(await refunds(order), ['rejected']);
  assert.equal(await world.tokensOf(back, 'usdc'), '0');
});

test('a second deposit of a blocked order becomes no new order', async () => {
  await world.goesBy('offramp', 'usdc', { second: { then: 'new_order' } });
  const order = await onHold(world.newAddress());
  await does(`/orders/${order.id}/block`);
  await world.pays(order, '5');
  await world.mines(2);
  await world.until('it has been looked at', async () => {
    if ((await world.traceOf(order)).followedBy.length > 0) return true;
    const rows = await world.read((tx) =>
      tx.rows(
        `select from jobs j join deposits d on d.id::text = j.subject
          where j.kind = 'create_follow_on_order' and d.order_id = $1 and j.due_at > $2 and j.lease is null`,
        [order.id, world.clock.now()],
      ),
    );
    return rows.length > 0;
  });
  assert.deepEqual((await world.traceOf(order)).followedBy, []);
});
