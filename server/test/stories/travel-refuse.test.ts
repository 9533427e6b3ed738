/**
 * The travel rule's policy `refuse`: an order without its data at the deadline is not paid any more, whatever comes later, and its deposit
 * stays until two people return it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { confirmedBy, oneOrTwoDo, type Person, takes, twoDo } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';
import { openV1, type V1Client } from '../support/v1.ts';

const LATE_MS = 2 * 3_600_000 + 60_000;
/** Longer than an order waits in a state by the sandbox's policies. */
const DAYS_MS = 2 * 86_400_000;

let world: Story;
let ada: Person;
let bea: Person;
let api: V1Client;

before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
  const [keys] = world.server.sandbox.partners;
  assert(keys);
  api = openV1(world.server.baseUrl, keys);
  await sets('refuse');
  // One person is enough for a refund, where the travel rule asks nothing.
  await world.read((tx) => takes(tx, 1, { action: 'order.refund' }));
});
after(async () => await world?.close());

const sets = (policy: string) =>
  twoDo(ada, bea, '/travel-rules', { jurisdiction: '*', fiat: 'inr', threshold: '4000', deadlineHours: 2, policy });

async function named(): Promise<StoryCustomer> {
  const made = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const details = { firstName: 'Zebulon', lastName: 'Quagmire', dob: '1990-01-31' };
    const customer = await findCustomer(tx, made.id);
    await saveDetails(tx, world.server.vault, { customer, details, now: world.clock.now() });
  });
  return made;
}
const newAddress = () => privateKeyToAccount(generatePrivateKey()).address.toLowerCase();

async function bought(amount: string, address = newAddress()): Promise<Purchase> {
  const order = await world.buys(amount, 'usdc', { address, customer: await named() });
  await world.credits(order, amount, { name: 'Zebulon Quagmire' });
  await waits(order);
  return order;
}
async function sold(amount: string, refundAddress?: string): Promise<Sale> {
  const customer = await named();
  const order = await world.sells(amount, 'usdc', { customer, ...(refundAddress && { refundAddress }) });
  await world.pays(order, amount);
  await world.mines(2);
  await waits(order);
  return order;
}

const isIn = (order: Sale | Purchase, state: string) =>
  world.until(`the order is ${state}`, async () => (await world.stateOf(order)) === state);
async function waits(order: Sale | Purchase): Promise<void> {
  await isIn(order, 'paying_out');
  await world.until('it says what it waits for', async () => /travel rule/.test((await world.traceOf(order)).next));
}
async function isRefused(order: Sale | Purchase): Promise<void> {
  await isIn(order, 'payout_held');
  const { reason } = await world.opensCase(order, 'travel_rule_too_late');
  assert.match(reason, /refused/);
  const kinds = await world.openCaseKinds(order);
  assert.ok(!kinds.includes('travel_rule_missing'), 'its partner is still asked for data');
}
const walletsOf = (order: Sale | Purchase) => api.does('GET', `/orders/${order.id}/wallets`);
const names = (order: Sale | Purchase, address: string) =>
  api.does('POST', `/orders/${order.id}/wallets`, { kind: 'self_hosted', owner: 'customer', address });

test('data that comes in time lets the payout leave', async () => {
  const address = newAddress();
  const order = await bought('5000', address);
  assert.deepEqual((await names(order, address)).data, []);
  await world.reaches(order, 4);
});

test('coins do not leave after the deadline: no data, rule, approval, partner or time changes that, and two people return the fiat', async () => {
  const address = newAddress();
  const order = await bought('5001', address);
  world.clock.advance(LATE_MS);
  await isRefused(order);
  const told = await walletsOf(order);
  assert.deepEqual([told.data, told.dueAt], [[], null]);
  assert.ok(new Date(told.refusedAt) <= world.clock.now());

  // Its partner names the wallet, and the rule changes: too late.
  assert.notEqual((await names(order, address)).refusedAt, null);
  await sets('send');
  world.clock.advance(61_000);
  for (const action of ['retry', 'release']) {
    const said = await ada.does(`/orders/${order.id}/${action}`);
    const done = said.status === 202 ? await confirmedBy(bea, said) : said;
    assert.deepEqual([done.status, done.body.reason], [409, 'order_over'], action);
  }
  const elsewhere = await ada.does(`/orders/${order.id}/retry`, { address: newAddress(), pastHits: true });
  const kept = elsewhere.status === 202 ? await confirmedBy(bea, elsewhere) : elsewhere;
  assert.equal(kept.body.reason, 'order_over');
  await sets('refuse');

  // No policy and no partner returns the money.
  const asked = await api.post(`/orders/${order.id}/refunds`, { destination: 'none' });
  assert.notEqual(asked.status, 200);
  world.clock.advance(DAYS_MS);
  await isIn(order, 'payout_held');

  const alone = await ada.does(`/orders/${order.id}/refund`, { failure: 'other', toSender: true });
  assert.equal(alone.status, 202, 'one person returned it');
  assert.equal((await confirmedBy(bea, alone)).status, 200);
  await isIn(order, 'refunded');
  assert.deepEqual(await world.openCaseKinds(order), []);
});

