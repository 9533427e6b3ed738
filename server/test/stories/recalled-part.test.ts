/**
 * A bank recalls only a part of a credit: two people name the deposit, and its customer owes that part as after a full recall.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { findCustomer } from '../../src/customers/index.ts';
import { chart } from '../../src/ledger/index.ts';
import { amountsDecide, operatorNamed, type Person } from '../protocols/operator/people.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  world = await openStory({ operators: 'two' });
  const { db, baseUrl } = world.server;
  ada = await operatorNamed({ db, baseUrl, clock: world.clock }, 'ada', 'admin');
  finn = await operatorNamed({ db, baseUrl, clock: world.clock }, 'finn', 'finance');
  await db.asSystem(amountsDecide);
});
after(async () => await world?.close());

/** One operator proposes, another confirms. */
async function bothDo(path: string, body: Record<string, unknown> = {}) {
  const said = await finn.does(path, body);
  assert.equal(said.status, 202, `${path} does not take two: ${JSON.stringify(said.body)}`);
  const done = await ada.does(`/proposals/${said.body.proposal}/confirm`);
  assert.equal(done.status, 200, `${path}: ${JSON.stringify(done.body)}`);
  return { proposal: (await ada.reads(`/proposals/${said.body.proposal}`)).body, done: done.body };
}

const openCases = async (order: Sale | Purchase) =>
  (await world.casesOf(order)).filter(({ open }) => open).map(({ kind }) => kind);
const isBlocked = (order: Sale | Purchase) =>
  world.read(async (tx) => (await findCustomer(tx, order.customerId)).blocked);

async function owed(order: Sale | Purchase, asset: string): Promise<bigint> {
  const { order: row } = await world.traceOf(order);
  return (await world.balance(chart.receivable(order.customerId, row.partnerId, asset))).units;
}

/** A credit in suspense, with a text that names no order. */
async function stray(order: Purchase, amount: string): Promise<bigint> {
  const all = () =>
    world.read((tx) =>
      tx.rows<{ id: bigint }>(
        `select id from deposits where order_id is null and origin = 'rail' and state = 'suspense'`,
      ),
    );
  const known = new Set((await all()).map(({ id }) => id));
  await world.credits(order, amount, { text: 'what I owe' });
  return await world.until('it is in suspense', async () => (await all()).find(({ id }) => !known.has(id))?.id);
}

/** A debit of the bank without a reference of ours. */
async function debits(id: string, units: number): Promise<bigint> {
  const bank = new pg.Client(world.adminUrl);
  await bank.connect();
  try {
    await bank.query(
      `insert into simulated_bank.lines (seq, id, direction, currency, units, reference, booked_at)
       select max(seq) + 1, $1, 'debit', 'INR', $2, 'RECALL IN PART', now() from simulated_bank.lines`,
      [id, units],
    );
  } finally {
    await bank.end();
  }
  await world.looksAtTheBank();
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
  const order = await world.buys('5000', 'usdc', { customer: await world.verifiedCustomer() });
  await world.credits(order, '5000');
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
  const deposit = (await world.traceOf(order)).deposits[0]?.id;
  const books = await world.balances();

  const id = await debits('recalled-1', 200_000);
  assert.equal((await world.changesSince(books))['loss:inr'], 200_000n);
  const said = { as: 'recall', evidence: 'RECALL IN PART', amount: '2000' };
  const without = await finn.does(`/cases/${id}/correct`, said);
  assert.deepEqual([without.status, Object.keys(without.body.fields ?? {})], [400, ['deposit']]);
  await bothDo(`/cases/${id}/correct`, { ...said, deposit: String(deposit) });
  const changed = await world.changesSince(books);
  assert.deepEqual([changed['loss:inr'], await owed(order, 'inr')], [undefined, 200_000n]);
  assert.deepEqual([await openCases(order), await isBlocked(order)], [['customer_owes'], true]);
  const again = await finn.does(`/cases/${id}/correct`, { ...said, deposit: String(deposit) });
  assert.equal(again.body.reason, 'does_not_fit', 'once');

  const more = await debits('recalled-2', 300_100);
  const over = { as: 'recall', evidence: 'RECALL IN PART', amount: '3001', deposit: String(deposit) };
  assert.equal(
    (await finn.does(`/cases/${more}/correct`, over)).body.reason,
    'does_not_fit',
    'a recall of more than the credit was booked',
  );
  await bothDo(`/cases/${more}/correct`, { as: 'fee', evidence: 'RECALL IN PART', amount: '3001' });

  const paid = await stray(order, '2000');
  await bothDo(`/deposits/${paid}/assign`, { order: String(order.id) });
  assert.deepEqual([await owed(order, 'inr'), await openCases(order)], [0n, []]);
  await world.reconciles();
});

test('a part that is recalled before anything was sent makes no debt', async () => {
  const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
  await world.credits(order, '5000');
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  const deposit = (await world.traceOf(order)).deposits[0]?.id;
  const id = await debits('recalled-3', 100_000);
  const said = { as: 'recall', evidence: 'RECALL IN PART', amount: '1000', deposit: String(deposit) };
  const declined = await finn.does(`/cases/${id}/correct`, said);
  assert.deepEqual([declined.status, declined.body.reason], [409, 'does_not_fit']);
  assert.match(declined.body.error, /its order is on_hold/);
  assert.equal(await owed(order, 'inr'), 0n);
});
