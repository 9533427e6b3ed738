/** Prices from outside: which answers are accepted, and the resulting prices. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { SettingError } from '../../src/base/env.ts';
import { Unavailable } from '../../src/base/errors.ts';
import type { Handlers } from '../../src/base/jobs.ts';
import { formatRate, fraction, parseRate, type Rate } from '../../src/base/money.ts';
import { readConfig } from '../../src/config.ts';
import { priceSourceCheck } from '../../src/ops/index.ts';
import { runCheck } from '../../src/ops/routes.ts';
import { upsertMarket } from '../../src/partners/index.ts';
import { compose, jumped, type KeptPrice } from '../../src/quotes/crosses.ts';
import { type FetchedPrice, type Pair, quoteHandlers } from '../../src/quotes/index.ts';
import { ecbSource } from '../../src/quotes/sources/ecb.ts';
import { krakenSource } from '../../src/quotes/sources/kraken.ts';
import { LISTS, priceSources } from '../../src/registry.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import {
  dayOf,
  EXCHANGES,
  type ExchangeName,
  ecbDocument,
  FIXTURE,
  type HostName,
  type PriceHosts,
  priceHosts,
  type Said,
  type Told,
  tickers,
  writeTime,
} from '../support/pricehosts.ts';

let hosts: PriceHosts;
before(async () => {
  hosts = await priceHosts();
  for (const name of EXCHANGES) hosts.books[name][FIXTURE[name].of.symbol] = {};
});
after(() => hosts?.stop());
afterEach(() => hosts.instead.clear());

const HOUR = 3_600_000;

/** The currencies in which each exchange's fixture prices ether. */
const quoteOf = (name: ExchangeName): string => FIXTURE[name].of.pair.replace('eth/', '');
/** Kraken fails a call with an unknown pair, so its host knows all requested ones. */
const KRAKEN_FOR_RUPEES = ['XETHZUSD', 'USDTZUSD'];
const ETH_INR: Pair = { base: 'eth', quote: 'inr' };

const sameRate = (actual: Rate | undefined, expected: Rate, message?: string) =>
  assert.deepEqual(actual, fraction(expected.num, expected.den), message);
const found = (prices: readonly FetchedPrice[], base: string, quote: string) =>
  prices.find((price) => price.base === base && price.quote === quote);

/** The host returns this answer to every request. */
async function answered(name: HostName, told: Told | ((symbols: string[]) => Told)) {
  hosts.instead.set(name, typeof told === 'function' ? told : () => told);
  return await hosts.source(name).fetch([ETH_INR]);
}
const saying = (name: ExchangeName, said: Said) => (symbols: string[]) => ({
  body: JSON.stringify(tickers(name, symbols, () => said)),
});
const isSilent = (asking: Promise<unknown>, message: string) =>
  assert.rejects(asking, (error) => error instanceof Unavailable, message);

