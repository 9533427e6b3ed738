/** An implausible price: the market halts, resumes on its own or by operators, and unpaid orders are requoted or cancelled. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Person, takes } from '../protocols/operator/people.ts';
import type { Fields } from '../support/client.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
let markets: { id: string; direction: string; crypto: string; fiat: string }[];

before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
  markets = (await ada.reads('/markets')).body.markets;
  for (const { id, crypto, fiat } of markets)
    if (crypto.startsWith('usdc.') && fiat === 'inr') await ada.does(`/markets/${id}`, { resumeAfterS: 1 });
});
after(async () => await world?.close());

const marketOf = (direction: string): string =>
  markets.find((one) => one.direction === direction && one.crypto === 'usdc.matic20' && one.fiat === 'inr')?.id ?? '';
const PAIR = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };

/** The sandbox's control for the price of a USDC in rupees; without one, the table's price applies again. */
async function costs(price?: string): Promise<void> {
  const body: Fields = { coin: 'usdc', fiat: 'inr', ...(price === undefined ? {} : { price }) };
  const { status, text } = await world.partner.post('/sandbox/v1/prices', body);
  assert.equal(status, 200, text);
}
const quote = () => world.partner.post('offramp/quote', PAIR);
const quotesAgain = () => world.until('quotes are made', async () => (await quote()).status === 200);
const haltedCase = () =>
  world.until('a case says so', async () =>
    (await ada.reads('/cases?kind=price_halted')).body.cases.find(
      (one: Record<string, string>) => one.subject === 'price:usdc/inr:jump',
    ),
  );

describe('a price times a hundred', () => {
  afterEach(async () => {
    await costs();
    await quotesAgain();
  });

  test('halts quotes, orders and requotes, and trading resumes on its own once the price is back for long enough', async () => {
    const early = await quote();
    const { id, fiatAccountId } = await world.verifiedCustomer();
    await costs('8600');
    const refused = await quote();
    assert.deepEqual([refused.status, refused.body.reason], [503, 'price_halted'], refused.text);
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    const { rate, toAmount } = early.body.data;
    const order = { ...PAIR, rate, toAmount, customerId: id, fiatAccountId };
    const created = await world.partner.post('offramp/createTransaction', order);
    assert.deepEqual([created.status, created.body.reason], [503, 'price_halted'], created.text);
    const bought = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '1000' };
    assert.equal((await world.partner.post('onramp/quote', { ...bought, paymentMethodType: 'UPI' })).status, 503);
    const mine = markets
      .filter(({ crypto, fiat }) => crypto.startsWith('usdc.') && fiat === 'inr')
      .map((one) => one.id);
    assert.ok(mine.length > 2, 'too few markets use this price');
    const { reason, facts } = await haltedCase();
    const byNumber = mine.toSorted((a, b) => Number(a) - Number(b)).join(', ');
    assert.deepEqual([reason, facts.markets], [`usdc/inr jumped from 86 to 8600: markets ${byNumber}`, byNumber]);
    assert.equal(
      (await ada.reads('/cases?kind=price_halted')).body.cases.length,
      1,
      'the halt does not have exactly one case',
    );
    await costs();
    await quotesAgain();
    assert.equal(Number((await quote()).body.data.rate), 86);
    await world.until(
      'its case is closed',
      async () => (await ada.reads('/cases?kind=price_halted')).body.cases.length === 0,
    );
  });

  test('is quoted as soon as two operators have confirmed it', async () => {
    await world.read((tx) => takes(tx, 2, { right: 'terms' }));
    try {
      await costs('430');
      assert.equal((await quote()).body.reason, 'price_halted');
      const said = await ada.does(`/markets/${marketOf('offramp')}/price`, { level: '430', reason: 'it is so' });
      assert.equal(said.status, 202);
      assert.equal((await quote()).body.reason, 'price_halted', 'the price was quoted after one confirmation');
      const confirmed = await bea.does(`/proposals/${said.body.proposal}/confirm`, { reason: 'seen, too' });
      assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
      assert.equal(Number((await quote()).body.data.rate), 430);
    } finally {
      await world.read((tx) => takes(tx, 1, { right: 'terms' }));
    }
    await costs();
    assert.equal((await quote()).body.reason, 'price_halted', 'the jump back to the old price was quoted');
    const names = (await haltedCase()).facts.markets.split(', ');
    assert.equal((await ada.does(`/markets/${marketOf('offramp')}/price`, { level: '86' })).status, 200);
    const rest = names.filter((id: string) => id !== marketOf('offramp'));
    assert.deepEqual((await haltedCase()).facts.markets.split(', '), rest, 'the other markets did not stay halted');
  });

  test('is quoted by all of its markets after one confirmation for the pair, and the case closes with the last market', async () => {
    const confirm = (level: string) => ada.does('/prices/usdc/inr/confirm', { level, reason: 'compared' });
    const open = async () => (await ada.reads('/cases?kind=price_halted')).body.cases;
    await world.until('no market is halted', async () => (await open()).length === 0);
    assert.deepEqual((await confirm('86')).body.reason, 'market_not_halted');
    await costs('430');
    const names = (await haltedCase()).facts.markets.split(', ');
    assert.match((await confirm('86')).body.fields.level, /what the sources say now, 430/);
    const { status, body } = await confirm('430');
    assert.deepEqual([status, body.confirmed, body.halted], [200, names, []]);
    assert.equal(Number((await quote()).body.data.rate), 430);
    assert.deepEqual(await open(), []);
    const closed = (await ada.reads('/cases?kind=price_halted&open=false')).body.cases;
    assert.ok(closed.some((one: Record<string, string>) => one.outcome === 'level confirmed by ada'));
    await costs();
    assert.equal((await confirm('86')).status, 200);
  });
});

