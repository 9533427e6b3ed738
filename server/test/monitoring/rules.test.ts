/** Matches and non-matches of each kind of rule, to the unit and the second. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Facts, faultsOf, judge, NOBODY, type RuleText, type Traded } from '../../src/monitoring/rules.ts';

const NOW = new Date('2026-06-30T12:00:00Z');
const HOUR_MS = 3_600_000;
const rule = (over: Partial<RuleText> & Pick<RuleText, 'kind'>): RuleText => ({
  ...{ fiat: null, worthUnits: null, count: null, days: null, withinBps: null },
  ...over,
});
let ids = 0n;
const order = (worthUnits: bigint, hoursAgo = 0, fiat = 'inr'): Traded => ({
  ...{ orderId: ++ids, worthUnits, fiat },
  createdAt: new Date(NOW.getTime() - hoursAgo * HOUR_MS),
});
const facts = (over: Partial<Facts> = {}): Facts => ({
  ...{
    order: order(100n),
    before: [],
    isFirst: false,
    othersAtWallet: 0,
    atAccount: NOBODY,
    country: undefined,
    phoneCountry: undefined,
  },
  ...over,
});
const finds = (one: RuleText, given: Partial<Facts>) => judge(one, facts(given)) !== undefined;

describe('velocity', () => {
  const many = rule({ kind: 'velocity', fiat: 'inr', days: 1, count: 3 });
  const much = rule({ kind: 'velocity', fiat: 'inr', days: 1, worthUnits: 300n });

  test('counts this order with those before it in the span, and none that is as old as the span', () => {
    assert.ok(finds(many, { before: [order(1n, 23.9), order(1n, 1)] }));
    assert.ok(!finds(many, { before: [order(1n, 24), order(1n, 1)] }));
    assert.ok(!finds(many, { before: [order(1n, 1)] }));
  });

  test('adds up the value of orders, to the unit', () => {
    assert.ok(finds(much, { before: [order(200n, 1)] }));
    assert.ok(!finds(much, { before: [order(199n, 1)] }));
  });

  test('counts orders of its fiat only, and looks only at those', () => {
    assert.ok(!finds(many, { before: [order(1n, 1, 'eur'), order(1n, 2, 'eur')] }));
    assert.ok(!finds(many, { order: order(1n, 0, 'eur'), before: [order(1n, 1), order(1n, 2), order(1n, 3)] }));
  });

  test('reports its evidence: how many, how much, and the newest ids', () => {
    const before = Array.from({ length: 30 }, (_, at) => order(1n, 10 - at / 10));
    const saw = judge(many, facts({ before }));
    assert.ok(saw !== undefined && Array.isArray(saw.newest));
    assert.deepEqual([saw.orders, saw.worthUnits, saw.newest.length], [31, '130', 20]);
  });
});

describe('structuring', () => {
  const below = rule({ kind: 'structuring', fiat: 'inr', days: 2, count: 3, worthUnits: 1_000n, withinBps: 1_000 });
  const three = (a: bigint, b: bigint, c: bigint) => ({ order: order(c), before: [order(a, 30), order(b, 1)] });

  test('finds orders just below the limit, the edge included and the limit not', () => {
    assert.ok(finds(below, three(900n, 999n, 950n)));
    for (const [a, b, c] of [
      [899n, 999n, 950n],
      [900n, 1_000n, 950n],
      [900n, 999n, 1_000n],
      [900n, 999n, 899n],
    ] as const)
      assert.ok(!finds(below, three(a, b, c)), `${a}, ${b}, ${c}`);
  });

  test('an edge that is no whole unit is rounded up', () => {
    const odd = rule({ kind: 'structuring', fiat: 'inr', days: 1, count: 1, worthUnits: 1_001n, withinBps: 1_000 });
    assert.ok(!finds(odd, { order: order(900n) }));
    assert.ok(finds(odd, { order: order(901n) }));
  });
});

test('first_large finds the first order alone', () => {
  const large = rule({ kind: 'first_large', fiat: 'inr', worthUnits: 100n });
  assert.ok(finds(large, { isFirst: true }));
  assert.ok(!finds(large, { isFirst: false }));
  assert.ok(!finds(large, { isFirst: true, order: order(99n) }));
  assert.ok(!finds(large, { isFirst: true, order: order(100n, 0, 'eur') }));
});

test('shared_wallet counts this customer among the others', () => {
  const shared = rule({ kind: 'shared_wallet', count: 3 });
  assert.ok(finds(shared, { othersAtWallet: 2 }));
  assert.ok(!finds(shared, { othersAtWallet: 1 }));
  assert.ok(
    !finds(rule({ kind: 'shared_wallet', count: 1 }), { othersAtWallet: 0 }),
    'a single customer counted as sharing',
  );
});

test('shared_account counts this customer among those who are paid at the account or pay from it', () => {
  const shared = rule({ kind: 'shared_account', count: 3 });
  const atAccount = { customers: 2, paid: 1, paying: 2 };
  const saw = judge(shared, facts({ atAccount }));
  assert.deepEqual(saw && [saw.customers, saw.othersPaid, saw.othersPaying, saw.orders], [3, 1, 2, 1]);
  assert.ok(!finds(shared, { atAccount: { ...atAccount, customers: 1 } }));
  assert.ok(!finds(rule({ kind: 'shared_account', count: 1 }), {}), 'a single customer counted as sharing');
});

test('country_mismatch needs both countries', () => {
  const other = rule({ kind: 'country_mismatch' });
  assert.ok(finds(other, { country: 'IN', phoneCountry: 'NG' }));
  assert.ok(!finds(other, { country: 'IN', phoneCountry: 'IN' }));
  assert.ok(!finds(other, { country: 'IN' }));
  assert.ok(!finds(other, { phoneCountry: 'IN' }));
});

test('a rule is refused by the name of a missing or unsuitable parameter', () => {
  const names = (one: RuleText) => Object.keys(faultsOf(one));
  assert.deepEqual(names(rule({ kind: 'structuring', fiat: 'inr', days: 1 })), ['worth', 'count', 'withinBps']);
  assert.deepEqual(names(rule({ kind: 'country_mismatch', days: 3 })), ['days']);
  assert.deepEqual(names(rule({ kind: 'velocity', fiat: 'inr', days: 3 })), ['count']);
  assert.deepEqual(names(rule({ kind: 'velocity', fiat: 'inr', days: 3, worthUnits: 1n })), []);
});
