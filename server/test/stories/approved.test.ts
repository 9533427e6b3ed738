/**
 * People approve exactly what they were shown: the hit, the list entry, the destination and the amount. A fact that is committed
 * between their confirmation and the transaction that acts on it is new, and their approval does not cover it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { setRule } from '../../src/operators/index.ts';
import { ACTIONS } from '../../src/protocols/operator/action.ts';
import { confirmedBy, oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { heldSale, salePaidTwice } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story, StoryCustomer } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
});
after(async () => await world?.close());

/** Commits a change after two people have confirmed an action and before the action runs. */
async function meanwhile<T>(name: string, happens: () => Promise<unknown>, body: () => Promise<T>): Promise<T> {
  const action = ACTIONS.get(name);
  const outside = action?.outside;
  assert(action !== undefined && outside !== undefined);
  action.outside = async (...asked) => {
    await happens();
    await outside(...asked);
  };
  try {
    return await body();
  } finally {
    action.outside = outside;
  }
}

async function bothDo(path: string, body: Record<string, unknown> = {}) {
  const { status, body: said } = await oneOrTwoDo(finn, ada, path, body);
  return [status, said.reason];
}
const blocks = async ({ id }: StoryCustomer) => assert.equal((await ada.does(`/customers/${id}/block`)).status, 200);

const onHold = async (how: { customer: StoryCustomer; refundAddress?: string }): Promise<Sale> =>
  (await heldSale(world, '10', how)).order;

test('a customer who is blocked after two people confirmed a retry is not paid by it', async () => {
  const rule = { action: 'order.retry', right: '*', asset: '*', aboveUnits: 0n, people: 2 };
  await world.read((tx) => setRule(tx, rule));
  const customer = await world.verifiedCustomer({ ending: '9001' });
  const order = await world.sells('10', 'usdc', { customer });
  await world.pays(order, '10');
  await world.mines(2);
  await world.opensCase(order, 'payout_held');
  assert.deepEqual(
    await meanwhile(
      'order.retry',
      () => blocks(customer),
      () => bothDo(`/orders/${order.id}/retry`),
    ),
    [200, undefined],
  );
  await world.until('the gate has held it', async () =>
    (await world.traceOf(order)).payouts.some(({ why }) => why?.includes('customer_blocked') === true),
  );
  assert.equal(await world.stateOf(order), 'payout_held');
});

test('a refund past hits passes only the hits that two people were shown, and stops at one that is found later', async () => {
  const customer = await world.verifiedCustomer();
  const order = await onHold({ customer });
  const refund = { failure: 'other', address: world.newAddress(), pastHits: true };
  assert.deepEqual(
    await meanwhile(
      'order.refund',
      () => blocks(customer),
      () => bothDo(`/orders/${order.id}/refund`, refund),
    ),
    [409, 'destination_held'],
  );
  assert.equal(await world.stateOf(order), 'on_hold');
  // They are shown the new hit now.
  assert.deepEqual(await bothDo(`/orders/${order.id}/refund`, refund), [200, undefined]);
  await world.refundArrives(order, -2);
});

test('a refund does not go to a destination that its partner names after people confirmed another', async () => {
  const [shown, other] = [world.newAddress(), world.newAddress()];
  const customer = await world.verifiedCustomer();
  const order = await onHold({ customer, refundAddress: shown });
  const renames = async () => {
    const to = { customerId: customer.id, transactionId: String(order.id), address: other };
    const said = await world.partner.put('offramp/refundDestination', to);
    assert.equal(said.status, 200, JSON.stringify(said.body));
  };
  assert.deepEqual(
    await meanwhile('order.refund', renames, () => bothDo(`/orders/${order.id}/refund`, { failure: 'other' })),
    [409, 'destination_held'],
  );
  assert.deepEqual((await world.traceOf(order)).refunds, []);
});

