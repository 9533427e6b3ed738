/**
 * Address risk and money: what comes from a risky address, and what would go to one, stays until people have decided; while the
 * provider does not answer, it waits.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { enqueue } from '../../src/base/jobs.ts';
import { parseUnits } from '../../src/base/money.ts';
import { MNEMONIC, VISITOR_ACCOUNT } from '../../src/sandbox/wallets.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story } from '../support/story.ts';

const CHAIN = 'matic20';
const MAX_AGE_S = 3_600;

let world: Story;
let ada: Person;
let bea: Person;

before(async () => {
  const settings = { ADDRESS_RISK: 'simulated', ADDRESS_RISK_MAX_AGE_S: String(MAX_AGE_S) };
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }, { settings }));
});
after(async () => await world?.close());

const agree = (path: string, body: Record<string, unknown> = {}) => oneOrTwoDo(ada, bea, path, body);
const endingIn = (ending: string): string => `${world.newAddress().slice(0, -ending.length)}${ending}`;

/** A purchase to an address with this end, whose bank credit has come. */
async function bought(ending: string): Promise<Purchase> {
  const order = await world.buys('5000', 'usdc', { address: endingIn(ending) });
  await world.credits(order, '5000');
  return order;
}

/** Pays a sale from an address with this end, whose key is not known: the node signs for it. */
async function paysFrom(ending: string, order: Sale, amount: string): Promise<string> {
  const from = endingIn(ending);
  const visitor = mnemonicToAccount(MNEMONIC, { addressIndex: VISITOR_ACCOUNT }).address;
  const [token] = await world.read((tx) =>
    tx.rows<{ contract: string; decimals: number }>('select contract, decimals from assets where code = $1', [
      `usdc.${CHAIN}`,
    ]),
  );
  assert(token);
  const units = parseUnits(amount, token.decimals);
  for (const [payer, payee] of [
    [visitor, from],
    [from, order.depositAddress],
  ] as const) {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee as Hex, units] });
    await world.rpc(CHAIN, 'anvil_setBalance', [payer, '0xde0b6b3a7640000']);
    await world.rpc(CHAIN, 'anvil_impersonateAccount', [payer]);
    await world.rpc(CHAIN, 'eth_sendTransaction', [{ from: payer, to: token.contract, data, gas: '0x186a0' }]);
    await world.mines();
  }
  await world.mines(2);
  return from;
}

const hitOf = ({ customerId }: { customerId: string }, state = 'open') =>
  world.until('there is a hit', async () => {
    const { hits } = (await ada.reads(`/address-risk/hits?state=${state}`)).body;
    return hits.find((hit: { customerId: string }) => hit.customerId === customerId);
  });
const riskCases = async () => (await ada.reads('/cases?kind=address_risk_hit')).body.cases.length;
const answersAbout = async (address: string) =>
  (await ada.reads(`/address-risk/answers?address=${address}`)).body.answers;
const isIn = (order: Sale | Purchase, state: string) =>
  world.until(`the order is ${state}`, async () => (await world.stateOf(order)) === state);
const saysNothing = async (order: Sale | Purchase): Promise<void> => {
  const told = JSON.stringify([await world.eventBodies(order), await world.changesOf(order)]);
  assert.doesNotMatch(told, /risk|mixer|sanction|simulated_risk|undecided/i);
};

test('money to an address of low risk is paid, and its answer was asked before', async () => {
  const order = await bought('5c5c');
  await world.reaches(order, 4);
  const { address } = order;
  assert.deepEqual(
    (await answersAbout(address)).map(({ level, provider }: Record<string, string>) => [level, provider]),
    [['low', 'simulated']],
  );
});

