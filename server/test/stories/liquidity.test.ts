/** A treasury without enough money: orders wait, show it, and go on without an operator once funds arrive. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { enqueue } from '../../src/base/jobs.ts';
import { parseUnits } from '../../src/base/money.ts';
import { chart } from '../../src/ledger/index.ts';
import { fundsArrived } from '../../src/orders/index.ts';
import { operatorIn } from '../support/staffed.ts';
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

const isOver = () =>
  world.until('no shortage is open', async () => (await world.shortages('inr')).every(({ open }) => !open));

async function paid(amount: string, reference?: string): Promise<Sale> {
  const order = await world.sells(amount, 'usdc', reference === undefined ? {} : { reference });
  await world.pays(order, amount);
  await world.mines(2);
  return order;
}

/** A sale that is paid and waits for funds. */
async function waits(amount: string): Promise<Sale> {
  const order = await paid(amount);
  await world.isShort(order);
  return order;
}

test('a sandbox starts without a case about the wallets that it funds', async () => {
  await world.until('every wallet with a threshold was read', async () => {
    const unread = await world.read((tx) =>
      tx.rows(
        `select from treasury_thresholds t left join treasury_outside o using (rail, wallet, asset) where o.read_at is null`,
      ),
    );
    return unread.length === 0;
  });
  assert.deepEqual(await world.read((tx) => tx.rows('select kind, subject, reason from cases')), []);
});

