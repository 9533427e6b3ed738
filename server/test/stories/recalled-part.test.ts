/**
 * A bank recalls only a part of a credit: two people name the deposit, and its customer owes that part as after a full recall.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { later } from '../../src/base/clock.ts';
import type { Tx } from '../../src/base/db.ts';
import { chart } from '../../src/ledger/index.ts';
import { clearDeposit } from '../../src/orders/deposits/facts.ts';
import { orderFacts } from '../../src/orders/index.ts';
import { amountsDecide, oneOrTwoDo, type Person, twoDo } from '../protocols/operator/people.ts';
import { settledPurchase, strayCredit } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
});
after(async () => await world?.close());

const bothDo = (path: string, body: Record<string, unknown>) => twoDo(finn, ada, path, body);

/** A debit of the bank without a reference of ours. */
async function debits(id: string, units: bigint): Promise<bigint> {
  await world.bankShows({ id, direction: 'debit', units, reference: 'RECALL IN PART' });
  return await world.until('its case is open', async () => {
    const found = await world.read((tx) =>
      tx.row<{ id: bigint }>(`select id from cases where kind = 'unexplained_debit' and subject = $1`, [
        `bank.simulated:${id}`,
      ]),
    );
    return found?.id;
  });
}

test('a part of a credit is recalled after its crypto was sent: the customer owes that part, and pays it', async () => {
  const { order } = await settledPurchase(world);
  const deposit = (await world.traceOf(order)).deposits[0]?.id;
  const books = await world.balances();

  const id = await debits('recalled-1', 200_000n);
  assert.equal((await world.changesSince(books))['loss:inr'], 200_000n);
  const said = { as: 'recall', evidence: 'RECALL IN PART', amount: '2000' };
  const without = await finn.does(`/cases/${id}/correct`, said);
  assert.deepEqual([without.status, Object.keys(without.body.fields ?? {})], [400, ['deposit']]);
  await bothDo(`/cases/${id}/correct`, { ...said, deposit: String(deposit) });
  const changed = await world.changesSince(books);
  assert.deepEqual([changed['loss:inr'], await world.owed(order, 'inr')], [undefined, 200_000n]);
  assert.deepEqual([await world.openCaseKinds(order), await world.isBlocked(order)], [['customer_owes'], true]);
  const again = await finn.does(`/cases/${id}/correct`, { ...said, deposit: String(deposit) });
  assert.equal(again.body.reason, 'unknown_case', 'one recall was booked twice');

  const more = await debits('recalled-2', 300_100n);
  const over = { as: 'recall', evidence: 'RECALL IN PART', amount: '3001', deposit: String(deposit) };
  assert.equal(
    (await finn.does(`/cases/${more}/correct`, over)).body.reason,
    'does_not_fit',
    'a recall of more than the credit was booked',
  );
  await bothDo(`/cases/${more}/correct`, { as: 'fee', evidence: 'RECALL IN PART', amount: '3001' });

  const paid = await strayCredit(world, order, '2000');
  await bothDo(`/deposits/${paid}/assign`, { order: String(order.id) });
  assert.deepEqual([await world.owed(order, 'inr'), await world.openCaseKinds(order)], [0n, []]);
  await world.reconciles();
});

/** The bank recalls this much of a credit, and names it. Waits until the statement's line was processed. */
async function recalls(id: string, line: string, units: bigint): Promise<void> {
  await world.bankShows({ id, direction: 'debit', units, reference: id, returnOf: line, why: 'recalled' });
  await world.until('the line was read', () =>
    world.read((tx) => tx.row('select from bank_lines where external_id = $1', [id])),
  );
}
async function refunds(order: Purchase, fiatAccountId: string): Promise<void> {
  const done = await oneOrTwoDo(finn, ada, `/orders/${order.id}/refund`, { failure: 'other', fiatAccountId });
  assert.equal(done.status, 200, JSON.stringify(done.body));
}
const depositsOf = async (order: Purchase) =>
  (await world.traceOf(order)).deposits.map(({ state, units }) => [state, units]);
const lossOf = async () => (await world.balance(chart.loss('inr'))).units;

const switches = { kind: 'payouts', subject: 'all' };
const off = async () => assert.equal((await ada.does('/kill-switches', switches)).status, 200);
const on = async () => assert.equal((await oneOrTwoDo(ada, finn, '/kill-switches/lift', switches)).status, 200);

