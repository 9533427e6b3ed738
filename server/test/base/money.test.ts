import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../src/base/errors.ts';
import {
  baseToQuote,
  divide,
  formatRate,
  formatUnits,
  fraction,
  parseRate,
  parseUnits,
  percentage,
  quoteToBase,
  ratesWithin,
  roundRate,
  truncateTo,
} from '../../src/base/money.ts';

const units = fc.bigInt({ min: 0n, max: 10n ** 30n });
const decimals = fc.integer({ min: 0, max: 18 });

test('a written amount is read back exactly', () => {
  fc.assert(
    fc.property(units, decimals, (value, places) => {
      assert.equal(parseUnits(formatUnits(value, places), places), value);
    }),
  );
});

test('amounts are written without exponent, leading or trailing zeros', () => {
  fc.assert(
    fc.property(units, decimals, (value, places) => {
      assert.match(formatUnits(value, places), /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/);
    }),
  );
  assert.equal(formatUnits(10_000n, 2), '100');
  assert.equal(formatUnits(790n, 2), '7.9');
  assert.equal(formatUnits(1n, 6), '0.000001');
});

for (const [text, places, want] of [
  ['1', 6, 1_000_000n],
  ['1.', 6, 1_000_000n],
  ['.5', 6, 500_000n],
  ['100.0', 0, 100n],
  ['0.10', 1, 1n],
  ['007', 0, 7n],
] as const) {
  test(`"${text}" at ${places} places is ${want} units`, () => assert.equal(parseUnits(text, places), want));
}

for (const text of [
  '',
  '.',
  '-1',
  '+1',
  '1e3',
  '0x10',
  '1,000',
  '1 000',
  ' 1',
  '1 ',
  'NaN',
  'Infinity',
  '１２',
  '1.2.3',
  '1'.repeat(41),
  '0.1234567',
  '٣',
]) {
  test(`${JSON.stringify(text)} is no amount of six places`, () => {
    assert.throws(
      () => parseUnits(text, 6),
      (error) => error instanceof Refusal && error.code === 'malformed_amount',
    );
  });
}

test('division is exact, or errs by less than one in the given direction', () => {
  fc.assert(
    fc.property(units, fc.bigInt({ min: 1n, max: 10n ** 20n }), (a, b) => {
      const [down, up] = [divide(a, b, 'down'), divide(a, b, 'up')];
      assert.ok(down * b <= a && a - down * b < b);
      assert.ok(up * b >= a && up * b - a < b);
    }),
  );
});

test('there and back again never gains', () => {
  fc.assert(
    fc.property(units, fc.bigInt({ min: 1n, max: 10n ** 15n }), decimals, decimals, (value, num, base, quote) => {
      const rate = { num, den: 10n ** 6n };
      const bought = baseToQuote(value, rate, { base, quote }, 'down');
      assert.ok(quoteToBase(bought, rate, { base, quote }, 'down') <= value);
    }),
  );
});

test('a percentage rounded up never falls short and never exceeds by a unit', () => {
  fc.assert(
    fc.property(units, fc.bigInt({ min: 0n, max: 10_000n }), (value, bps) => {
      const fee = percentage(value, bps, 'up');
      assert.ok(fee * 10_000n >= value * bps && (fee - 1n) * 10_000n < value * bps + 1n);
    }),
  );
});

test('truncating keeps at most the places shown and never adds', () => {
  assert.equal(truncateTo(7_886_719n, 6, 2), 7_880_000n);
  assert.equal(truncateTo(7_886_719n, 6, 6), 7_886_719n);
  assert.equal(truncateTo(7_886_719n, 6, 9), 7_886_719n);
});

test('a rate survives being carried through a double', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.bigInt({ min: 1n, max: 999_983n }), (num, den) => {
      const used = roundRate({ num, den });
      const carried = String(Number(formatRate(used)));
      // Below a millionth and above 10^21 a double prints an exponent, which is no rate on the wire.
      if (carried.includes('e')) return;
      const back = parseRate(carried);
      assert.equal(back.num * used.den, used.num * back.den);
    }),
    { numRuns: 1_000 },
  );
});

test('a rounded rate lies below the exact one, by less than one part in 10^14', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.bigInt({ min: 1n, max: 10n ** 30n }), (num, den) => {
      const used = roundRate({ num, den });
      assert.ok(used.num * den <= num * used.den);
      assert.ok((num * used.den - used.num * den) * 10n ** 14n <= num * used.den);
      assert.ok(used.num.toString().replace(/0+$/, '').length <= 15);
    }),
  );
});

test('tolerance is measured on the second rate', () => {
  assert.ok(ratesWithin(parseRate('100.5'), parseRate('100'), 50n));
  assert.ok(!ratesWithin(parseRate('100.51'), parseRate('100'), 50n));
  assert.ok(ratesWithin(parseRate('99.5'), parseRate('100'), 50n));
});

test('an invalid amount gets a reason', () => {
  const why = (read: () => unknown) => {
    try {
      read();
      return '';
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return error.facts.why;
    }
  };
  assert.equal(
    why(() => parseUnits('x', 2)),
    'must be a plain decimal number: digits with at most one point',
  );
  assert.equal(
    why(() => parseUnits('0.123', 2)),
    'must have at most 2 decimal places',
  );
  assert.equal(
    why(() => parseUnits('1'.repeat(41), 2)),
    'must have at most 40 characters',
  );
  assert.equal(parseUnits('1'.repeat(40), 0), BigInt('1'.repeat(40)));
  assert.equal(
    why(() => parseRate('0.00')),
    'must be above zero',
  );
  assert.deepEqual(parseRate('10.50'), { num: 1050n, den: 100n });
  assert.equal(parseUnits('0.', 0), 0n);
  assert.equal(parseUnits('1.2000', 1), 12n);
});

test('a fraction has no lower terms, and an amount below zero has its sign', () => {
  assert.deepEqual(fraction(84n, 36n), { num: 7n, den: 3n });
  assert.deepEqual(fraction(1n, 5n), { num: 1n, den: 5n });
  assert.equal(formatUnits(-790n, 2), '-7.9');
});

test('a rate is rounded to its fifteenth digit, wherever its decimal point is', () => {
  for (const [num, den, text] of [
    [1n, 3n, '0.333333333333333'],
    [1n, 3_000_000n, '0.000000333333333333333'],
    [2_000_000_000_000_000_000n, 3n, '666666666666666000'],
    [999_999_999_999_999n, 1n, '999999999999999'],
    [1_999_999_999_999_999n, 2n, '999999999999999'],
    [100n, 7n, '14.2857142857142'],
    [9n, 10n, '0.9'],
  ] as const) {
    assert.equal(formatRate({ num, den }), text);
  }
});

test('a rate is kept with no more places than it has', () => {
  assert.deepEqual(parseRate('86'), { num: 86n, den: 1n });
  assert.deepEqual(roundRate({ num: 8_600n, den: 100n }), { num: 86n, den: 1n });
  assert.deepEqual(roundRate({ num: 431n, den: 5n }), { num: 862n, den: 10n });
  assert.deepEqual(roundRate({ num: 1_200n, den: 1n }), { num: 1_200n, den: 1n });
});

test('a rate of few digits keeps those that count', () => {
  assert.deepEqual(roundRate({ num: 1n, den: 3n }, 1), { num: 3n, den: 10n });
  assert.deepEqual(roundRate({ num: 7n, den: 3n }, 1), { num: 2n, den: 1n });
  assert.deepEqual(roundRate({ num: 1n, den: 300n }, 2), { num: 33n, den: 10_000n });
});
