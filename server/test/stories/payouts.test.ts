/** Faults of a bank: it loses an answer, rejects a payout, or pays and returns it. No payout is paid twice, no money is lost. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;

async function paid(amount: string, ending = '0000'): Promise<Sale> {
  const order = await world.sells(amount, 'usdc', { customer: await world.verifiedCustomer({ ending }) });
  await world.pays(order, amount);
  await world.mines(2);
  return order;
}
/** Payments that the bank really made for the order, under any key. */
const made = async (order: Sale) =>
  (await world.bank.payments()).filter(({ key, state }) => key.startsWith(`pay_${order.id}_`) && state !== 'rejected');

async function isPaidOnce(order: Sale): Promise<void> {
  await world.reaches(order, 6);
  const [payment, second] = await made(order);
  assert.equal(payment?.units, parseUnits(order.toAmount, 2));
  assert.equal(second, undefined);
  assert.equal((await world.eventsOf(order)).filter((event) => event === 'settled').length, 1);
}

/** These tests hold whether or not the bank deduplicates by key. */
function paysOnce(): void {
  test('and loses its answer after paying pays once', async () => {
    const order = await paid('100', '9003');
    await isPaidOnce(order);
    assert.deepEqual(await world.casesOf(order), []);
  });

  test('and answers neither the submission nor the status for a while pays once', async () => {
    await world.bank.setFault({ kind: 'lose_answer_after_effect' });
    await world.bank.setFault({ kind: 'status_unavailable', times: 2 });
    await isPaidOnce(await paid('100'));
    await world.bank.clearFaults();
  });

  test('and repeats and reorders its statement has each line booked once', async () => {
    const books = await world.balances();
    await world.bank.setFault({ kind: 'statement_twice', times: 4 });
    await world.bank.setFault({ kind: 'statement_reordered', times: 4 });
    const order = await paid('100');
    await isPaidOnce(order);
    await world.bank.clearFaults();
    assert.equal((await world.changesSince(books))['custody:bank.simulated:main:inr'], -parseUnits(order.toAmount, 2));
  });
}

describe('a bank that does not deduplicate', () => {
  before(async () => {
    world = await openStory({ bankDeduplicates: false });
  });
  after(async () => await world?.close());
  paysOnce();
});

describe('a bank that deduplicates by key', () => {
  before(async () => {
    world = await openStory();
  });
  after(async () => await world?.close());
  paysOnce();

  test('and loses the order for a payment on its way is asked again and pays once', async () => {
    await isPaidOnce(await paid('100', '9004'));
  });

  test('and rejects the payout leaves it held at 5 with a case', async () => {
    const books = await world.balances();
    const order = await paid('100', '9001');
    const { reason } = await world.opensCase(order, 'payout_held');
    assert.equal(reason, 'account_closed');
    await world.stands(order, books, {
      status: 5,
      told: 'payout_held',
      exception: null,
      cases: ['payout_held'],
      books: { 'custody:bank.simulated:main:inr': 0n, 'treasury:usdc.matic20': 100_000_000n },
    });
    assert.deepEqual(await made(order), []);
  });

  test('and rejects the payout, which an operator refunds: conversion and fees are undone, and the customer has the whole deposit', async () => {
    const books = await world.balances();
    const order = await paid('100', '9001');
    await world.opensCase(order, 'payout_held');
    const address = world.newAddress();
    await world.rejects(order, { failure: 'other', address });
    assert.equal(await world.statusOf(order), 5);
    await world.refundArrives(order, -2);
    assert.equal(await world.tokensOf(address, 'usdc'), '100');
    const changes = await world.changesSince(books);
    const gas = changes['cost:evm.matic20:matic.matic20'];
    assert.deepEqual(changes, {
      'custody:evm.matic20:deposits:usdc.matic20': 100_000_000n,
      'custody:evm.matic20:hot:usdc.matic20': -100_000_000n,
      'custody:evm.matic20:hot:matic.matic20': -(gas ?? 0n),
      'cost:evm.matic20:matic.matic20': gas,
    });
    assert.deepEqual(await world.eventsOf(order), [
      'created',
      'deposit_seen',
      'deposit_confirmed',
      'paying_out',
      'payout_held',
      'refunding',
      'refunded',
    ]);
    assert.deepEqual(
      (await world.casesOf(order)).map(({ open }) => open),
      [false],
    );
  });

  test('and returns a paid payout leaves it in suspense with a case, and the order stays settled', async () => {
    const books = await world.balances();
    const order = await paid('100', '9002');
    await world.reaches(order, 6);
    const { reason } = await world.opensCase(order, 'payout_returned');
    assert.equal(reason, 'account_closed');
    await world.stands(order, books, {
      status: 6,
      told: 'settled',
      exception: 'payout_returned',
      cases: ['payout_returned'],
      books: { 'suspense:bank.simulated:inr': parseUnits(order.toAmount, 2), 'custody:bank.simulated:main:inr': 0n },
    });
    assert.deepEqual(
      (await world.traceOf(order)).payouts.map(({ state }) => state),
      ['returned'],
    );
  });

  test('and shows a credit without an order has it in suspense with a case; a recall removes it and closes the case', async () => {
    const books = await world.balances();
    const line = await world.bank.creditAccount({ currency: 'INR', units: 12_345n, text: 'for my friend' });
    const caseOf = (kind: string) =>
      world.until(kind, async () => {
        const rows = await world.read((tx) =>
          tx.rows(`select from cases where kind = $1 and closed_at is null`, [kind]),
        );
        return rows.length > 0;
      });
    await caseOf('deposit_unknown_target');
    assert.deepEqual(await world.changesSince(books), {
      'custody:bank.simulated:main:inr': 12_345n,
      'suspense:bank.simulated:inr': 12_345n,
    });
    await world.bank.recall(line);
    await world.until('it is out of the books', async () => Object.keys(await world.changesSince(books)).length === 0);
    const open = await world.read((tx) =>
      tx.rows(`select from cases where kind = 'deposit_unknown_target' and closed_at is null`),
    );
    assert.equal(open.length, 0);
  });
});