test('an order that the treasury cannot fill waits at 2 with a case, and settles when the operator funds it', async () => {
  const order = await paid('100');
  const waiting = await world.isShort(order);
  assert.match(waiting.reason, /inr/);
  assert.equal(await world.statusOf(order), 2);
  assert.equal(await world.stateOf(order), 'awaiting_liquidity');
  assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0);

  await funds('8600');
  await world.reaches(order, 6);
  assert.deepEqual(await world.casesOf(order), []);
  await isOver();
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

test('a funding that is one unit too small leaves the order waiting, and one more unit lets it go on', async () => {
  const order = await paid('100');
  await world.isShort(order);
  await funds('8599.99');
  await world.until('the funding is booked', async () => (await treasury()) === 859_999n);
  assert.equal(await world.statusOf(order), 2);
  await funds('0.01');
  await world.reaches(order, 6);
});

test('funds for one of two waiting orders pay the older one, and the other still waits', async () => {
  const first = await waits('100');
  const second = await paid('100');
  await world.isShort(second);
  await funds('8600');
  await world.reaches(first, 6);
  assert.equal(await world.statusOf(second), 2);
  await funds('8600');
  await world.reaches(second, 6);
});

test('orders that wait for the same funds share one case, which shows the missing amount and their number until none waits', async () => {
  await isOver();
  const before = (await world.shortages('inr')).length;
  const orders = [await waits('100'), await waits('100'), await waits('50')];
  const says = async (reason: string) => {
    let last: unknown;
    await world
      .until(reason, async () => {
        last = (await world.shortages('inr')).slice(before);
        return isDeepStrictEqual(last, [{ kind: 'treasury_short', reason, open: true }]);
      })
      .catch(() => assert.deepEqual(last, [{ kind: 'treasury_short', reason, open: true }]));
  };
  await says(`21500 inr missing at bank.simulated: 3 orders wait, first order ${orders[0]?.id}, which lacks 8600`);
  // The funds are enough for the last order and for none before it.
  await funds('4400');
  await says(`17100 inr missing at bank.simulated: 3 orders wait, first order ${orders[0]?.id}, which lacks 4200`);
  await allHaveLooked();
  assert.deepEqual(await Promise.all(orders.map(world.stateOf)), Array(3).fill('awaiting_liquidity'));
  await funds('4200');
  await world.reaches(orders[0] as Sale, 6);
  await says(`12900 inr missing at bank.simulated: 2 orders wait, first order ${orders[1]?.id}, which lacks 8600`);
  await funds('12900');
  for (const order of orders) await world.reaches(order, 6);
  await isOver();
  assert.equal((await world.shortages('inr')).length, before + 1);
  assert.deepEqual(
    await paidInTurn(orders),
    orders.map(({ id }) => id),
  );
});

/** Every waiting order has checked the available funds, and its job sleeps. */
async function allHaveLooked(): Promise<void> {
  await world.read((tx) => fundsArrived(tx, world.clock.now()));
  await world.until('orders that wait have looked again', async () => {
    const rows = await world.read((tx) =>
      tx.rows(`select from jobs where kind = 'fund_order' and (lease is not null or due_at <= $1)`, [
        world.clock.now(),
      ]),
    );
    return rows.length === 0;
  });
}

/** Ids of these orders, sorted by the creation of their payouts. */
async function paidInTurn(orders: readonly Sale[]): Promise<bigint[]> {
  const rows = await world.read((tx) =>
    tx.rows<{ orderId: bigint }>(
      `select order_id from order_history where order_id = any($1::bigint[]) and state_to = 'paying_out' order by at, order_id`,
      [orders.map(({ id }) => id)],
    ),
  );
  return rows.map(({ orderId }) => orderId);
}

test('a new order that the funds would cover waits behind the older ones', async () => {
  const first = await waits('100');
  await funds('5000');
  await world.until('the funding is booked', async () => (await treasury()) === 500_000n);
  const small = await waits('50');
  await allHaveLooked();
  assert.equal(await world.stateOf(small), 'awaiting_liquidity');
  assert.equal(await treasury(), 500_000n);
  await funds('7900');
  for (const order of [first, small]) await world.reaches(order, 6);
  assert.deepEqual(await paidInTurn([first, small]), [first.id, small.id]);
});

test('funds that arrive in parts pay waiting orders in their order of arrival, whichever job runs first', async () => {
  const orders: Sale[] = [];
  for (const amount of ['60', '20', '50', '20', '30']) {
    orders.push(await waits(amount));
  }
  for (const part of ['1720', '1720', '4300', '4300', '3440']) {
    await funds(part);
    // All jobs run at once.
    await world.read(async (tx) => {
      for (const { id } of orders.toReversed())
        enqueue(tx, { kind: 'fund_order', subject: String(id), dueAt: world.clock.now() });
    });
  }
  for (const order of orders) await world.reaches(order, 6);
  assert.deepEqual(
    await paidInTurn(orders),
    orders.map(({ id }) => id),
  );
});

test('an order that an operator holds blocks no other order, and has its old position when it is released', async () => {
  const [first, second] = [await waits('100'), await waits('50')];
  const ada = await operatorIn(world, 'ada', 'admin');
  assert.equal((await ada.does(`/orders/${first.id}/hold`)).status, 200);
  await funds('4300');
  await world.reaches(second, 6);
  const third = await waits('50');
  await world.releases(first);
  await world.until('it waits again', async () => (await world.stateOf(first)) === 'awaiting_liquidity');
  await funds('4300');
  await world.until('the funding is booked', async () => (await treasury()) === 430_000n);
  await allHaveLooked();
  assert.equal(await world.stateOf(third), 'awaiting_liquidity');
  await funds('8600');
  for (const order of [first, third]) await world.reaches(order, 6);
  assert.deepEqual(await paidInTurn([first, third]), [first.id, third.id]);
});

test('an operator lets smaller orders pass for a time, and the audit and the case show it', async () => {
  const eva = await operatorIn(world, 'eva', 'finance');
  const first = await waits('100');
  await funds('4300');
  const small = await waits('50');
  await allHaveLooked();
  assert.equal(await world.stateOf(small), 'awaiting_liquidity');

  const wrong = await eva.does('/shortages/pass', { rail: 'bank.nowhere', asset: 'inr', minutes: 5000 });
  assert.deepEqual([wrong.status, wrong.body.fields], [400, { minutes: 'must be a whole number from 1 to 1440' }]);
  assert.equal((await eva.does('/shortages/pass', { rail: 'bank.nowhere', asset: 'inr', minutes: 5 })).status, 400);
  const passed = await eva.does('/shortages/pass', {
    rail: 'bank.simulated',
    asset: 'inr',
    minutes: 30,
    reason: 'rent day',
  });
  assert.equal(passed.status, 200, JSON.stringify(passed.body));
  await world.reaches(small, 6);
  assert.equal(await world.stateOf(first), 'awaiting_liquidity');
  await world.until('the case says so', async () =>
    (await world.shortages('inr')).some(({ open, reason }) => open && /smaller ones may pass until/.test(reason)),
  );
  const { audit } = (await eva.reads('/audit?subject=shortage:bank.simulated:inr')).body;
  assert.deepEqual(
    audit.map((row: Record<string, string>) => [row.action, row.outcome, row.operator, row.reason]),
    [['shortage.pass', 'done', 'eva', 'rent day']],
  );

  // It ends after its time, and earlier when an operator ends it.
  assert.equal((await eva.does('/shortages/queue', { rail: 'bank.simulated', asset: 'inr' })).status, 200);
  await funds('4300');
  const another = await waits('50');
  await allHaveLooked();
  assert.equal(await world.stateOf(another), 'awaiting_liquidity');
  await funds('8600');
  for (const order of [first, another]) await world.reaches(order, 6);
});

test('an order released while the treasury is short waits with the same case as the others', async () => {
  const order = await paid('100', 'screen:hold');
  await world.reaches(order, 3);
  await world.releases(order);
  assert.equal(await world.stateOf(order), 'awaiting_liquidity');
  assert.deepEqual(
    (await world.casesOf(order)).map(({ kind, open }) => [kind, open]),
    [['on_hold', false]],
  );
  await world.isShort(order);
  await funds('8600');
  await world.reaches(order, 6);
});

test('an order released while the treasury is short never shows an earlier status', async () => {
  const order = await paid('100', 'screen:hold');
  await world.reaches(order, 3);
  await world.releases(order);
  const status = await world.statusOf(order);
  await funds('8600');
  await world.reaches(order, 6);
  assert.equal(status, 3);
});
