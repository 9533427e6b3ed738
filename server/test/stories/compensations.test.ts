/**
 * A wrong fee of a settled order is paid back: from the fee account, through the path of refunds, once, and announced like a
 * refund. Every story ends with balanced books (story.ts).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { blockCustomer, unblockCustomer } from '../../src/customers/index.ts';
import { chart, hold, post, release } from '../../src/ledger/index.ts';
import { beginBulk, compensate } from '../../src/orders/index.ts';
import { confirmedBy, type Person, type Said, takes } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { settledPurchase } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';
import { type Ended, terminal } from '../support/terminal.ts';

const DAY_MS = 86_400_000;
const BANK = 'bank.simulated';

let world: Story;
let ada: Person;
let bea: Person;
let types: (...words: string[]) => Promise<Ended>;
before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
  types = terminal(world.server.baseUrl, ada.token);
});
after(async () => await world?.close());

async function sold(amount = '100', customer?: StoryCustomer): Promise<Sale> {
  const sale = await world.sells(amount, 'usdc', customer === undefined ? {} : { customer });
  await world.pays(sale, amount);
  await world.mines(2);
  await world.reaches(sale, 6);
  return sale;
}

/** @param how.account the payer's account, where the statement shows one */
async function bought(amount = '5000', how: { account?: string } = {}): Promise<Purchase> {
  const order = await world.buys(amount, 'usdc');
  await world.bank.creditAccount({
    ...{ currency: 'INR', units: parseUnits(amount, 2), text: order.reference },
    ...(how.account === undefined ? {} : { payerAccount: how.account }),
  });
  await world.looksAtTheBank();
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
  return order;
}

type Order = Sale | Purchase;
const asks = (order: Order, more: Record<string, unknown> = {}): Promise<Said> =>
  ada.does(`/orders/${order.id}/compensate`, { fee: 'operator', amount: '1.50', asset: 'inr', ...more });
