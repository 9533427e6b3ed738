import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import { parseRate, pow10 } from '../../src/base/money.ts';
import type { Market } from '../../src/partners/index.ts';
import {
  aggregate,
  depositFor,
  FEE_KINDS,
  type FeeTerm,
  gasCost,
  price,
  rulesOf,
  type Terms,
  total,
} from '../../src/quotes/price.ts';

const none: FeeTerm = { fixedUnits: 0n, bps: 0n, minimumUnits: 0n, gasUnits: 0n };
const terms = (change: Partial<Terms>): Terms => ({
  direction: 'offramp',
  cryptoDecimals: 6,
  fiatDecimals: 2,
  payoutDecimals: 2,
  rate: parseRate('86'),
  fees: { operator: none, partner: none, rail: none, chain: none },
  gasCost: { num: 0n, den: 1n },
  taxBps: 0n,
  ...change,
});

test('buying for 200 INR at 24.41 with fees of 0.5 and 7.08 gives 7.88 at two places', () => {
  const priced = price(200_00n, {
    ...terms({ direction: 'onramp', rate: parseRate('24.41') }),
    fees: { operator: { ...none, fixedUnits: 50n }, partner: none, rail: none, chain: { ...none, fixedUnits: 708n } },
  });
  assert.equal(priced.payoutUnits, 7_880_000n);
});

test('selling 1115 USDT at 86 with a quarter, one percent and 8.26 fixed gives 94683.11', () => {
  const priced = price(1_115_000_000n, {
    ...terms({}),
    fees: {
      operator: { ...none, bps: 25n },
      partner: { ...none, bps: 100n },
      rail: none,
      chain: { ...none, fixedUnits: 826n },
    },
  });
  assert.deepEqual(priced.fees, { operator: 239_73n, partner: 958_90n, rail: 0n, chain: 826n, tax: 0n });
  assert.equal(priced.payoutUnits, 94_683_11n);
});

test('tax is withheld from the fiat before fees, rounded up: from the proceeds of a sale, from the payment of a purchase', () => {
  const fees = { operator: { ...none, fixedUnits: 100n }, partner: none, rail: none, chain: none };
  // 10.01 at 86 is 860.86, and one percent of it 8.6086.
  const sold = price(10_010_000n, terms({ fees, taxBps: 100n }));
  assert.deepEqual([sold.fees.tax, sold.payoutUnits], [8_61n, 860_86n - 1_00n - 8_61n]);
  const bought = price(1_000_01n, terms({ direction: 'onramp', fees, taxBps: 100n }));
  // 1000.01 less 1.00 less 10.01 buys 11.5 at 86.
  assert.deepEqual([bought.fees.tax, bought.payoutUnits], [10_01n, 11_500_000n]);
});

test('a deposit for a requested payout is the smallest that pays it', () => {
  // 860.86 at 86 is 10.01 to the unit.
  const sale = terms({});
  assert.equal(depositFor(860_86n, sale, 10n ** 12n), 10_010_000n);
  assert.equal(depositFor(860_86n, sale, 10_010_000n), 10_010_000n);
  assert.equal(depositFor(860_86n, sale, 10_009_999n), undefined);
  // Deposits whose fees are more than they are worth pay nothing: 1.01 at 86 is 0.011744…
  const fees = { operator: { ...none, fixedUnits: 100n }, partner: none, rail: none, chain: none };
  assert.equal(depositFor(1n, terms({ fees }), 10n ** 12n), 11_745n);
  assert.equal(depositFor(1n, terms({ fees }), 11_744n), undefined);
  // 11.5 at 86 is 989.00, and the fee.
  assert.equal(depositFor(11_500_000n, terms({ direction: 'onramp', fees }), 10n ** 12n), 990_00n);
});

test('terms that cannot be priced are an error, and not a deposit that pays too little', () => {
  const broken = terms({ rate: { num: 86n, den: 0n } });
  assert.throws(() => depositFor(1n, broken, 10n ** 12n), RangeError);
});

test('the arithmetic reproduces a schedule with fees taken in crypto, each of the remainder, half up', () => {
  // 1115 at 86: 0.25 % of it is 2.79, 1 % of what is left is 11.12, both in crypto; then 8.26 in fiat.
  const halfUp = (units: bigint, bps: bigint) => (units * bps * 2n + 10_000n) / 20_000n;
  const first = halfUp(1_115_00n, 25n);
  const second = halfUp(1_115_00n - first, 100n);
  assert.deepEqual([first, second], [2_79n, 11_12n]);
  assert.equal((1_115_00n - first - second) * 86n - 826n, 94_685_48n);
});

