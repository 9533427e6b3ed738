/**
 * Limits of a customer across its orders, through both APIs: which orders count, which are refused and with which remedy, that many
 * orders at once never pass a limit together, and the effect of a lowered limit on an order that is under way.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { parseUnits } from '../../../src/base/money.ts';
import { HIGHEST_LEVEL } from '../../../src/customers/index.ts';
import { openOrders, retry } from '../../../src/orders/index.ts';
import { allCustomerLimits, type LimitScope, setCustomerLimit } from '../../../src/partners/index.ts';
import { type Came, newPhone } from '../../support/client.ts';
import { openV1 } from '../../support/v1.ts';
import { besideStory, type V1Environment, v1Environment } from './environment.ts';

let w: V1Environment;
before(async () => {
  w = await v1Environment();
});
after(async () => {
  await w?.s.close();
});
afterEach(async () => {
  await w?.s.read(async (tx) => {
    const now = w.s.clock.now();
    for (const row of await allCustomerLimits(tx)) await setCustomerLimit(tx, { ...row, maxUnits: null, now }, ADA);
  });
});

const ADA = { by: 'ada', why: 'a test' };

/** Sets a limit in rupees, for every level unless one is given. */
const limits = (max: string, of: Partial<LimitScope> = {}) =>
  w.s.read((tx) => {
    const scope = { fiatAsset: 'inr', direction: null, marketId: null, level: HIGHEST_LEVEL, period: 'day' as const };
    return setCustomerLimit(tx, { ...scope, ...of, maxUnits: parseUnits(max, 2), now: w.s.clock.now() }, ADA);
  });
const known = (customerId: string): Promise<Came> => w.api.does('GET', `/customers/${customerId}/limits`);

/** Buys for this amount of rupees, which is exactly the amount that counts. */
async function asksToBuy(customerId: string, rupees: string, destinationId?: string) {
  const to = destinationId ?? (await w.address(customerId)).id;
  const quote = await w.api.does('POST', '/quotes', {
    ...{ payAsset: 'inr', receiveAsset: 'usdc.matic20', payAmount: rupees },
  });
  return await w.api.post('/orders', { quoteId: quote.id, customerId, destinationId: to });
}
async function buys(customerId: string, rupees: string): Promise<Came> {
  const { status, body } = await asksToBuy(customerId, rupees);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}
/** Moves the orders of the customer into the past. */
const ages = (customerId: string, hours: number) =>
  w.s.read((tx) =>
    tx.run(`update orders set created_at = created_at - make_interval(hours => $2) where customer_id = $1`, [
      customerId,
      hours,
    ]),
  );
const inDb = (customerId: string) =>
  w.s.read((tx) =>
    tx.rows<{ units: bigint }>(
      `select case when deposit_asset = 'inr' then deposit_units else gross_units end as units from orders where customer_id = $1`,
      [customerId],
    ),
  );