/** A purchase whose payout waits, because payouts are switched off. */
async function waitingPurchase(): Promise<{ order: Purchase; line: string; fiatAccountId: string }> {
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  const line = await world.credits(order, '5000');
  await world.becomes(order, 'paying_out');
  return { order, line, fiatAccountId: customer.fiatAccountId };
}

test('a part that is recalled while the credit clears leaves its order underpaid, and nothing of it is paid out', async () => {
  await world.clears('inr', 3_600);
  const order = await world.buys('5000', 'usdc');
  const line = await world.credits(order, '5000');
  await world.becomes(order, 'deposit_seen');
  await recalls('seen-1', line, 200_000n);
  assert.deepEqual(await depositsOf(order), [
    ['seen', 300_000n],
    ['reversed', 200_000n],
  ]);
  // The order's deadline is over in the same hour, and either job may run first.
  world.clock.advance(3_600_000);
  await world.until('it has cleared', async () => (await depositsOf(order))[0]?.[0] !== 'seen');
  await world.clears('inr', 0);
  await world.deadlinePasses();
  await world.becomes(order, 'on_hold');
  assert.deepEqual((await world.traceOf(order)).payouts, []);
  await world.reconciles();
});

test('a part that is recalled in the moment in which the credit clears is left out of it', async () => {
  await world.clears('inr', 3_600);
  const order = await world.buys('5000', 'usdc');
  const line = await world.credits(order, '5000');
  await world.becomes(order, 'deposit_seen');
  const id = (await world.traceOf(order)).deposits[0]?.id;
  assert(id !== undefined);
  let hasRead = false;
  let recalled: Promise<void> | undefined;
  const now = (): Date => {
    hasRead = true;
    return later(world.clock.now(), 3_600_000);
  };
  await world.read(async (tx) => {
    const row: Tx['row'] = async (...statement) => {
      if (hasRead) await (recalled ??= recalls('seen-2', line, 200_000n));
      return await tx.row(...statement);
    };
    await clearDeposit({ ...world.server.orders, clock: { now } }, Object.assign(Object.create(tx), { row }), id);
  });
  await world.clears('inr', 0);
  assert.deepEqual((await depositsOf(order))[0], ['confirmed', 300_000n]);
  assert.deepEqual((await world.traceOf(order)).payouts, []);
  await world.reconciles();
});

describe('a part that is recalled before anything was sent', () => {
  before(off);
  after(on);

  test('stops the payout, and the rest goes back', async () => {
    const { order, line, fiatAccountId } = await waitingPurchase();
    const loss = await lossOf();
    await recalls('part-1', line, 200_000n);
    await world.opensCase(order, 'payout_held');
    assert.deepEqual(await depositsOf(order), [
      ['applied', 300_000n],
      ['lost', 200_000n],
    ]);
    assert.equal(await lossOf(), loss + 200_000n);
    assert.equal(await world.owed(order, 'inr'), 0n);
    assert.equal(await world.isBlocked(order), false);
    const retried = await finn.does(`/orders/${order.id}/retry`);
    assert.equal(retried.body.reason, 'order_over', 'the payout of a recalled deposit was sent');
    await refunds(order, fiatAccountId);
    await on();
    await world.becomes(order, 'refunded');
    const trace = await world.traceOf(order);
    assert.deepEqual(
      trace.refunds.map(({ state, grossUnits }) => [state, grossUnits]),
      [['settled', 300_000n]],
    );
    assert.equal(await lossOf(), loss, 'the order keeps what its bank recalled');
    await world.reconciles();
    await off();
  });

  test('and another part: nothing is left, and nothing is owed', async () => {
    const { order, line } = await waitingPurchase();
    const loss = await lossOf();
    await recalls('part-2', line, 200_000n);
    await world.opensCase(order, 'payout_held');
    await recalls('part-3', line, 300_000n);
    assert.deepEqual(await depositsOf(order), [
      ['lost', 300_000n],
      ['lost', 200_000n],
    ]);
    assert.deepEqual([await lossOf(), await world.owed(order, 'inr')], [loss + 500_000n, 0n]);
    await world.reconciles();
    // More than the credit: nothing explains it.
    await recalls('part-4', line, 1n);
    assert.deepEqual([await lossOf(), await world.owed(order, 'inr')], [loss + 500_001n, 0n]);
  });

  test('and that the statement does not name: two people name the deposit, which stops the payout', async () => {
    const { order } = await waitingPurchase();
    const deposit = (await world.traceOf(order)).deposits[0]?.id;
    const id = await debits('recalled-3', 100_000n);
    const loss = await lossOf();
    const said = { as: 'recall', evidence: 'RECALL IN PART', amount: '1000', deposit: String(deposit) };
    await bothDo(`/cases/${id}/correct`, said);
    await world.opensCase(order, 'payout_held');
    assert.deepEqual(await depositsOf(order), [
      ['applied', 400_000n],
      ['lost', 100_000n],
    ]);
    assert.deepEqual([await lossOf(), await world.owed(order, 'inr')], [loss, 0n]);
    await world.reconciles();
  });
});

