/** A rejected payout goes to another destination of the same customer once two people confirm it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Screening } from '../../src/compliance/screener.ts';
import { MAGIC_HOLDS } from '../../src/compliance/screening.ts';
import { changePayoutFor, payElsewhereFor, refundHeldFor, retryTo } from '../../src/orders/index.ts';
import { refundHandlers } from '../../src/orders/refunds/refunds.ts';
import type { Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
});
after(async () => await world?.close());

const retries = (order: Sale | Purchase, to: Record<string, unknown> = {}) =>
  finn.does(`/orders/${order.id}/retry`, to);
const agrees = (proposal: unknown) => ada.does(`/proposals/${proposal}/confirm`);
const payouts = async (order: Sale | Purchase) => (await world.traceOf(order)).payouts;
/** The job that makes refunds has run for an order. */
async function looksAtRefunds(order: Sale, orders = world.server.orders): Promise<void> {
  const look = refundHandlers(orders).refund_order;
  assert(look, 'no job handles refund_order');
  await look(String(order.id));
}
const isHeld = async (order: Sale | Purchase) => await world.opensCase(order, 'payout_held');
const openCases = async (order: Sale | Purchase) => (await world.casesOf(order)).filter(({ open }) => open);

/** A sale whose payout the bank rejects, because the account is closed. */
async function refused(
  amount = '10',
  how: { refundAddress?: string } = {},
): Promise<{ order: Sale; customer: StoryCustomer }> {
  const customer = await world.verifiedCustomer({ ending: '9001' });
  const order = await world.sells(amount, 'usdc', { customer, ...how });
  await world.pays(order, amount);
  await world.mines(2);
  await isHeld(order);
  return { order, customer };
}

/** Two people retry it to another destination. */
async function goesTo(order: Sale | Purchase, to: Record<string, unknown>): Promise<void> {
  const proposed = await retries(order, to);
  assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
  const done = await agrees(proposed.body.proposal);
  assert.equal(done.status, 200, JSON.stringify(done.body));
}

test('a sale is paid to another account of its customer on unchanged terms', async () => {
  const { order, customer } = await refused();
  const { order: as } = await world.traceOf(order);
  const { fiatAccountId } = await world.verifiedAccount(customer.id);

  const stranger = await world.verifiedCustomer();
  for (const to of [
    { fiatAccountId: stranger.fiatAccountId },
    { fiatAccountId: (await inEuros(customer)).fiatAccountId },
  ])
    assert.deepEqual(status(await retries(order, to)), [404, 'unknown_account']);
  for (const to of [{ address: world.newAddress() }, { address: world.newAddress(), fiatAccountId }])
    assert.deepEqual(status(await retries(order, to)), [400, 'malformed_field']);
  assert.deepEqual(status(await retries(order, { pastHits: true })), [400, 'missing_fields']);
  assert.equal((await payouts(order)).length, 1, 'a refused retry created a payout');

  await goesTo(order, { fiatAccountId });
  await world.reaches(order, 6);
  const [first, second, third] = await payouts(order);
  assert.deepEqual([first?.state, first?.fiatAccountId], ['rejected', BigInt(customer.fiatAccountId)]);
  assert.deepEqual([second?.state, second?.fiatAccountId], ['settled', BigInt(fiatAccountId)]);
  assert.deepEqual([second?.units, third], [first?.units, undefined]);
  const { order: now } = await world.traceOf(order);
  for (const term of ['fiatAccountId', 'payoutUnits', 'depositUnits', 'rate', 'fees'] as const)
    assert.deepEqual(now[term], as[term], `${term} has changed`);
  assert.deepEqual(await openCases(order), []);
  assert.deepEqual(status(await retries(order, { fiatAccountId })), [409, 'order_over']);
});

test('a new destination whose payout is rejected as well stays the destination of a retry until another is named', async () => {
  const { order, customer } = await refused();
  const alsoClosed = await account(customer, '000177779001');
  await goesTo(order, { fiatAccountId: alsoClosed });
  await world.until('it is refused again', async () => (await payouts(order))[1]?.state === 'rejected');
  await isHeld(order);
  const again = await retries(order);
  assert.equal(again.status, 202, 'one person retried to a destination that is not the order’s own');
  assert.equal((await agrees(again.body.proposal)).status, 200);
  await world.until('and again', async () => (await payouts(order))[2]?.state === 'rejected');
  assert.equal((await payouts(order))[2]?.fiatAccountId, BigInt(alsoClosed));
  await isHeld(order);
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  await goesTo(order, { fiatAccountId });
  await world.reaches(order, 6);
  assert.deepEqual(
    (await payouts(order)).map(({ state }) => state),
    ['rejected', 'rejected', 'rejected', 'settled'],
  );
});

test('a retry confirmed twice at once pays once', async () => {
  const { order, customer } = await refused();
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  const proposed = await retries(order, { fiatAccountId });
  const tried = await Promise.all([agrees(proposed.body.proposal), agrees(proposed.body.proposal)]);
  assert.equal(tried.filter((one) => one.status === 200).length, 1);
  await world.reaches(order, 6);
  assert.equal((await payouts(order)).length, 2);
});