const fee = fc.record({
  fixedUnits: fc.bigInt({ min: 0n, max: 10_000n }),
  bps: fc.bigInt({ min: 0n, max: 3_000n }),
  minimumUnits: fc.bigInt({ min: 0n, max: 10_000n }),
  gasUnits: fc.bigInt({ min: 0n, max: 200_000n }),
});
const anyTerms = fc.record({
  direction: fc.constantFrom('offramp' as const, 'onramp' as const),
  cryptoDecimals: fc.integer({ min: 0, max: 18 }),
  fiatDecimals: fc.integer({ min: 0, max: 4 }),
  payoutDecimals: fc.integer({ min: 0, max: 18 }),
  rate: fc.record({ num: fc.bigInt({ min: 1n, max: 10n ** 12n }), den: fc.bigInt({ min: 1n, max: 10n ** 6n }) }),
  fees: fc.record({ operator: fee, partner: fee, rail: fee, chain: fee }),
  gasCost: fc.record({ num: fc.bigInt({ min: 0n, max: 10n ** 6n }), den: fc.bigInt({ min: 1n, max: 10n ** 9n }) }),
  taxBps: fc.bigInt({ min: 0n, max: 5_000n }),
});

test('no amount, rate or fee creates money, and a payout is above zero', () => {
  let refused = 0;
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 24n }), anyTerms, (deposit, any) => {
      let priced: ReturnType<typeof price>;
      try {
        priced = price(deposit, any);
      } catch (error) {
        assert.ok(error instanceof Refusal && error.code === 'amount_below_fees');
        refused += 1;
        return;
      }
      assert.ok(priced.payoutUnits > 0n);
      for (const kind of FEE_KINDS) {
        if (kind === 'tax') assert.ok(priced.fees.tax >= 0n);
        else assert.ok(priced.fees[kind] >= any.fees[kind].minimumUnits);
      }
      const [crypto, fiat] = [pow10(any.cryptoDecimals), pow10(any.fiatDecimals)];
      if (any.direction === 'offramp') {
        // Payout and fees together are worth no more than the sold amount.
        assert.ok(priced.payoutUnits + total(priced.fees) <= priced.grossUnits);
        assert.ok(priced.grossUnits * any.rate.den * crypto <= deposit * any.rate.num * fiat);
      } else {
        assert.ok(priced.payoutUnits <= priced.grossUnits);
        assert.ok(priced.grossUnits * any.rate.num * fiat <= (deposit - total(priced.fees)) * any.rate.den * crypto);
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(refused > 0 && refused < 2_000, 'one of the outcomes never occurred');
});

test('a fee is never below the sum of its parts', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 10n ** 9n, max: 10n ** 15n }), fee, (deposit, term) => {
      const cost = { num: 3n, den: 7n };
      const priced = price(
        deposit,
        terms({ direction: 'onramp', fees: { operator: none, partner: none, rail: none, chain: term }, gasCost: cost }),
      );
      const exact =
        term.fixedUnits * 10_000n * cost.den + deposit * term.bps * cost.den + term.gasUnits * cost.num * 10_000n;
      assert.ok(priced.fees.chain * 10_000n * cost.den >= exact);
      assert.ok(priced.fees.chain >= term.minimumUnits);
    }),
  );
});

test('gas is priced in the fiat: 90000 gas at 30 gwei and 2500 per coin is 6.75', () => {
  const cost = gasCost(30n * 10n ** 9n, parseRate('2500'), { native: 18, fiat: 2 });
  assert.equal((90_000n * cost.num) / cost.den, 675n);
});

const rules = { sources: ['a', 'b', 'c', 'd'], maxAgeMs: 30_000, quorum: 2, outlierBps: 300n };
const from = (source: string, rate: string, ageMs = 0) => ({
  source,
  rate: parseRate(rate),
  pricedAt: new Date(Date.now() - ageMs),
});

