/** A server that starts has prices soon, although its sources were polled before its markets were there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRate } from '../../src/base/money.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { pricesAreFresh } from '../../src/composition/readiness.ts';
import { upsertAsset, upsertMarket } from '../../src/partners/index.ts';
import { type Pair, POLL, type PriceSource, pollPrices, quoteHandlers } from '../../src/quotes/index.ts';
import { freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

const USDC = { code: 'usdc.eth', kind: 'crypto', coin: 'usdc', chain: 'eth', contract: '0x01', decimals: 6 } as const;
const EUR = { code: 'eur', kind: 'fiat', coin: 'eur', chain: null, contract: null, decimals: 2 } as const;

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
      await upsertMarket(tx, {
        ...{ direction: 'offramp', crypto: USDC.code, fiat: EUR.code, enabled: true, isDefault: true },
        ...{ depositRail: 'chain.eth', payoutRail: 'bank', paymentMethod: 'SEPA', minUnits: 1n, maxUnits: 10n ** 9n },
        ...{ payoutDecimals: 2, quoteTtlMs: 60_000, depositTtlMs: 60_000, priceSources: [hourly.code] },
        ...{ priceMaxAgeMs: 30_000, priceQuorum: 1, outlierBps: 300n, singleSource: true },
      });
    });
    await pricesAreFresh({ db, clock }, sources);
    assert.deepEqual(polled, [[], [{ base: 'usdc', quote: 'eur' }]]);
  } finally {
    await workers.stop();
    await stop();
  }
});