const refundStates = async (order: Sale) => (await world.traceOf(order)).refunds.map(({ state }) => state);
async function paysMore(order: Sale, amount: string, nth: number): Promise<void> {
  await world.pays(order, amount);
  await world.mines(2);
  await world.until('its refund is there', async () => (await refundStates(order)).length === nth);
}
const arrives = (order: Sale, nth: number) =>
  world.until('it has arrived', async () => {
    await world.mines(1);
    return (await refundStates(order))[nth] === 'settled';
  });

test('amounts of several deposits of one order add up for the limit on naming a destination, and each deposit needs its own', async () => {
  for (const action of ['order.destination', 'destination.new'])
    await world.read((tx) =>
      setRule(tx, { action, right: '*', asset: 'usdc.matic20', aboveUnits: 50_000_000n, people: 2 }),
    );
  await world.goesBy('offramp', 'usdc', { second: { then: 'refund' } });
  const order = await world.sells('10', 'usdc');
  await world.pays(order, '10');
  await world.mines(2);
  await world.becomes(order, 'settled');
  const address = world.newAddress();
  await paysMore(order, '30', 1);
  assert.deepEqual(await refundStates(order), ['needs_destination']);
  const asked = await finn.does(`/orders/${order.id}/destination`, { address });
  assert.equal(asked.status, 200, JSON.stringify(asked.body));
  await arrives(order, 0);
  await paysMore(order, '25', 2);
  assert.deepEqual(
    await refundStates(order),
    ['settled', 'needs_destination'],
    'a destination that one person named for another deposit was reused',
  );
  const again = await finn.does(`/orders/${order.id}/destination`, { address });
  assert.equal(again.status, 202, '30 and 25 to one address passed the limit of 50 with one person');
  assert.equal((await ada.does(`/proposals/${again.body.proposal}/confirm`)).status, 200);
  await arrives(order, 1);
  assert.equal(await world.tokensOf(address, 'usdc'), '55');
});

/** A refund of money in suspense that waits for its destination. */
async function waitingRefund(): Promise<Sale> {
  await world.goesBy('offramp', 'usdc', { second: { then: 'refund' } });
  const { order } = await salePaidTwice(world, '5');
  await world.until('its refund waits', async () => (await refundStates(order))[0] === 'needs_destination');
  return order;
}

test('naming a destination past hits passes only the hits that two people were shown', async () => {
  const order = await waitingRefund();
  const to = { address: world.newAddress(), pastHits: true };
  const asked = await finn.does(`/orders/${order.id}/destination`, to);
  assert.equal(asked.status, 202, JSON.stringify(asked.body));
  assert.equal((await ada.does(`/customers/${order.customerId}/block`)).status, 200);
  const late = await confirmedBy(ada, asked);
  assert.deepEqual([late.status, late.body.reason], [409, 'proposal_overtaken']);
  assert.deepEqual(await refundStates(order), ['needs_destination']);
  // They are shown the block now.
  assert.deepEqual(await bothDo(`/orders/${order.id}/destination`, to), [200, undefined]);
  await arrives(order, 0);
  assert.equal(await world.tokensOf(to.address, 'usdc'), '5');
});

test('a hit that is found between what two people saw and what they do is held', async () => {
  const order = await waitingRefund();
  const address = world.newAddress();
  const action = ACTIONS.get('order.destination');
  const performs = action?.perform;
  assert(action !== undefined && performs !== undefined);
  // In the same transaction, after the confirmation has read the order.
  action.perform = async (...asked) => {
    action.perform = performs;
    await world.read((tx) =>
      replaceDenyList(tx, world.server.vault, {
        ...{ list: 'test', version: '1', now: world.clock.now() },
        destinations: [{ kind: 'address', value: address }],
      }),
    );
    return await performs(...asked);
  };
  assert.deepEqual(await bothDo(`/orders/${order.id}/destination`, { address, pastHits: true }), [200, undefined]);
  await world.until('it is held', async () => (await refundStates(order))[0] === 'held');
  assert.equal(await world.tokensOf(address, 'usdc'), '0');
});
