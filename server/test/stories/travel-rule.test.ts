/** The travel rule and money: a payout of coins waits for the wallet that it goes to, which its partner names and its owner proves. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { walletProof } from '../../src/rails/evm/wallet-proof.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';
import { openV1, type V1Client } from '../support/v1.ts';

let world: Story;
let ada: Person;
let bea: Person;
let api: V1Client;

before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
  const [keys] = world.server.sandbox.partners;
  assert(keys);
  api = openV1(world.server.baseUrl, keys);
  const terms = { threshold: '4000', proofFrom: '4000', deadlineHours: 2, policy: 'hold' };
  const alone = await ada.does('/travel-rules', { jurisdiction: '*', fiat: 'inr', ...terms });
  assert.equal(alone.status, 202, 'one person set the rule');
  assert.equal((await bea.does(`/proposals/${alone.body.proposal}/confirm`)).status, 200);
});
after(async () => await world?.close());

async function named(): Promise<StoryCustomer> {
  const made = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const customer = await findCustomer(tx, made.id);
    await saveDetails(tx, world.server.vault, {
      customer,
      details: { firstName: 'Zebulon', lastName: 'Quagmire', dob: '1990-01-31' },
      now: world.clock.now(),
    });
  });
  return made;
}

async function bought(amount: string, address: string, by?: StoryCustomer): Promise<Purchase> {
  const order = await world.buys(amount, 'usdc', { address, customer: by ?? (await named()) });
  await world.credits(order, amount, { name: 'Zebulon Quagmire' });
  return order;
}
const isIn = (order: Sale | Purchase, state: string) =>
  world.until(`the order is ${state}`, async () => (await world.stateOf(order)) === state);
const waits = async (order: Sale | Purchase): Promise<void> => {
  await isIn(order, 'paying_out');
  await world.until('it says what it waits for', async () => /travel rule/.test((await world.traceOf(order)).next));
};
const walletsOf = (order: Sale | Purchase) => api.does('GET', `/orders/${order.id}/wallets`);
const names = (order: Sale | Purchase, body: Record<string, unknown>) =>
  api.does('POST', `/orders/${order.id}/wallets`, { kind: 'self_hosted', owner: 'customer', ...body });
const OWNER = privateKeyToAccount(generatePrivateKey());

test('a purchase below the threshold is paid without any data', async () => {
  await world.reaches(await bought('3000', OWNER.address.toLowerCase()), 4);
});

test('a purchase above it waits, is named and proven by its partner, and leaves; operators see the data', async () => {
  const order = await bought('5000', OWNER.address.toLowerCase());
  await waits(order);
  const { data, dueAt } = await walletsOf(order);
  assert.deepEqual(
    data.map(({ direction, missing }: Record<string, unknown>) => [direction, missing]),
    [['out', ['wallet']]],
  );
  assert.ok(new Date(dueAt) > world.clock.now());
  const half = await names(order, { address: OWNER.address });
  assert.deepEqual(half.data[0].missing, ['proof']);
  const signature = await OWNER.signMessage({ message: half.data[0].text });
  const whole = await names(order, { address: OWNER.address, signature });
  assert.deepEqual(whole.data, []);
  await world.reaches(order, 4);

  const shown = (await ada.does(`/orders/${order.id}/travel-rule`)).body;
  assert.deepEqual([shown.records.length, shown.records[0].state], [1, 'complete']);
  assert.match(JSON.stringify(shown.records[0].ivms), /Quagmire/);
  // A second order to the same wallet needs nothing more from the partner of this customer.
  assert.equal((await ada.reads('/cases?kind=travel_rule_missing')).body.cases.length, 0);
});

test('a wallet that signs typed data is proven by it, on its own chain, and sending it again changes nothing', async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const order = await bought('5040', owner.address.toLowerCase());
  await waits(order);
  const { text } = (await walletsOf(order)).data[0];
  const signature = (on: bigint) => owner.signTypedData(walletProof(on, owner.address, text));
  const body = { kind: 'self_hosted', owner: 'customer', address: owner.address };
  const wrong = await api.post(`/orders/${order.id}/wallets`, { ...body, signature: await signature(1n) });
  assert.equal(wrong.body.reason, 'malformed_field');
  const right = await signature(world.chainIdOf('matic20'));
  for (const _ of ['sent', 'sent again'])
    assert.deepEqual((await names(order, { address: owner.address, signature: right })).data, []);
  await world.reaches(order, 4);
});

test('of two orders that wait for one wallet both leave once it is named for the first', async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const customer = await named();
  const first = await bought('5010', owner.address.toLowerCase(), customer);
  const second = await bought('5020', owner.address.toLowerCase(), customer);
  await waits(first);
  await waits(second);
  const { text } = (await walletsOf(first)).data[0];
  await names(first, { address: owner.address, signature: await owner.signMessage({ message: text }) });
  await world.reaches(first, 4);
  // It asks again every half minute.
  world.clock.advance(31_000);
  await world.reaches(second, 4);
  const records = (await ada.does(`/orders/${second.id}/travel-rule`)).body.records;
  assert.deepEqual([records.length, records[0].state], [1, 'complete']);
});

test('a payout that goes to another address asks for that wallet, and its partner can name it', async () => {
  const nowhere = privateKeyToAccount(generatePrivateKey());
  world.takesNothing(nowhere.address.toLowerCase(), 'matic20');
  const order = await bought('5030', nowhere.address.toLowerCase());
  await waits(order);
  const { text } = (await walletsOf(order)).data[0];
  await names(order, { address: nowhere.address, signature: await nowhere.signMessage({ message: text }) });
  await isIn(order, 'payout_held');
  const other = privateKeyToAccount(generatePrivateKey());
  const address = other.address.toLowerCase();
  assert.equal((await oneOrTwoDo(ada, bea, `/orders/${order.id}/retry`, { address })).status, 200);
  await waits(order);
  const [asked] = (await walletsOf(order)).data;
  assert.deepEqual([asked.direction, asked.address, asked.missing], ['out', address, ['wallet']]);
  const refused = await api.post(`/orders/${order.id}/wallets`, {
    ...{ kind: 'self_hosted', owner: 'customer', address: nowhere.address },
  });
  assert.equal(refused.body.reason, 'malformed_field', 'the address that took nothing was named once more');
  await names(order, { address, signature: await other.signMessage({ message: asked.text }) });
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
});

test('at the deadline it is held; once its wallet is named it is retried, and paid once', async () => {
  const order = await bought('5001', OWNER.address.toLowerCase());
  await waits(order);
  world.clock.advance(2 * 3_600_000 + 60_000);
  await isIn(order, 'payout_held');
  const alone = await ada.does(`/orders/${order.id}/retry`);
  assert.equal(alone.status, 202, 'one person let it leave without the data');
  assert.equal((await ada.does(`/proposals/${alone.body.proposal}/decline`)).status, 200);
  const { text } = (await names(order, { address: OWNER.address })).data[0];
  await names(order, { address: OWNER.address, signature: await OWNER.signMessage({ message: text }) });
  assert.equal((await oneOrTwoDo(ada, bea, `/orders/${order.id}/retry`)).status, 200);
  await world.reaches(order, 4);
});

test('the wallet that a sale is paid from is asked for once its coins have come', async () => {
  const order = await world.sells('60', 'usdc', { customer: await named() });
  assert.deepEqual((await walletsOf(order)).data, []);
  await world.pays(order, '60');
  await world.mines(2);
  await waits(order);
  const [asked] = (await walletsOf(order)).data;
  assert.deepEqual([asked.direction, asked.missing], ['in', ['wallet']]);
  const signature = await world.signsAsPayer(asked.text);
  assert.deepEqual((await names(order, { address: asked.address, signature })).data, []);
  await world.reaches(order, 6);
});

test('at the deadline of a rule that returns, a deposit goes back to the address named for it; without one its partner is asked', async () => {
  const terms = { threshold: '4000', deadlineHours: 2, policy: 'return' };
  const alone = await ada.does('/travel-rules', { jurisdiction: '*', fiat: 'inr', ...terms });
  assert.equal((await bea.does(`/proposals/${alone.body.proposal}/confirm`)).status, 200);
  const refundAddress = world.newAddress().toLowerCase();
  // Of customers who have named no wallet: the payer's is another for them.
  const [named1, named2] = [await named(), await named()];
  const back = await world.sells('60', 'usdc', { customer: named1, refundAddress });
  const asked = await world.sells('61', 'usdc', { customer: named2 });
  for (const [order, amount] of [
    [back, '60'],
    [asked, '61'],
  ] as const)
    await world.pays(order, amount);
  await world.mines(2);
  for (const order of [back, asked]) await waits(order);
  world.clock.advance(2 * 3_600_000 + 60_000);
  await isIn(back, 'refunded');
  await world.opensCase(asked, 'refund_destination');
  assert.equal(
    (await ada.reads(`/cases?kind=refund_destination`)).body.cases.length,
    1,
    'one whose address is known is asked for',
  );
});

test('the deposit of an order that an operator holds stays at the deadline, and goes back once people release it', async () => {
  const refundAddress = world.newAddress().toLowerCase();
  const sold = async (amount: string) => {
    const order = await world.sells(amount, 'usdc', { customer: await named(), refundAddress });
    await world.pays(order, amount);
    await world.mines(2);
    await waits(order);
    return order;
  };
  const [held, other] = [await sold('62'), await sold('63')];
  assert.equal((await ada.does(`/orders/${held.id}/hold`)).status, 200);
  world.clock.advance(2 * 3_600_000 + 60_000);
  await isIn(other, 'refunded');
  // The deadline's job has looked at it, and looks again.
  const job = () =>
    world.read((tx) =>
      tx.row<{ dueAt: Date }>(`select due_at from jobs where kind = 'travel_rule_due' and subject = $1`, [
        String(held.id),
      ]),
    );
  await world.until('its job has run', async () => ((await job())?.dueAt ?? 0) > world.clock.now());
  assert.equal(await world.stateOf(held), 'payout_held');
  const cases = (await ada.reads(`/cases?kind=payout_held`)).body.cases;
  assert.ok(cases.some(({ subject }: { subject: string }) => subject === `order:${held.id}`));
  assert.equal((await oneOrTwoDo(ada, bea, `/orders/${held.id}/release`)).status, 200);
  world.clock.advance(301_000);
  await isIn(held, 'refunded');
});