test('a market that is opened has its sources polled at once, and not at their next turn', async () => {
  const enqueued: string[] = [];
  const listening = await world.server.db.listen('jobs', (name) => void enqueued.push(name));
  try {
    const path = `/markets/${marketOf('onramp')}`;
    for (const enabled of [false, true]) assert.equal((await ada.does(path, { enabled })).status, 200);
    await world.until('a poll is enqueued', async () => enqueued.includes('refresh_prices fixed'));
  } finally {
    await listening.stop();
  }
});

describe('unpaid orders at a wrong price', () => {
  const span = (from: Date) => ({ from: from.toISOString(), until: world.clock.now().toISOString() });
  const listed = async (direction: string, from: Date): Promise<string[]> => {
    const { until, ...since } = span(from);
    const answer = await ada.reads(`/markets/${marketOf(direction)}/unpaid?from=${since.from}&until=${until}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.orders.map(({ id }: { id: string }) => id);
  };
  async function bulk(kind: 'cancel' | 'requote', direction: string, from: Date) {
    const begun = await ada.does(`/markets/${marketOf(direction)}/unpaid/${kind}`, span(from));
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    return await world.until('it has looked at all', async () => {
      const { body } = await ada.reads(`/bulk/${begun.body.bulk}`);
      return body.endedAt !== null && body;
    });
  }
  const shown = async (order: Sale) =>
    await world.told('offramp/transaction', { transactionId: String(order.id), customerId: order.customerId });

  test('are requoted: the customer sends the same and gets its present value, and a paid order does not change', async () => {
    const from = world.clock.now();
    await costs('129');
    await world.until('it costs 129', async () => Number((await quote()).body.data?.rate) === 129);
    const [unpaid, paid] = [await world.sells('100', 'usdc'), await world.sells('50', 'usdc')];
    await world.pays(paid, '50');
    await world.until('the payment is seen', async () => (await world.stateOf(paid)) !== 'created');
    await costs();
    await world.until('it costs 86', async () => Number((await quote()).body.data?.rate) === 86);
    assert.deepEqual(await listed('offramp', from), [String(unpaid.id)]);

    const done = await bulk('requote', 'offramp', from);
    assert.deepEqual([done.changed, done.leftAlone, done.refused], [1, 0, 0]);
    const now = await shown(unpaid);
    assert.deepEqual([now.fromAmount, now.depositAddress], [unpaid.fromAmount, unpaid.depositAddress]);
    assert.ok(Number(now.toAmount) < 8_600 && Number(now.toAmount) > 8_000, now.toAmount);
    assert.equal(Number(unpaid.toAmount) > 12_000, true);
    const told = (await world.changesOf(unpaid)).map(({ state, payoutAmount, depositAmount }) => [
      state,
      payoutAmount,
      depositAmount,
    ]);
    assert.deepEqual(told, [['created', now.toAmount, '100']]);
    const { history } = await world.traceOf(unpaid);
    const step = history.find(({ event }) => event === 'requoted');
    assert.deepEqual([step?.facts.by, step?.facts.reason, step?.facts.rateBefore], ['ada', 'wrong_price', '129']);

    await world.pays(unpaid, '100');
    await world.mines(2);
    await world.reaches(unpaid, 6);
    await world.reaches(paid, 6);
    assert.equal((await shown(unpaid)).toAmount, now.toAmount, 'the requoted order paid out another amount');
    assert.equal((await shown(paid)).toAmount, paid.toAmount, 'the paid order was requoted');
    // A second run finds no order.
    assert.deepEqual(await listed('offramp', from), []);
  });

  test('are cancelled within the time span only, each with an event', async () => {
    const before = await world.sells('10', 'usdc');
    const from = world.clock.now();
    const orders = [await world.buys('1000', 'usdc'), await world.buys('2000', 'usdc')];
    assert.deepEqual(
      await listed('onramp', from),
      orders.map(({ id }) => String(id)),
    );
    const done = await bulk('cancel', 'onramp', from);
    assert.equal(done.changed, 2);
    for (const order of orders) {
      assert.equal(await world.statusOf(order), -2);
      assert.deepEqual(await world.eventsOf(order), ['created', 'cancelled']);
    }
    assert.equal(await world.stateOf(before), 'created');
  });

  test('are not changed for a time span in the future or one that ends before it begins; the refusal names the field', async () => {
    const path = `/markets/${marketOf('offramp')}/unpaid/cancel`;
    const from = new Date(world.clock.now().getTime() - 60_000).toISOString();
    const ahead = new Date(world.clock.now().getTime() + 60_000).toISOString();
    assert.match((await ada.does(path, { from, until: ahead })).body.fields.until, /must not be in the future/);
    assert.match((await ada.does(path, { from, until: from })).body.fields.until, /must be later than from/);
  });
});