test('a part that the statement names after the payout was sent is owed, and so is another', async () => {
  const { order, line } = await settledPurchase(world);
  await recalls('part-5', line, 100_000n);
  assert.deepEqual([await world.owed(order, 'inr'), await world.isBlocked(order)], [100_000n, true]);
  await recalls('part-6', line, 50_000n);
  assert.equal(await world.owed(order, 'inr'), 150_000n);
  await recalls('part-7', line, 350_000n);
  assert.equal(await world.owed(order, 'inr'), 500_000n);
  await world.reconciles();
});

test('a part that is recalled after the refund was sent is owed', async () => {
  const { id, fiatAccountId } = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { reference: 'screen:hold', customer: { id, fiatAccountId } });
  const line = await world.credits(order, '5000');
  await world.becomes(order, 'on_hold');
  await refunds(order, fiatAccountId);
  await world.becomes(order, 'refunded');
  await recalls('part-8', line, 120_000n);
  assert.deepEqual([await world.owed(order, 'inr'), await world.isBlocked(order)], [120_000n, true]);
  await recalls('part-9', line, 30_000n);
  assert.equal(await world.owed(order, 'inr'), 150_000n);
  await world.reconciles();
});

describe('a part that is recalled after the refund was submitted', () => {
  /** A purchase whose whole credit was sent back, to an account with this ending. */
  async function refunding(ending: string) {
    const customer = await world.verifiedCustomer({ ending });
    const order = await world.buys('5000', 'usdc', { reference: 'screen:hold', customer });
    const books = await world.balances();
    const line = await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    await refunds(order, customer.fiatAccountId);
    const refund = await world.until('it was sent', async () => {
      const [one] = (await world.traceOf(order)).refunds;
      return one?.state === 'submitted' || one?.state === 'settled' ? one : undefined;
    });
    return { customer, order, books, line, key: refund.key ?? '' };
  }
  const refundsOf = async (order: Purchase) =>
    (await world.traceOf(order)).refunds.map(({ state, grossUnits }) => [state, grossUnits]);

  test('is no debt once the refund comes back, and the rest is still owed to the customer', async () => {
    const { customer, order, books, line, key } = await refunding('0000');
    await world.becomes(order, 'refunded');
    await recalls('part-10', line, 120_000n);
    assert.equal(await world.owed(order, 'inr'), 120_000n);
    await world.bankReturns(key, 500_000n);
    await world.opensCase(order, 'refund_returned');
    assert.equal(await world.owed(order, 'inr'), 0n);
    assert.deepEqual(await world.openCaseKinds(order), ['refund_returned']);
    assert.deepEqual(await refundsOf(order), [
      ['cancelled', 500_000n],
      ['returned', 380_000n],
    ]);
    assert.equal((await world.changesSince(books))['suspense:bank.simulated:inr'], 380_000n);
    await oneOrTwoDo(ada, finn, `/customers/${customer.id}/unblock`);
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    await oneOrTwoDo(finn, ada, `/orders/${order.id}/destination`, { fiatAccountId });
    await world.until('the rest is paid', async () => {
      await world.looksAtTheBank();
      return (await refundsOf(order))[1]?.[0] === 'settled';
    });
    assert.deepEqual(await world.changesSince(books), {});
    assert.deepEqual(await depositsOf(order), [
      ['refunded', 380_000n],
      ['reversed', 120_000n],
    ]);
    await world.reconciles();
  });

  test('and whose refund has come back without what the bank kept: the rest is owed less that, and so is a further recall', async () => {
    const { order, books, line, key } = await refunding('0000');
    await world.becomes(order, 'refunded');
    await world.bankReturns(key, 498_000n);
    await world.opensCase(order, 'refund_returned');
    await recalls('kept-1', line, 120_000n);
    const shown = async () =>
      (await world.traceOf(order)).refunds.map(({ state, grossUnits, costUnits }) => [state, grossUnits, costUnits]);
    assert.deepEqual(await shown(), [
      ['cancelled', 500_000n, 2_000n],
      ['returned', 380_000n, 2_000n],
    ]);
    assert.deepEqual(await world.openCaseKinds(order), ['refund_returned']);
    assert.equal((await world.changesSince(books))['suspense:bank.simulated:inr'], 378_000n);
    assert.equal(await world.owed(order, 'inr'), 0n);

    // The bank recalls all that is left of the credit, and what it kept has not come back: the customer was charged for that.
    await recalls('kept-2', line, 380_000n);
    assert.equal((await world.changesSince(books))['suspense:bank.simulated:inr'], undefined);
    assert.equal(await world.owed(order, 'inr'), 2_000n);
    assert.deepEqual(await world.openCaseKinds(order), ['customer_owes']);
    await world.reconciles();
  });

  test('is given up if the refund is rejected, and the rest is sent again', async () => {
    const { customer, order, books, line, key } = await refunding('9005');
    await recalls('part-11', line, 120_000n);
    assert.equal(await world.owed(order, 'inr'), 120_000n);
    await world.read((tx) =>
      orderFacts(world.server.orders)(tx, {
        ...{ type: 'payout_rejected', rail: 'bank.simulated', key, why: 'account_closed' },
      }),
    );
    await world.becomes(order, 'refund_held');
    await oneOrTwoDo(ada, finn, `/customers/${customer.id}/unblock`);
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    const { status } = await oneOrTwoDo(finn, ada, `/orders/${order.id}/retry-refund`, { fiatAccountId });
    assert.equal(status, 200);
    await world.becomes(order, 'refunded');
    assert.deepEqual(await refundsOf(order), [
      ['cancelled', 500_000n],
      ['settled', 380_000n],
    ]);
    assert.equal(await world.owed(order, 'inr'), 0n);
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.deepEqual(await world.changesSince(books), {});
  });

  test('is not sent again by itself if the refund never arrived: the rest waits for a decision', async () => {
    const { customer, order, books, line, key } = await refunding('9005');
    await recalls('part-12', line, 120_000n);
    await world.read((tx) =>
      orderFacts(world.server.orders)(tx, {
        ...{ type: 'payout_rejected', rail: 'bank.simulated', key, why: 'never_arrived' },
      }),
    );
    await world.becomes(order, 'refund_held');
    const { payouts } = await world.traceOf(order);
    assert.deepEqual(
      payouts.map(({ id }) => id),
      [key],
      'the whole amount was sent again',
    );
    assert.deepEqual(await refundsOf(order), [
      ['cancelled', 500_000n],
      ['rejected', 380_000n],
    ]);
    await oneOrTwoDo(ada, finn, `/customers/${customer.id}/unblock`);
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    assert.equal((await oneOrTwoDo(finn, ada, `/orders/${order.id}/retry-refund`, { fiatAccountId })).status, 200);
    await world.becomes(order, 'refunded');
    assert.deepEqual([await world.openCaseKinds(order), await world.owed(order, 'inr')], [[], 0n]);
    assert.deepEqual(await world.changesSince(books), {});
  });

  test('as a whole is given up if the refund never arrived: its order ends with nothing', async () => {
    const { order, books, line, key } = await refunding('9005');
    await recalls('part-13', line, 500_000n);
    await world.read((tx) =>
      orderFacts(world.server.orders)(tx, {
        ...{ type: 'payout_rejected', rail: 'bank.simulated', key, why: 'never_arrived' },
      }),
    );
    await world.becomes(order, 'refund_held');
    assert.equal((await world.traceOf(order)).payouts.length, 1, 'the whole amount was sent again');
    await oneOrTwoDo(ada, finn, `/customers/${order.customerId}/unblock`);
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    assert.equal((await oneOrTwoDo(finn, ada, `/orders/${order.id}/retry-refund`, { fiatAccountId })).status, 200);
    await world.becomes(order, 'cancelled');
    assert.deepEqual([await world.openCaseKinds(order), await world.owed(order, 'inr')], [[], 0n]);
    assert.deepEqual(await world.changesSince(books), {});
  });
});
