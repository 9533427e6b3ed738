/**
 * Exact decimals. Amounts and rates are decimal strings on the wire and stay strings: a JavaScript number loses digits (0.1 +
 * 0.2).
 *
 *     decimal.subtract('250.5', '0.1')                                   // '250.4'
 *     decimal.multiply('250.5', '85.3')                                  // '21367.65'
 *     decimal.divide('1', '3', { decimals: 2, rounding: 'down' })          // '0.33'
 *     decimal.toUnits('250.5', 6)                                        // 250500000n
 *
 * Results have no trailing zeros and no exponent. Nothing is rounded without an explicit rounding.
 */
import { UsageError } from './errors.ts';

export type Decimal = string;
/** Towards zero, away from zero, or to the nearest with ties to the even digit. */
export type Rounding = 'down' | 'up' | 'half_even';

const FORM = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;
/** Longer than any amount; bounds the work that an outside text can cause. */
const LONGEST = 200;

interface Parts {
  units: bigint;
  scale: number;
}

function parse(text: Decimal): Parts {
  const match = typeof text === 'string' && text.length <= LONGEST ? FORM.exec(text) : null;
  if (match === null) throw new UsageError('an amount must be a decimal string such as "250.5"');
  const [, sign = '', whole = '', fraction = ''] = match;
  const units = BigInt(whole + fraction);
  return { units: sign === '-' ? -units : units, scale: fraction.length };
}

function print({ units, scale }: Parts): Decimal {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const text = `${digits.slice(0, digits.length - scale)}${scale > 0 && fraction !== '' ? `.${fraction}` : ''}`;
  return units < 0n ? `-${text}` : text;
}

const pow10 = (exponent: number): bigint => 10n ** BigInt(exponent);

function aligned(a: Decimal, b: Decimal): { a: bigint; b: bigint; scale: number } {
  const [one, other] = [parse(a), parse(b)];
  const scale = Math.max(one.scale, other.scale);
  return { a: one.units * pow10(scale - one.scale), b: other.units * pow10(scale - other.scale), scale };
}

/** A quotient of integers, rounded. */
function quotient(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  const [whole, rest] = [dividend / divisor, dividend % divisor];
  if (rest === 0n || rounding === 'down') return whole;
  const away = dividend < 0n === divisor < 0n ? 1n : -1n;
  if (rounding === 'up') return whole + away;
  const twice = (rest < 0n ? -rest : rest) * 2n;
  const size = divisor < 0n ? -divisor : divisor;
  return twice > size || (twice === size && whole % 2n !== 0n) ? whole + away : whole;
}

function decimalsOf(decimals: number): number {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > LONGEST)
    throw new UsageError('decimals must be 0 to 200');
  return decimals;
}

export const isDecimal = (text: unknown): text is Decimal =>
  typeof text === 'string' && text.length <= LONGEST && FORM.test(text);

export function add(...amounts: readonly Decimal[]): Decimal {
  return amounts.reduce((sum, one) => {
    const { a, b, scale } = aligned(sum, one);
    return print({ units: a + b, scale });
  }, '0');
}

export function subtract(from: Decimal, amount: Decimal): Decimal {
  const { a, b, scale } = aligned(from, amount);
  return print({ units: a - b, scale });
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  const [one, other] = [parse(a), parse(b)];
  return print({ units: one.units * other.units, scale: one.scale + other.scale });
}

/** @throws UsageError for a divisor of zero */
export function divide(a: Decimal, b: Decimal, how: { decimals: number; rounding: Rounding }): Decimal {
  const { a: dividend, b: divisor } = aligned(a, b);
  if (divisor === 0n) throw new UsageError('the divisor must not be zero');
  const scale = decimalsOf(how.decimals);
  return print({ units: quotient(dividend * pow10(scale), divisor, how.rounding), scale });
}

export function round(amount: Decimal, how: { decimals: number; rounding: Rounding }): Decimal {
  return divide(amount, '1', how);
}

/** Negative, zero or positive, as Array.sort expects. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const both = aligned(a, b);
  return both.a < both.b ? -1 : both.a > both.b ? 1 : 0;
}

/** `1.50` equals `1.5`. */
export const equal = (a: Decimal, b: Decimal): boolean => compare(a, b) === 0;

export const isZero = (amount: Decimal): boolean => parse(amount).units === 0n;

/**
 * The amount in smallest units, as chains count.
 *
 * @param decimals how many the asset has
 * @throws UsageError for an amount with more decimals than the asset has
 */
export function toUnits(amount: Decimal, decimals: number): bigint {
  const exact = parse(print(parse(amount)));
  if (exact.scale > decimalsOf(decimals)) throw new UsageError(`the amount has more than ${decimals} decimal places`);
  return exact.units * pow10(decimals - exact.scale);
}

export const fromUnits = (units: bigint, decimals: number): Decimal => print({ units, scale: decimalsOf(decimals) });
