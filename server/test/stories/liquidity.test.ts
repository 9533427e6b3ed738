/** An operator without enough money: orders wait, say so, and go on by themselves when it comes. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { chart } from '../../src/ledger/index.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
beforeEach(async () => await world.setsAside('inr', 0n));
after(async () => await world?.close());

let fundings = 0;
async function funds(amount: string): Promise<void> {
  fundings += 1;
  await world.bank.fund({ currency: 'INR', units: parseUnits(amount, 2), id: `more-${fundings}` });
}
const treasury = async () => (await world.balance(chart.treasury('inr'))).units;

async function paid(amount: string, reference?: string): Promise<Sale> {
  const order = await world.sells(amount, 'usdc', reference === undefined ? {} : { reference });
  await world.pays(order, amount);
  await world.mines(2);
  return order;
}

test('an order that the treasury cannot fill waits at 2 with a case, and settles when the operator funds it', async () => {
  const order = await paid('100');
  const waiting = await world.opensCase(order, 'treasury_short');
  assert.match(waiting.reason, /inr/);
  assert.equal(await world.statusOf(order), 2);
  assert.equal(await world.stateOf(order), 'awaiting_liquidity');
  assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0);

  await funds('8600');
  await world.reaches(order, 6);
  assert.deepEqual(
    (await world.casesOf(order)).map(({ kind, open }) => [kind, open]),
    [['treasury_short', false]],
  );
  assert.equal(await treasury(), 0n);
  assert.deepEqual(await world.eventsOf(order), [
    'created',
    'deposit_seen',
    'deposit_confirmed',
    'awaiting_liquidity',
    'paying_out',
    'settled',
  ]);
});

test('a funding one unit too small leaves the order waiting, and its missing unit lets it go on', async () => {
  const order = await paid('100');
  await world.opensCase(order, 'treasury_short');
  await funds('8599.99');
  await world.until('the funding is booked', async () => (await treasury()) === 859_999n);
  assert.equal(await world.statusOf(order), 2);
  await funds('0.01');
  await world.reaches(order, 6);
});

test('of two that wait, money for one pays one, the other waits on', async () => {
  const first = await paid('100');
  await world.opensCase(first, 'treasury_short');
  const second = await paid('100');
  await world.opensCase(second, 'treasury_short');
  await funds('8600');
  const both = [first, second];
  const statuses = () => Promise.all(both.map(world.statusOf));
  await world.until('one is paid', async () => (await statuses()).includes(6));
  assert.deepEqual((await statuses()).toSorted(), [2, 6]);
  await funds('8600');
  for (const order of both) await world.reaches(order, 6);
});

test('an order released while the treasury is short waits with a case of its own', async () => {
  const order = await paid('100', 'screen:hold');
  await world.reaches(order, 3);
  await world.releases(order);
  assert.equal(await world.stateOf(order), 'awaiting_liquidity');
  assert.deepEqual(
    (await world.casesOf(order)).map(({ kind, open }) => [kind, open]),
    [
      ['on_hold', false],
      ['treasury_short', true],
    ],
  );
  await funds('8600');
  await world.reaches(order, 6);
});

test('an order released while the treasury is short is not shown a step back', async () => {
  const order = await paid('100', 'screen:hold');
  await world.reaches(order, 3);
  await world.releases(order);
  const status = await world.statusOf(order);
  await funds('8600');
  await world.reaches(order, 6);
  assert.equal(status, 3);
});