/** A purchase whose address rejects the transfer. */
async function refusedPurchase(): Promise<Purchase> {
  const nowhere = world.newAddress();
  world.takesNothing(nowhere, 'matic20');
  const order = await world.buys('5000', 'usdc', { address: nowhere });
  await world.credits(order, '5000');
  await isHeld(order);
  return order;
}

async function arrives(order: Purchase): Promise<void> {
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
  assert.deepEqual(
    (await payouts(order)).map(({ state }) => state),
    ['rejected', 'settled'],
  );
  assert.deepEqual(await openCases(order), []);
}

test('a purchase goes to another address', async () => {
  const order = await refusedPurchase();
  const address = world.newAddress();
  await goesTo(order, { address });
  await arrives(order);
  assert.equal(await world.tokensOf(address, 'usdc'), order.toAmount);
});

test('a destination with a screening hit is paid only if two people let the payout pass the hit', async () => {
  const order = await refusedPurchase();
  const { address } = MAGIC_HOLDS;
  const stopped = await retries(order, { address });
  assert.equal(stopped.status, 202);
  assert.deepEqual(status(await agrees(stopped.body.proposal)), [409, 'destination_held']);
  assert.equal(await world.stateOf(order), 'payout_held');
  assert.equal((await payouts(order)).length, 1, 'a payout was created before the screener answered');
  assert.equal((await openCases(order)).length, 1, 'its case was closed');
  await goesTo(order, { address, pastHits: true });
  await arrives(order);
});

/** As `world.server.orders`, but while the screener is asked, the payout is retried and an operator holds it. */
function heldMeanwhile(order: Sale) {
  const { orders } = world.server;
  const screener = {
    async screen(input: Screening) {
      await does('/kill-switches', { kind: 'payouts', subject: 'all' });
      await does(`/orders/${order.id}/retry`);
      await does(`/orders/${order.id}/hold`);
      return await orders.screener.screen(input);
    },
  };
  return { ...orders, screener };
}

async function does(path: string, body = {}): Promise<void> {
  const said = await finn.does(path, body);
  const done = said.status === 202 ? await agrees(said.body.proposal) : said;
  assert.equal(done.status, 200, `${path}: ${JSON.stringify(done.body)}`);
}

async function staysHeld(order: Sale): Promise<void> {
  await does('/kill-switches/lift', { kind: 'payouts', subject: 'all' });
  assert.equal(await world.stateOf(order), 'payout_held');
  assert.equal((await payouts(order)).length, 2);
}

test('a destination that a partner names while an operator puts the order on hold is not paid', async () => {
  const { order, customer } = await refused();
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  const asks = { orderId: order.id, by: 'key k', to: { fiatAccountId: BigInt(fiatAccountId) }, isConfirmed: true };
  await assert.rejects(payElsewhereFor(heldMeanwhile(order), { ...asks, now: world.clock.now() }), {
    code: 'under_review',
  });
  await staysHeld(order);
});

test('a retry to another destination while an operator puts the order on hold pays nothing', async () => {
  const { order, customer } = await refused();
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  const action = {
    orderId: order.id,
    by: 'a',
    people: ['a', 'b'],
    why: 'the account is closed',
    now: world.clock.now(),
  };
  await assert.rejects(retryTo(heldMeanwhile(order), action, { fiatAccountId: BigInt(fiatAccountId) }), {
    code: 'order_over',
  });
  await staysHeld(order);
});

test('a retry to another destination whose payout was sent again and rejected meanwhile pays nothing', async () => {
  const { order, customer } = await refused();
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  const { orders } = world.server;
  const screener = {
    async screen(input: Screening) {
      await does(`/orders/${order.id}/retry`);
      await world.until('it is refused again', async () => (await payouts(order))[1]?.state === 'rejected');
      await isHeld(order);
      return await orders.screener.screen(input);
    },
  };
  const action = {
    orderId: order.id,
    by: 'a',
    people: ['a', 'b'],
    why: 'the account is closed',
    now: world.clock.now(),
  };
  await assert.rejects(retryTo({ ...orders, screener }, action, { fiatAccountId: BigInt(fiatAccountId) }), {
    code: 'order_over',
  });
  assert.equal(await world.stateOf(order), 'payout_held');
  assert.equal((await payouts(order)).length, 2);
});

test('a refund by policy while an operator puts the order on hold pays nothing', async () => {
  const { order } = await refused('10', { refundAddress: world.newAddress() });
  await looksAtRefunds(order, heldMeanwhile(order));
  assert.deepEqual((await world.traceOf(order)).refunds, []);
  await staysHeld(order);
});

const asksFor = (order: Sale, fiatAccountId: string) => ({
  ...{ orderId: order.id, by: 'key k', to: { fiatAccountId: BigInt(fiatAccountId) }, isConfirmed: true },
  now: world.clock.now(),
});