describe('an order', () => {
  test('above the limit for one order is refused, whatever the earlier orders', async () => {
    await limits('1000', { period: 'order' });
    const customerId = await w.customer();
    await buys(customerId, '1000');
    await buys(customerId, '1000');
    const { status, body } = await asksToBuy(customerId, '1000.01');
    assert.deepEqual([status, body.reason], [422, 'customer_limit_exceeded']);
    assert.deepEqual(
      [body.customerLimit.per, body.customerLimit.max, body.customerLimit.left, body.customerLimit.fitsAt],
      ['order', '1000', '1000', null],
    );
    assert.equal((await inDb(customerId)).length, 2);
  });

  test('that would exceed the daily limit is refused, and the reply has the used and remaining amounts and when it fits', async () => {
    await limits('2000');
    const customerId = await w.customer();
    await buys(customerId, '500');
    await ages(customerId, 20);
    const second = await buys(customerId, '1000');
    const [{ at: oldest } = { at: new Date() }] = await w.s.read((tx) =>
      tx.rows<{ at: Date }>('select min(created_at) as at from orders where customer_id = $1', [customerId]),
    );
    const { body } = await asksToBuy(customerId, '700');
    const next = new Date(oldest.getTime() + 86_400_000).toISOString();
    const { level, ...said } = body.customerLimit;
    assert.deepEqual(said, {
      ...{ per: 'day', asset: 'inr', direction: null, market: null },
      ...{ max: '2000', used: '1500', left: '500', fitsAt: next, nextLevel: null },
    });
    assert.ok(level >= 1);
    assert.match(
      body.detail,
      /^At most 500 INR are left of 2000 INR in 24 hours; 1500 INR are used\. The amount is possible from /,
    );
    // This amount only fits once the newer order is a day old, too.
    const later = await asksToBuy(customerId, '1500.01');
    assert.equal(later.body.customerLimit.fitsAt, new Date(Date.parse(second.createdAt) + 86_400_000).toISOString());
    // An amount above the whole limit has no such time.
    assert.equal((await asksToBuy(customerId, '2001')).body.customerLimit.fitsAt, null);
    await buys(customerId, '500');
    assert.equal((await known(customerId)).limits[0].left, '0');
    // Four hours later the first order is a day old.
    await ages(customerId, 4);
    await buys(customerId, '500');
    assert.equal((await asksToBuy(customerId, '100')).status, 422);
  });

  test('counts for 30 days against a monthly limit, and only in the direction and market that a limit names', async () => {
    await limits('3000', { period: 'month' });
    await limits('1000', { direction: 'onramp' });
    const customerId = await w.customer();
    await buys(customerId, '1000');
    await ages(customerId, 25);
    await buys(customerId, '1000');
    // The sale is worth about 860, and counts only against the monthly limit.
    await w.sells('10', { customerId });
    const said = await known(customerId);
    const of = (per: string) => said.limits.find((one: Came) => one.per === per);
    assert.deepEqual([of('day').direction, of('day').used, of('day').left], ['buy', '1000', '0']);
    assert.ok(Number(of('month').used) > 2_000 && Number(of('month').left) < 1_000);
    assert.ok(of('month').freesAt < of('month').resetsAt);
    assert.equal((await asksToBuy(customerId, '100')).body.customerLimit.per, 'day');
    await ages(customerId, 24);
    assert.equal((await asksToBuy(customerId, '999')).body.customerLimit.per, 'month');
    await ages(customerId, 30 * 24);
    assert.deepEqual(
      (await known(customerId)).limits.map(({ used }: Came) => used),
      ['0', '0'],
    );
  });

  test('that was cancelled or refunded does not count, and one that waits for its money does', async () => {
    const { s, api } = w;
    await limits('1000');
    const customerId = await w.customer();
    const order = await buys(customerId, '1000');
    assert.equal((await asksToBuy(customerId, '100')).status, 422);
    await api.does('POST', `/orders/${order.id}/cancel`);
    const sold = await w.sells('10', { customerId });
    assert.equal((await asksToBuy(customerId, '500')).status, 422);
    // The order is underpaid and refunded by an operator, so its money was not traded.
    await s.pays(w.sale(sold), '5');
    await s.mines(3);
    await s.until('the part is there', async () => (await w.get(sold)).received.amount === '5');
    await s.deadlinePasses();
    await w.becomes(sold, 'on_hold');
    assert.equal((await asksToBuy(customerId, '500')).status, 422);
    await s.rejects(w.sale(sold), { failure: 'amount', address: s.newAddress() });
    await s.until('nothing of it counts', async () => (await known(customerId)).limits[0].used === '0');
    await buys(customerId, '1000');
  });

  test('above a limit is refused by the white-label API with the status, reason and fields of any limit', async () => {
    await limits('500');
    const customer = await w.s.verifiedCustomer();
    const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '10' };
    const { toAmount, rate } = await w.s.told('offramp/quote', pair);
    const said = await w.s.partner.post('offramp/createTransaction', {
      ...{ ...pair, toAmount, rate, customerId: customer.id, fiatAccountId: customer.fiatAccountId },
    });
    assert.deepEqual(
      [said.status, said.body.code, said.body.status, said.body.reason],
      [413, 413, 0, 'amount_outside_limits'],
      JSON.stringify(said.body),
    );
    assert.deepEqual(Object.keys(said.body).toSorted(), ['code', 'error', 'message', 'reason', 'status']);
    assert.match(String(said.body.error), /at most 500 INR of 500 INR in 24 hours are left/);
  });
});