describe('the documented answer is read', () => {
  before(() => {
    for (const symbol of KRAKEN_FOR_RUPEES) hosts.books.kraken[symbol] ??= { bid: '0.99980', ask: '0.99980' };
  });

  for (const name of EXCHANGES) {
    test(`${name}: the exact middle of bid and ask, at its own time if it has one`, async () => {
      const from = Date.now();
      const price = found(await hosts.source(name).fetch([ETH_INR]), 'eth', quoteOf(name));
      sameRate(price?.rate, parseRate(FIXTURE[name].of.middle));
      // Bitstamp's seconds are whole ones.
      const ms = price?.pricedAt.getTime() ?? 0;
      assert.ok(ms >= Math.floor(from / 1_000) * 1_000 && ms <= Date.now(), `${ms}`);
      if (FIXTURE[name].time === undefined) return;
      const then = Date.now() - 7 * HOUR;
      const [older] = await answered(name, saying(name, { time: writeTime(name, then) }));
      assert.ok(Math.abs((older?.pricedAt.getTime() ?? 0) - then) < 1_000, 'its own time');
    });

    test(`${name}: a number is read exactly as written, never as a float`, async () => {
      // 0.1 + 0.2, in digits that no double can represent.
      const digits = '1830.300000000001';
      const quoted = (symbols: string[]) => ({
        body: JSON.stringify(tickers(name, symbols, () => ({ bid: 'HERE', ask: 'HERE' }))).replaceAll('"HERE"', digits),
      });
      sameRate(found(await answered(name, quoted), 'eth', quoteOf(name))?.rate, parseRate(digits));
    });
  }

  test('ecb: a dollar in other currencies is the quotient of two euro rates, at 12:15 UTC of the day', async () => {
    const asked = ['inr', 'eur', 'usd', 'xau'].map((quote) => ({ base: 'eth', quote }));
    const prices = await hosts.source('ecb').fetch(asked);
    assert.deepEqual(
      prices.map(({ base, quote, pricedAt }) => `${base}/${quote} ${pricedAt.toISOString()}`),
      ['inr', 'eur'].map((quote) => `usd/${quote} ${hosts.bank.day}T12:15:00.000Z`),
    );
    sameRate(prices[0]?.rate, { num: 892_495n, den: 10_705n });
    sameRate(prices[1]?.rate, { num: 10_000n, den: 10_705n });
  });

  test('an unlisted symbol loses its own price and no other', async () => {
    hosts.books.coinbase['USDT-USD'] = { bid: '0.9998', ask: '1.0000' };
    const prices = await hosts.source('coinbase').fetch([ETH_INR, { base: 'dai', quote: 'inr' }]);
    assert.deepEqual(prices.map(({ base, quote }) => `${base}/${quote}`).sort(), ['eth/usd', 'usdt/usd']);
    assert.deepEqual(await hosts.source('binance').fetch([{ base: 'doge', quote: 'inr' }]), [], 'doge has a price');
  });

  test('kraken: a pair that it does not list silences it, as its one call for all has it', async () => {
    await assert.rejects(hosts.source('kraken').fetch([{ base: 'dai', quote: 'gbp' }]), /no usable price/);
  });

  test('if some answers are invalid the others still count', async () => {
    hosts.instead.set('coinbase', ([symbol]) => (symbol === 'USDT-USD' ? { status: 500 } : undefined));
    assert.equal((await hosts.source('coinbase').fetch([ETH_INR])).length, 1);
  });
});