test('the price is the median of those that are fresh and near each other', () => {
  const { rate, used } = aggregate([from('a', '86'), from('b', '86.4'), from('c', '200')], rules, 'usdc/inr');
  assert.deepEqual(rate, parseRate('86.2'));
  assert.deepEqual(
    used.map((one) => one.source),
    ['a', 'b'],
  );
});

test('the median of four prices is the mean of the two in the middle, in any order and with any fractions', () => {
  const wide = { ...rules, outlierBps: 5_000n };
  const four = [from('a', '90'), from('b', '60.5'), from('c', '80'), from('d', '70.25')];
  for (let turn = 0; turn < four.length; turn += 1) {
    const turned = [...four.slice(turn), ...four.slice(0, turn)];
    assert.deepEqual(aggregate(turned, wide, 'usdc/inr').rate, parseRate('75.125'));
    assert.deepEqual(aggregate(turned.slice(1), { ...wide, outlierBps: 10_000n }, 'usdc/inr').used.length, 3);
  }
  assert.deepEqual(aggregate(four.slice(0, 3), wide, 'usdc/inr').rate, parseRate('80'));
  assert.deepEqual(
    aggregate([from('a', '9'), from('b', '10'), from('c', '9.5')], wide, 'usdc/inr').rate,
    parseRate('9.5'),
  );
});

test('a quorum of sources is enough, and they are named; without any there is no price', () => {
  assert.equal(aggregate([from('a', '86')], { ...rules, quorum: 1 }, 'usdc/inr').used.length, 1);
  const why = (quorum: number, prices = [from('a', '86')]) => {
    try {
      aggregate(prices, { ...rules, quorum }, 'usdc/inr');
      return 'agreed';
    } catch (error) {
      assert.ok(error instanceof Unavailable);
      return `${error.source}: ${error.message}`;
    }
  };
  assert.match(why(2), /^price: .*1 of 2 fresh prices for usdc\/inr/);
  assert.match(why(0, []), /0 of 0 fresh prices/);
});

test('a sale whose fees equal or exceed the proceeds is refused', () => {
  const fixed = (units: bigint) => ({
    operator: { ...none, fixedUnits: units },
    partner: none,
    rail: none,
    chain: none,
  });
  const selling = (units: bigint) => price(1_000_000n, terms({ rate: parseRate('1'), fees: fixed(units) })).payoutUnits;
  const buying = (units: bigint) =>
    price(100n, terms({ direction: 'onramp', rate: parseRate('1'), payoutDecimals: 6, fees: fixed(units) }))
      .payoutUnits;
  for (const [trade, unit] of [
    [selling, 1n],
    [buying, 10_000n],
  ] as const) {
    assert.equal(trade(99n), unit);
    for (const all of [100n, 101n, 200n])
      assert.throws(
        () => trade(all),
        (error) => error instanceof Refusal && error.code === 'amount_below_fees',
      );
  }
});

test('an old price is no price, however few there are', () => {
  assert.throws(() => aggregate([from('a', '86'), from('b', '86', 31_000)], rules, 'usdc/inr'), Unavailable);
});

test('a source that the market does not name is ignored, and so is a price from the future', () => {
  assert.throws(() => aggregate([from('a', '86'), from('z', '86')], rules, 'usdc/inr'), Unavailable);
  assert.throws(() => aggregate([from('a', '86'), from('b', '86', -60_000)], rules, 'usdc/inr'), Unavailable);
});

test('a price counts to the millisecond of its age, and as far ahead as clocks may differ', () => {
  const now = 1_795_000_000_000;
  mock.timers.enable({ apis: ['Date'], now });
  try {
    const used = (ageMs: number) => {
      const old = { source: 'b', rate: parseRate('86'), pricedAt: new Date(now - ageMs) };
      return aggregate([from('a', '86'), old], { ...rules, quorum: 1 }, 'usdc/inr').used.length;
    };
    assert.deepEqual([30_000, 30_001, -5_000, -5_001].map(used), [2, 1, 2, 1]);
  } finally {
    mock.timers.reset();
  }
});

test('the rules for prices of a market are those of its row', () => {
  const row: Partial<Market> = {
    priceSources: ['one', 'two'],
    priceMaxAgeMs: 45_000,
    priceQuorum: 2,
    outlierBps: 150n,
  };
  assert.deepEqual(rulesOf(row as Market), {
    ...{ sources: ['one', 'two'], maxAgeMs: 45_000, quorum: 2 },
    outlierBps: 150n,
  });
});