async function agreed(said: Said): Promise<Came> {
  const { status, body } = await confirmedBy(bea, said);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
const refundsOf = async (order: Order) => (await world.traceOf(order)).refunds;
const settled = async (order: Order, count = 1) =>
  await world.until('the refund has settled', async () => {
    const refunds = await refundsOf(order);
    return refunds.length === count && refunds.every(({ state }) => state === 'settled') ? refunds : undefined;
  });
const paidBy = (key: string | null | undefined) => world.bank.payments(key ?? '');
const feeOf = async (order: Order, kind = 'operator'): Promise<Came> => {
  const { marketId } = (await world.traceOf(order)).order;
  const [from, until] = [-DAY_MS, 1].map((ms) => new Date(world.clock.now().getTime() + ms).toISOString());
  const path = `/reports/affected?market=${marketId}&from=${from}&until=${until}&fee=${kind}&bps=0&limit=500`;
  return (await ada.reads(path)).body.orders.find((one: { order: string }) => one.order === String(order.id));
};

describe('a sale', () => {
  test('is compensated by two people to the account that its payout went to; books, partner, statement and revenue show it', async () => {
    const order = await sold();
    const [books, feeBefore] = [await world.balances(), order.fees.operator];
    const said = await types(
      'order',
      'compensate',
      String(order.id),
      'operator',
      '1.50',
      'inr',
      '--reason',
      'too dear',
    );
    assert.equal(said.code, 3, said.err);
    assert.match(said.out, /proposed/);
    const proposal = /^proposal +(\d+)/m.exec(said.out)?.[1];
    const { seen } = (await bea.reads(`/proposals/${proposal}`)).body;
    const account = (await world.traceOf(order)).payouts[0]?.fiatAccountId;
    assert.deepEqual([seen.chargedUnits, seen.compensated, seen.goesTo], ['21.5', [], `account:${account}`]);
    assert.equal((await ada.does(`/proposals/${proposal}/confirm`)).body.reason, 'own_proposal');
    assert.deepEqual(await refundsOf(order), []);
    assert.equal((await bea.does(`/proposals/${proposal}/confirm`)).status, 200);

    const [refund] = await settled(order);
    const payments = await paidBy(refund?.key);
    assert.deepEqual(
      payments.map(({ units }) => units),
      [150n],
    );
    const changes = await world.changesSince(books);
    assert.deepEqual(changes, { 'fee_operator:inr': -150n, 'custody:bank.simulated:main:inr': -150n });

    const { data } = (
      await world.partner.post('offramp/transaction', { transactionId: String(order.id), customerId: order.customerId })
    ).body;
    assert.deepEqual([data.status, data.reason, data.needsDestination], ['6', 'fee_compensated', false]);
    const [told] = data.refunds;
    assert.deepEqual(
      [told.kind, told.status, told.amount, told.currency, told.reason, told.fiatAccountId],
      ['refund', 'settled', '1.5', 'INR', 'fee_compensated', String(account)],
    );
    assert.equal(data.receivedAmount, '100', 'a compensation is counted as received');
    const asked = await world.partner.post('offramp/refunds', {
      ...{ transactionId: String(order.id), customerId: order.customerId },
    });
    assert.deepEqual(asked.body.data.refunds, data.refunds);
    const last = (await world.eventBodies(order)).at(-1) as Came;
    assert.deepEqual([last.state, last.reason, last.refunds[0].status], ['settled', 'fee_compensated', 'settled']);
    assert.doesNotMatch(JSON.stringify(await world.eventBodies(order)), /too dear/);

    const span = `from=${new Date(world.clock.now().getTime() - DAY_MS).toISOString()}&until=${new Date(world.clock.now().getTime() + 1).toISOString()}`;
    const statement = (await ada.reads(`/reports/statement?customer=${order.customerId}&${span}`)).body;
    const lines = statement.lines.map((one: Came) => [one.what, one.units, one.asset]);
    assert.deepEqual(lines.slice(-4, -2), [
      ['fee_operator', '1.5', 'inr'],
      ['refund', '-1.5', 'inr'],
    ]);
    const { partnerId, marketId } = (await world.traceOf(order)).order;
    const revenue = (await ada.reads(`/reports/revenue?partner=${partnerId}&market=${marketId}&${span}`)).body.revenue;
    assert.equal(parseUnits(revenue[0].operatorFee, 2), feeBefore - 150n);
    assert.deepEqual([(await feeOf(order)).was, (await feeOf(order)).difference], ['20', '20']);
  });

  test('proposed twice is compensated once, a second time only under a number of its own, and never more than was charged', async () => {
    const order = await sold();
    const first = await asks(order);
    assert.equal((await asks(order)).body.reason, 'proposal_exists');
    await agreed(first);
    assert.equal((await bea.does(`/proposals/${first.body.proposal}/confirm`)).body.reason, 'proposal_over');
    await settled(order);
    const again = await asks(order);
    assert.deepEqual([again.status, again.body.reason], [409, 'does_not_fit']);
    assert.match(again.body.error, /already compensated with 1\.5 inr/);
    assert.match((await asks(order, { nth: 3 })).body.error, /nth must be 2/);
    assert.match((await asks(order, { nth: 2, amount: '20.01' })).body.error, /at most 20 inr/);
    await agreed(await asks(order, { nth: 2, amount: '20' }));
    await settled(order, 2);
    assert.match((await asks(order, { nth: 3, amount: '0.01' })).body.error, /fee must be partner or rail or chain/);
    assert.equal((await feeOf(order)).was, '0');
  });

  test('is paid once, however many operators carry it out concurrently', async () => {
    const order = await sold();
    const { db, orders } = { db: world.server.db, orders: world.server.orders };
    const input = {
      ...{ orderId: order.id, fee: 'operator' as const, asset: 'inr', units: 150n, nth: 1 },
      ...{ by: 'ada, bea', why: 'too dear', now: world.clock.now() },
    };
    const all = await Promise.allSettled([1, 2, 3, 4].map(() => db.asSystem((tx) => compensate(orders, tx, input))));
    assert.deepEqual(all.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected', 'rejected']);
    const [refund] = await settled(order);
    assert.equal((await paidBy(refund?.key)).length, 1);
    await assert.rejects(
      world.read((tx) =>
        tx.run(
          `insert into deposits (rail, external_id, asset, units, target, state, reference, seen_at, origin)
           select rail, external_id, asset, units, target, state, reference, seen_at, origin from deposits where external_id = $1`,
          [`compensation:${order.id}:operator:1`],
        ),
      ),
      /duplicate key/,
    );
  });

  test('goes to another account of its customer if one is named, and never to another person', async () => {
    const order = await sold();
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    const stranger = await world.verifiedCustomer();
    const theirs = await asks(order, { fiatAccountId: stranger.fiatAccountId });
    assert.equal(theirs.body.reason, 'unknown_account');
    await agreed(await asks(order, { fiatAccountId }));
    const [refund] = await settled(order);
    assert.equal(String(refund?.fiatAccountId), fiatAccountId);
  });

  test('reduces the partner’s balance by the partner part of the fee', async () => {
    const order = await sold();
    const books = await world.balances();
    await agreed(await asks(order, { fee: 'partner', amount: '0.10' }));
    await settled(order);
    const { partnerId } = (await world.traceOf(order)).order;
    const changes = await world.changesSince(books);
    assert.equal(changes[`fee_partner:${partnerId}:inr`], -10n);
  });

  test('of a blocked customer is held with a case, and paid once operators release it', async () => {
    const order = await sold();
    await world.read((tx) => blockCustomer(tx, order.customerId, world.clock.now()));
    await agreed(await asks(order));
    await world.until('it is held', async () => (await refundsOf(order))[0]?.state === 'held');
    assert.match((await world.opensCase(order, 'refund_destination_held')).reason, /customer_blocked/);
    const [refund] = await refundsOf(order);
    assert.equal((await world.traceOf(order)).payouts.length, 1);
    await world.read((tx) => unblockCustomer(tx, order.customerId, world.clock.now()));
    const to = { fiatAccountId: String(refund?.fiatAccountId) };
    assert.equal((await ada.does(`/orders/${order.id}/destination`, to)).status, 200);
    await settled(order);
    assert.equal((await world.casesOf(order)).filter(({ open }) => open).length, 0);
  });

  test('waits while the treasury cannot pay the compensation, and goes on once it can', async () => {
    const order = await sold();
    const second = await sold();
    const custody = chart.custody(BANK, 'main', 'inr');
    await world.read(async (tx) => {
      const books = await world.balances();
      const free = (books.get(custody.code) ?? 0n) - 100n;
      const lines = hold('set_apart', chart.fx('inr'), custody, free);
      const posted = await post(tx, { id: 'apart', kind: 'set_aside', at: world.clock.now(), lines });
      assert.equal(posted.outcome, 'posted');
    });
    await agreed(await asks(order));
    const openShort = () =>
      world.read((tx) =>
        tx.rows<{ subject: string; reason: string; refunds: number }>(
          `select subject, reason, (facts ->> 'refunds')::int as refunds from cases where kind = 'refund_short' and closed_at is null`,
        ),
      );
    // One case for both refunds, and each trace says what it waits for.
    await agreed(await asks(second));
    const [short] = await world.until('a case names both', async () => {
      const found = await openShort();
      return found[0]?.refunds === 2 && found;
    });
    assert.equal(short?.subject, `${BANK}:inr`);
    assert.match(short?.reason ?? '', /^[0-9.]+ inr missing at bank\.simulated: 2 refunds wait, first refund:/);
    for (const one of [order, second]) {
      assert.equal((await refundsOf(one))[0]?.state, 'screening');
      assert.match((await world.traceOf(one)).next, /the case refund_short about bank\.simulated:inr/);
      assert.deepEqual(await world.openCaseKinds(one), []);
    }
    await world.read((tx) =>
      post(tx, { id: 'apart:back', kind: 'set_aside', at: world.clock.now(), lines: release('set_apart') }),
    );
    for (const one of [order, second]) await settled(one);
    await world.until('the case is closed', async () => (await openShort()).length === 0);
  });
});

describe('a purchase', () => {
  test('is compensated to the account that its deposit came from, by two whatever a rule says', async () => {
    const order = await bought('5000', { account: '000555666777' });
    await world.read((tx) => takes(tx, 1, { action: 'order.compensate', asset: 'inr', above: 1_000_000n }));
    const said = await asks(order);
    await agreed(said);
    const [refund] = await settled(order);
    const payments = await paidBy(refund?.key);
    assert.deepEqual(
      payments.map(({ account, units }) => [account, units]),
      [['000555666777', 150n]],
    );
    const asked = { transactionId: String(order.id), customerId: order.customerId };
    assert.equal(Object.keys((await world.partner.post('onramp/transaction', asked)).body.data).length, 11);
    const { data } = (await world.partner.post('onramp/refunds', asked)).body;
    assert.deepEqual([data.reason, data.refunds[0].status], ['fee_compensated', 'settled']);
    assert.equal(data.receivedAmount, '5000');
  });

  test('whose payer account the bank does not show needs a named account of the customer', async () => {
    const order = await bought('5000', { account: '' });
    const said = await asks(order);
    assert.deepEqual([said.status, said.body.reason], [400, 'missing_fields']);
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    const done = await asks(order, { fiatAccountId });
    if (done.status === 202) await agreed(done);
    const [refund] = await settled(order);
    assert.equal(String(refund?.fiatAccountId), fiatAccountId);
  });
});

describe('a deposit that is reversed', () => {
  test('cancels a compensation that was not submitted, returns it to the fee account and allows no other', async () => {
    const { order, line } = await settledPurchase(world);
    const books = await world.balances();
    await world.read((tx) => blockCustomer(tx, order.customerId, world.clock.now()));
    await agreed(await asks(order));
    await world.until('it is held', async () => (await refundsOf(order))[0]?.state === 'held');
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    const { deposits, refunds } = await world.traceOf(order);
    assert.deepEqual(
      [refunds.map(({ state }) => state), deposits.map(({ origin, state }) => [origin, state])],
      [
        ['cancelled'],
        [
          ['rail', 'lost'],
          ['compensation', 'reversed'],
        ],
      ],
    );
    const changes = await world.changesSince(books);
    assert.deepEqual([changes['fee_operator:inr'], changes[`suspense:${BANK}:inr`]], [undefined, undefined]);
    assert.match((await asks(order, { nth: 2 })).body.error, /reversed/);
    const open = (await world.casesOf(order)).filter((one) => one.open).map(({ kind }) => kind);
    assert.deepEqual(open, ['customer_owes']);
  });

  test('lets a submitted compensation arrive, and cancels one that is returned', async () => {
    const { order, line } = await settledPurchase(world);
    const books = await world.balances();
    await agreed(await asks(order));
    const [refund] = await settled(order);
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    assert.equal((await refundsOf(order))[0]?.state, 'settled');
    await world.bankReturns(refund?.key ?? '', 150n);
    await world.until('it has ended', async () => (await refundsOf(order))[0]?.state === 'cancelled');
    assert.equal((await world.changesSince(books))['fee_operator:inr'], undefined);
  });
});

describe('the limits of a compensation', () => {
  test('an unsettled order, too much, another asset, a fee that was not charged and an amount of zero are refused', async () => {
    const order = await sold();
    const open = await world.sells('10', 'usdc');
    const refusals: [Promise<Said>, number, RegExp][] = [
      [asks(open), 409, /created and can still be requoted \(order requote\)/],
      [asks(order, { amount: '21.51' }), 400, /amount must be at most 21\.5 inr/],
      [asks(order, { amount: '0' }), 400, /amount must be above zero/],
      [asks(order, { amount: '1.505' }), 400, /./],
      [asks(order, { asset: 'usdc.matic20' }), 400, /asset must be inr/],
      [asks(order, { asset: 'gold' }), 400, /asset must be one of/],
      [asks(order, { fee: 'tax' }), 400, /fee must be one of operator, partner, rail, chain/],
    ];
    for (const [said, status, why] of refusals) {
      const { status: was, body } = await said;
      assert.equal(was, status, JSON.stringify(body));
      assert.match(JSON.stringify(body), why);
    }
    assert.deepEqual([await refundsOf(order), await refundsOf(open)], [[], []]);
  });

  test('one person is enough below an amount where a rule says so; the amounts of one order add up', async () => {
    await world.read((tx) => takes(tx, 2, { action: 'order.compensate', asset: 'inr', above: 400n }));
    const order = await sold();
    assert.equal((await asks(order, { amount: '1.90' })).status, 200);
    const other = await asks(order, { fee: 'partner', amount: '1.50' });
    assert.equal(other.status, 202, JSON.stringify(other.body));
    assert.equal((await ada.does(`/proposals/${other.body.proposal}/decline`)).status, 200);
    assert.equal((await asks(order, { nth: 2, amount: '1' })).status, 202);
    await settled(order);
  });
});

describe('all settled orders of a wrong fee', () => {
  let market = '';
  let [from, until] = ['', ''];
  let sales: Sale[] = [];
  let [change, usual] = ['', ''];
  const now = () => world.clock.now().toISOString();
  const setsFee = async (bps: string): Promise<void> => {
    const said = await ada.does(`/markets/${market}/fees`, { kind: 'operator', bps });
    assert.equal(said.status, 200, JSON.stringify(said.body));
  };
  const bulkAsks = (more: Record<string, unknown>) =>
    ada.does(`/markets/${market}/settled/compensate`, { from, until, ...more });
  const isOver = async (bulk: string) =>
    await world.until('it is over', async () => {
      const { body } = await ada.reads(`/bulk/${bulk}`);
      return body.endedAt === null ? undefined : body;
    });

  before(async () => {
    await world.read((tx) => takes(tx, 1, { right: 'terms' }));
    const first = await sold('10');
    market = String((await world.traceOf(first)).order.marketId);
    world.clock.advance(60_000);
    from = now();
    await setsFee('500');
    sales = [await sold('100'), await sold('50'), await sold('20')];
    const [changed] = (await ada.reads(`/changes?market=${market}&what=fee&limit=1`)).body.changes;
    change = changed.id;
    usual = String(JSON.parse(changed.before).bps);
    await setsFee(usual);
    world.clock.advance(60_000);
    until = now();
  });

  test('get back the excess of the fee, by two people and up to the total they confirmed; each order once', async () => {
    const report = `/reports/affected?market=${market}&from=${from}&until=${until}&change=${change}`;
    const { charged, orders } = (await ada.reads(report)).body;
    assert.deepEqual([charged.orders, orders.length], [3, 3]);
    // One of these orders was compensated separately before.
    const own = orders.find((one: Came) => one.order === String(sales[2]?.id));
    assert.ok(sales[2]);
    await agreed(await asks(sales[2], { amount: own.difference }));
    const due = (await ada.reads(report)).body.charged.difference;

    const few = await bulkAsks({ change, most: '1' });
    assert.deepEqual(
      [few.status, few.body.fields.most],
      [400, `must be at least ${due} inr, the total of the excess charges`],
    );
    assert.match((await bulkAsks({ most: '1' })).body.error, /change/);
    assert.match((await bulkAsks({ change, most: due, rate: '86' })).body.error, /rate/);
    const said = await types(
      ...['orders', 'compensate', market, from, until, due, '--change', change, '--reason', '500 for 25'],
    );
    const proposal = /^proposal +(\d+)/m.exec(said.out)?.[1];
    const done = await bea.does(`/proposals/${proposal}/confirm`);
    assert.equal(done.status, 200, JSON.stringify(done.body));
    const bulk = await isOver(done.body.bulk);
    assert.deepEqual([bulk.changed, bulk.leftAlone, bulk.refused, bulk.doneUnits, bulk.mostUnits], [2, 1, 0, due, due]);
    for (const sale of sales) {
      const [refund] = await settled(sale);
      assert.equal((await paidBy(refund?.key)).length, 1);
    }
    const after = (await ada.reads(report)).body;
    assert.deepEqual([after.charged.orders, after.charged.difference], [3, '0']);
    const again = await bulkAsks({ change, most: due });
    assert.match(again.body.fields.most, /has no effect/);
  });

  test('beyond the confirmed total nothing is paid: the rest is left to a person', async () => {
    world.clock.advance(60_000);
    from = now();
    await setsFee('500');
    const [large, small] = [await sold('100'), await sold('10')];
    await setsFee(usual);
    world.clock.advance(1_000);
    until = now();
    const path = `/reports/affected?market=${market}&from=${from}&until=${until}&fee=operator&bps=${usual}`;
    const { orders } = (await ada.reads(path)).body;
    const due = orders.find((one: Came) => one.order === String(large.id)).difference;
    const id = await world.read((tx) =>
      beginBulk(tx, {
        ...{
          kind: 'compensate',
          marketId: BigInt(market),
          partnerId: null,
          from: new Date(from),
          until: new Date(until),
        },
        ...{ by: 'ada', people: ['ada', 'bea'], why: 'too dear', now: world.clock.now() },
        terms: {
          ...{ asset: 'inr', mostUnits: parseUnits(due, 2), fee: 'operator', bps: BigInt(usual) },
          ...{ fixedUnits: 0n, minimumUnits: 0n, notFor: [] },
        },
      }),
    );
    const bulk = await isOver(String(id));
    assert.deepEqual([bulk.changed, bulk.leftAlone, bulk.refused, bulk.doneUnits], [1, 0, 1, due]);
    assert.equal((await settled(large))[0]?.netUnits, parseUnits(due, 2));
    assert.deepEqual(await refundsOf(small), []);
  });
});
