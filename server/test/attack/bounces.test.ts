/**
 * A bank that contradicts itself twice: it rejects an attempt, pays it all the same once the next one is under way, and then
 * returns the first one. A customer paid by the other attempt is not paid again from the returned money.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

let world: Story;
let finn: Person;
before(async () => {
  world = await openStory();
  const { db, baseUrl } = world.server;
  await operatorNamed({ db, baseUrl, clock: world.clock }, 'ada', 'admin');
  finn = await operatorNamed({ db, baseUrl, clock: world.clock }, 'finn', 'finance');
});
after(async () => await world?.close());

async function does(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const said = await finn.does(path, body);
  assert.equal(said.status, 200, `${path}: ${JSON.stringify(said.body)}`);
}

/** A line that the bank's statement shows although the bank had rejected the payment. */
async function shows(payout: { id: string; units: bigint }, what: 'debit' | 'credit'): Promise<void> {
  await world.bankShows({
    ...{ id: `${what}-${payout.id}`, direction: what, units: payout.units, reference: `UTR-${what}` },
    ...(what === 'debit' ? { key: payout.id } : { returnOf: payout.id, why: 'account_closed' }),
  });
  const state = what === 'debit' ? 'settled' : 'returned';
  await world.until(
    `the ${what} is seen`,
    async () =>
      (await world.read((tx) => tx.rows(`select from payouts where id = $1 and state = $2`, [payout.id, state])))
        .length > 0,
  );
}

const attempts = async (order: Sale | Purchase, purpose: string) =>
  (await world.traceOf(order)).payouts.filter((payout) => payout.purpose === purpose);

test('an order that its second attempt has paid is not paid again when the first one, paid too, bounces', async () => {
  await world.bank.setFault({ kind: 'reject_next' });
  const order = await world.sells('20', 'usdc');
  await world.pays(order, '20');
  await world.mines(2);
  await world.until('it is refused', async () => (await world.stateOf(order)) === 'payout_held');
  await does(`/orders/${order.id}/retry`);
  await world.reaches(order, 6);
  const [first] = await attempts(order, 'payout');
  assert(first);
  assert.equal(first.state, 'rejected');
  await shows(first, 'debit');
  await shows(first, 'credit');
  await world.opensCase(order, 'payout_returned');
  const { fiatAccountId } = await world.verifiedAccount(order.customerId);
  const named = await finn.does(`/orders/${order.id}/destination`, { fiatAccountId });
  await world.until('nothing is on its way', async () =>
    (await attempts(order, 'payout')).every(({ endedAt }) => endedAt !== null),
  );
  assert.deepEqual(
    (await attempts(order, 'payout')).map(({ attempt, state }) => `${attempt} ${state}`),
    ['1 returned', '2 settled'],
  );
  assert.equal(named.status, 409);
});

/** A purchase whose second deposit was refunded by a second attempt, because the bank had rejected the first. */
async function refundedBySecondAttempt() {
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  await world.credits(order, '5000');
  await world.reaches(order, 4);
  const settled = await world.balances();
  await world.credits(order, '5000');
  await world.opensCase(order, 'deposit_second');
  const second = (await world.traceOf(order)).deposits.find(({ state }) => state === 'suspense');
  await world.bank.setFault({ kind: 'reject_next' });
  await does(`/deposits/${second?.id}/refund`, { fiatAccountId: customer.fiatAccountId });
  await world.opensCase(order, 'refund_rejected');
  const failed = await world.balances();
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  await does(`/orders/${order.id}/destination`, { fiatAccountId });
  await world.until('it is refunded', async () => (await world.traceOf(order)).refunds[0]?.state === 'settled');
  const [one, two] = await attempts(order, 'refund');
  assert(one && two);
  assert.equal(one.state, 'rejected');
  return { customer, order, one, two, books: { settled, failed } };
}

test('a refund made by its second attempt: the returned first one is in suspense with a case', async () => {
  const { order, one, books } = await refundedBySecondAttempt();
  await shows(one, 'debit');
  await shows(one, 'credit');
  const changes = await world.changesSince(books.failed);
  assert.equal(changes['loss:inr'], 500_000n);
  assert.equal(changes['suspense:bank.simulated:inr'] ?? 0n, 0n, 'suspense does not hold the one returned payment');
  const { deposits } = await world.traceOf(order);
  assert.deepEqual(
    deposits.filter(({ state }) => state === 'suspense').map(({ units }) => units),
    [500_000n],
    'what lies in suspense is somebody’s row',
  );
  assert.ok(
    (await world.casesOf(order)).some(({ kind, open }) => open && /returned/.test(kind)),
    'and a person is told',
  );
});

test('a refund whose first attempt has arrived is complete when the second one is returned: there is no third', async () => {
  const { customer, order, one, two, books } = await refundedBySecondAttempt();
  await shows(one, 'debit');
  await shows(two, 'credit');
  const next = await world.verifiedAccount(customer.id);
  await does(`/orders/${order.id}/destination`, { fiatAccountId: next.fiatAccountId });
  assert.deepEqual(
    (await attempts(order, 'refund')).map(({ attempt, state }) => `${attempt} ${state}`),
    ['1 settled', '2 returned'],
  );
  assert.equal((await world.traceOf(order)).refunds[0]?.state, 'settled');
  assert.deepEqual(
    await world.changesSince(books.settled),
    {},
    'the returned payment was not booked once, or a loss remains',
  );
});

test('an unsubmitted refund does not leave when the payout it replaces has arrived after all', async () => {
  await world.bank.setFault({ kind: 'reject_next' });
  const order = await world.sells('20', 'usdc');
  await world.pays(order, '20');
  await world.mines(2);
  await world.until('it is refused', async () => (await world.stateOf(order)) === 'payout_held');
  const address = world.newAddress();
  const all = { kind: 'payouts', subject: 'all' };
  await does('/kill-switches', all);
  await does(`/orders/${order.id}/refund`, { failure: 'other', address });
  assert.equal(await world.stateOf(order), 'refunding');
  const [payout] = await attempts(order, 'payout');
  assert(payout);
  await shows(payout, 'debit');
  await does('/kill-switches/lift', all);
  await world.until('the refund has ended', async () =>
    (await attempts(order, 'refund')).every(({ endedAt }) => endedAt !== null),
  );
  await world.mines(2);
  assert.deepEqual(
    (await world.traceOf(order)).payouts.map(({ purpose, state }) => `${purpose} ${state}`),
    ['payout settled', 'refund rejected'],
  );
  assert.equal(await world.tokensOf(address, 'usdc'), '0');
  assert.equal(await world.stateOf(order), 'refund_held');
  const open = (await world.casesOf(order)).filter((one) => one.open).map(({ kind }) => kind);
  assert.deepEqual(open.sort(), ['payout_contradiction', 'refund_held']);

  const again = await finn.does(`/orders/${order.id}/retry-refund`, { address });
  assert.equal(again.status, 409, 'an operator could send it again');
  assert.match(JSON.stringify(again.body), /has arrived/);
  assert.equal(await world.stateOf(order), 'refund_held');

  await shows(payout, 'credit');
  await does(`/orders/${order.id}/retry-refund`, { address });
  await world.reaches(order, -2);
  assert.equal(await world.tokensOf(address, 'usdc'), '20');
});