describe('an unclear price does not count', () => {
  const NOT_PRICES = [
    ...[
      '-1830.8',
      '0',
      '0.000',
      'NaN',
      'Infinity',
      '1e30',
      '1e3',
      '1830,8',
      ' 1830.8',
      '0x10',
      '',
      '.',
      '1.',
      '.5',
      '٣',
    ],
    ...[`1${'0'.repeat(30)}`, `0.${'0'.repeat(30)}1`, null, true, [], {}, ['1830.8'], -5, 0],
  ];
  for (const name of EXCHANGES) {
    test(`${name}: negative, zero, not a number, exponents, absurd, of another kind`, async () => {
      for (const bad of NOT_PRICES) {
        await isSilent(answered(name, saying(name, { bid: bad })), `bid ${JSON.stringify(bad)}`);
        await isSilent(answered(name, saying(name, { ask: bad })), `ask ${JSON.stringify(bad)}`);
      }
      const number = (text: string) => (symbols: string[]) => ({
        body: JSON.stringify(tickers(name, symbols, () => ({ bid: 'HERE', ask: 'HERE' }))).replaceAll('"HERE"', text),
      });
      for (const text of ['1e30', '1E3', '-7', '0', '0.0', '1e-7', 'NaN', '9'.repeat(400)])
        await isSilent(answered(name, number(text)), text);
    });

    test(`${name}: a book that is crossed or wide`, async () => {
      await isSilent(answered(name, saying(name, { bid: '1831', ask: '1830' })), 'crossed');
      await isSilent(answered(name, saying(name, { bid: '1', ask: '1000000' })), 'wide');
      await isSilent(answered(name, saying(name, { bid: '1000', ask: '1020.1' })), 'just too wide');
      assert.equal((await answered(name, saying(name, { bid: '1000', ask: '1020' }))).length > 0, true);
    });
  }

  test('times of the future, of long ago, and no times', async () => {
    const now = Date.now();
    const iso = (ms: number) => new Date(ms).toISOString();
    const bad: Record<string, readonly unknown[]> = {
      binance: [now + HOUR, now - 25 * HOUR, 9e12, 0, -1, 1e300, '', null, 'soon', {}],
      coinbase: [
        iso(now + HOUR),
        iso(now - 25 * HOUR),
        '9999-12-31T23:59:59Z',
        '2020-13-45T00:00:00Z',
        '',
        null,
        12,
        'now',
      ],
      bitstamp: [String(Math.floor(now / 1e3) + 3600), '9999999999', '0', '-1', '', null, 'now', '1e9'],
    };
    for (const [name, times] of Object.entries(bad)) {
      for (const time of times) {
        const host = name as ExchangeName;
        await isSilent(answered(host, saying(host, { time })), `${name} ${JSON.stringify(time)}`);
      }
    }
  });

  test('an answer about another symbol, if the answer names its symbol', async () => {
    await isSilent(answered('binance', saying('binance', { symbol: 'BTCUSDT' })), 'binance');
    await isSilent(answered('kraken', saying('kraken', { symbol: 'XXBTZUSD' })), 'kraken');
    const refused = JSON.stringify({
      ...(tickers('kraken', ['XETHZUSD'], () => ({})) as object),
      error: ['EService:Busy'],
    });
    await isSilent(answered('kraken', { body: refused }), 'an error beside a result');
  });

  test('ecb: anything but its document, whole and of a near day', async () => {
    const day = hosts.bank.day;
    const good = ecbDocument(day);
    const xml = (body: string): Told => ({ headers: { 'content-type': 'text/xml' }, body });
    assert.equal((await answered('ecb', xml(good))).length, 1);
    assert.equal(
      (await answered('ecb', xml(good.replace("currency='INR' rate='89.2495'", 'currency="INR" rate="89.2495"'))))
        .length,
      1,
    );
    const inr = "<Cube currency='INR' rate='89.2495'/>";
    const usd = "<Cube currency='USD' rate='1.0705'/>";
    const bad: Record<string, string> = {
      'half of it': good.slice(0, good.length / 2),
      'no end': good.replace('</gesmes:Envelope>', ''),
      'two days': good.replace('</Cube>\n\t</Cube>', `</Cube><Cube time='${day}'>${usd}</Cube></Cube>`),
      'no dollar': good.replace(usd, ''),
      'a rate twice': good.replace(inr, `${inr}${inr}`),
      entities: good.replace('?>', '?><!DOCTYPE x [<!ENTITY a "1">]>'),
      comment: good.replace(inr, `<!-- ${inr} -->`),
      'something more': `${good}<Cube/>`,
      'not that day': good.replace(day, '2024-02-31'),
      'the future': ecbDocument(dayOf(new Date(Date.now() + 48 * HOUR))),
      'long ago': ecbDocument(dayOf(new Date(Date.now() - 8 * 24 * HOUR))),
      ...Object.fromEntries(
        ['-89', '0', '0.00', 'NaN', '1e30', '', '89,25', '1'.repeat(30)].map((rate) => [
          `rate ${rate}`,
          good.replace('89.2495', rate),
        ]),
      ),
    };
    for (const [what, body] of Object.entries(bad)) await isSilent(answered('ecb', xml(body)), what);
  });
});

describe('invalid answers', () => {
  test('a rate limit takes precedence over the other answers', async () => {
    hosts.instead.set('coinbase', ([symbol]) => (symbol === 'USDT-USD' ? { status: 429 } : undefined));
    await assert.rejects(hosts.source('coinbase').fetch([ETH_INR]), /asked too often/);
  });
});

