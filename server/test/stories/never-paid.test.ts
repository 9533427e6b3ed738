/**
 * Two people declare a payout with an unknown outcome never paid. They can do so only once its rail can no longer execute it.
 * Then the order is paid under a new key or refunded; if the payout was made after all, the books and a case show it.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import pg from 'pg';
import { parseUnits } from '../../src/base/money.ts';
import { amountsDecide, confirmedBy, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story } from '../support/story.ts';

/** The bank shows a payment this long after it has accepted it. */
const SETTLE_MS = 40 * 60_000;
const ALARM_MS = 16 * 60_000;

let world: Story;
let ada: Person;
let finn: Person;
let outside: pg.Client;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }, { bankSettleMs: SETTLE_MS }));
  await world.read(amountsDecide);
  outside = new pg.Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await outside.connect();
});
after(async () => {
  await outside?.end();
  await world?.close();
});
afterEach(async () => await world.bank.clearFaults());

const keyOf = (order: Sale | Purchase, attempt = 1) => `pay_${order.id}_${attempt}`;
const declares = (person: Person, key: string) =>
  person.does(`/payouts/${key}/never-paid`, { evidence: 'letter of the bank: no payment with this reference' });
const payoutOf = async (key: string) =>
  (await outside.query('select state, why, alarmed_at from payouts where id = $1', [key])).rows[0];
const madeAt = async (order: Sale) =>
  (await world.bank.payments()).filter(({ key, state }) => key.startsWith(`pay_${order.id}_`) && state !== 'rejected');

/** Lets real time pass for the key: at the bank, and in the times of its submission. */
async function keyAges(key: string, hours: number): Promise<void> {
  await world.bank.ages(hours * 3_600_000);
  await outside.query(
    `update payouts set first_submission_at = first_submission_at - make_interval(hours => $2),
            submitting_until = submitting_until - make_interval(hours => $2) where id = $1`,
    [key, hours],
  );
}

/** A sale whose payout's answer was lost, before or after the bank accepted it, while the bank answers no status since. */
async function unknown(lost: 'lose_answer_before_effect' | 'lose_answer_after_effect'): Promise<Sale> {
  const order = await world.sells('100', 'usdc');
  await world.bank.setFault({ kind: lost });
  await world.bank.setFault({ kind: 'status_unavailable', times: 100_000 });
  await world.pays(order, '100');
  await world.mines(2);
  await world.until('the payout is unknown', async () => (await payoutOf(keyOf(order)))?.state === 'unknown');
  return order;
}
async function isTold(order: Sale): Promise<void> {
  world.clock.advance(ALARM_MS);
  await world.opensCase(order, 'payout_unknown');
}
async function twoDeclare(order: Sale): Promise<void> {
  const asked = await declares(finn, keyOf(order));
  const agreed = await confirmedBy(ada, asked);
  assert.equal(agreed.status, 200, JSON.stringify(agreed.body));
  await world.until('the order holds its money', async () => (await world.stateOf(order)) === 'payout_held');
}
/** The statement has been read up to the clock's present. */
const statementIsRead = () =>
  world.until('the statement is read', async () => {
    const now = world.clock.now();
    const readTo = await world.read((tx) => world.server.rails.get('bank.simulated')?.readTo?.(tx, 'inr'));
    return readTo !== undefined && now.getTime() - readTo.getTime() < 5_000;
  });

