/**
 * Parses untrusted bytes into exact values. Anything that is not clearly a price or a time is `undefined`, and nothing here
 * throws.
 *
 * A JSON number keeps its source text and never becomes a float.
 */
import { fraction, type Rate } from '../../base/money.ts';

/** JSON with each number as its source text. */
export type Json = string | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text, sourceOfNumbers as (key: string, value: unknown) => unknown);
  } catch {
    // Not JSON, or nested deeper than the stack.
    return undefined;
  }
}

const sourceOfNumbers = (_key: string, value: unknown, context: { source?: string }): unknown =>
  typeof value === 'number' ? context.source : value;

/** The value at a path: `at(body, 'result', 'XETHZUSD', 'a', '0')`. */
export function at(json: Json | undefined, ...path: readonly string[]): Json | undefined {
  let here = json;
  for (const step of path) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, step)) return undefined;
    here = (here as { readonly [key: string]: Json })[step];
  }
  return here;
}

/**
 * A price above zero, in plain decimals: no sign, no exponent.
 *
 * Twelve digits before the point exceed the price of the most expensive coin in the cheapest currency, and twelve after it are
 * finer than any order book; a longer number is a mistake or an attack.
 */
export function readPrice(json: Json | undefined): Rate | undefined {
  const match = typeof json === 'string' ? /^([0-9]{1,12})(?:\.([0-9]{1,12}))?$/.exec(json) : null;
  if (match === null) return undefined;
  const places = match[2] ?? '';
  const num = BigInt(`${match[1]}${places}`);
  return num === 0n ? undefined : fraction(num, 10n ** BigInt(places.length));
}

/** Unix time in seconds or milliseconds, or ISO 8601 in UTC. */
export function readTime(json: Json | undefined, unit: 's' | 'ms' | 'iso'): Date | undefined {
  if (typeof json !== 'string' || !TIMES[unit].test(json)) return undefined;
  const ms = unit === 'iso' ? Date.parse(json) : Number(json) * (unit === 's' ? 1_000 : 1);
  return Number.isNaN(ms) ? undefined : new Date(ms);
}

const TIMES = {
  s: /^[0-9]{10}$/,
  ms: /^[0-9]{13}$/,
  iso: /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$/,
} as const;

/** Clocks differ a little. A stored price dated further ahead would take precedence over every correct price after it. */
const MAX_AHEAD_MS = 5_000;

export function isTimely(time: Date, now: Date, maxAgeMs: number): boolean {
  const ageMs = now.getTime() - time.getTime();
  return ageMs >= -MAX_AHEAD_MS && ageMs <= maxAgeMs;
}