test('a purchase to a risky address is held, under review; two accept the risk for this customer, and it goes on', async () => {
  const order = await bought('bad4');
  await world.opensCase(order, 'on_hold');
  const hit = await hitOf(order);
  assert.deepEqual([hit.level, hit.subject, hit.address], ['severe', 'destination', order.address]);
  assert.equal(await riskCases(), 1);
  await saysNothing(order);

  // Neither one nor two let it past the hit before they have decided about the address.
  assert.equal((await agree(`/orders/${order.id}/release`)).status, 409);
  const alone = await ada.does(`/address-risk/hits/${hit.id}/dismiss`);
  assert.equal(alone.status, 202, 'one person accepted the risk');
  assert.equal((await bea.does(`/proposals/${alone.body.proposal}/confirm`)).status, 200);
  assert.equal(await riskCases(), 0);
  assert.equal((await agree(`/orders/${order.id}/release`)).status, 200);
  await world.reaches(order, 4);
});

test('a deposit from a risky address is frozen: no one can pay it out or refund it, even when the risk is confirmed', async () => {
  const customer = await world.verifiedCustomer();
  const order = await world.sells('31', 'usdc', { customer });
  const from = await paysFrom('bad3', order, '31');
  await world.opensCase(order, 'on_hold');
  const hit = await hitOf(order);
  assert.match(hit.subject, /^payer:/);
  assert.equal(hit.address.toLowerCase(), from.toLowerCase());
  await saysNothing(order);
  const isHeld = async () => {
    const back = { failure: 'other', address: world.newAddress(), pastHits: true };
    for (const said of [await agree(`/orders/${order.id}/refund`, back), await agree(`/orders/${order.id}/release`)])
      assert.equal(said.status, 409, JSON.stringify(said.body));
  };
  await isHeld();
  assert.equal((await ada.does(`/address-risk/hits/${hit.id}/confirm`)).status, 200);
  await isHeld();
  assert.equal(await riskCases(), 0);
  assert.equal((await agree(`/address-risk/hits/${hit.id}/dismiss`)).body.reason, 'hit_over');
  assert.equal((await agree(`/orders/${order.id}/block`)).status, 200);
  await isIn(order, 'frozen');

  // The customer is not blocked: coins from elsewhere are paid out.
  const next = await world.sells('32', 'usdc', { customer });
  await world.pays(next, '32');
  await world.mines(2);
  await world.reaches(next, 6);
});

test('while the provider does not answer, money waits where it is with one case, and nothing is paid', async () => {
  const orders = [await bought('bad5'), await bought('bad5')];
  const outages = async () =>
    (await ada.reads('/cases?kind=screening_unavailable')).body.cases.map(
      ({ subject }: { subject: string }) => subject,
    );
  await world.until('a case is open', async () => (await outages()).length > 0);
  for (const order of orders) {
    await world.read((tx) =>
      enqueue(tx, { kind: 'screen_order', subject: String(order.id), dueAt: world.clock.now() }),
    );
    await isIn(order, 'deposit_confirmed');
    assert.deepEqual(await answersAbout(order.address), []);
  }
  assert.deepEqual(await outages(), ['address risk simulated']);
  // An answer about another address is no answer about these, and ends no case.
  await world.reaches(await bought('5c5c'), 4);
  assert.deepEqual(await outages(), ['address risk simulated']);
  for (const order of orders) assert.equal(await world.stateOf(order), 'deposit_confirmed');
});

test('a payout that waited longer than its answer counts is asked about again before it leaves', async () => {
  const rail = `evm.${CHAIN}`;
  const off = { kind: 'rail', subject: rail };
  assert.equal((await ada.does('/kill-switches', off)).status, 200);
  const order = await bought('5c5c');
  await isIn(order, 'paying_out');
  const before = (await answersAbout(order.address)).length;
  world.clock.advance((MAX_AGE_S + 60) * 1_000);
  assert.equal((await agree('/kill-switches/lift', off)).status, 200);
  await world.reaches(order, 4);
  assert.ok((await answersAbout(order.address)).length > before, 'it left on an answer that was too old');
});