test('a rejected payout that an operator holds is neither retried nor refunded before the release', async () => {
  const { order, customer } = await refused('10', { refundAddress: world.newAddress() });
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  const asks = asksFor(order, fiatAccountId);
  await does(`/orders/${order.id}/hold`);
  assert.deepEqual(
    (await openCases(order)).map(({ kind }) => kind),
    ['payout_held'],
  );
  const { order: held } = await world.traceOf(order);
  await assert.rejects(payElsewhereFor(world.server.orders, asks), { code: 'under_review' });
  const back = { ...asks, to: { address: world.newAddress() } };
  await assert.rejects(
    world.server.db.asSystem((tx) => refundHeldFor(world.server.orders, tx, back)),
    { code: 'under_review' },
  );
  await looksAtRefunds(order);
  for (const to of [{}, { fiatAccountId }])
    assert.deepEqual(status(await retries(order, to)), [409, 'order_over'], 'a held payout was retried');
  assert.deepEqual(status(await ada.does(`/orders/${order.id}/requote`)), [409, 'order_over']);
  const { order: now, payouts: after, refunds } = await world.traceOf(order);
  assert.deepEqual([now.version, after.length, refunds], [held.version, 1, []]);

  await does(`/orders/${order.id}/release`);
  assert.deepEqual(
    [await world.stateOf(order), (await payouts(order)).length],
    ['payout_held', 1],
    'the release alone created a payout',
  );
  assert.equal((await openCases(order)).length, 1);
  assert.deepEqual(
    status(await finn.does(`/orders/${order.id}/release`)),
    [409, 'order_over'],
    'an order that is not held was released',
  );
  await payElsewhereFor(world.server.orders, { ...asks, now: world.clock.now() });
  await world.reaches(order, 6);
});

test('a hold stops a refund that was requested before it; the release lets it go on', async () => {
  const { order } = await refused();
  await does(`/orders/${order.id}/refund`, { failure: 'other' });
  await does(`/orders/${order.id}/hold`);
  const asks = { orderId: order.id, by: 'key k', to: { address: world.newAddress() }, now: world.clock.now() };
  const names = () => world.server.db.asSystem((tx) => refundHeldFor(world.server.orders, tx, asks));
  await assert.rejects(names, { code: 'under_review' });
  await does(`/orders/${order.id}/destination`, asks.to);
  await looksAtRefunds(order);
  assert.deepEqual((await world.traceOf(order)).refunds, []);
  await does(`/orders/${order.id}/release`);
  await world.refundArrives(order, -2);
  assert.equal(await world.tokensOf(asks.to.address, 'usdc'), '10');
});

test('a held payout can be blocked by law, and cannot be paid afterwards', async () => {
  const { order, customer } = await refused();
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  await does(`/orders/${order.id}/hold`);
  await does(`/orders/${order.id}/block`);
  const asks = asksFor(order, fiatAccountId);
  await payElsewhereFor(world.server.orders, asks);
  await assert.rejects(
    world.server.db.asSystem((tx) => changePayoutFor(world.server.orders, tx, asks)),
    { code: 'under_review' },
  );
  assert.deepEqual([await world.stateOf(order), (await payouts(order)).length], ['frozen', 1]);
});

test('a partner’s new destination and an operator’s hold at the same moment are decided one after the other', async () => {
  const made = await Promise.all(['11', '12', '13', '14'].map((amount) => refused(amount)));
  for (const { order, customer } of made) {
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    const asks = asksFor(order, fiatAccountId);
    await does('/kill-switches', { kind: 'payouts', subject: 'all' });
    const [paid, held] = await Promise.allSettled([
      payElsewhereFor(world.server.orders, asks),
      finn.does(`/orders/${order.id}/hold`),
    ]);
    await does('/kill-switches/lift', { kind: 'payouts', subject: 'all' });
    assert.equal(held.status, 'fulfilled');
    assert.equal(held.value.status, 200, 'the hold was refused although nothing was submitted');
    assert.equal(await world.stateOf(order), 'payout_held');
    const made = (await payouts(order)).map(({ state }) => state);
    // The hold ends the attempt, or comes before the attempt begins.
    assert.deepEqual(made, paid.status === 'fulfilled' ? ['rejected', 'rejected'] : ['rejected']);
  }
});

test('the books agree with bank and chain', async () => {
  await world.reconciles();
});

const status = ({ status: code, body }: Awaited<ReturnType<typeof retries>>) => [code, body.reason];

async function account(customer: StoryCustomer, fiatAccount: string): Promise<string> {
  const given = { customerId: customer.id, fiatAccount, ifsc: 'HDFC0000001' };
  return (await world.told('bank/addFiatAccount', given)).fiatAccountId ?? '';
}
const inEuros = async ({ id: customerId }: StoryCustomer) =>
  await world.told('bank/addFiatAccount', { customerId, iban: 'DE89370400440532013000' });
