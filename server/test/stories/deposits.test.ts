/** Deposits that differ from the order: too little, too much, too late, twice, in another asset. None of them is lost. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { nativeOf, openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const SUSPENSE = 'suspense:evm.matic20';
const custody = (asset: string) => `custody:evm.matic20:deposits:${asset}`;

const deposits = async (order: Sale) => {
  const rows = (await world.traceOf(order)).deposits;
  return rows.map(({ asset, units, state, why }) => [asset, units, state, ...(why === null ? [] : [why])]);
};
const exceptionOf = async (order: Sale) => (await world.traceOf(order)).order.exception;

async function settled(amount: string, coin = 'usdc'): Promise<Sale> {
  const order = await world.sells(amount, coin);
  await world.pays(order, amount);
  await world.mines(2);
  await world.reaches(order, 6);
  return order;
}

describe('parts', () => {
  test('that add up before the deadline settle the order once', async () => {
    const order = await world.sells('100', 'usdc');
    const books = await world.balances();
    await world.pays(order, '60');
    await world.mines(2);
    await world.until('the first part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    assert.equal(await world.statusOf(order), 1);
    assert.deepEqual(await world.changesSince(books), {
      [custody('usdc.matic20')]: 60_000_000n,
      [`${SUSPENSE}:usdc.matic20`]: 60_000_000n,
    });
    await world.pays(order, '40');
    await world.mines(2);
    await world.reaches(order, 6);
    assert.equal((await world.changesSince(books))[`${SUSPENSE}:usdc.matic20`], undefined);
    assert.equal(await exceptionOf(order), 'paid_in_parts');
    assert.equal((await world.traceOf(order)).payouts.length, 1);
    assert.deepEqual(await world.casesOf(order), []);
  });

  test('in one block are both counted', async () => {
    const order = await world.sells('50', 'usdc');
    const books = await world.balances();
    const [first, second] = await world.paysInOneBlock(order, '20', '30');
    await world.mines(1);
    await world.stands(order, books, {
      status: 6,
      told: 'settled',
      exception: 'paid_in_parts',
      cases: [],
      books: { [`${SUSPENSE}:usdc.matic20`]: 0n, 'treasury:usdc.matic20': 50_000_000n },
    });
    assert.notEqual(first?.hash, second?.hash);
    assert.equal((await deposits(order)).length, 2);
    assert.ok((await deposits(order)).every(([, , state]) => state === 'applied'));
  });

  test('that together are too much leave only the excess in suspense', async () => {
    const order = await world.sells('30', 'usdc');
    const books = await world.balances();
    await world.paysInOneBlock(order, '20', '25');
    await world.mines(1);
    await world.reaches(order, 6);
    await world.stands(order, books, {
      status: 6,
      told: 'settled',
      exception: 'overpaid',
      cases: ['overpaid'],
      books: { [`${SUSPENSE}:usdc.matic20`]: 15_000_000n, 'treasury:usdc.matic20': 30_000_000n },
    });
  });
});

describe('too little', () => {
  test('by the deadline is held, then refunded, and the refund arrives at the customer', async () => {
    const order = await world.sells('100', 'usdc');
    const books = await world.balances();
    await world.pays(order, '99.999999');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    await world.reaches(order, 3);
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'underpaid');
    assert.equal((await world.traceOf(order)).payouts.length, 0);

    const address = world.newAddress();
    await world.rejects(order, { failure: 'amount', address });
    await world.refundArrives(order, -4);
    assert.equal(await world.tokensOf(address, 'usdc'), '99.999999');
    assert.deepEqual(
      (await world.casesOf(order)).filter((one) => one.open),
      [],
    );
    assert.deepEqual(await deposits(order), [['usdc.matic20', 99_999_999n, 'refunded', 'part']]);
    assert.deepEqual(await world.eventsOf(order), [
      'created',
      'deposit_seen',
      'deposit_confirmed',
      'on_hold',
      'refunding',
      'refunded',
    ]);

    // The hot wallet pays the refund: deposit and refund cancel out, except for the gas.
    const { [custody('usdc.matic20')]: came, ...rest } = await world.changesSince(books);
    const native = nativeOf('matic20');
    const gas = rest[`cost:evm.matic20:${native}`] ?? 0n;
    assert.equal(came, 99_999_999n);
    assert.ok(gas > 0n, 'no gas was booked for the refund');
    assert.deepEqual(rest, {
      'custody:evm.matic20:hot:usdc.matic20': -99_999_999n,
      [`custody:evm.matic20:hot:${native}`]: -gas,
      [`cost:evm.matic20:${native}`]: gas,
    });
  });

  test('cannot be released, because the payout would exceed the deposit', async () => {
    const order = await world.sells('100', 'usdc');
    const books = await world.balances();
    await world.pays(order, '1');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    await world.reaches(order, 3);
    await assert.rejects(world.releases(order), { name: 'Refusal', code: 'order_over' });
    assert.equal(await world.statusOf(order), 3);
    await world.opensCase(order, 'on_hold');
    await world.pays(order, '99');
    await world.mines(2);
    await world.opensCase(order, 'deposit_second');
    await assert.rejects(world.releases(order), { name: 'Refusal', code: 'order_over' });
    await world.stands(order, books, {
      status: 3,
      told: 'on_hold',
      exception: 'second',
      cases: ['on_hold', 'deposit_second'],
      books: { [custody('usdc.matic20')]: 100_000_000n, [`${SUSPENSE}:usdc.matic20`]: 99_000_000n },
    });
  });

  test('is still held when the rest comes after the deadline, and the rest is in suspense', async () => {
    const order = await world.sells('100', 'usdc');
    const books = await world.balances();
    await world.pays(order, '70');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    await world.reaches(order, 3);
    await world.pays(order, '30');
    await world.mines(2);
    await world.stands(order, books, {
      status: 3,
      told: 'on_hold',
      exception: 'second',
      cases: ['on_hold', 'deposit_second'],
      books: { [custody('usdc.matic20')]: 100_000_000n, [`${SUSPENSE}:usdc.matic20`]: 30_000_000n },
    });
    assert.deepEqual(await deposits(order), [
      ['usdc.matic20', 70_000_000n, 'applied', 'part'],
      ['usdc.matic20', 30_000_000n, 'suspense', 'second'],
    ]);
  });
});

test('too much settles the order with the quoted amount, and the excess is in suspense with a case', async () => {
  const order = await world.sells('100', 'usdc');
  const books = await world.balances();
  await world.pays(order, '150.25');
  await world.mines(2);
  await world.stands(order, books, {
    status: 6,
    told: 'settled',
    exception: 'overpaid',
    cases: ['overpaid'],
    books: { [`${SUSPENSE}:usdc.matic20`]: 50_250_000n, 'treasury:usdc.matic20': 100_000_000n },
  });
  assert.match((await world.opensCase(order, 'overpaid')).reason, /suspense/);
  assert.equal((await world.shown(order)).toAmount, order.toAmount);
});

describe('the deadline', () => {
  test('expires an order without a deposit', async () => {
    const order = await world.sells('10', 'usdc');
    await world.deadlinePasses();
    await world.reaches(order, -1);
    assert.deepEqual(await world.eventsOf(order), ['created', 'expired']);
  });

  test('waits for a deposit that was seen in time and is confirmed after it', async () => {
    await world.confirmsAfter('dai.matic20', 12);
    const order = await world.sells('10', 'dai');
    await world.pays(order, '10');
    await world.mines(1);
    await world.reaches(order, 1);
    await world.deadlinePasses();
    await world.until('the deadline was looked at', async () => {
      const rows = await world.read((tx) =>
        tx.rows<{ dueAt: Date }>(`select due_at from jobs where kind = 'expire_order' and subject = $1`, [
          String(order.id),
        ]),
      );
      return rows.some((row) => row.dueAt > world.clock.now());
    });
    assert.equal(await world.statusOf(order), 1);
    await world.mines(11);
    await world.reaches(order, 6);
    await world.confirmsAfter('dai.matic20', 2);
  });

  test('sends a later deposit to suspense, with a case, and the order stays expired', async () => {
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    await world.deadlinePasses();
    await world.reaches(order, -1);
    await world.pays(order, '10');
    await world.mines(2);
    await world.opensCase(order, 'deposit_late');
    assert.equal(await world.statusOf(order), -1);
    assert.equal(await exceptionOf(order), 'late');
    assert.deepEqual(await deposits(order), [['usdc.matic20', 10_000_000n, 'suspense', 'late']]);
    assert.deepEqual(await world.changesSince(books), {
      [custody('usdc.matic20')]: 10_000_000n,
      [`${SUSPENSE}:usdc.matic20`]: 10_000_000n,
    });
    assert.deepEqual(await world.eventsOf(order), ['created', 'expired']);
    assert.deepEqual(
      (await world.changesOf(order)).map(({ state, exception }) => [state, exception]),
      [['expired', 'late']],
      'the partner was not told that its order has changed',
    );
  });
});

test('a deposit for a cancelled order goes to suspense, with a case, and the order stays cancelled', async () => {
  const order = await world.sells('10', 'usdc');
  const books = await world.balances();
  await world.drives(order, '-2');
  await world.pays(order, '10');
  await world.mines(2);
  await world.stands(order, books, {
    status: -2,
    told: 'cancelled',
    exception: 'late',
    cases: ['deposit_late'],
    books: { [custody('usdc.matic20')]: 10_000_000n, [`${SUSPENSE}:usdc.matic20`]: 10_000_000n },
  });
});

describe('a second deposit', () => {
  test('after the order was settled goes to suspense, with a case, and causes no second payout', async () => {
    const order = await settled('10');
    const books = await world.balances();
    await world.pays(order, '10');
    await world.mines(2);
    await world.opensCase(order, 'deposit_second');
    assert.equal(await world.statusOf(order), 6);
    assert.equal(await exceptionOf(order), 'second');
    assert.deepEqual(await world.changesSince(books), {
      [custody('usdc.matic20')]: 10_000_000n,
      [`${SUSPENSE}:usdc.matic20`]: 10_000_000n,
    });
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
    assert.equal((await world.bank.payments(`pay_${order.id}_2`)).length, 0);
  });

  test('while the order is being paid out goes to suspense, and the payout continues', async () => {
    const order = await world.sells('10', 'usdc', { customer: await world.verifiedCustomer({ ending: '9005' }) });
    const books = await world.balances();
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 5);
    await world.pays(order, '10');
    await world.mines(2);
    await world.opensCase(order, 'deposit_second');
    assert.equal(await world.statusOf(order), 5);
    world.clock.advance(60_000);
    await world.stands(order, books, {
      status: 6,
      told: 'settled',
      exception: 'second',
      cases: ['deposit_second'],
      books: { [`${SUSPENSE}:usdc.matic20`]: 10_000_000n, 'treasury:usdc.matic20': 10_000_000n },
    });
    assert.deepEqual(await deposits(order), [
      ['usdc.matic20', 10_000_000n, 'applied'],
      ['usdc.matic20', 10_000_000n, 'suspense', 'second'],
    ]);
  });
});

describe('a deposit in another asset', () => {
  test('goes to suspense where it is another listed token, and the order can still be paid', async () => {
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    await world.pays(order, '10', 'usdt');
    await world.mines(2);
    await world.opensCase(order, 'deposit_wrong_asset');
    assert.equal(await exceptionOf(order), 'wrong_asset');
    assert.equal(await world.statusOf(order), 0);
    assert.deepEqual(await world.changesSince(books), {
      [custody('usdt.matic20')]: 10_000_000n,
      [`${SUSPENSE}:usdt.matic20`]: 10_000_000n,
    });
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    assert.equal((await world.changesSince(books))[`${SUSPENSE}:usdt.matic20`], 10_000_000n);
  });

  test('does not keep an order from expiring', async () => {
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    await world.pays(order, '10', 'dai');
    await world.mines(2);
    await world.opensCase(order, 'deposit_wrong_asset');
    await world.deadlinePasses();
    const came = 10n * 10n ** 18n;
    await world.stands(order, books, {
      status: -1,
      told: 'expired',
      exception: 'wrong_asset',
      cases: ['deposit_wrong_asset'],
      books: { [custody('dai.matic20')]: came, [`${SUSPENSE}:dai.matic20`]: came },
    });
  });

  test('is found when final and goes to suspense where it is the native asset', async () => {
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    await world.paysNative(order, '0.25');
    await world.mines(14);
    const native = nativeOf('matic20');
    const came = 250_000_000_000_000_000n;
    const left = { exception: 'wrong_asset', cases: ['deposit_wrong_asset'] };
    const suspended = { [custody(native)]: came, [`${SUSPENSE}:${native}`]: came };
    await world.stands(order, books, { ...left, status: 0, told: 'created', books: suspended });
    assert.deepEqual(await deposits(order), [[native, came, 'suspense', 'wrong_asset']]);
    await world.pays(order, '10');
    await world.mines(2);
    await world.stands(order, books, { ...left, status: 6, told: 'settled', books: suspended });
  });

  test('of zero units is no deposit, although the token emits an event', async () => {
    const order = await world.sells('10', 'usdc');
    await world.pays(order, '0');
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    assert.equal((await deposits(order)).length, 1);
  });
});
