/** A server that starts has prices soon, although its sources were polled before its markets were there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRate } from '../../src/base/money.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { pricesAreFresh } from '../../src/composition/readiness.ts';
import { pricesCheck } from '../../src/ops/index.ts';
import { runCheck } from '../../src/ops/routes.ts';
import { upsertAsset, upsertMarket } from '../../src/partners/index.ts';
import { type Pair, POLL, type PriceSource, pollPrices, quoteHandlers, refreshNow } from '../../src/quotes/index.ts';
import { fixedSource } from '../../src/quotes/sources/fixed.ts';
import { freshFixture } from '../support/fixture.ts';
import { openRows } from '../support/rows.ts';
import { until } from '../support/until.ts';

const USDC = { code: 'usdc.eth', kind: 'crypto', coin: 'usdc', chain: 'eth', contract: '0x01', decimals: 6 } as const;
const EUR = { code: 'eur', kind: 'fiat', coin: 'eur', chain: null, contract: null, decimals: 2 } as const;
const MARKET = {
  ...({ direction: 'offramp', crypto: USDC.code, fiat: EUR.code, enabled: true, isDefault: true } as const),
  ...{ depositRail: 'chain.eth', payoutRail: 'bank', paymentMethod: 'SEPA', minUnits: 1n, maxUnits: 10n ** 9n },
  ...{ payoutDecimals: 2, quoteTtlMs: 60_000, depositTtlMs: 60_000 },
  ...{ priceMaxAgeMs: 30_000, priceQuorum: 1, outlierBps: 300n, singleSource: true },
};

test('a source with an hour between its polls is polled again once there are markets', async () => {
  const { db, clock, log, stop } = await freshFixture();
  const polled: (readonly Pair[])[] = [];
  const hourly: PriceSource = {
    code: 'hourly',
    everyMs: 3_600_000,
    async fetch(pairs) {
      polled.push(pairs);
      return pairs.map((pair) => ({ ...pair, rate: parseRate('0.92'), pricedAt: clock.now() }));
    },
  };
  const sources = new Map([[hourly.code, hourly]]);
  const workers = await startWorkers({
    db,
    clock,
    log,
    handlers: quoteHandlers({ db, clock, sources }),
    polls: [POLL],
  });
  try {
    await db.asSystem((tx) => pollPrices(tx, sources.keys(), clock.now()));
    await until('it is polled', async () => polled.length > 0);
    await db.asSystem(async (tx) => {
      for (const asset of [USDC, EUR]) await upsertAsset(tx, { ...asset, native: false });
      await upsertMarket(tx, { ...MARKET, priceSources: [hourly.code] });
    });
    await pricesAreFresh({ db, clock }, sources);
    assert.deepEqual(polled, [[], [{ base: 'usdc', quote: 'eur' }]]);
  } finally {
    await workers.stop();
    await stop();
  }
});

test('an unchanged price of a source that says so is rewritten only when it gets old, and a changed one at once', async () => {
  const { db, adminUrl, stop } = await freshFixture();
  const rows = await openRows(adminUrl);
  const source = fixedSource({ rewriteMs: 35_000 });
  const written = async (): Promise<string> => {
    const found = await rows.query(`select xmin::text from prices where base = 'usdc' and quote = 'eur'`);
    return String(found[0]?.xmin);
  };
  /** @returns whether a poll wrote the price, when it was this old */
  const isWrittenAt = async (ageMs: number): Promise<boolean> => {
    await rows.query(
      `update prices set priced_at = now() - make_interval(secs => $1), fetched_at = now() - make_interval(secs => $1)`,
      [ageMs / 1_000],
    );
    const before = await written();
    await refreshNow(db, source);
    return (await written()) !== before;
  };
  try {
    await db.asSystem(async (tx) => {
      for (const asset of [USDC, EUR]) await upsertAsset(tx, { ...asset, native: false });
      await upsertMarket(tx, { ...MARKET, priceSources: [source.code], priceMaxAgeMs: 60_000 });
    });
    await refreshNow(db, source);
    assert.equal(await isWrittenAt(30_000), false);
    assert.equal(await isWrittenAt(36_000), true);
    // The oldest that a price becomes: it was left out at one poll, and the next one is ten seconds later.
    assert.equal(await isWrittenAt(34_000), false);
    await rows.query('update prices set priced_at = now() - make_interval(secs => 44)');
    assert.equal((await runCheck(pricesCheck(db))).ok, true, 'a price that is due to be rewritten counted as old');
    source.move('usdc', 'eur', parseRate('0.95'));
    assert.equal(await isWrittenAt(1_000), true, 'a moved price was not stored');
    assert.equal(await isWrittenAt(1_000), false);
    // A market that needs younger prices.
    await db.asSystem((tx) => upsertMarket(tx, { ...MARKET, priceSources: [source.code], priceMaxAgeMs: 30_000 }));
    assert.equal(await isWrittenAt(4_000), false);
    assert.equal(await isWrittenAt(6_000), true);
    // A clock that was ahead dated it.
    assert.equal(await isWrittenAt(-60_000), true);
  } finally {
    await rows.close();
    await stop();
  }
});
