/**
 * Money: an amount of one asset in that asset's smallest units, and exact arithmetic on it.
 *
 * No amount, rate or fee is ever a `number`: units are bigint, a rate is a fraction of two bigints. Every call that can round
 * *requires* the direction. The rule: down when we pay, up when we charge.
 *
 * Not here: which fees apply (partners), the computation of a quote (quotes/price.ts), the wire's spelling of amounts
 * (protocols).
 */
import { Refusal } from './errors.ts';

/** Code of an asset, which is whatever balances are kept in: `usdc.matic20` and `usdc.erc20` are two assets, `inr` is one. */
export type AssetCode = string;

export interface Money {
  readonly asset: AssetCode;
  /** Smallest units: cents, paise, wei. Never negative. */
  readonly units: bigint;
}

/** An exact fraction, always positive. For prices: whole fiat per one whole crypto. */
export interface Rate {
  readonly num: bigint;
  readonly den: bigint;
}

export type Rounding = 'up' | 'down';

/** Longest amount text accepted: 40 characters hold any realistic uint256 divided by its decimals. */
export const MAX_AMOUNT_CHARS = 40;

/**
 * Parses a decimal amount.
 *
 * @param text     ASCII digits with at most one point: `12`, `12.`, `.5`, `100.0`
 * @param decimals places of the asset; more significant places than this are rejected, trailing zeros are not significant
 * @returns        smallest units
 * @throws         Refusal 'malformed_amount' with `why` in words
 */
export function parseUnits(text: string, decimals: number): bigint {
  if (text.length > MAX_AMOUNT_CHARS) throw malformed(`must have at most ${MAX_AMOUNT_CHARS} characters`);
  const match = /^([0-9]*)(?:\.([0-9]*))?$/.exec(text);
  const whole = match?.[1] ?? '';
  const fraction = (match?.[2] ?? '').replace(/0+$/, '');
  if (match === null || (whole === '' && (match[2] ?? '') === '')) {
    throw malformed('must be a plain decimal number: digits with at most one point');
  }
  if (fraction.length > decimals) throw malformed(`must have at most ${decimals} decimal places`);
  return BigInt(whole + fraction.padEnd(decimals, '0') || '0');
}

function malformed(why: string): Refusal {
  return new Refusal('malformed_amount', { why });
}

/** Plain decimal text: no exponent, no leading or trailing zeros (`100`, `7.9`, `0.000001`). */
export function formatUnits(units: bigint, decimals: number): string {
  const negative = units < 0n;
  const digits = (negative ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Integer division with an explicit rounding direction.
 *
 * @param numerator   not negative
 * @param denominator above zero
 */
export function divide(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  const quotient = numerator / denominator;
  return rounding === 'up' && numerator % denominator !== 0n ? quotient + 1n : quotient;
}

export const pow10 = (places: number): bigint => 10n ** BigInt(places);

/** `units × bps / 10 000`. */
export function percentage(units: bigint, bps: bigint, rounding: Rounding): bigint {
  return divide(units * bps, 10_000n, rounding);
}

/**
 * Value of `units` of the base asset in the quote asset.
 *
 * @param rate whole quote units per one whole base unit
 */
export function baseToQuote(
  units: bigint,
  rate: Rate,
  decimals: { base: number; quote: number },
  rounding: Rounding,
): bigint {
  return divide(units * rate.num * pow10(decimals.quote), rate.den * pow10(decimals.base), rounding);
}

/** Units of the base asset that `units` of the quote asset buy. The inverse of `baseToQuote`, rounded separately. */
export function quoteToBase(
  units: bigint,
  rate: Rate,
  decimals: { base: number; quote: number },
  rounding: Rounding,
): bigint {
  return divide(units * rate.den * pow10(decimals.base), rate.num * pow10(decimals.quote), rounding);
}

/** Rounds down to `places` decimals of an asset that has `decimals`: 7.886719 at two places is 7.88. */
export function truncateTo(units: bigint, decimals: number, places: number): bigint {
  if (places >= decimals) return units;
  const step = pow10(decimals - places);
  return units - (units % step);
}

/**
 * Parses a positive decimal as an exact fraction.
 *
 * @throws Refusal 'malformed_amount'
 */
export function parseRate(text: string): Rate {
  const places = text.includes('.') ? text.length - text.indexOf('.') - 1 : 0;
  const num = parseUnits(text, places);
  if (num === 0n) throw malformed('must be above zero');
  return { num, den: pow10(places) };
}

/** A rate in lowest terms. Both arguments must be above zero. */
export function fraction(num: bigint, den: bigint): Rate {
  let [a, b] = [num, den];
  while (b !== 0n) [a, b] = [b, a % b];
  return { num: num / a, den: den / a };
}

/**
 * A rate as decimal text of at most `digits` significant digits.
 *
 * An IEEE double represents fifteen digits exactly, and programs on the wire do keep rates in doubles. So a quote first rounds
 * its rate to fifteen digits (`roundRate`), and the rate shown is exactly the rate used.
 */
export function formatRate(rate: Rate, digits = 15): string {
  const rounded = roundRate(rate, digits);
  const places = rounded.den.toString().length - 1;
  return formatUnits(rounded.num, places);
}

/** The rate rounded down to at most `digits` significant digits, as a fraction whose denominator is a power of ten. */
export function roundRate(rate: Rate, digits = 15): Rate {
  // Enough places for at least `digits` significant digits; the rest is cut off below.
  let places = 0;
  let scaled = rate.num / rate.den;
  if (scaled.toString().length < digits || scaled === 0n) {
    // The leading zeros of a rate below one are not significant, so the first digit of the fraction is searched.
    const leadingZeros = scaled === 0n ? rate.den.toString().length - rate.num.toString().length : 0;
    places = digits + Math.max(leadingZeros, 0);
    scaled = (rate.num * pow10(places)) / rate.den;
  }
  const text = scaled.toString();
  const excess = Math.max(text.length - digits, 0);
  scaled -= scaled % pow10(excess);
  while (places > 0 && scaled % 10n === 0n) {
    scaled /= 10n;
    places -= 1;
  }
  return { num: scaled, den: pow10(places) };
}

/** `|a − b| ≤ b × bps / 10 000`, in integers. */
export function ratesWithin(a: Rate, b: Rate, bps: bigint): boolean {
  const left = a.num * b.den;
  const right = b.num * a.den;
  const difference = left > right ? left - right : right - left;
  return difference * 10_000n <= right * bps;
}
