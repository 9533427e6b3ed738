/** Two concurrent events that exclude each other: exactly one of them happens, completely, and the books show which. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Refusal } from '../../src/base/errors.ts';
import { enqueue } from '../../src/base/jobs.ts';
import { parseUnits } from '../../src/base/money.ts';
import { chart } from '../../src/ledger/index.ts';
import { cancel } from '../../src/orders/index.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const MANY = 6;
const ALL = Array.from({ length: MANY }, (_, at) => at);
const states = (orders: Sale[]) => Promise.all(orders.map(world.stateOf));
async function sales(): Promise<Sale[]> {
  const orders: Sale[] = [];
  for (const _ of ALL) orders.push(await world.sells('10', 'usdc'));
  return orders;
}
const depositsOf = async (order: Sale) => (await world.traceOf(order)).deposits.map(({ state, why }) => [state, why]);

/** Every observer of every rail polls at once, repeatedly, as many processes would. */
async function everybodyLooks(times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const looks = [...world.server.rails.values()].flatMap((rail) => [1, 2, 3, 4].map(() => rail.observe()));
    await Promise.allSettled(looks);
  }
}

test('a deposit and a cancellation: the order is paid out, or cancelled with its money in suspense', async () => {
  const orders = await sales();
  const action = (order: Sale) => ({
    orderId: order.id,
    by: 'a person',
    why: 'changed their mind',
    now: world.clock.now(),
  });
  await Promise.all(orders.map((order) => world.pays(order, '10').catch(() => undefined)));
  // Each one poll later than the previous: some before their deposit is seen, some after it.
  const cancelled = async () => {
    for (const order of orders) {
      await everybodyLooks(1);
      await world
        .read((tx) => cancel(world.server.orders, tx, action(order)))
        .catch((error: unknown) => assert.equal((error as Refusal).code, 'order_over'));
    }
  };
  await Promise.all([world.mines(3), cancelled()]);
  await world.mines(3);
  await world.until('each has ended', async () =>
    (await states(orders)).every((state) => ['settled', 'cancelled', 'created'].includes(state)),
  );
  for (const order of orders) {
    const state = await world.stateOf(order);
    const made = (await world.bank.payments(`pay_${order.id}_1`)).length;
    if (state === 'settled') assert.deepEqual([await depositsOf(order), made], [[['applied', null]], 1]);
    else assert.equal(made, 0);
    if (state === 'cancelled') {
      await world.until('what came late is in suspense', async () =>
        (await depositsOf(order)).every(([place, why]) => place === 'suspense' && why === 'late'),
      );
    }
  }
});

test('a deposit and the deadline: the order is paid out, or expired with its money in suspense', async () => {
  const orders = await sales();
  for (const order of orders) await world.pays(order, '10');
  const dueAt = world.clock.now();
  await Promise.all([
    world.mines(1),
    everybodyLooks(4),
    (async () => {
      await world.deadlinePasses();
      for (const { id } of orders)
        await world.read((tx) => enqueue(tx, { kind: 'expire_order', subject: String(id), dueAt }));
    })(),
  ]);
  await world.mines(3);
  await world.until('each has ended', async () =>
    (await states(orders)).every((state) => ['settled', 'expired'].includes(state)),
  );
  for (const order of orders) {
    const made = (await world.bank.payments(`pay_${order.id}_1`)).length;
    const isSettled = (await world.stateOf(order)) === 'settled';
    assert.equal(made, isSettled ? 1 : 0);
    await world.until('its deposit is where it belongs', async () => {
      const [place] = (await depositsOf(order))[0] ?? [];
      return place === (isSettled ? 'applied' : 'suspense');
    });
  }
});

test('funds for one of many waiting orders pay one, although all are enqueued often and concurrently', async () => {
  await world.setsAside('inr', 0n);
  const orders = await sales();
  for (const order of orders) await world.pays(order, '10');
  await world.mines(3);
  for (const order of orders) await world.isShort(order);
  // Each got 10 whole tokens at the same price, so one order's need is any order's.
  const one = parseUnits('860', 2);
  await world.bank.fund({ currency: 'INR', units: one, id: 'for-one' });
  for (let i = 0; i < 10; i += 1) {
    const dueAt = world.clock.now();
    await Promise.all(
      orders.map(({ id }) => world.read((tx) => enqueue(tx, { kind: 'fund_order', subject: String(id), dueAt }))),
    );
    await everybodyLooks(1);
  }
  await world.until('one is paid', async () => (await states(orders)).includes('settled'));
  const count = (await states(orders)).filter((state) => state === 'settled').length;
  assert.equal(count, 1);
  assert.ok((await world.balance(chart.treasury('inr'))).units < one);
  await world.bank.fund({ currency: 'INR', units: one * BigInt(MANY), id: 'for-all' });
  for (const order of orders) await world.reaches(order, 6);
});

test('a statement and a chain read by many at once are booked once', async () => {
  const books = await world.balances();
  const lines = await Promise.all(
    ALL.map((at) => world.bank.creditAccount({ currency: 'INR', units: 100n + BigInt(at), text: 'from nobody' })),
  );
  const order = await world.sells('10', 'usdc');
  await world.pays(order, '10', 'usdt');
  await Promise.all([everybodyLooks(6), world.mines(3)]);
  await everybodyLooks(3);
  await world.opensCase(order, 'deposit_wrong_asset');
  const rows = await world.read((tx) =>
    tx.rows<{ externalId: string }>('select external_id from deposits where external_id = any($1)', [lines]),
  );
  assert.equal(rows.length, lines.length);
  const changes = await world.changesSince(books);
  assert.equal(changes[chart.suspense('bank.simulated', 'inr').code], 615n);
  assert.equal(changes[chart.suspense('evm.matic20', 'usdt.matic20').code], parseUnits('10', 6));
});