describe('the limits shown to a partner', () => {
  test('of a new customer say that nothing may be traded yet, and name the level that trading takes with what it needs', async () => {
    await limits('1000', { level: 1 });
    const made = { reference: randomUUID(), kind: 'individual', phone: newPhone() };
    const { id: customerId } = await w.api.does('POST', '/customers', made);
    const { level, mayTrade, next } = await known(customerId);
    assert.deepEqual([level, mayTrade, next.level], [0, { allowed: false, reason: 'login_required' }, 1]);
    assert.deepEqual(
      next.limits.map(({ per, max }: Came) => [per, max]),
      [['day', '1000']],
    );
    const { fields } = next.needs.find(({ asset }: Came) => asset === 'inr');
    assert.ok(fields.includes('firstName'), JSON.stringify(fields));
    await w.s.told('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
    const later = await known(customerId);
    assert.deepEqual([later.level, later.mayTrade, later.next.level], [1, { allowed: true, reason: null }, 2]);
    // A submission does not take over the answers of an earlier one; those of one under way are not needed again.
    const asks = async () => (await known(customerId)).next.needs.find(({ asset }: Came) => asset === 'inr').fields;
    assert.deepEqual((await asks()).toSorted(), fields.toSorted());
    const body = { asset: 'inr', level: 2, answers: { firstName: 'Asha' } };
    await w.api.does('POST', `/customers/${customerId}/submissions`, body);
    assert.deepEqual((await asks()).toSorted(), fields.filter((name: string) => name !== 'firstName').toSorted());
  });

  test('are empty without limits, and name the level that allows more with its requirements', async () => {
    const customerId = await w.customer();
    const before_ = await known(customerId);
    assert.deepEqual([before_.limits, before_.next], [[], null]);
    const { level } = before_;
    await limits('1000', { level });
    await limits('9000', { level: level + 1 });
    const { next, limits: mine } = await known(customerId);
    assert.deepEqual([mine[0].max, mine[0].used, mine[0].resetsAt], ['1000', '0', null]);
    assert.equal(next.level, level + 1);
    assert.deepEqual(
      next.limits.map(({ per, max }: Came) => [per, max]),
      [['day', '9000']],
    );
    const rupees = next.needs.find(({ asset }: Came) => asset === 'inr');
    assert.ok(rupees.fields.includes('firstName'), JSON.stringify(rupees));
    const { body } = await asksToBuy(customerId, '1001');
    assert.equal(body.customerLimit.nextLevel, level + 1);
    assert.match(body.detail, new RegExp(`Level ${level + 1} allows more\\.$`));
  });

  test('never name a level above the highest that the verifier gives to customers of this kind', async () => {
    const customerId = await w.customer();
    const { level, customerId: id } = await known(customerId);
    await limits('1000', { level });
    await limits('9000', { level: level + 2 });
    const { vault, orders: context } = w.s.server;
    const upTo = (highest: number) => (kind: string) => (kind === 'INDIVIDUAL' ? highest : HIGHEST_LEVEL);
    for (const [highest, expected] of [
      [level, null],
      [level + 1, level + 1],
    ] as const) {
      const highestLevelFor = upTo(highest);
      const beside = await besideStory(w.s, {
        ...{ profile: 'sandbox', highestLevelFor, orders: openOrders({ ...context, vault, highestLevelFor }) },
      });
      try {
        const api = openV1(beside.baseUrl, w.keys);
        const { next } = await api.does('GET', `/customers/${id}/limits`);
        assert.equal(next?.level ?? null, expected);
        const destinationId = (await w.address(customerId)).id;
        const quote = await api.does('POST', '/quotes', {
          ...{ payAsset: 'inr', receiveAsset: 'usdc.matic20', payAmount: '1001' },
        });
        const { body } = await api.post('/orders', { quoteId: quote.id, customerId, destinationId });
        assert.equal(body.customerLimit.nextLevel, expected);
        const above = await api.post(`/customers/${id}/submissions`, { level: highest + 1, answers: {} });
        const rule = `must be at most ${highest}, the highest level of the verifier`;
        assert.deepEqual([above.status, above.body.fields], [400, { level: rule }]);
      } finally {
        await beside.close();
      }
    }
  });
});

describe('many concurrent orders', () => {
  test('never pass a limit together, in either direction', async () => {
    const customerId = await w.customer();
    const [to, account] = [await w.address(customerId), await w.account(customerId)];
    const ASKED = 50;
    // Half of them are sales of about the same value.
    const quotes = await Promise.all(
      Array.from({ length: ASKED }, (_, at) =>
        w.api.does(
          'POST',
          '/quotes',
          at % 2 === 0
            ? { payAsset: 'inr', receiveAsset: 'usdc.matic20', payAmount: '860' }
            : { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '10' },
        ),
      ),
    );
    await limits('8700');
    const said = await Promise.all(
      quotes.map((quote: Came, at) =>
        w.api.post('/orders', { quoteId: quote.id, customerId, destinationId: (at % 2 === 0 ? to : account).id }),
      ),
    );
    const made = said.filter(({ status }) => status === 201);
    const units = (await inDb(customerId)).reduce((sum, one) => sum + one.units, 0n);
    assert.equal(made.length, (await inDb(customerId)).length);
    assert.ok(units <= 870_000n, `${units} were ordered of 870000`);
    assert.ok(units > 870_000n - 87_000n, `only ${units} of 870000 were ordered`);
    assert.deepEqual(
      [...new Set(said.filter((one) => one.status !== 201).map(({ body }) => body.reason))],
      ['customer_limit_exceeded'],
    );
  });
});

describe('an order that is being created', () => {
  test('is counted by one in the other direction, which waits for it', async () => {
    const customerId = await w.customer();
    const [to, account] = [await w.address(customerId), await w.account(customerId)];
    const quoteOf = (body: object): Promise<Came> => w.api.does('POST', '/quotes', body);
    const sale = await quoteOf({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '10' });
    const purchase = await quoteOf({ payAsset: 'inr', receiveAsset: 'usdc.matic20', payAmount: '860' });
    await limits('1000');
    const admin = new Client({ connectionString: w.s.adminUrl });
    await admin.connect();
    const waiting = async () => {
      // Within a transaction the view keeps its first snapshot.
      await admin.query('select pg_stat_clear_snapshot()');
      const { rows } = await admin.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return rows[0]?.count ?? 0;
    };
    const asked: Promise<{ status: number; body: Came }>[] = [];
    // The sale is counted, and then waits with its row locked for the account that this transaction holds.
    try {
      await admin.query('begin');
      await admin.query('select 1 from cloverleaf.fiat_accounts where id = $1 for update', [account.id]);
      const order = (quoteId: string, destinationId: string) =>
        w.api.post('/orders', { quoteId, customerId, destinationId });
      asked.push(order(sale.id, account.id));
      await w.s.until('the sale waits', async () => (await waiting()) >= 1);
      const other = order(purchase.id, to.id);
      asked.push(other);
      let early: unknown;
      void other.then((said) => {
        early = said;
      });
      await w.s.until('the purchase waits, too', async () => {
        assert.equal(early, undefined, 'the purchase did not wait for the sale');
        return (await waiting()) >= 2;
      });
      await admin.query('commit');
    } finally {
      await admin.end();
    }
    const [first, second] = await Promise.all(asked);
    assert.deepEqual([first?.status, second?.status, second?.body.reason], [201, 422, 'customer_limit_exceeded']);
  });
});

describe('an order under way', () => {
  test('is held when a limit was lowered below its amount, and paid when an operator lets it pass', async () => {
    const { s } = w;
    await limits('90000');
    const customerId = await w.customer();
    const order = await w.sells('10', { customerId });
    await limits('100');
    await s.pays(w.sale(order), '10');
    await s.mines(3);
    await w.becomes(order, 'payout_held');
    assert.match((await s.opensCase(w.sale(order), 'payout_held')).reason, /over_customer_limit/);
    const action = { orderId: BigInt(order.id), by: 'ada', people: ['ada', 'bea'], why: 'a test', now: s.clock.now() };
    await s.read((tx) => retry(s.server.orders, tx, action));
    await w.becomes(order, 'settled');
  });

  test('accepts no more than its customer may trade, and the excess is refunded', async () => {
    const { s } = w;
    await s.goesBy('offramp', 'usdc', { overpaid: { acceptBps: 10_000, beyond: 'refund_excess' } });
    const customerId = await w.customer();
    // Each order is worth 430 rupees, and its deposit 774.
    await w.sells('5', { customerId });
    const [order, only] = [await w.sells('5', { customerId }), await w.sells('5')];
    await limits('900');
    for (const one of [order, only]) await s.pays(w.sale(one), '9');
    await s.mines(3);
    assert.equal((await w.becomes(only, 'settled')).pay.amount, '9');
    assert.equal((await w.becomes(order, 'settled')).pay.amount, '5');
    await s.goesBy('offramp', 'usdc', {});
  });

  test('accepts no more than fitted when it was created, so that the gate does not hold it', async () => {
    const { s } = w;
    await s.goesBy('offramp', 'usdc', { overpaid: { acceptBps: 10_000, beyond: 'refund_excess' } });
    await limits('900');
    const customerId = await w.customer();
    await w.sells('5', { customerId });
    await ages(customerId, 20);
    const order = await w.sells('5', { customerId });
    // The first order is more than a day old now, but was not when the second one was created.
    await ages(customerId, 5);
    await s.pays(w.sale(order), '9');
    await s.mines(3);
    assert.equal((await w.becomes(order, 'settled')).pay.amount, '5');
    await s.goesBy('offramp', 'usdc', {});
  });
});
