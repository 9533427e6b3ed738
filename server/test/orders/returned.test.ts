/** A returned payout at the moments that a rail rarely meets: before anybody saw it leave, twice, and of no payout of ours. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { balance, chart } from '../../src/ledger/index.ts';
import { type Order, trace } from '../../src/orders/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';

let fixture: Fixture;
let sale: Awaited<ReturnType<typeof openSaleEnvironment>>;
before(async () => {
  fixture = await freshFixture();
  sale = await openSaleEnvironment(fixture);
});
after(() => fixture?.stop());

/** A sale whose payout its bank has taken and not yet reported as paid. */
async function submitted(): Promise<Order> {
  const order = await sale.sells();
  await sale.pays(order);
  await sale.handlers().screen_order?.(String(order.id));
  assert.equal((await sale.payoutOf(order)).state, 'submitted');
  return order;
}

const comesBack = (order: Order, changes: { key?: string; rail?: string; externalId?: string } = {}) =>
  fixture.db.asSystem((tx) =>
    sale.report(tx, {
      type: 'payout_returned',
      rail: 'bank.test',
      key: `pay_${order.id}_1`,
      why: 'account_closed',
      reference: 'RET1',
      externalId: `line:${order.id}`,
      asset: 'inr',
      units: order.payoutUnits,
      ...changes,
    }),
  );

const unitsOf = async (account: ReturnType<typeof chart.treasury>) =>
  (await fixture.db.asSystem((tx) => balance(tx, account))).units;
const held = async () => ({
  custody: await unitsOf(chart.custody('bank.test', 'main', 'inr')),
  suspense: await unitsOf(chart.suspense('bank.test', 'inr')),
});
const depositsOf = async (order: Order) =>
  (await fixture.db.asSystem((tx) => trace(tx, order.id))).deposits.filter(({ origin }) => origin === 'returned');

test('a return before the payment was seen books the payment first, so the order is settled and its money in suspense', async () => {
  const order = await submitted();
  const before = await held();
  await comesBack(order);
  assert.equal(await sale.stateOf(order), 'settled');
  assert.equal((await sale.payoutOf(order)).state, 'returned');
  assert.deepEqual(await held(), { custody: before.custody, suspense: before.suspense + order.payoutUnits });
  assert.deepEqual(
    (await depositsOf(order)).map(({ units, state }) => ({ units, state })),
    [{ units: order.payoutUnits, state: 'suspense' }],
  );
});

test('a return that is told again, or of a payout that is not ours or of another rail, changes nothing', async () => {
  const order = await submitted();
  const before = await held();
  await comesBack(order, { key: 'pay_1_1' });
  await comesBack(order, { rail: 'evm.test' });
  assert.deepEqual([await sale.stateOf(order), await held()], ['paying_out', before]);
  await comesBack(order);
  const once = await held();
  await comesBack(order);
  await comesBack(order, { externalId: 'line:again' });
  assert.deepEqual([await held(), (await depositsOf(order)).length], [once, 1]);
});
