/** Orders are checked once when their money arrives, from when a rule is on; a dry run checks earlier ones. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeCases, listCases } from '../../src/compliance/index.ts';
import {
  MONITOR,
  monitoringFindings,
  monitoringHandlers,
  type RuleText,
  setRule,
  tryRule,
} from '../../src/monitoring/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';

let fixture: Fixture;
let rows: Rows;
let watch: () => Promise<void>;
const USDC = 'usdc.local';
const MINUTE_MS = 60_000;
before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset(USDC, 'local', '0x01');
  const handler = monitoringHandlers(fixture)[MONITOR];
  watch = async () => {
    for (;;) {
      const handled = await handler?.('all');
      if (handled === undefined || handled.againInMs !== 0) return;
    }
  };
  await watch();
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});

let made = 0;
/** An order whose money arrived now, for a new customer unless one is named. */
async function paid(o: { worth?: bigint; customer?: string; to?: string; state?: string } = {}) {
  made += 1;
  const { worth = 10_000n, customer = `customer00_${made}`, to, state = 'settled' } = o;
  const { orderId, partnerId } = await rows.order(USDC, 'evm.local', `0xtarget${made}`);
  const now = fixture.clock.now();
  await rows.query(
    `insert into customers (id, partner_id, kind, created_at, updated_at)
     values ($1, $2, 'INDIVIDUAL', now(), now()) on conflict do nothing`,
    [customer, partnerId],
  );
  await rows.query(
    `update orders set customer_id = $2, gross_units = $3, created_at = $4, state = $5, payout_address = $6 where id = $1`,
    [orderId, customer, worth, now, state, to ?? null],
  );
  await rows.query(
    `insert into deposits (rail, external_id, asset, units, target, reference, state, order_id, partner_id, seen_at)
     values ('evm.local', $1, $2, 1, '', '', 'seen', $3, $4, $5)`,
    [`tx${made}`, USDC, orderId, partnerId, now],
  );
  if (to !== undefined)
    await rows.query(
      `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, created_at)
       values ($1, $2, $3, 'payout', 1, 'evm.local', $4, 1, $5, $6)`,
      [`ord_${orderId}:1`, orderId, partnerId, USDC, to, now],
    );
  fixture.clock.advance(MINUTE_MS);
  return { orderId, customer };
}
type Given = Partial<RuleText> & Pick<RuleText, 'kind'>;
const textOf = (rule: Given): RuleText => ({
  ...{ fiat: null, worthUnits: null, count: null, days: null, withinBps: null },
  ...rule,
});
const set = (name: string, rule: Given, isOn = true) =>
  fixture.db.asSystem((tx) =>
    setRule(tx, { name, isOn, rule: textOf(rule), by: 'ada', why: 'a test', now: fixture.clock.now() }),
  );
const found = (customerId: string) => fixture.db.asSystem((tx) => monitoringFindings(tx, { customerId, limit: 50 }));
const ordersFound = async (customer: string) => (await found(customer)).map(({ orderId }) => orderId);
const cases = async (customer: string) =>
  (await fixture.db.asSystem((tx) => listCases(tx, { open: true, kind: 'monitoring', limit: 100 }))).filter(
    ({ subject }) => subject === `customer:${customer}`,
  );
const looks = async () => {
  fixture.clock.advance(2 * MINUTE_MS);
  await watch();
};

test('a rule checks orders after it is set, and a dry run earlier ones, without storing findings', async () => {
  const rule = { kind: 'first_large', fiat: 'inr', worthUnits: 1_000_000n } as const;
  const from = fixture.clock.now();
  const early = await paid({ worth: 1_000_000n });
  await looks();
  await set('first-large', rule);
  await looks();
  assert.deepEqual(await ordersFound(early.customer), []);
  const late = await paid({ worth: 1_000_000n });
  await paid({ worth: 1_000_000n, customer: late.customer });
  await looks();
  assert.deepEqual(await ordersFound(late.customer), [late.orderId]);
  const [opened] = await cases(late.customer);
  assert.equal(opened?.facts.order, String(late.orderId));

  const until = fixture.clock.now();
  const tried = await fixture.db.asSystem((tx) => tryRule(tx, fixture.vault, { rule: textOf(rule), from, until }));
  assert.deepEqual(
    tried.found.map(({ orderId }) => orderId),
    [early.orderId, late.orderId],
  );
  assert.deepEqual([tried.looked, tried.next], [3, null]);
  assert.deepEqual(await ordersFound(early.customer), []);
});

test('a version finds an order once, however often it looks; a closed case opens for another order', async () => {
  await set('three-a-day', { kind: 'velocity', fiat: 'inr', days: 1, count: 3 });
  const { customer } = await paid();
  await paid({ customer });
  const third = await paid({ customer });
  await looks();
  await rows.query(`update monitoring_cursor set seen_at = '2000-01-01'`);
  await looks();
  assert.deepEqual(await ordersFound(customer), [third.orderId]);
  const about = { kind: 'monitoring', subject: `customer:${customer}` } as const;
  await fixture.db.asSystem((tx) => closeCases(tx, { ...about, outcome: 'explained', now: fixture.clock.now() }));
  await looks();
  assert.deepEqual(await cases(customer), []);
  const fourth = await paid({ customer });
  await looks();
  const [opened] = await cases(customer);
  assert.ok(opened !== undefined);
  assert.equal(opened.facts.order, String(fourth.orderId));
  assert.equal((opened.facts.saw as { orders: number }).orders, 4);
});

test('unpaid orders are not counted, and a rule that is off finds nothing', async () => {
  const { customer } = await paid({ state: 'expired' });
  await paid({ customer, state: 'created' });
  await paid({ customer });
  await looks();
  assert.deepEqual(await ordersFound(customer), []);
  await set('three-a-day', { kind: 'velocity', fiat: 'inr', days: 1, count: 3 }, false);
  await paid({ customer });
  await paid({ customer });
  await looks();
  assert.deepEqual(await ordersFound(customer), []);
});

test('a wallet at which several customers are paid is found with the last of them', async () => {
  await set('one-wallet', { kind: 'shared_wallet', count: 3 });
  const to = '0xshared';
  const [first, second] = [await paid({ to }), await paid({ to })];
  await paid({ to, customer: second.customer });
  const third = await paid({ to });
  await looks();
  for (const { customer } of [first, second]) assert.deepEqual(await ordersFound(customer), []);
  assert.deepEqual(
    (await found(third.customer)).map(({ saw }) => saw.customers),
    [3],
  );
});

test('two concurrent servers find each order once', async () => {
  await set('three-a-day', { kind: 'velocity', fiat: 'inr', days: 1, count: 2 });
  const { customer } = await paid();
  const second = await paid({ customer });
  fixture.clock.advance(2 * MINUTE_MS);
  await Promise.all([watch(), watch(), watch()]);
  assert.deepEqual(await ordersFound(customer), [second.orderId]);
  assert.equal((await cases(customer)).length, 1);
});