test('coins that came without data are not paid out in fiat; a named address does not return them, two people do', async () => {
  const order = await sold('60', newAddress());
  world.clock.advance(LATE_MS);
  await isRefused(order);
  assert.deepEqual(
    (await world.eventsOf(order)).filter((type) => /settled|refund/.test(type)),
    [],
  );
  // To the address that its customer named for refunds: with the rule for refunds one person would be enough.
  const alone = await ada.does(`/orders/${order.id}/refund`, { failure: 'other' });
  assert.equal(alone.status, 202, 'one person returned it');
  assert.equal(await world.stateOf(order), 'payout_held');
  assert.equal((await confirmedBy(bea, alone)).status, 200);
  await isIn(order, 'refunded');
});

test('an order that an operator holds at the deadline is refused too, and its release pays nothing', async () => {
  const order = await sold('61');
  assert.equal((await ada.does(`/orders/${order.id}/hold`)).status, 200);
  world.clock.advance(LATE_MS);
  await isRefused(order);
  assert.equal((await ada.does(`/orders/${order.id}/release`)).body.reason, 'order_over');
  const to = await twoDo(ada, bea, `/orders/${order.id}/refund`, { failure: 'other', address: newAddress() });
  assert.ok(to);
  await isIn(order, 'refunded');
});

test('an order whose return was decided before the deadline is returned without another decision, and is not paid any more', async () => {
  const address = newAddress();
  const [sale, purchase] = [await sold('62'), await bought('5002', address)];
  for (const order of [sale, purchase])
    assert.equal((await ada.does(`/orders/${order.id}/refund`, { failure: 'other' })).status, 200);
  world.clock.advance(LATE_MS);
  const jobs = () =>
    world.read((tx) =>
      tx.rows(`select from jobs where kind = 'travel_rule_due' and subject = any($1)`, [[sale.id, purchase.id]]),
    );
  await world.until('their jobs have run', async () => (await jobs()).length === 0);

  // Late data and a retry do not pay the order in place of its return.
  const told = await names(purchase, address);
  await ada.does(`/orders/${purchase.id}/release`);
  const said = await oneOrTwoDo(ada, bea, `/orders/${purchase.id}/retry`);
  assert.equal(said.body.reason, 'order_over', JSON.stringify(said.body));
  assert.notEqual(told.refusedAt, null);
  assert.equal(await world.stateOf(purchase), 'payout_held');

  const to = await oneOrTwoDo(ada, bea, `/orders/${sale.id}/destination`, { address: newAddress() });
  assert.equal(to.status, 200, JSON.stringify(to.body));
  await isIn(sale, 'refunded');
  assert.deepEqual(await world.openCaseKinds(sale), []);
});

test('a refused order is not priced again: no policy about prices or waiting returns its deposit', async () => {
  const order = await sold('63', newAddress());
  world.clock.advance(LATE_MS);
  await isRefused(order);
  const said = await ada.does(`/orders/${order.id}/requote`);
  assert.deepEqual([said.status, said.body.reason], [409, 'order_over']);
  await isRefused(order);
});

test('coins of a refused order that the law blocked and released leave only if two people let them pass the refusal', async () => {
  const address = newAddress();
  const order = await bought('5003', address);
  world.clock.advance(LATE_MS);
  await isRefused(order);
  assert.equal((await ada.does(`/orders/${order.id}/block`)).status, 200);
  await twoDo(ada, bea, `/orders/${order.id}/release-blocked`, { legalAct: 'court 17/2026' });
  const refund = () =>
    world.read((tx) =>
      tx.row<{ id: bigint; state: string }>('select id, state from refunds where order_id = $1', [order.id]),
    );
  const becomes = (state: string) => world.until(`it is ${state}`, async () => (await refund())?.state === state);

  assert.equal((await ada.does(`/orders/${order.id}/destination`, { address })).status, 200);
  await becomes('held');
  const alone = await ada.does(`/orders/${order.id}/destination`, { address, pastHits: true });
  assert.equal(alone.status, 202, 'one person let it pass');
  assert.equal((await confirmedBy(bea, alone)).status, 200);
  await becomes('submitted');
  await world.mines(2);
  await becomes('settled');
});