describe('crosses', () => {
  const now = () => new Date();
  const ago = (ms: number) => new Date(Date.now() - ms);
  const price = (pair: string, rate: string, pricedAt = now()): FetchedPrice => {
    const [base = '', quote = ''] = pair.split('/');
    return { base, quote, rate: parseRate(rate), pricedAt };
  };
  const kept = (source: string, pair: string, rate: string, pricedAt = now()): KeptPrice => ({
    source,
    ...price(pair, rate, pricedAt),
  });
  const rupees = kept('ecb', 'usd/inr', '83.3718', ago(20 * HOUR));
  const one = (said: FetchedPrice[], legs: KeptPrice[], pair = ETH_INR) => compose([pair], said, legs)[0];

  test('a coin in rupees is exactly coin in dollars times dollar in rupees, as old as the older', () => {
    const composed = one([price('eth/usd', '1830.765')], [rupees]);
    sameRate(composed?.rate, { num: 1_830_765n * 833_718n, den: 10_000_000n });
    assert.equal(composed?.pricedAt, rupees.pricedAt);
    const at = ago(30_000);
    assert.equal(one([price('eth/usd', '1', at)], [kept('ecb', 'usd/inr', '2')])?.pricedAt, at);
  });

  test('a pair that the source trades itself is not composed', () => {
    assert.equal(one([price('eth/inr', '150000'), price('eth/usd', '1830')], [rupees]), undefined);
  });

  test('USDT is a coin: its price in dollars is the exchange’s own, or one on which two others agree, never a single one’s', () => {
    const said = [price('eth/usdt', '2000')];
    assert.equal(one(said, [rupees]), undefined, 'a price was made without a USDT price');
    const a = kept('kraken', 'usdt/usd', '0.97');
    assert.equal(one(said, [rupees, a]), undefined, 'a single other exchange was enough');
    const both = one(said, [rupees, a, kept('bitstamp', 'usdt/usd', '0.98')]);
    assert.equal(formatRate(both?.rate ?? parseRate('1')), '162575.01', '2000 × 0.975 × 83.3718');
    assert.equal(one(said, [rupees, a, kept('bitstamp', 'usdt/usd', '1.03')]), undefined, 'they disagree');
    assert.equal(one(said, [rupees, a, kept('bitstamp', 'usdt/usd', '0.97', ago(61_000))]), undefined, 'one is old');
    const own = one([...said, price('usdt/usd', '0.5')], [rupees, a, a]);
    sameRate(own?.rate, parseRate('83371.8'), 'its own counts first');
    assert.equal(one([], [rupees, a, kept('bitstamp', 'usdt/usd', '0.97')], { base: 'usdt', quote: 'inr' }), undefined);
  });

  test('a composed price names its pairs', () => {
    const usdt = ['kraken', 'coinbase'].map((source) => kept(source, 'usdt/usd', '0.5'));
    assert.deepEqual(one([price('eth/usd', '1830')], [rupees])?.composedOf, ['eth/usd', 'usd/inr']);
    assert.deepEqual(one([price('eth/usdt', '1830')], [rupees, ...usdt])?.composedOf, [
      'eth/usdt',
      'usdt/usd',
      'usd/inr',
    ]);
  });

  test('a coin in dollars alone needs no currency', () => {
    const dollars: Pair = { base: 'eth', quote: 'usd' };
    const usdt = ['kraken', 'coinbase'].map((source) => kept(source, 'usdt/usd', '0.5'));
    sameRate(one([price('eth/usdt', '3000')], usdt, dollars)?.rate, parseRate('1500'));
  });

  test('an old coin leg and an old currency make no price, nor does a currency from the future', () => {
    assert.equal(one([price('eth/usd', '1830', ago(61_000))], [rupees]), undefined);
    for (const at of [ago(6 * 24 * HOUR + 1_000), ago(-HOUR)])
      assert.equal(one([price('eth/usd', '1830')], [kept('ecb', 'usd/inr', '83', at)]), undefined);
  });

  test('a currency that moves by more than a tenth is rejected while the last rate is valid', () => {
    const far = [price('usd/inr', '8337.18'), price('usd/eur', '0.92'), price('eth/usd', '9')];
    assert.deepEqual(jumped(far, [rupees]), [far[0]]);
    assert.deepEqual(jumped([price('usd/inr', '91.7')], [rupees]), []);
    assert.deepEqual(jumped(far, [{ ...rupees, pricedAt: ago(7 * 24 * HOUR) }]), []);
  });

  test('no leg makes a number that does not fit the table', () => {
    const digits = fc.bigInt({ min: 1n, max: 10n ** 30n });
    const rate = fc.tuple(digits, digits).map(([num, den]) => fraction(num, den));
    fc.assert(
      fc.property(rate, rate, rate, (a, b, c) => {
        const said = [
          { ...price('eth/usdt', '1'), rate: a },
          { ...price('usdt/usd', '1'), rate: b },
        ];
        const composed = one(said, [{ ...rupees, rate: c }]);
        if (composed === undefined) return;
        assert.equal(composed.rate.num * a.den * b.den * c.den, a.num * b.num * c.num * composed.rate.den, 'exact');
        assert.ok(composed.rate.num < 10n ** 78n && composed.rate.den < 10n ** 78n);
      }),
    );
  });
});