describe('declared never paid', () => {
  test('is refused while its rail is asked or may still execute it, and by one person; later the order is paid once, under a new key', async () => {
    const order = await unknown('lose_answer_before_effect');
    const key = keyOf(order);
    const early = await declares(finn, key);
    assert.equal(early.status, 409, JSON.stringify(early.body));
    assert.match(early.body.error, /still querying/);
    await isTold(order);
    await statementIsRead();
    const recognised = await declares(finn, key);
    assert.equal(recognised.status, 409, JSON.stringify(recognised.body));
    assert.match(recognised.body.error, /may still execute/);
    await keyAges(key, 23);
    assert.match((await declares(finn, key)).body.error, /may still execute/);
    await keyAges(key, 2);
    const asked = await declares(finn, key);
    assert.equal(asked.status, 202, JSON.stringify(asked.body));
    assert.equal((await confirmedBy(ada, asked)).status, 200);
    const ended = await payoutOf(key);
    assert.deepEqual([ended.state, ended.why], ['rejected', 'declared_never_paid']);
    assert.equal(await world.stateOf(order), 'payout_held');
    assert.deepEqual(await world.openCaseKinds(order), ['payout_held']);
    assert.deepEqual(await madeAt(order), []);
    await world.bank.clearFaults();
    assert.equal((await finn.does(`/orders/${order.id}/retry`)).status, 200);
    await world.until('it is submitted again', async () => (await payoutOf(keyOf(order, 2)))?.state === 'submitted');
    world.clock.advance(SETTLE_MS);
    await world.bank.settlesDue();
    await world.reaches(order, 6);
    assert.deepEqual(
      (await madeAt(order)).map(({ key: paid }) => paid),
      [keyOf(order, 2)],
    );
    const again = await declares(finn, key);
    assert.deepEqual(
      [again.status, again.body.reason],
      [409, 'does_not_fit'],
      'an ended payout was declared never paid',
    );
  });

  test('and refunded: the customer has the deposit back, and the bank paid nothing', async () => {
    const order = await unknown('lose_answer_before_effect');
    await isTold(order);
    await keyAges(keyOf(order), 25);
    await statementIsRead();
    await twoDeclare(order);
    await world.bank.clearFaults();
    const address = world.newAddress();
    await world.rejects(order, { failure: 'other', address });
    await world.refundArrives(order, -2);
    assert.equal(await world.tokensOf(address, 'usdc'), '100');
    assert.deepEqual(await madeAt(order), []);
  });

  test('and paid after all, before anything else left: the order is settled by it, with a case', async () => {
    const order = await unknown('lose_answer_after_effect');
    await isTold(order);
    await keyAges(keyOf(order), 25);
    await statementIsRead();
    const books = await world.balances();
    await twoDeclare(order);
    world.clock.advance(SETTLE_MS);
    await world.bank.settlesDue();
    await world.reaches(order, 6);
    assert.deepEqual(await world.openCaseKinds(order), ['payout_contradiction']);
    assert.equal((await payoutOf(keyOf(order))).state, 'settled');
    const changes = await world.changesSince(books);
    assert.equal(changes['custody:bank.simulated:main:inr'], -parseUnits(order.toAmount, 2));
    assert.equal(changes['loss:inr'] ?? 0n, 0n, 'a loss was booked although the order’s hold covers the payment');
  });

  test('and paid after all, when another attempt has left: paid twice, booked as a loss, with a case', async () => {
    const order = await unknown('lose_answer_after_effect');
    await isTold(order);
    await keyAges(keyOf(order), 25);
    await statementIsRead();
    await twoDeclare(order);
    await world.bank.clearFaults();
    const books = await world.balances();
    assert.equal((await finn.does(`/orders/${order.id}/retry`)).status, 200);
    await world.until('it is submitted again', async () => (await payoutOf(keyOf(order, 2)))?.state === 'submitted');
    world.clock.advance(SETTLE_MS);
    await world.bank.settlesDue();
    await world.reaches(order, 6);
    await world.until('a case says so', async () =>
      (await world.openCaseKinds(order)).includes('payout_contradiction'),
    );
    await world.until('both have settled', async () => (await payoutOf(keyOf(order, 2))).state === 'settled');
    const units = parseUnits(order.toAmount, 2);
    const changes = await world.changesSince(books);
    assert.equal(changes['custody:bank.simulated:main:inr'], -2n * units);
    assert.equal(changes['loss:inr'], units);
    assert.equal((await madeAt(order)).length, 2);
    // A returned payment lies in suspense and is not owed, because the other payment has paid the order.
    await world.bankReturns(keyOf(order), units);
    await world.until('it is back', async () => (await payoutOf(keyOf(order))).state === 'returned');
    assert.equal((await world.changesSince(books))['suspense:bank.simulated:inr'], units);
    assert.deepEqual((await world.traceOf(order)).refunds, []);
  });

  test('is refused while an unexplained debit of its amount may be this payout', async () => {
    const order = await unknown('lose_answer_before_effect');
    await isTold(order);
    await keyAges(keyOf(order), 25);
    await statementIsRead();
    const units = parseUnits(order.toAmount, 2);
    await world.bankShows({ id: 'stray-debit', direction: 'debit', units, reference: 'UTR-stray' });
    await world.until(
      'the debit is read',
      async () => (await outside.query(`select from bank_lines where external_id = 'stray-debit'`)).rowCount === 1,
    );
    assert.match((await declares(finn, keyOf(order))).body.error, /stray-debit/);
    const asked = await finn.does('/debits/foreign', { debit: 'bank.simulated:stray-debit' });
    assert.equal((await confirmedBy(ada, asked)).status, 200);
    await twoDeclare(order);
  });

  test('is done once when confirmations arrive at once while workers ask the rail', async () => {
    const order = await unknown('lose_answer_before_effect');
    await isTold(order);
    await keyAges(keyOf(order), 25);
    await statementIsRead();
    const asked = await declares(finn, keyOf(order));
    assert.equal(asked.status, 202, JSON.stringify(asked.body));
    await world.read((tx) =>
      tx.run(`update jobs set due_at = now() - interval '1 hour' where kind = 'send_payout' and subject = $1`, [
        keyOf(order),
      ]),
    );
    const said = await Promise.all(
      [ada, ada, ada].map((person) => person.does(`/proposals/${asked.body.proposal}/confirm`, {})),
    );
    assert.deepEqual(said.map(({ status }) => status).sort(), [200, 409, 409]);
    const { rows } = await outside.query(
      `select count(*)::int as n from order_history where order_id = $1 and event = 'payout_rejected'`,
      [order.id],
    );
    assert.equal(rows[0].n, 1);
  });

  test('is refused for a payout on a chain that keeps its nonce', async () => {
    const order = await world.buys('5000', 'usdc');
    await world.credits(order, '5000');
    await world.until('it is submitted', async () => (await payoutOf(keyOf(order)))?.state === 'submitted');
    await outside.query(
      `update payouts set alarmed_at = now(), submitting_until = submitting_until - interval '30 hours' where id = $1`,
      [keyOf(order)],
    );
    const said = await declares(finn, keyOf(order));
    assert.equal(said.status, 409, JSON.stringify(said.body));
    assert.match(said.body.error, /keeps nonce/);
  });
});
