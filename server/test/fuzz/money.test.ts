/**
 * Fuzzing of amounts, rates and prices: a read value equals the written one, every rounding is in our favour, and converting back
 * and forth, in parts, or in another order creates no money.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import {
  baseToQuote,
  formatRate,
  formatUnits,
  fraction,
  parseRate,
  parseUnits,
  pow10,
  quoteToBase,
  type Rate,
  ratesWithin,
  roundRate,
  truncateTo,
} from '../../src/base/money.ts';
import { aggregate, depositFor, price, type Terms, total } from '../../src/quotes/price.ts';
import { fuzz, nasty } from './fuzz.ts';

const places = fc.integer({ min: 0, max: 24 });
const units = fc.bigInt({ min: 0n, max: 10n ** 30n });
const rate = fc.record({ num: fc.bigInt({ min: 1n, max: 10n ** 24n }), den: fc.bigInt({ min: 1n, max: 10n ** 24n }) });

function amountOf(text: string, decimals: number): bigint | undefined {
  try {
    return parseUnits(text, decimals);
  } catch (error) {
    assert.ok(
      error instanceof Refusal && error.code === 'malformed_amount' && String(error.facts.why).startsWith('must '),
    );
    return undefined;
  }
}

fuzz(
  'amount',
  'of any text is exactly what it says, or refused with the rule',
  4_000,
  fc.tuple(nasty, places),
  ([text, decimals]) => {
    const read = amountOf(text, decimals);
    const isPlain = text.length <= 40 && /^(?=.*[0-9])[0-9]*\.?[0-9]*$/.test(text);
    const [whole = '', fractional = ''] = text.split('.');
    const significant = fractional.replace(/0+$/, '');
    assert.equal(read !== undefined, isPlain && significant.length <= decimals, JSON.stringify(text));
    if (read !== undefined) assert.equal(read, BigInt(`${whole}${significant.padEnd(decimals, '0')}` || '0'));
  },
);

fuzz(
  'amount',
  'written is read again, and its sign is written',
  2_000,
  fc.tuple(units, places),
  ([value, decimals]) => {
    const text = formatUnits(value, decimals);
    if (text.length <= 40) assert.equal(parseUnits(text, decimals), value);
    assert.match(text, /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/);
    assert.equal(formatUnits(-value, decimals), value === 0n ? text : `-${text}`);
  },
);

fuzz('rate', 'rounded is never above, has fifteen digits, and is what is shown', 3_000, rate, (exact) => {
  const used = roundRate(exact);
  assert.ok(used.num > 0n && used.num * exact.den <= exact.num * used.den);
  assert.ok((exact.num * used.den - used.num * exact.den) * 10n ** 14n <= exact.num * used.den);
  assert.ok(used.num.toString().replace(/0+$/, '').length <= 15);
  const shown = formatRate(exact);
  if (shown.length > 40) return;
  const back = parseRate(shown);
  assert.equal(back.num * used.den, used.num * back.den);
});

fuzz(
  'rate',
  'in lowest terms is the same rate, and no lower terms are',
  1_500,
  fc.tuple(rate, fc.bigInt({ min: 1n, max: 10n ** 9n })),
  ([{ num, den }, by]) => {
    const low = fraction(num * by, den * by);
    assert.equal(low.num * den, num * low.den);
    assert.deepEqual(fraction(low.num, low.den), low);
    assert.ok(low.num <= num && low.den <= den);
    assert.deepEqual(fraction(num, den), low);
  },
);

fuzz(
  'rate',
  'lies within a tolerance of another exactly where it does',
  1_500,
  fc.tuple(rate, fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: -3, max: 3 })),
  ([b, bps, beside]) => {
    // Coprime denominators, so that nothing cancels; at the edge, a hair inside and a hair outside.
    const scale = 10_000n * 10n ** 6n;
    for (const side of [1n, -1n]) {
      const a = { num: b.num * (scale + side * BigInt(bps) * 10n ** 6n + side * BigInt(beside)), den: b.den * scale };
      if (a.num <= 0n) continue;
      assert.equal(
        ratesWithin(a, b, BigInt(bps)),
        beside <= 0 || bps === 0 ? Math.abs(beside) === 0 || bps !== 0 : false,
      );
    }
  },
);

const decimals = fc.record({ base: places, quote: places });
fuzz(
  'conversion',
  'rounds to the side it is told, by less than one unit, and never gains there and back',
  2_500,
  fc.tuple(units, rate, decimals),
  ([value, at, of]) => {
    for (const [convert, num, den] of [
      [baseToQuote, at.num * pow10(of.quote), at.den * pow10(of.base)],
      [quoteToBase, at.den * pow10(of.base), at.num * pow10(of.quote)],
    ] as const) {
      const [down, up] = [convert(value, at, of, 'down'), convert(value, at, of, 'up')];
      assert.ok(down * den <= value * num && (down + 1n) * den > value * num);
      assert.ok(up * den >= value * num && up - down === ((value * num) % den === 0n ? 0n : 1n));
    }
    assert.ok(quoteToBase(baseToQuote(value, at, of, 'down'), at, of, 'down') <= value);
    assert.ok(baseToQuote(quoteToBase(value, at, of, 'down'), at, of, 'down') <= value);
  },
);

fuzz(
  'conversion',
  'truncated keeps the places shown and never adds',
  1_000,
  fc.tuple(units, places, places),
  ([value, of, shown]) => {
    const kept = truncateTo(value, of, shown);
    assert.ok(kept <= value && value - kept < pow10(Math.max(of - shown, 0)));
    assert.equal(kept % pow10(Math.max(of - shown, 0)), 0n);
  },
);

const term = fc.record({
  fixedUnits: fc.bigInt({ min: 0n, max: 10_000n }),
  bps: fc.bigInt({ min: 0n, max: 3_000n }),
  minimumUnits: fc.bigInt({ min: 0n, max: 10_000n }),
  gasUnits: fc.bigInt({ min: 0n, max: 200_000n }),
});
const terms: fc.Arbitrary<Terms> = fc.record({
  direction: fc.constantFrom('offramp' as const, 'onramp' as const),
  cryptoDecimals: fc.integer({ min: 0, max: 18 }),
  fiatDecimals: fc.integer({ min: 0, max: 4 }),
  payoutDecimals: fc.integer({ min: 0, max: 18 }),
  rate: fc.record({ num: fc.bigInt({ min: 1n, max: 10n ** 12n }), den: fc.bigInt({ min: 1n, max: 10n ** 6n }) }),
  fees: fc.record({ operator: term, partner: term, rail: term, chain: term }),
  gasCost: fc.record({ num: fc.bigInt({ min: 0n, max: 10n ** 6n }), den: fc.bigInt({ min: 1n, max: 10n ** 9n }) }),
  taxBps: fc.bigInt({ min: 0n, max: 5_000n }),
});
const paid = (deposit: bigint, of: Terms): bigint => {
  try {
    return price(deposit, of).payoutUnits;
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'amount_below_fees');
    return 0n;
  }
};
const deposit = fc.bigInt({ min: 1n, max: 10n ** 24n });

fuzz(
  'price',
  'for an amount received finds a deposit that pays it, and one unit less does not',
  1_500,
  fc.tuple(deposit, deposit, terms),
  ([wanted, most, of]) => {
    const found = depositFor(wanted, of, most);
    if (found === undefined) assert.ok(paid(most, of) < wanted);
    else {
      assert.ok(found >= 1n && found <= most && paid(found, of) >= wanted);
      assert.ok(found === 1n || paid(found - 1n, of) < wanted);
    }
  },
);

fuzz(
  'price',
  'pays out no more than what came in is worth, the fees taken off',
  3_000,
  fc.tuple(deposit, terms),
  ([given, of]) => {
    if (paid(given, of) === 0n) return;
    const { payoutUnits, grossUnits, fees } = price(given, of);
    const [crypto, fiat] = [pow10(of.cryptoDecimals), pow10(of.fiatDecimals)];
    if (of.direction === 'offramp') {
      assert.ok((payoutUnits + total(fees)) * of.rate.den * crypto <= given * of.rate.num * fiat);
      assert.ok(payoutUnits + total(fees) <= grossUnits);
    } else {
      assert.ok(total(fees) < given);
      assert.ok(payoutUnits * of.rate.num * fiat <= (given - total(fees)) * of.rate.den * crypto);
      assert.ok(payoutUnits <= grossUnits);
    }
  },
);

fuzz(
  'price',
  'of an amount in two parts is never better than of the whole',
  2_500,
  fc.tuple(deposit, deposit, terms),
  ([one, other, of]) => {
    const parts = [paid(one, of), paid(other, of)] as const;
    // A sale never pays less than its fees; for a few units more, fees that are each rounded up may exceed the proceeds.
    if (parts.includes(0n)) return;
    assert.ok(parts[0] + parts[1] <= paid(one + other, of));
  },
);

const heard = fc.array(
  fc.record({
    source: fc.constantFrom('a', 'b', 'c', 'd', 'x'),
    bps: fc.integer({ min: -900, max: 900 }),
    ageMs: fc.integer({ min: -9_000, max: 40_000 }),
  }),
  { maxLength: 6 },
);
fuzz(
  'price',
  'agreed on lies among those that are fresh, named and near, in whatever order they came',
  1_500,
  fc.tuple(rate, heard, fc.integer({ min: 1, max: 3 }), fc.nat(5)),
  ([at, all, quorum, turn]) => {
    const rules = { sources: ['a', 'b', 'c', 'd'], maxAgeMs: 30_000, quorum, outlierBps: 300n };
    const now = Date.now();
    const prices = all.map(({ source, bps, ageMs }) => ({
      source,
      rate: { num: at.num * BigInt(10_000 + bps), den: at.den * 10_000n },
      // Far on either side of the freshness limit, because time continues meanwhile.
      pricedAt: new Date(now - (ageMs > 29_000 ? 35_000 : ageMs < -4_000 ? -9_000 : ageMs)),
    }));
    const asked = (of: typeof prices): { rate: Rate; used: number } | undefined => {
      try {
        const found = aggregate(of, rules, 'a/b');
        assert.ok(found.used.length >= quorum);
        return { rate: found.rate, used: found.used.length };
      } catch (error) {
        assert.ok(error instanceof Unavailable);
        return undefined;
      }
    };
    const agreed = asked(prices);
    assert.deepEqual(asked([...prices.slice(turn), ...prices.slice(0, turn)]), agreed);
    if (agreed === undefined) return;
    const fresh = prices.filter(
      ({ source, pricedAt }) =>
        source !== 'x' && now - pricedAt.getTime() <= 30_000 && pricedAt.getTime() <= now + 5_000,
    );
    assert.ok(agreed.used <= fresh.length);
    assert.ok(
      fresh.some((one) => one.rate.num * agreed.rate.den >= agreed.rate.num * one.rate.den),
      'one is not below it',
    );
    const hair = { num: agreed.rate.num * 10n ** 14n + agreed.rate.num, den: agreed.rate.den * 10n ** 14n };
    assert.ok(
      fresh.some((one) => one.rate.num * hair.den <= hair.num * one.rate.den),
      'one is not above it',
    );
  },
);