describe('the whole way: sources, prices, agreement, quote', () => {
  let world: Environment;
  let acme: TestPartner;
  let refresh: NonNullable<Handlers[string]>;
  const FOUR: readonly ExchangeName[] = ['binance', 'coinbase', 'kraken', 'bitstamp'];
  const ALL: readonly HostName[] = ['ecb', ...FOUR];

  before(async () => {
    world = await wireEnvironment();
    acme = await world.partner('acme');
    for (const symbol of ['USDTZUSD', 'USDCUSD', 'DAIUSD'])
      hosts.books.kraken[symbol] = { bid: '0.9998', ask: '1.0000' };
    for (const symbol of ['USDCEUR', 'DAIEUR']) hosts.books.kraken[symbol] = { bid: '0.9341', ask: '0.9342' };
    Object.assign(hosts.books.bitstamp, {
      usdcusd: { bid: '0.9999', ask: '1.0001' },
      usdtusd: { bid: '0.9998', ask: '1.0000' },
    });
    hosts.books.binance.USDCUSDT = { bid: '1.0001', ask: '1.0003' };
    const sources = new Map(ALL.map((name) => [name as string, hosts.source(name)]));
    const { refresh_prices } = quoteHandlers({ db: world.db, clock: world.clock, sources });
    assert.ok(refresh_prices !== undefined);
    refresh = refresh_prices;
    await world.db.asSystem((tx) =>
      upsertMarket(tx, {
        direction: 'offramp',
        crypto: 'usdc.matic20',
        fiat: 'inr',
        enabled: true,
        isDefault: true,
        depositRail: 'evm.matic20',
        payoutRail: 'bank.simulated',
        paymentMethod: 'IMPS',
        minUnits: 1_000_000n,
        maxUnits: 10_000_000_000n,
        payoutDecimals: 2,
        quoteTtlMs: 60_000,
        depositTtlMs: HOUR,
        priceSources: [...FOUR],
        priceMaxAgeMs: 6 * 24 * HOUR,
        priceQuorum: 3,
        outlierBps: 300n,
      }),
    );
  });
  after(() => world?.stop());

  const quote = () =>
    acme.post('offramp/quote', { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '100', chain: 'matic20' });
  const health = async (name: HostName) => await runCheck(priceSourceCheck(world.db, hosts.source(name)));
  /** A requested pause is not awaited here. */
  const again = () => world.query('update price_sources set paused_until = null');

  test('until three sources have answered there is no quote; then there is, at their median', async () => {
    assert.equal((await health('kraken')).why, 'not asked yet');
    // Binance is the first and has no dollars of its own, so only its second turn knows what a USDT is.
    for (const name of ['ecb', 'binance', 'kraken']) await refresh(name);
    assert.equal((await quote()).status, 503, 'one of three');
    await refresh('bitstamp');
    const second = await quote();
    assert.deepEqual([second.status, second.body.reason], [503, 'unavailable'], 'two of three');
    assert.ok(Number(second.headers.get('retry-after')) > 0);
    await refresh('binance');
    const third = await quote();
    assert.equal(third.status, 200, third.text);
    // Kraken 0.9999, Bitstamp 1, Binance 1.0002 × 0.9999: the median is Bitstamp's.
    const [row] = await world.query('select rate_num, rate_den, prices from quotes order by id desc limit 1');
    assert.equal(
      formatRate({ num: BigInt(row.rate_num), den: BigInt(row.rate_den) }),
      formatRate(fraction(892_495n, 10_705n)),
    );
    assert.deepEqual(
      row.prices.map(({ source, at }: { source: string; at: string }) => `${source} ${at}`).sort(),
      ['binance', 'bitstamp', 'kraken'].map((source) => `${source} ${hosts.bank.day}T12:15:00.000Z`),
    );
    for (const name of ALL) {
      await refresh(name);
      assert.equal((await health(name)).ok, true, name);
    }
  });

  test('a lying one is excluded, and then there are too few', async () => {
    assert.equal((await quote()).status, 200);
    hosts.instead.set('bitstamp', saying('bitstamp', { bid: '2.0', ask: '2.0' }));
    await refresh('bitstamp');
    assert.equal((await quote()).status, 503);
    hosts.instead.delete('bitstamp');
    await refresh('bitstamp');
    assert.equal((await quote()).status, 200);
  });

  test('one that is silent for a minute does not count, although the market allows prices of days', async () => {
    await world.query(`update prices set fetched_at = now() - interval '61 seconds' where source = 'kraken'`);
    assert.equal((await quote()).status, 503);
    await refresh('kraken');
    assert.equal((await quote()).status, 200);
  });

  test('one that fails is paused, longer each time, shown, and polled again when it is back', async () => {
    hosts.instead.set('kraken', () => ({ status: 500 }));
    const pauses: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const handled = await refresh('kraken');
      pauses.push(handled?.againInMs ?? 0);
      await again();
    }
    assert.deepEqual(pauses, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    const { ok, failures, lastFailure, lastSuccessAgeMs } = await health('kraken');
    assert.deepEqual([ok, failures, lastFailure], [false, 6, 'HTTP 500']);
    assert.ok(Number(lastSuccessAgeMs) >= 0);
    hosts.instead.delete('kraken');
    assert.deepEqual(await refresh('kraken'), { againInMs: 5_000 });
    const back = await health('kraken');
    assert.deepEqual([back.ok, back.failures, back.lastFailure], [true, 0, 'HTTP 500']);
  });

  test('one that requested a pause is not polled before its end, by any server', async () => {
    hosts.instead.set('kraken', () => ({ status: 429, headers: { 'retry-after': '600' } }));
    assert.deepEqual(await refresh('kraken'), { againInMs: 600_000 });
    const asked = hosts.asked.length;
    const handled = await refresh('kraken');
    assert.ok((handled?.againInMs ?? 0) > 590_000);
    assert.equal(hosts.asked.length, asked);
    assert.equal((await health('kraken')).lastFailure, 'asked too often');
    hosts.instead.clear();
    await again();
    await refresh('kraken');
  });

  test('a currency that jumps is rejected, and its old rate stays in use', async () => {
    const tenfold = ecbDocument(dayOf(new Date())).replace('89.2495', '892.495');
    hosts.instead.set('ecb', () => ({
      headers: { 'content-type': 'text/xml' },
      body: tenfold.replace(dayOf(new Date()), hosts.bank.day),
    }));
    await refresh('ecb');
    assert.match(String((await health('ecb')).lastFailure), /^usd\/inr moved by more than a tenth/);
    await refresh('bitstamp');
    assert.equal((await quote()).status, 200);
    const [row] = await world.query(`select num, den from prices where base = 'usd' and quote = 'inr'`);
    sameRate({ num: BigInt(row.num), den: BigInt(row.den) }, { num: 892_495n, den: 10_705n });
  });
});

