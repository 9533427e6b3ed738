/** Limits of a customer as tables: which rows apply to a level, and which amounts count. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MarketWorth } from '../../src/orders/limits.store.ts';
import { useOf } from '../../src/orders/limits.ts';
import { type CustomerLimit, inForce } from '../../src/partners/index.ts';

const DAY_MS = 86_400_000;
const AT = new Date(Date.UTC(2026, 10, 1, 12));
const minutes = (ago: number) => new Date(AT.getTime() - ago * 60_000);

const limit = (over: Partial<CustomerLimit> = {}): CustomerLimit => ({
  ...{ id: 1n, fiatAsset: 'inr', direction: null, marketId: null, level: 1, period: 'day', version: 1 },
  ...{ maxUnits: 1_000n, setBy: 'ada', why: 'a test', setAt: AT, ...over },
});
const worth = (over: Partial<MarketWorth> = {}): MarketWorth => ({
  ...{ marketId: 1n, direction: 'offramp', fiatAsset: 'inr', dayUnits: 300n, monthUnits: 700n },
  ...{ dayFirst: minutes(60), monthFirst: minutes(3_000), newest: minutes(5), ...over },
});
const used = (of: CustomerLimit, ...orders: MarketWorth[]) => {
  const { usedUnits, leftUnits, freesAt, resetsAt } = useOf(of, orders);
  const after = (at: Date | null) => (at === null ? null : (AT.getTime() - at.getTime()) / -60_000);
  return [usedUnits, leftUnits, after(freesAt), after(resetsAt)];
};

test('for each scope and period, the row in force is that of the lowest level not below the customer’s', () => {
  const rows = [
    limit({ id: 1n, level: 1 }),
    limit({ id: 2n, level: 3 }),
    limit({ id: 3n, level: 2, period: 'month' }),
    limit({ id: 4n, level: 3, direction: 'onramp' }),
    { ...limit({ id: 5n, level: 2, direction: 'onramp' }), maxUnits: null },
    limit({ id: 6n, level: 5, fiatAsset: 'eur' }),
  ];
  const ids = (level: number) => inForce(rows, level).map(({ id }) => id);
  assert.deepEqual(ids(0), [1n, 3n, 4n, 6n]);
  assert.deepEqual(ids(1), [1n, 3n, 4n, 6n]);
  assert.deepEqual(ids(2), [2n, 3n, 4n, 6n]);
  assert.deepEqual(ids(3), [2n, 4n, 6n]);
  assert.deepEqual(ids(4), [6n]);
});

test('a day counts 24 hours and a month 30 days, each until the orders in it are that old', () => {
  const month = 30 * 24 * 60;
  assert.deepEqual(used(limit(), worth()), [300n, 700n, DAY_MS / 60_000 - 60, DAY_MS / 60_000 - 5]);
  assert.deepEqual(used(limit({ period: 'month' }), worth()), [700n, 300n, month - 3_000, month - 5]);
  assert.deepEqual(used(limit({ period: 'order' }), worth()), [0n, 1_000n, null, null]);
  assert.deepEqual(used(limit()), [0n, 1_000n, null, null]);
});

test('an order older than a day counts in the month alone', () => {
  const old = worth({ dayUnits: 0n, dayFirst: null, newest: minutes(2_000) });
  assert.deepEqual(used(limit(), old), [0n, 1_000n, null, null]);
  assert.equal(used(limit({ period: 'month' }), old)[0], 700n);
  // The old orders of one market do not free the day of another.
  assert.deepEqual(used(limit(), old, worth())[2], DAY_MS / 60_000 - 60);
});

test('a limit counts the markets that it covers, and nothing is left below zero', () => {
  const buys = worth({ marketId: 2n, direction: 'onramp', dayUnits: 800n, newest: minutes(50) });
  const euros = worth({ marketId: 3n, fiatAsset: 'eur', dayUnits: 50n });
  const all = [worth(), buys, euros];
  assert.deepEqual(used(limit(), ...all).slice(0, 2), [1_100n, 0n]);
  assert.deepEqual(used(limit({ direction: 'onramp' }), ...all).slice(0, 2), [800n, 200n]);
  assert.deepEqual(used(limit({ direction: 'offramp' }), ...all).slice(0, 2), [300n, 700n]);
  assert.deepEqual(used(limit({ marketId: 2n }), ...all).slice(0, 2), [800n, 200n]);
  assert.deepEqual(used(limit({ fiatAsset: 'eur' }), ...all).slice(0, 2), [50n, 950n]);
  assert.equal(used(limit({ fiatAsset: 'eur' }), worth())[0], 0n);
});
