/** When a market stops quoting because of its prices, and when it resumes: by itself, at which level, or by an operator. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, mock, test } from 'node:test';
import type { Handlers } from '../../src/base/jobs.ts';
import { parseRate } from '../../src/base/money.ts';
import { listCases } from '../../src/compliance/index.ts';
import { breakersCheck, pricesCheck } from '../../src/ops/index.ts';
import { runCheck } from '../../src/ops/routes.ts';
import { createPartner, findMarket, type Market, setFee, upsertAsset, upsertMarket } from '../../src/partners/index.ts';
import { type Agreed, type Level, NO_LEVEL, observe } from '../../src/quotes/breaker.ts';
import { confirmLevel, type PriceSource, quoteHandlers } from '../../src/quotes/index.ts';
import { fixedSource } from '../../src/quotes/sources/fixed.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';

describe('judging a price, by given times', () => {
  const rules = { jumpBps: 1_000n, resumeMs: 60_000, missingMs: 30_000 };
  const at = (seconds: number) => new Date(Date.UTC(2027, 0, 4) + seconds * 1000);
  const of = (text: string, sources = 2): Agreed => ({ rate: parseRate(text), sources });
  /** Plays readings by their second. @returns turns, as `second turn` */
  function play(readings: readonly (readonly [number, Agreed])[], from: Level = NO_LEVEL) {
    let level = from;
    const turns: string[] = [];
    for (const [second, agreed] of readings) {
      const judged = observe(level, agreed, rules, at(second));
      level = judged.level;
      if (judged.turn !== undefined) turns.push(`${second} ${judged.turn}${level.why === null ? '' : ` ${level.why}`}`);
    }
    return { turns, level };
  }

  test('the first price is the level, and a tenth up or down is followed', () => {
    const { turns, level } = play([
      [0, of('100')],
      [5, of('110')],
      [10, of('100')],
      [15, of('91')],
    ]);
    assert.deepEqual([turns, level.level], [[], parseRate('91')]);
  });

  test('a jump halts, up as down, to the unit', () => {
    for (const text of ['110.000001', '10000', '90.9', '1'])
      assert.deepEqual(
        play([
          [0, of('100')],
          [5, of(text)],
        ]).turns,
        ['5 halted jump'],
        text,
      );
    for (const text of ['110', '90.91'])
      assert.deepEqual(
        play([
          [0, of('100')],
          [5, of(text)],
        ]).turns,
        [],
        text,
      );
  });

  test('the level does not change while halted', () => {
    const { level } = play([
      [0, of('100')],
      [5, of('10000')],
      [20, of('10000')],
    ]);
    assert.deepEqual([level.level, level.seen], [parseRate('100'), parseRate('10000')]);
  });

  test('two sources that agree on a new level for long enough are believed', () => {
    const { turns, level } = play([
      [0, of('100')],
      [5, of('150')],
      [64, of('150')],
      [65, of('151')],
    ]);
    assert.deepEqual([turns, level.level], [['5 halted jump', '65 resumed'], parseRate('151')]);
  });

  test('a new level needs two agreeing sources; one that repeats itself is not enough, however long', () => {
    const alone = play([
      [0, of('100', 1)],
      [5, of('150', 1)],
      [3_600, of('150', 1)],
    ]);
    assert.deepEqual(alone.turns, ['5 halted jump']);
    assert.deepEqual(play([[3_601, of('150', 2)]], alone.level).turns, ['3601 resumed']);
  });

  test('one source that returns to the old level resumes the market after the same time', () => {
    const { turns } = play([
      [0, of('100', 1)],
      [5, of('10000', 1)],
      [10, of('101', 1)],
      [69, of('101', 1)],
      [70, of('101', 1)],
    ]);
    assert.deepEqual(turns, ['5 halted jump', '70 resumed']);
  });

  test('agreement starts over when the price moves, or the quorum is lost', () => {
    const moving = play([
      [0, of('100')],
      [5, of('150')],
      [60, of('200')],
      [70, of('200')],
      [119, of('200')],
      [120, of('200')],
    ]);
    assert.deepEqual(moving.turns, ['5 halted jump', '120 resumed']);
    const lost = play([
      [0, of('100')],
      [5, of('150')],
      [60, undefined],
      [70, of('150')],
      [129, of('150')],
      [130, of('150')],
    ]);
    assert.deepEqual(lost.turns, ['5 halted jump', '130 resumed']);
  });

  test('a quorum may be missing for a while, and then quoting halts until it has agreed for long enough', () => {
    const { turns } = play([
      [0, of('100')],
      [5, undefined],
      [34, undefined],
      [34.5, of('100')],
      [40, undefined],
      [69, undefined],
      [70, undefined],
      [80, of('100')],
      [139, of('100')],
      [140, of('100')],
    ]);
    assert.deepEqual(turns, ['70 halted quorum', '140 resumed']);
  });

  test('a market that never had a price is halted, too, and accepts the first level after the same time', () => {
    const { turns, level } = play([
      [0, undefined],
      [30, undefined],
      [40, of('100', 1)],
      [100, of('100', 1)],
    ]);
    assert.deepEqual([turns, level.level], [['30 halted quorum', '100 resumed'], parseRate('100')]);
  });

  test('an unchanged level is the same object, so nothing is written', () => {
    const { level } = play([[0, of('100')]]);
    assert.equal(observe(level, of('100'), rules, at(5)).level, level);
    const halted = play([
      [0, of('100')],
      [5, of('150')],
    ]).level;
    assert.equal(observe(halted, of('150'), rules, at(6)).level, halted);
  });
});

