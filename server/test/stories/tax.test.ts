/**
 * A market that withholds tax: its quotes, entries and payouts, and the tax of an order that is not completed.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { chart } from '../../src/ledger/index.ts';
import { marketById } from '../../src/partners/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { operatorIn } from '../support/staffed.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
let ada: Person;
before(async () => {
  world = await openStory();
  ada = await operatorIn(world, 'ada', 'admin');
});
after(async () => await world?.close());

const taxed = () => world.balance(chart.tax('inr')).then(({ units }) => units);

/** An operator sets the tax of both markets of USDC on matic20 against rupees. */
async function withholds(bps: number): Promise<void> {
  const rows = await world.read((tx) =>
    tx.rows<{ id: bigint }>(
      `select id from markets where crypto_asset = 'usdc.matic20' and fiat_asset = 'inr' order by direction`,
    ),
  );
  assert.equal(rows.length, 2);
  for (const { id } of rows) {
    const { status, body } = await ada.does(`/markets/${id}`, { taxBps: bps });
    assert.deepEqual([status, body.after.taxBps], [200, String(bps)]);
    await world.until('the market is read again', () =>
      world.read(async (tx) => (await marketById(tx, id)).taxBps === BigInt(bps)),
    );
  }
}

const feesOf = async (path: string, input: Record<string, string>): Promise<Record<string, string>> =>
  (await world.partner.post(path, input)).body.data.fees[0];
const SALE = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount: '100' };
const FIVE = ['type', 'onrampFee', 'clientFee', 'gatewayFee', 'gasFee'];

test('the fees of a market that withholds tax have a sixth key, those of other markets do not', async () => {
  assert.deepEqual(Object.keys(await feesOf('offramp/quote', SALE)), FIVE);
  await withholds(100);
  const fees = await feesOf('offramp/quote', SALE);
  assert.deepEqual([Object.keys(fees), fees.tdsFee], [[...FIVE, 'tdsFee'], '86']);
  assert.deepEqual(Object.keys(await feesOf('offramp/quote', { ...SALE, fromCurrency: 'usdt' })), FIVE);
  const wrong = await ada.does('/markets/1', { taxBps: 5_001 });
  assert.equal(wrong.status, 400);
  assert.match(JSON.stringify(wrong.body), /taxBps/);
  const changes = await ada.reads('/changes?limit=1');
  const [{ what, by, before: was, after: is }] = changes.body.changes;
  assert.deepEqual([what, by, JSON.parse(was).tax_bps, JSON.parse(is).tax_bps], ['market', 'ada', 0, 100]);
});

test('the tax of a sale is withheld from its payout, booked to an account of its own, and shown in trace and history', async () => {
  await withholds(100);
  const [books, before] = [await world.balances(), await taxed()];
  const order = await world.sells('100', 'usdc');
  await world.pays(order, '100');
  await world.mines(2);
  await world.reaches(order, 6);
  const units = parseUnits(order.toAmount, 2);
  const { operator, partner, rail, chain } = order.fees;
  assert.equal(units + operator + partner + rail + chain + 86_00n, 8_600_00n);
  const { order: row, entries } = await world.traceOf(order);
  assert.deepEqual(await world.changesSince(books), {
    'custody:evm.matic20:deposits:usdc.matic20': 100_000_000n,
    'custody:bank.simulated:main:inr': -units,
    'treasury:usdc.matic20': 100_000_000n,
    'treasury:inr': -8_600_00n,
    'fee_operator:inr': operator,
    [`fee_partner:${row.partnerId}:inr`]: partner,
    'fee_rail:inr': rail,
    'fee_chain:inr': chain,
    'tax:inr': 86_00n,
  });
  assert.equal((await taxed()) - before, 86_00n);
  assert.ok(
    entries.some((one) => JSON.stringify(one, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('tax:inr')),
  );
  const history = await world.partner.post('/onramp/api/v1/transaction/merchantHistory', { type: '2', order: 'DESC' });
  assert.deepEqual([String(history.body.data[0].orderId), history.body.data[0].tdsFee], [String(order.id), 86]);
  const [last] = (await world.eventBodies(order)).slice(-1);
  assert.equal((last?.fees as Record<string, string> | undefined)?.tax, '8600');
});

test('a purchase buys for the amount paid in less tax and fees', async () => {
  await withholds(100);
  const [books, before] = [await world.balances(), await taxed()];
  const order = await world.buys('5000', 'usdc');
  await world.credits(order, '5000');
  await world.until('the payout is with the node', () => world.payoutIsSubmitted(order));
  await world.mines(2);
  await world.reaches(order, 4);
  const changes = await world.changesSince(books);
  assert.equal(changes['tax:inr'], 50_00n);
  const { operator, partner, rail, chain } = order.fees;
  assert.equal(changes['treasury:inr'], 5_000_00n - 50_00n - operator - partner - rail - chain);
  assert.equal((await taxed()) - before, 50_00n);
});

test('an order keeps the tax it was created with when the setting changes', async () => {
  await withholds(100);
  const before = await taxed();
  const order = await world.sells('10', 'usdc');
  await withholds(0);
  await world.pays(order, '10');
  await world.mines(2);
  await world.reaches(order, 6);
  assert.equal((await taxed()) - before, 8_60n);
});

test('a sale that is refunded after its payout was rejected returns the whole deposit and withholds nothing', async () => {
  await withholds(100);
  const before = await taxed();
  const order = await world.sells('20', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
  await world.pays(order, '20');
  await world.mines(2);
  await world.opensCase(order, 'payout_held');
  assert.equal((await taxed()) - before, 17_20n, 'the tax is not withheld while the sale is converted');
  const address = world.newAddress();
  await world.rejects(order, { failure: 'other', address });
  await world.refundArrives(order, -2);
  assert.equal(await world.tokensOf(address, 'usdc'), '20');
  assert.equal(await taxed(), before);
  await withholds(0);
});
