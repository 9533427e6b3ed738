/**
 * Exact decimals of the SDK, against integers of any size.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decimal, UsageError } from '../../../sdk/src/index.ts';

const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.integer({ min: 0, max: 18 }))
  .map(([units, decimals]) => ({ units, decimals, text: decimal.fromUnits(units, decimals) }));

describe('exact decimals', () => {
  test('nothing is lost that a JavaScript number would lose', () => {
    assert.equal(decimal.add('0.1', '0.2'), '0.3');
    assert.equal(decimal.subtract('250.5', '0.1'), '250.4');
    assert.equal(decimal.multiply('9007199254740993', '1.000000000000000001'), '9007199254740993.009007199254740993');
    assert.equal(decimal.add(), '0');
  });

  test('results have one form: no trailing zeros, no exponent, no minus before zero', () => {
    assert.equal(decimal.add('1.50', '0.50'), '2');
    assert.equal(decimal.subtract('0.5', '0.50'), '0');
    assert.equal(decimal.fromUnits(-5n, 8), '-0.00000005');
    assert.ok(decimal.equal('1.50', '1.5'));
  });

  test('each rounding is explicit about ties and remainders, on both sides of zero', () => {
    const rounded = (text: string) =>
      (['down', 'up', 'half_even'] as const).map((rounding) => decimal.round(text, { decimals: 1, rounding }));
    assert.deepEqual(rounded('0.25'), ['0.2', '0.3', '0.2']);
    assert.deepEqual(rounded('0.35'), ['0.3', '0.4', '0.4']);
    assert.deepEqual(rounded('0.251'), ['0.2', '0.3', '0.3']);
    assert.deepEqual(rounded('-0.25'), ['-0.2', '-0.3', '-0.2']);
    assert.equal(decimal.divide('1', '3', { decimals: 2, rounding: 'up' }), '0.34');
  });

  test('an amount with more decimals than the asset has is no number of units', () => {
    assert.equal(decimal.toUnits('250.5', 6), 250_500_000n);
    assert.equal(decimal.toUnits('250.500', 1), 2505n);
    assert.throws(() => decimal.toUnits('0.0000001', 6), UsageError);
  });

  test('anything but a plain decimal is refused, numbers too', () => {
    for (const wrong of ['', '.5', '1.', '1e3', '+1', ' 1', '١', 'NaN', '1'.repeat(201)]) {
      assert.equal(decimal.isDecimal(wrong), false, wrong);
      assert.throws(() => decimal.add(wrong, '1'), UsageError, wrong);
    }
    assert.throws(() => decimal.add(0.1 as unknown as string, '1'), UsageError);
    assert.throws(() => decimal.divide('1', '0.0', { decimals: 2, rounding: 'down' }), UsageError);
  });

  test('units and text are each other, sums are those of integers, and the order is that of numbers', () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        assert.equal(decimal.toUnits(a.text, a.decimals), a.units);
        assert.equal(decimal.subtract(decimal.add(a.text, b.text), b.text), decimal.add(a.text));
        const [x, y] = [a.units * 10n ** BigInt(18 - a.decimals), b.units * 10n ** BigInt(18 - b.decimals)];
        assert.equal(decimal.compare(a.text, b.text), x < y ? -1 : x > y ? 1 : 0);
        assert.equal(decimal.toUnits(decimal.multiply(a.text, b.text), 36), x * y);
      }),
    );
  });

  test('a quotient times its divisor misses the dividend by less than a unit of the last place', () => {
    fc.assert(
      fc.property(amount, amount, fc.constantFrom('down', 'up', 'half_even'), (a, b, rounding) => {
        if (b.units === 0n) return;
        const quotient = decimal.divide(a.text, b.text, { decimals: 6, rounding });
        const missed = decimal.subtract(decimal.multiply(quotient, b.text), a.text).replace('-', '');
        const step = decimal.multiply(b.text.replace('-', ''), '0.000001');
        assert.equal(decimal.compare(missed, step), -1);
      }),
    );
  });
});
