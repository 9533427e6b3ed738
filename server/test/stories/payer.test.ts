/** A purchase paid from an account in another name is held for a person before anything is converted. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { lockOrder } from '../../src/orders/index.ts';
import { uncoveredFindings } from '../../src/orders/payouts/gate.ts';
import { payoutOf } from '../../src/orders/payouts/leaving.ts';
import { openStory, type Purchase, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const NAME = { firstName: 'Ásha', firstSurname: 'Rao', secondSurname: 'Menon' };
const CAME = { 'custody:bank.simulated:main:inr': 500_000n };
/** A purchase with a credit of five thousand that is held. */
const HELD = { status: 2, told: 'on_hold', exception: null, cases: ['on_hold'], books: CAME };
const SETTLED = { status: 4, told: 'settled', exception: null, cases: [], books: CAME };

/** A purchase of a customer whose name is known. */
async function ordered() {
  const customer = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const known = await findCustomer(tx, customer.id);
    await saveDetails(tx, world.vault, { customer: known, details: NAME, now: world.clock.now() });
  });
  const books = await world.balances();
  const order = await world.buys('5000', 'usdc', { customer });
  return { order, books, fiatAccountId: BigInt(customer.fiatAccountId) };
}

async function paidBy(name: string) {
  const made = await ordered();
  await world.credits(made.order, '5000', { name });
  return made;
}

async function settles(order: Purchase, books: Map<string, bigint>): Promise<void> {
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.stands(order, books, SETTLED);
}

describe('a purchase', () => {
  test('paid in the customer’s own name, as banks write it, settles', async () => {
    const { order, books } = await paidBy('MENON RAO ASHA');
    await settles(order, books);
  });

  test('paid by another payer is held, shown as 2, with the reason stored; an operator’s refund makes it show -3', async () => {
    const { order, books, fiatAccountId } = await paidBy('Ravi Iyer');
    await world.stands(order, books, HELD);
    const [decision] = await world.read((tx) =>
      tx.rows<{ outcome: string }>('select outcome from decisions where order_id = $1', [order.id]),
    );
    assert.equal(decision?.outcome, 'held');
    await world.rejects(order, { failure: 'name', fiatAccountId });
    const nothing = { 'custody:bank.simulated:main:inr': 0n };
    await world.stands(order, books, { status: -3, told: 'refunded', exception: null, cases: [], books: nothing });
  });

  test('paid in two credits is held because of the second payer as well as because of the first', async () => {
    for (const names of [
      ['Asha Rao Menon', 'Ravi Iyer'],
      ['Ravi Iyer', 'Asha Rao Menon'],
    ]) {
      const { order } = await ordered();
      for (const name of names) await world.credits(order, '2500', { name });
      await world.until(`it is held: ${names.join(', then ')}`, async () => (await world.stateOf(order)) === 'on_hold');
      const { payouts, deposits } = await world.traceOf(order);
      assert.deepEqual([payouts.length, deposits.length], [0, 2]);
    }
  });

  test('whose second of two credits is recalled is not paid out', async () => {
    const { order } = await ordered();
    const lines: string[] = [];
    for (const amount of ['3000', '2000']) {
      lines.push(await world.credits(order, amount, { name: amount === '3000' ? 'Asha Rao Menon' : 'Ravi Iyer' }));
      await world.until('it is read', async () => (await world.traceOf(order)).deposits.length === lines.length);
    }
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    await world.bank.recall(lines[1] ?? '');
    await world.looksAtTheBank();
    await world.opensCase(order, 'deposit_lost');
    await assert.rejects(world.releases(order), { code: 'order_over' });
    const leaving = await world.read(async (tx) => {
      const locked = await lockOrder(tx, order.id);
      return await uncoveredFindings(world.server.orders, tx, await payoutOf(tx, locked), world.clock.now());
    });
    assert.ok(leaving.some(({ rule, action }) => rule === 'deposit_lost' && action === null));
    assert.deepEqual((await world.traceOf(order)).payouts, []);
  });

  test('paid by another payer can be released by an operator, and settles', async () => {
    const { order, books } = await paidBy('Ravi Iyer');
    await world.stands(order, books, HELD);
    await world.releases(order);
    await settles(order, books);
  });
});
