/**
 * Operators' lists over all partners: which rows, by which filters, page by page, as JSON, as CSV and at a terminal.
 *
 * Long because all lists are read from one set of rows.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { balancesOf, trialBalance } from '../../src/ledger/index.ts';
import { setExposureCap } from '../../src/partners/index.ts';
import { cell } from '../../src/protocols/operator/csv.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { openStory, type Purchase, type Sale, type Story, type StoryCustomer } from '../support/story.ts';
import { type Ended, readCsv, terminal } from '../support/terminal.ts';

let world: Story;
let vic: Person;
let types: (...words: string[]) => Promise<Ended>;
let seller: StoryCustomer;
let sales: Sale[];
let part: Sale;
let bought: Purchase;
let partner = '';
let market = '';

const rows = async (path: string, list: string): Promise<Came[]> => {
  const { status, body } = await vic.reads(path);
  assert.equal(status, 200, JSON.stringify(body));
  return body[list];
};
/** Every row of a list, page by page. */
async function pages(path: string, list: string, cursor: string, limit: number): Promise<Came[]> {
  const all: Came[] = [];
  for (let next: string | null = null, page = 0; page < 100; page += 1) {
    const more: string = next === null ? '' : `&${cursor}=${next}`;
    const { body } = await vic.reads(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${more}`);
    assert.ok(body[list].length <= limit, 'a page is longer than asked for');
    all.push(...body[list]);
    next = body.next;
    if (next === null) return all;
  }
  return assert.fail('the list has no end');
}

before(async () => {
  world = await openStory({ operators: 'two' });
  vic = await operatorNamed(
    { db: world.server.db, baseUrl: world.server.baseUrl, clock: world.clock },
    'vic',
    'viewer',
  );
  types = terminal(world.server.baseUrl, vic.token);
  seller = await world.verifiedCustomer();
  sales = [];
  for (const amount of ['20', '30', '40']) {
    const sale = await world.sells(amount, 'usdc', { customer: seller });
    await world.pays(sale, amount);
    await world.mines(2);
    await world.until('it is settled', async () => (await world.stateOf(sale)) === 'settled');
    sales.push(sale);
  }
  // A part of it arrived: in suspense until the rest does.
  part = await world.sells('25', 'usdc');
  await world.pays(part, '10');
  await world.mines(2);
  await world.until('a part is in suspense', async () => (await rows('/suspense', 'suspense')).length === 1);
  // An excess: the rest is in suspense; and money that names no order.
  bought = await world.buys('5000', 'usdc');
  await world.credits(bought, '5100');
  await world.until('the rest is in suspense', async () => (await rows('/suspense', 'suspense')).length === 2);
  await world.credits(bought, '77', { text: 'for =SUM(A1), "thanks"' });
  await world.until('it is settled', async () => (await world.stateOf(bought)) === 'settled');
  await world.until('three amounts lie in suspense', async () => (await rows('/suspense', 'suspense')).length === 3);
  partner = String((await world.traceOf(part)).order.partnerId);
  market = String((await world.traceOf(part)).order.marketId);
});
after(async () => await world?.close());

describe('orders', () => {
  test('are listed the newest first, with amounts in their own assets and nothing personal', async () => {
    const [first = {}, ...others] = await rows('/orders', 'orders');
    assert.equal(others.length, 4);
    assert.deepEqual(
      [
        first.id,
        first.customerId,
        first.direction,
        first.state,
        first.depositAsset,
        first.depositUnits,
        first.payoutAsset,
      ],
      [String(bought.id), bought.customerId, 'onramp', 'settled', 'inr', '5000', 'usdc.matic20'],
    );
    assert.equal(first.payoutUnits, bought.toAmount);
    const said = JSON.stringify([first, ...others]);
    for (const secret of [part.depositAddress, bought.address, bought.reference])
      assert.ok(!said.includes(secret), `the list shows ${secret}`);
  });

  test('are narrowed by partner, customer, market, state and time, in any combination', async () => {
    const all = await rows('/orders', 'orders');
    const [oldest = {}] = all.toReversed();
    const market = oldest.marketId;
    const middle = all[2]?.createdAt;
    const filters: [string, string, (one: Came) => boolean][] = [
      ['partner', partner, (one) => one.partnerId === partner],
      ['customer', seller.id, (one) => one.customerId === seller.id],
      ['market', market, (one) => one.marketId === market],
      ['state', 'settled', (one) => one.state === 'settled'],
      ['from', oldest.createdAt, (one) => one.createdAt >= oldest.createdAt],
      ['until', middle, (one) => one.createdAt < middle],
    ];
    for (const [query, fits] of [
      ['asset=inr', () => true],
      ['asset=usdc.matic20&min=30&max=30', (one) => one.depositUnits === '30'],
      ['asset=usdc.matic20&min=29.5&max=35&state=settled', (one) => one.depositUnits === '30'],
      ['asset=inr&min=5000&max=5000', (one) => one.depositAsset === 'inr'],
      ['asset=usdt.matic20', () => false],
    ] as readonly [string, (one: Came) => boolean][])
      assert.deepEqual(
        (await rows(`/orders?${query}`, 'orders')).map(({ id }) => id),
        all.filter(fits).map(({ id }) => id),
        query,
      );
    for (let chosen = 0; chosen < 2 ** filters.length; chosen += 1) {
      const some = filters.filter((_, at) => (chosen >> at) & 1);
      const query = some.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
      const expected = all.filter((one) => some.every(([, , fits]) => fits(one))).map(({ id }) => id);
      assert.deepEqual(
        (await rows(`/orders?${query}`, 'orders')).map(({ id }) => id),
        expected,
        query,
      );
    }
    assert.deepEqual(
      (await rows('/orders?state=created', 'orders')).map(({ id }) => id),
      [],
    );
    assert.deepEqual(
      (await rows('/orders?state=deposit_seen', 'orders')).map(({ id }) => id),
      all.filter(({ state }) => state === 'deposit_seen').map(({ id }) => id),
    );
  });

  test('come by pages without a gap or a row twice, whatever the size of a page', async () => {
    const all = (await rows('/orders', 'orders')).map(({ id }) => id);
    for (const limit of [1, 2, 4, 5])
      for (const filter of ['', `?partner=${partner}`, '?state=settled', `?customer=${seller.id}`]) {
        const whole = filter === '' ? all : (await rows(`/orders${filter}`, 'orders')).map(({ id }) => id);
        assert.deepEqual(
          (await pages(`/orders${filter}`, 'orders', 'below', limit)).map(({ id }) => id),
          whole,
        );
      }
  });
});

describe('deposits, suspense, payouts', () => {
  test('deposits are listed with the order they came for, by customer too', async () => {
    const all = await rows('/deposits', 'deposits');
    const ofSeller = await rows(`/deposits?customer=${seller.id}&state=applied`, 'deposits');
    assert.deepEqual(
      ofSeller.map(({ orderId, units, asset }) => [orderId, units, asset]),
      sales.toReversed().map((sale) => [String(sale.id), sale.fromAmount, 'usdc.matic20']),
    );
    assert.deepEqual(
      (await pages('/deposits', 'deposits', 'below', 2)).map(({ id }) => id),
      all.map(({ id }) => id),
    );
    assert.equal((await rows(`/deposits?partner=${partner}&state=suspense`, 'deposits')).length, 0);
  });

  test('money in suspense is shown with its age and who must act, and sums to its balance in the books', async () => {
    const all = await rows('/suspense', 'suspense');
    assert.deepEqual(
      all.map(({ orderId, units, asset, waitsFor, days }) => [orderId, units, asset, waitsFor, days]),
      [
        [String(part.id), '10', 'usdc.matic20', 'customer', 0],
        [String(bought.id), '100', 'inr', 'operator', 0],
        [null, '77', 'inr', 'operator', 0],
      ],
    );
    assert.deepEqual(
      (await pages('/suspense', 'suspense', 'after', 1)).map(({ deposit }) => deposit),
      all.map(({ deposit }) => deposit),
    );
    const booked = Object.fromEntries(
      [...(await world.balances())].filter(([code, units]) => code.startsWith('suspense:') && units !== 0n),
    );
    assert.deepEqual(booked, {
      'suspense:bank.simulated:inr': 17_700n,
      'suspense:evm.matic20:usdc.matic20': 10_000_000n,
    });
    const ofOrder = await rows(`/suspense?customer=${part.customerId}`, 'suspense');
    assert.deepEqual(
      ofOrder.map(({ orderId }) => orderId),
      [String(part.id)],
    );
  });

  test('a deposit held by an operator waits for a release', async () => {
    const excess = (await rows('/suspense', 'suspense')).find(({ units }) => units === '100');
    const finn = await operatorNamed(
      { db: world.server.db, baseUrl: world.server.baseUrl, clock: world.clock },
      'finn',
      'admin',
    );
    const kept = await finn.does(`/deposits/${excess?.deposit}/hold`);
    assert.equal(kept.status, 200, JSON.stringify(kept.body));
    const held = (await rows('/suspense', 'suspense')).find(({ deposit }) => deposit === excess?.deposit);
    assert.deepEqual([held?.waitsFor, held?.units], ['operator', '100']);
    assert.match(String(held?.until), /releases/);
  });

  test('payouts are listed with their order or refund, and without a destination', async () => {
    const all = await rows('/payouts', 'payouts');
    assert.deepEqual(
      all.map(({ orderId, purpose, state }) => [orderId, purpose, state]),
      [bought, ...sales.toReversed()].map((order) => [String(order.id), 'payout', 'settled']),
    );
    assert.ok(!JSON.stringify(all).includes(bought.address), 'a list shows where money goes');
    assert.equal((await rows(`/payouts?customer=${seller.id}&state=settled`, 'payouts')).length, 3);
    assert.deepEqual(
      (await pages('/payouts', 'payouts', 'below', 1)).map(({ id }) => id),
      all.map(({ id }) => id),
    );
  });
});

describe('endpoints', () => {
  test('of all partners are listed by host and path, with the key that made them and the last attempt', async () => {
    const made = await world.partner.post('/v1/webhooks', { url: 'http://localhost:65000/hook?secret=s3cr3t' });
    const other = await world.otherPartner.post('/v1/webhooks', { url: 'http://localhost:65000/other' });
    assert.deepEqual([made.status, other.status], [200, 200], `${made.text} ${other.text}`);
    const all = await rows('/endpoints', 'endpoints');
    const ours = all.filter(({ url }) => url === 'localhost:65000/hook' || url === 'localhost:65000/other');
    assert.equal(ours.length, 2);
    assert.ok(!JSON.stringify(all).includes('s3cr3t'), 'a query of an endpoint is shown');
    assert.ok(ours.every(({ enabled, madeByKey }) => enabled === true && String(madeByKey).length > 0));
    assert.deepEqual(
      (await pages('/endpoints', 'endpoints', 'after', 1)).map(({ id }) => id),
      all.map(({ id }) => id),
    );
    const mine = await rows(`/endpoints?partner=${partner}&enabled=true`, 'endpoints');
    assert.ok(mine.every(({ partnerId }) => partnerId === partner));
  });
});

describe('deliveries', () => {
  test('of an endpoint are listed with their state, page by page, and attempts without the answers', async () => {
    const { body } = await world.partner.post('/v1/webhooks', { url: 'http://localhost:65001/down' });
    const { id } = body.data as { id: string };
    await world.pays(await world.sells('11', 'usdc', { customer: seller }), '11');
    const path = `/endpoints/${id}/deliveries`;
    const tried = await world.until('an event was sent and not taken', async () =>
      (await rows(path, 'deliveries')).find(({ attempts }) => attempts > 0),
    );
    assert.deepEqual([tried.state, tried.endedAt], ['waiting', null]);
    const attempts = await rows(`${path}/${tried.position}/attempts`, 'attempts');
    assert.deepEqual(Object.keys(attempts[0] ?? {}), ['at', 'tookMs', 'status', 'error']);
    assert.equal(attempts[0]?.status, null, 'the dead endpoint answered');
    await world.mines(2);
    await world.until('more events wait', async () => (await rows(path, 'deliveries')).length > 2);
    const all = (await rows(path, 'deliveries')).map(({ position }) => position);
    const paged = (await pages(path, 'deliveries', 'below', 1)).map(({ position }) => position);
    assert.deepEqual(paged.slice(-all.length), all);
    assert.deepEqual(await rows(`${path}?state=delivered`, 'deliveries'), []);
    assert.equal((await vic.reads('/endpoints/we_none/deliveries')).body.reason, 'unknown_endpoint');
  });
});

describe('proposals', () => {
  test('are listed by state, action, proposer and time, page by page', async () => {
    const { db, baseUrl } = world.server;
    const [eve, gil] = [
      await operatorNamed({ db, baseUrl, clock: world.clock }, 'eve', 'admin'),
      await operatorNamed({ db, baseUrl, clock: world.clock }, 'gil', 'admin'),
    ];
    for (const [by, path] of [
      [eve, '/operators/vic/role'],
      [gil, '/operators/gil/role'],
    ] as const)
      assert.equal((await by.does(path, { role: 'finance' })).status, 202);
    const all = await rows('/proposals', 'proposals');
    assert.deepEqual(
      all.slice(0, 2).map(({ proposer, action, subject }) => [proposer, action, subject]),
      [
        ['gil', 'operator.role', 'operator:gil'],
        ['eve', 'operator.role', 'operator:vic'],
      ],
    );
    assert.deepEqual(
      (await pages('/proposals', 'proposals', 'below', 1)).map(({ id }) => id),
      all.map(({ id }) => id),
    );
    const only = await rows(`/proposals?operator=eve&action=operator.role&from=${all[1]?.proposedAt}`, 'proposals');
    assert.deepEqual(
      only.map(({ id }) => id),
      [all[1]?.id],
    );
    assert.deepEqual(await rows('/proposals?state=declined', 'proposals'), []);
  });
});

describe('the treasury', () => {
  test('has each wallet against its thresholds, and what is missing of it', async () => {
    await world.read((tx) =>
      tx.run(
        `update treasury_thresholds set low_units = 10::numeric ^ 30, alarm_units = 0 where asset = 'usdc.matic20'`,
      ),
    );
    const levels = await rows('/treasury/levels', 'levels');
    const level = levels.find(({ asset }) => asset === 'usdc.matic20') ?? {};
    const { account, freeUnits, lowUnits, missingUnits } = level;
    const books = await world.read((tx) => balancesOf(tx, ['custody']));
    const { units = 0n, heldUnits = 0n } = books.find(({ code }) => code === account) ?? {};
    assert.equal(parseUnits(freeUnits, 6), units - heldUnits);
    assert.equal(level.state, 'low');
    assert.equal(parseUnits(missingUnits, 6), parseUnits(lowUnits, 6) - parseUnits(freeUnits, 6));
    assert.ok(levels.every(({ state, missingUnits: missing }) => state !== 'ok' || missing === '0'));
  });

  test('shows what each wallet had over time, up to now', async () => {
    const history = await rows('/treasury/history?asset=usdc.matic20&step=hour&steps=3', 'history');
    assert.deepEqual([...new Set(history.map(({ asset }) => asset))], ['usdc.matic20']);
    const instants = [...new Set(history.map(({ at }) => Date.parse(at)))];
    assert.deepEqual(
      instants.slice(1).map((at, n) => at - (instants[n] ?? 0)),
      [3_600_000, 3_600_000, 3_600_000],
    );
    const books = await world.read((tx) => balancesOf(tx, ['custody']));
    const last = history.filter(({ at }) => Date.parse(at) === instants.at(-1));
    assert.ok(last.length > 0);
    for (const { rail, wallet, asset, units } of last) {
      const held = books.find(({ code }) => code === `custody:${rail}:${wallet}:${asset}`);
      assert.equal(parseUnits(units, 6), held?.units ?? 0n);
    }
    const timesOf = async (query: string) => [
      ...new Set((await rows(`/treasury/history?asset=usdc.matic20&${query}`, 'history')).map(({ at }) => at)),
    ];
    assert.deepEqual(await timesOf('steps=2&until=2027-01-03T11:00:00Z'), [
      '2027-01-02T00:00:00.000Z',
      '2027-01-03T00:00:00.000Z',
      '2027-01-03T11:00:00.000Z',
    ]);
    assert.deepEqual(await timesOf('steps=1&until=2027-01-03T00:00:00Z'), [
      '2027-01-02T00:00:00.000Z',
      '2027-01-03T00:00:00.000Z',
    ]);
    const before = await rows('/treasury/history?asset=usdc.matic20&steps=1&until=2020-01-01T00:00:00Z', 'history');
    assert.ok(before.length > 0 && before.every(({ units }) => Number(units) === 0), 'before anything was booked');
  });

  test('refuses a history of more steps than it may show, and of no known asset', async () => {
    for (const [query, field] of [
      ['steps=93', 'steps'],
      ['steps=0', 'steps'],
      ['step=week', 'step'],
      ['asset=none', 'asset'],
      ['until=yesterday', 'until'],
    ]) {
      const { status, body } = await vic.reads(`/treasury/history?${query}`);
      assert.deepEqual([status, Object.keys(body.fields ?? {})], [400, [field]], JSON.stringify(body));
    }
  });

  test('compares wallets with the books, and shows promised and owed amounts by market', async () => {
    const balances = await world.until('wallets are compared', async () => {
      const found = await rows('/treasury/balances', 'balances');
      return found.length > 0 && found;
    });
    for (const one of balances.filter(({ outsideUnits }) => outsideUnits !== null))
      assert.equal(one.breaks, '0', JSON.stringify(one));
    const [exposed = {}, ...none] = (await rows('/treasury/exposure', 'exposure')).filter(
      ({ marketId }) => marketId === market,
    );
    assert.deepEqual(none, []);
    const open = (await rows(`/orders?market=${market}`, 'orders')).filter(({ state }) =>
      ['created', 'deposit_seen'].includes(state),
    );
    assert.equal(exposed.unpaid, String(open.length));
    assert.deepEqual([exposed.depositAsset, exposed.payoutAsset], ['usdc.matic20', 'inr']);
    const sum = open.reduce((total, { payoutUnits }) => total + parseUnits(payoutUnits, 2), 0n);
    assert.equal(exposed.unpaidPayoutUnits, formatUnits(sum, 2));
  });
});

describe('prices and caps', () => {
  test('are listed by market and by partner', async () => {
    const prices = await rows('/prices', 'prices');
    assert.ok(prices.some(({ marketId, level }) => marketId === market && /^[0-9.]+$/.test(level)));
    assert.deepEqual(await rows('/prices?halted=true', 'prices'), []);
    await world.read((tx) => setExposureCap(tx, { partnerId: BigInt(partner), fiat: 'inr', maxUnits: 10_000_000n }));
    const [cap] = (await vic.reads(`/partners/${partner}`)).body.caps;
    assert.deepEqual([cap.asset, cap.maxUnits], ['inr', '100000']);
    assert.match(cap.liveUnits, /^[0-9.]+$/);
  });
});

describe('an invalid request', () => {
  test('is refused with field and rule', async () => {
    for (const [path, field, rule] of [
      ['/orders?state=happy', 'state', /one of created/],
      ['/orders?from=yesterday', 'from', /a time such as/],
      ['/orders?from=2027-01-02T00:00:00Z&until=2027-01-01T00:00:00Z', 'until', /after from/],
      ['/orders?limit=201', 'limit', /from 1 to 200/],
      ['/orders?min=5', 'asset', /given with min or max/],
      ['/orders?asset=gold&min=5', 'asset', /code of an asset/],
      ['/proposals?from=2027-01-02T00:00:00Z&until=2027-01-01T00:00:00Z', 'until', /after from/],
      ['/audit/verification?after=99', 'after', /number of a seal/],
      ['/orders?colour=red', 'colour', /is not one of/],
      ['/orders?format=xml', 'format', /one of json, csv/],
      ['/deposits?partner=x', 'partner', /a number/],
      ['/suspense?state=seen', 'state', /one of confirmed/],
      ['/payouts?below=1', 'below', /id of a payout/],
      ['/endpoints?enabled=perhaps', 'enabled', /true or false/],
      ['/audit?until=2026-02-30T00:00:00Z', 'until', /a time such as/],
      ['/changes?what=weather', 'what', /one of market/],
    ] as const) {
      const { status, body } = await vic.reads(path);
      assert.equal(status, 400, path);
      assert.match(body.fields[field], rule, path);
    }
    for (const [path, reason] of [
      ['/orders?partner=999', 'unknown_partner'],
      ['/orders?market=999', 'unknown_market'],
      ['/orders?customer=nobody', 'unknown_customer'],
      ['/orders?below=999', 'unknown_order'],
      ['/deposits?below=99999', 'unknown_deposit'],
      ['/suspense?after=99999', 'unknown_deposit'],
      ['/payouts?below=pay_1_1', 'unknown_payout'],
    ] as const)
      assert.equal((await vic.reads(path)).body.reason, reason, path);
  });
});

describe('as CSV', () => {
  before(async () => void (await world.sells('12.5', 'usdc', { customer: seller })));
  const asCsv = async (path: string) => {
    const reply = await fetchDeclared(`${world.server.baseUrl}/operator/v1${path}`, {
      headers: { authorization: `Bearer ${vic.token}` },
    });
    return { type: reply.headers.get('content-type'), next: reply.headers.get('x-next'), text: await reply.text() };
  };
  /** A list as CSV and as JSON, of one moment: the server works meanwhile, so JSON is the same before and after. */
  const bothWays = async (path: string) => {
    for (let tries = 1; tries <= 20; tries += 1) {
      const earlier = await vic.reads(path);
      const csv = await asCsv(`${path}&format=csv`);
      const { body } = await vic.reads(path);
      if (isDeepStrictEqual(earlier.body, body)) return { body, ...csv };
    }
    return assert.fail(`${path} changes all the time`);
  };

  test('has exactly the rows of the JSON, and the start of the next page', async () => {
    for (const [path, list] of [
      ['/orders', 'orders'],
      ['/deposits', 'deposits'],
      ['/suspense', 'suspense'],
      ['/payouts', 'payouts'],
      ['/endpoints', 'endpoints'],
      ['/proposals', 'proposals'],
      ['/prices', 'prices'],
      ['/treasury/balances', 'balances'],
      ['/treasury/exposure', 'exposure'],
      ['/treasury/history?steps=2&until=2090-01-01T00:00:00Z', 'history'],
      ['/changes', 'changes'],
      ['/cases', 'cases'],
      [`/partners/${partner}/activity`, 'activity'],
      [`/markets/${market}/unpaid?from=2020-01-01T00:00:00Z&until=2090-01-01T00:00:00Z`, 'orders'],
    ] as const) {
      const so = path.includes('?') ? '&' : '?';
      // Few enough to be shown on one page.
      const isWhole = /^\/(prices|treasury)/.test(path);
      const { body, type, next, text } = await bothWays(isWhole ? `${path}${so}` : `${path}${so}limit=2`);
      assert.match(String(type), /^text\/csv/, path);
      assert.equal(next, body.next ?? null, path);
      assert.ok(body[list].length > 0, `${path} has no rows`);
      const read = readCsv(text);
      assert.equal(read.length, body[list].length, path);
      for (const [at, row] of read.entries())
        for (const [name, shown] of Object.entries(row)) {
          const value = body[list][at][name];
          const expected = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
          assert.equal(shown.replace(/^'/, ''), expected.replace(/^'/, ''), `${path} ${name}`);
        }
    }
  });

  test('shows amounts of unpaid orders in their assets, and cases and activity page by page', async () => {
    const span = ['2020-01-01T00:00:00Z', '2090-01-01T00:00:00Z'];
    const shown = await types('orders', 'unpaid', market, ...span);
    assert.match(shown.out, /12\.5 +usdc\.matic20 +[0-9.]+ +inr/);
    const csv = await types('orders', 'unpaid', market, ...span, '--csv');
    assert.deepEqual(
      readCsv(csv.out).map(({ depositUnits, payoutAsset }) => [depositUnits, payoutAsset]),
      [['12.5', 'inr']],
    );
    for (const words of [['cases'], ['activity', partner]]) {
      const all = await types(...words, '--limit', '1', '--all', '--csv');
      assert.equal(all.code, 0, all.err);
      const { length } = JSON.parse((await types(...words, '--json')).out)[words[0] ?? ''];
      assert.ok(length > 1, `${words} has one page`);
      assert.equal(readCsv(all.out).length, length, String(words));
    }
  });

  test('a reason that is longer than its column is cut with a sign at the terminal, and whole as CSV', async () => {
    const [first] = await rows('/cases', 'cases');
    const reason = `${'long '.repeat(40)}end`;
    await world.read((tx) => tx.run('update cases set reason = $2 where id = $1', [first.id, reason]));
    assert.match((await types('cases')).out, /(long ){20}.*…$/m);
    assert.ok((await types('cases', '--csv')).out.includes(reason));
  });

  test('gives no spreadsheet a formula, and leaves numbers as they are', () => {
    for (const [text, safe] of [
      ['=1+1', "'=1+1"],
      ['+91 99', "'+91 99"],
      ['@SUM(A1)', "'@SUM(A1)"],
      ['-2+3', "'-2+3"],
      ['\tx', "'\tx"],
      ['\r=1', '"\'\r=1"'],
      ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
      ['-12.50', '-12.50'],
      ['-7', '-7'],
      ['12', '12'],
      ['plain', 'plain'],
      ['a,b', '"a,b"'],
      ['two\nlines', '"two\nlines"'],
      ['', ''],
    ] as const)
      assert.equal(cell(text), safe);
  });

  test('a reason that looks like a formula reaches the file as text', async () => {
    const ada = await operatorNamed(
      { db: world.server.db, baseUrl: world.server.baseUrl, clock: world.clock },
      'ada',
      'admin',
    );
    await ada.does('/kill-switches', { kind: 'market', subject: '1', reason: '=cmd|calc' });
    const [row] = readCsv((await asCsv('/audit?limit=1&format=csv')).text);
    assert.equal(row?.reason, "'=cmd|calc");
  });
});

describe('at a terminal', () => {
  test('lists are tables, CSV or JSON, and --all follows the pages', async () => {
    const [table, csv, all, help, wrong, misused] = await Promise.all([
      types('orders', 'list', '--state', 'settled', '--limit', '2'),
      types('orders', 'list', '--limit', '2', '--csv'),
      types('orders', 'list', '--limit', '2', '--csv', '--all'),
      types('suspense', 'list', '--help'),
      types('deposit', 'list', '--state', 'happy'),
      types('markets', '--csv'),
    ]);
    assert.equal(table.code, 0, table.err);
    assert.match(table.out, new RegExp(`${bought.id} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d`));
    assert.match(table.out, /^next +\d+/m);
    assert.equal(readCsv(csv.out).length, 2);
    assert.match(csv.err, /There are more rows\. Continue with --below \d+/);
    assert.deepEqual(
      readCsv(all.out).map(({ id }) => id),
      (await rows('/orders', 'orders')).map(({ id }) => id),
    );
    assert.match(help.out, /suspense list .*\[--from <value>\].*\[--all\] \[--csv\]/);
    assert.deepEqual([wrong.code, misused.code], [1, 2]);
    assert.match(wrong.err, /state must be one of/);
    for (const words of [
      ['deposit', 'list'],
      ['suspense', 'list'],
      ['payout', 'list'],
      ['endpoint', 'list'],
    ]) {
      const shown = await types(...words, '--all');
      assert.equal(shown.code, 0, shown.err);
    }
  });

  test('and the trial balance still adds up', async () => {
    for (const { debits, credits } of await world.read((tx) => trialBalance(tx))) assert.equal(debits, credits);
  });
});

// Last, because orders expire meanwhile.
test('days in suspense are counted by the whole, while an order that expires is refunded', async () => {
  world.clock.advance(3 * 86_400_000 - 3_600_000);
  await world.until(
    'the part of the expired order is refunded',
    async () => (await rows('/suspense', 'suspense')).length === 2,
  );
  assert.deepEqual(
    (await rows('/suspense', 'suspense')).map(({ units, days }) => [units, days]),
    [
      ['100', 2],
      ['77', 2],
    ],
  );
});