describe('on a market', () => {
  let world: Environment;
  let acme: TestPartner;
  let market: Market;
  let work: Handlers;
  const sources = { one: fixedSource({ code: 'one' }), two: fixedSource({ code: 'two' }) };
  /** Only the named ones of these answer. */
  let live: readonly string[] = ['one', 'two'];

  before(async () => {
    world = await wireEnvironment();
    acme = await world.partner('acme');
    const asked = new Map<string, PriceSource>();
    for (const [code, source] of Object.entries(sources))
      asked.set(code, {
        code,
        fetch: async (pairs, clock) => (live.includes(code) ? await source.fetch(pairs, clock) : []),
      });
    work = quoteHandlers({ db: world.db, clock: world.clock, sources: asked });
  });
  after(() => world?.stop());

  const terms = { priceSources: ['one', 'two'], priceQuorum: 2, jumpBps: 1_000n, resumeMs: 1_000, singleSource: false };
  async function set(over: Partial<Market> = {}): Promise<void> {
    market = await world.db.asSystem(async (tx) => {
      const found = await findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr', chain: 'matic20' });
      await upsertMarket(tx, { ...found, ...terms, ...over, crypto: found.crypto.code, fiat: found.fiat.code });
      return await findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr', chain: 'matic20' });
    });
  }
  const hear = async (...codes: string[]) => {
    for (const code of codes) await work.refresh_prices?.(code);
  };
  const says = (text: string | undefined, ...codes: (keyof typeof sources)[]) => {
    for (const code of codes) sources[code].move('usdc', 'inr', text === undefined ? undefined : parseRate(text));
  };
  const quote = async (over: Record<string, string> = {}) => {
    const asked = { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '100', chain: 'matic20', ...over };
    const { status, body, headers } = await acme.post('offramp/quote', asked);
    return {
      status,
      reason: body.reason,
      rate: body.data?.rate,
      toAmount: body.data?.toAmount,
      retryAfter: headers.get('retry-after'),
    };
  };
  const order = async (rate: string, toAmount: string) => {
    const { customerId, fiatAccountId } = acme;
    const asked = { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '100', chain: 'matic20', rate, toAmount };
    const { status, body } = await acme.post('offramp/createTransaction', { ...asked, customerId, fiatAccountId });
    return [status, body.reason];
  };
  const openHalts = async () =>
    (await world.db.asSystem((tx) => listCases(tx, { open: true, kind: 'price_halted', limit: 50 }))).filter(
      ({ facts }) => String(facts.markets).split(', ').includes(String(market.id)),
    );
  /** Sets the state as if this much time had passed. */
  const age = (seconds: number) =>
    world.query(
      `update price_levels set seen_since = seen_since - $1 * interval '1 s',
                   missing_since = missing_since - $1 * interval '1 s'`,
      [seconds],
    );

  beforeEach(async () => {
    live = ['one', 'two'];
    says(undefined, 'one', 'two');
    await set();
    await world.query('delete from price_levels');
    await world.query('delete from prices');
    await world.query(`update cases set closed_at = now(), outcome = 'over' where closed_at is null`);
    await hear('one', 'two');
    assert.equal((await quote()).status, 200);
  });

  test('a price times a hundred is refused before it is quoted: quotes, orders, previews; with a reason and a case', async () => {
    await set({ priceSources: ['one'], priceQuorum: 1, singleSource: true });
    await hear('one');
    const before = await quote();
    says('8600', 'one');
    await hear('one');
    const { status, reason, retryAfter } = await quote();
    assert.deepEqual([status, reason], [503, 'price_halted']);
    assert.ok(Number(retryAfter) >= 5, String(retryAfter));
    assert.deepEqual(
      await order(before.rate, before.toAmount),
      [503, 'price_halted'],
      'a quote made before is not taken',
    );
    const [found, ...more] = await openHalts();
    const names = `market ${market.id}`;
    assert.deepEqual([found?.reason, more.length], [`usdc/inr jumped from 86 to 8600: ${names}`, 0]);
    const check = await runCheck(breakersCheck(world.db));
    assert.deepEqual([check.ok, check.halted], [false, 1]);
    assert.match(String(check[`market ${market.id} usdc`]), /^jump since /);
  });

  test('one source is not believed at a new level by saying it for long, and is near the old one', async () => {
    await set({ priceSources: ['one'], priceQuorum: 1, singleSource: true });
    await hear('one');
    says('8600', 'one');
    await hear('one');
    await age(3_600);
    await hear('one');
    assert.equal((await quote()).reason, 'price_halted');
    says('86.5', 'one');
    await hear('one');
    assert.equal((await quote()).reason, 'price_halted', 'the market resumed at once');
    await age(3);
    await work.watch_prices?.('all');
    assert.equal((await quote()).status, 200);
    assert.deepEqual(await openHalts(), []);
  });

  test('two sources that agree on a new level for long enough are, and quotes of the old one are over', async () => {
    const old = await quote();
    says('129', 'one', 'two');
    await hear('one', 'two');
    assert.equal((await quote()).reason, 'price_halted');
    await work.watch_prices?.('all');
    await age(3);
    await work.watch_prices?.('all');
    assert.equal((await quote()).status, 200);
    assert.deepEqual(await order(old.rate, old.toAmount), [428, 'price_moved']);
  });

  test('an operator can confirm only the sources’ price', async () => {
    await set({ priceSources: ['one'], priceQuorum: 1, singleSource: true });
    await hear('one');
    const confirm = (text: string, coin = 'usdc') =>
      world.db.asSystem((tx) => confirmLevel(tx, { marketId: market.id, coin, level: parseRate(text), by: 'anna' }));
    await assert.rejects(confirm('86'), { code: 'market_not_halted' });
    says('172', 'one');
    await hear('one');
    await assert.rejects(confirm('86'), { code: 'malformed_field' });
    await assert.rejects(confirm('172', 'matic'), { code: 'market_not_halted' });
    await confirm('171');
    const { status, rate } = await quote();
    assert.deepEqual([status, rate], [200, '172']);
    assert.deepEqual(await openHalts(), []);
    await assert.rejects(confirm('172'), { code: 'market_not_halted' });
  });

  test('fewer live sources than the quorum halt the market, and one that returns reopens it after a while', async () => {
    live = ['one'];
    await world.query(`delete from prices where source = 'two'`);
    await hear('one', 'two');
    const missing = await quote();
    assert.deepEqual(
      [missing.status, missing.reason],
      [503, 'unavailable'],
      'without a quorum there is no quote, at once',
    );
    assert.deepEqual(await openHalts(), [], 'the market was halted too early');
    await age(61);
    await work.watch_prices?.('all');
    assert.match((await openHalts())[0]?.reason ?? '', /^fewer than 2 live sources for usdc\/inr: markets? /);
    live = ['one', 'two'];
    await hear('one', 'two');
    assert.equal((await quote()).reason, 'price_halted');
    await age(3);
    await work.watch_prices?.('all');
    assert.equal((await quote()).status, 200);
  });

  test('a price of the coin that gas is paid in halts the market that charges it', async () => {
    const matic = { code: 'matic.matic20', kind: 'crypto', coin: 'matic', chain: 'matic20', contract: null } as const;
    const fee = { marketId: market.id, partnerId: null, kind: 'chain' } as const;
    await world.query(`insert into gas_prices (chain, units, fetched_at) values ('matic20', 1000000000, now())`);
    await world.db.asSystem(async (tx) => {
      await upsertAsset(tx, { ...matic, decimals: 18, native: true });
      await setFee(tx, { ...fee, gasUnits: 65_000n });
    });
    await hear('one', 'two');
    assert.equal((await quote()).status, 200);
    for (const source of [sources.one, sources.two]) source.move('matic', 'inr', parseRate('4300'));
    await hear('one', 'two');
    assert.equal((await quote()).reason, 'price_halted');
    assert.equal((await openHalts())[0]?.reason, `matic/inr jumped from 43 to 4300: market ${market.id}`);
    assert.deepEqual(await order('86', '8500'), [503, 'price_halted']);
    // Charged to another partner alone: the halt is that one's.
    await world.db.asSystem(async (tx) => {
      await setFee(tx, { ...fee, gasUnits: 0n, fixedUnits: 100n });
      await setFee(tx, {
        ...fee,
        partnerId: (await createPartner(tx, { name: 'gas', now: world.clock.now() })).id,
        gasUnits: 65_000n,
      });
    });
    const free = async (why: string) => {
      const { status, rate, toAmount } = await quote();
      assert.equal(status, 200, why);
      assert.deepEqual(await order(rate, toAmount), [200, undefined], why);
    };
    await free('a partner that is charged no gas does not need its price');
    await work.watch_prices?.('all');
    assert.equal((await openHalts()).length, 1);
    await world.query(`update fee_schedules set gas_units = 0 where market_id = $1`, [market.id]);
    await work.watch_prices?.('all');
    assert.deepEqual(await openHalts(), [], 'a market without a gas fee was halted by the gas price');
    assert.equal((await runCheck(breakersCheck(world.db))).halted, 0);
    await free('nor does the market');
    for (const source of [sources.one, sources.two]) source.move('matic', 'inr', undefined);
  });

  test('a price that was kept by something that judges nothing is not quoted at, either', async () => {
    await world.query(`update prices set num = num * 100 where base = 'usdc' and quote = 'inr'`);
    assert.equal((await quote()).reason, 'price_halted');
    assert.deepEqual(await openHalts(), []);
    await work.watch_prices?.('all');
    assert.equal((await openHalts()).length, 1);
  });

  test('an undeclared quorum of one is reported', async () => {
    await set({ priceSources: ['one'], priceQuorum: 1, singleSource: false });
    const { ok, undeclared, quorumOfOne } = await runCheck(breakersCheck(world.db));
    assert.equal(ok, false);
    assert.ok(Number(undeclared) >= 1 && Number(quorumOfOne) >= 1);
  });

  describe('time', () => {
    test('a server whose clock is an hour ahead dates no price ahead, and quotes', async () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 });
      try {
        await hear('one', 'two');
      } finally {
        mock.timers.reset();
      }
      const [{ ahead } = { ahead: true }] = await world.query('select bool_or(priced_at > now()) as ahead from prices');
      assert.equal(ahead, false);
      assert.equal((await quote()).status, 200);
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 20_000 });
      try {
        assert.equal((await quote()).status, 200, 'by a server whose clock is ahead');
      } finally {
        mock.timers.reset();
      }
    });

    test('a price dated ahead is shown, and the next one replaces it', async () => {
      await world.query(`update prices set priced_at = now() + interval '1 hour'`);
      assert.equal((await quote()).status, 503);
      assert.equal((await runCheck(pricesCheck(world.db))).ok, false);
      await hear('one', 'two');
      assert.equal((await quote()).status, 200);
      assert.equal((await runCheck(pricesCheck(world.db))).ok, true);
    });
  });
});