describe('settings', () => {
  const codes = (env: Record<string, string>) => [...priceSources(readConfig(env)).keys()];

  test('the sandbox has its fixed prices by default, and production never has them', () => {
    assert.deepEqual(codes({}), ['fixed']);
    assert.deepEqual(codes({ PRICE_SOURCES: 'kraken, ecb' }), ['kraken', 'ecb']);
    assert.deepEqual(
      codes({ PROFILE: 'production' }),
      LISTS.priceSources.map(({ code }) => code).filter((code) => code !== 'fixed'),
    );
    assert.throws(() => codes({ PROFILE: 'production', PRICE_SOURCES: 'kraken,fixed' }), SettingError);
  });

  test('a source that is not known, or twice, and an address that can be listened to, are refused', () => {
    for (const PRICE_SOURCES of ['krakn', 'kraken,kraken', ',', 'toString'])
      assert.throws(() => codes({ PRICE_SOURCES }), SettingError, PRICE_SOURCES);
    for (const url of ['http://api.kraken.com', 'ftp://x', 'kraken', 'https://a:b@x.org', 'https://x.org/?a=b'])
      assert.throws(() => codes({ PRICE_KRAKEN_URL: url }), SettingError, url);
    const { baseUrl } = readConfig({ PRICE_KRAKEN_URL: 'https://mirror.example/kraken/' }).valuesOf(krakenSource);
    assert.equal(baseUrl, 'https://mirror.example/kraken');
    assert.equal(
      readConfig({ PRICE_ECB_URL: 'http://127.0.0.1:8099' }).valuesOf(ecbSource).baseUrl,
      'http://127.0.0.1:8099',
    );
  });
});
