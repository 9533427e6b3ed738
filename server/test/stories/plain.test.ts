/** A plain sale as the partner, the bank, the chain and the books see it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

test('a sale paid exactly is settled by one payout, and each party has the quoted amount', async () => {
  const books = await world.balances();
  const order = await world.sells('100.5', 'usdc');
  assert.equal(await world.statusOf(order), 0);
  const paid = await world.pays(order, '100.5');
  await world.mines(2);
  await world.reaches(order, 6);

  // 100.5 at 86 is 8643 before fees.
  const units = parseUnits(order.toAmount, 2);
  const { operator, partner, rail, chain } = order.fees;
  assert.equal(units + operator + partner + rail + chain, 864_300n);
  const traced = await world.traceOf(order);
  const partnerId = traced.order.partnerId;
  assert.deepEqual(await world.changesSince(books), {
    'custody:evm.matic20:deposits:usdc.matic20': 100_500_000n,
    'custody:bank.simulated:main:inr': -units,
    'treasury:usdc.matic20': 100_500_000n,
    'treasury:inr': -864_300n,
    'fee_operator:inr': operator,
    [`fee_partner:${partnerId}:inr`]: partner,
    'fee_rail:inr': rail,
    'fee_chain:inr': chain,
  });

  const [payment, second] = await world.bank.payments(`pay_${order.id}_1`);
  assert.equal(second, undefined);
  assert.deepEqual([payment?.state, payment?.units, payment?.currency], ['settled', units, 'INR']);
  assert.deepEqual(
    traced.payouts.map(({ id, state, units: sent, reference }) => [id, state, sent, reference]),
    [[`pay_${order.id}_1`, 'settled', units, payment?.reference]],
  );
  assert.deepEqual(
    traced.deposits.map(({ state, units: came, reference }) => [state, came, reference]),
    [['applied', 100_500_000n, paid.hash]],
  );
  assert.deepEqual(
    traced.balances.map((one) => [one.units, one.heldUnits]),
    [
      [0n, 0n],
      [0n, 0n],
    ],
  );
  assert.equal(traced.heldBy, 'the customer (the payout)');
  assert.deepEqual(await world.casesOf(order), []);

  const shown = await world.shown(order);
  assert.equal(shown.transactionHash, paid.hash);
  assert.equal(shown.toAmount, order.toAmount);
});

test('the history and the events of a sale show every step in order, with its evidence', async () => {
  const order = await world.sells('20', 'usdt', { chain: 'erc20', fiat: 'INR', reference: 'invoice 7' });
  const paid = await world.pays(order, '20');
  await world.mines(2, 'erc20');
  await world.reaches(order, 6);

  const { history, order: row } = await world.traceOf(order);
  assert.deepEqual(
    history.map(({ stateFrom, event, stateTo }) => `${stateFrom} ${event} ${stateTo}`),
    [
      'none created created',
      'created deposit_seen deposit_seen',
      'deposit_seen deposit_confirmed deposit_confirmed',
      'deposit_confirmed cleared paying_out',
      'paying_out payout_settled settled',
    ],
  );
  assert.equal(history[1]?.facts.reference, paid.hash);
  assert.equal(history[4]?.facts.reference, row.payoutReference);
  for (const [at, { at: time }] of history.entries()) {
    assert.ok(at === 0 || time >= (history[at - 1]?.at ?? time), 'the history is not sorted by time');
  }
  const events = await world.eventBodies(order);
  assert.deepEqual(
    events.map(({ state, merchantReference, depositReference, payoutReference }) => [
      state,
      merchantReference,
      depositReference,
      payoutReference,
    ]),
    [
      ['created', 'invoice 7', null, null],
      ['deposit_seen', 'invoice 7', paid.hash, null],
      ['deposit_confirmed', 'invoice 7', paid.hash, null],
      ['paying_out', 'invoice 7', paid.hash, null],
      // The bank has accepted the payout.
      ['paying_out', 'invoice 7', paid.hash, null],
      ['settled', 'invoice 7', paid.hash, row.payoutReference],
    ],
  );
});

test('the status shown to the partner goes 0, 1, 2, 4, 5, 6 and never back', async () => {
  const order = await world.sells('1234.567891', 'usdc', {
    fiat: 'EUR',
    customer: await world.verifiedCustomer({ iban: 'DE89370400440532013000' }),
  });
  const seen: number[] = [];
  await world.pays(order, '1234.567891');
  await world.mines(1);
  await world.until('the order is paid', async () => {
    const status = await world.statusOf(order);
    if (seen.at(-1) !== status) seen.push(status);
    return status === 6;
  });
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  assert.ok(
    seen.every((status) => [0, 1, 2, 4, 5, 6].includes(status)),
    String(seen),
  );
});

test('two sales of one customer paid in one block are two payouts', async () => {
  const customer = await world.verifiedCustomer();
  const orders = [await world.sells('11', 'usdc', { customer }), await world.sells('11', 'usdc', { customer })];
  for (const order of orders) await world.pays(order, '11');
  await world.mines(2);
  for (const order of orders) await world.reaches(order, 6);
  const payments = await Promise.all(orders.map((order) => world.bank.payments(`pay_${order.id}_1`)));
  assert.deepEqual(
    payments.map((of) => of.length),
    [1, 1],
  );
});

test('a token with 18 decimals is sold to its last unit, and the rounding remainder is booked', async () => {
  const books = await world.balances();
  const order = await world.sells('3.000000000000000001', 'dai');
  await world.pays(order, '3.000000000000000001');
  await world.mines(2);
  await world.reaches(order, 6);
  const changes = await world.changesSince(books);
  assert.equal(changes['treasury:dai.matic20'], 3_000_000_000_000_000_001n);
  const { operator, partner, rail, chain } = order.fees;
  const paidOut = parseUnits(order.toAmount, 2);
  assert.equal(
    -(changes['treasury:inr'] ?? 0n),
    paidOut + operator + partner + rail + chain + (changes['rounding:inr'] ?? 0n),
  );
});
