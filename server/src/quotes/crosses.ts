/**
 * Crosses: computes what markets need (coins in rupees and reals) from what exchanges trade (coins in dollars and USDT).
 * Pure.
 *
 *     coin/usd × usd/fiat             coin/usdt × usdt/usd × usd/fiat
 *
 * A composed price is exact, and as old as its oldest leg. A source's own price of a pair is used as it is. Only a source's
 * own coin leg makes a composed price its own, so that a quorum still counts sources and not our arithmetic.
 *
 * The shared legs are guarded, because an error in one would move every source alike:
 *
 * - USDT is a coin, not a dollar. Its price is the exchange's own, or otherwise the price on which at least two other
 *   exchanges agree: one exchange must not count twice.
 * - A currency's rate comes from one source once a day. A rate that has moved by more than a tenth is not accepted while the
 *   previous one is valid. An operator checks it, and deletes the old row if the rate has really moved that far.
 * - The coin's leg must be at most a minute old, whatever age a market allows: a market may have to allow days, for the
 *   currency's leg.
 */
import { systemClock } from '../base/clock.ts';
import { Unavailable } from '../base/errors.ts';
import { fraction, type Rate, ratesWithin } from '../base/money.ts';
import { aggregate, type SourcedPrice } from './price.ts';
import type { FetchedPrice, Pair } from './source.ts';

/** Coin prices change by the second. */
const COIN_LEG_MAX_AGE_MS = 60_000;
/**
 * The longest gap between two rates is from the Thursday before Easter until the Tuesday after it; plus a margin of some hours.
 */
export const CROSS_MAX_AGE_MS = 6 * 24 * 3_600_000;
const CROSS_JUMP_BPS = 1_000n;
/** Exchanges differ by a few hundredths of a percent on the price of USDT. */
const USDT_OUTLIER_BPS = 100n;

/** A stored price of any source. */
export interface KeptPrice extends SourcedPrice, Pair {}

/** The pairs, and every leg they may be composed of at one exchange. */
export function legs(pairs: readonly Pair[]): Pair[] {
  const all = pairs.flatMap(({ base, quote }) => [
    { base, quote },
    { base, quote: 'usd' },
    { base, quote: 'usdt' },
  ]);
  const wanted = new Map([...all, { base: 'usdt', quote: 'usd' }].map((pair) => [`${pair.base}/${pair.quote}`, pair]));
  wanted.delete('usdt/usdt');
  return [...wanted.values()];
}

/**
 * The composed prices of pairs that one source does not quote itself.
 *
 * @param said fresh prices of this source
 * @param kept the stored shared legs: usdt/usd of every source, and usd/fiat
 */
export function compose(
  pairs: readonly Pair[],
  said: readonly FetchedPrice[],
  kept: readonly KeptPrice[],
  now: Date = systemClock.now(),
): FetchedPrice[] {
  const young = said.filter(({ pricedAt }) => now.getTime() - pricedAt.getTime() <= COIN_LEG_MAX_AGE_MS);
  const of = (base: string, quote: string): Leg | undefined =>
    young.find((price) => price.base === base && price.quote === quote);
  const usdt = of('usdt', 'usd') ?? usdtAgreed(kept, now);

  return pairs.flatMap(({ base, quote }): FetchedPrice[] => {
    if (said.some((price) => price.base === base && price.quote === quote)) return [];
    const direct = of(base, 'usd');
    const inDollars = direct ?? product(of(base, 'usdt'), usdt);
    const composed = quote === 'usd' ? inDollars : product(inDollars, newestCross(kept, quote, now));
    if (composed === undefined) return [];
    const composedOf = [
      ...(direct === undefined ? [`${base}/usdt`, 'usdt/usd'] : [`${base}/usd`]),
      ...(quote === 'usd' ? [] : [`usd/${quote}`]),
    ];
    return [{ base, quote, rate: composed.rate, pricedAt: composed.pricedAt, composedOf }];
  });
}

/** Crosses that have moved further than currencies do, compared with the stored ones that are still valid. */
export function jumped(
  said: readonly FetchedPrice[],
  kept: readonly KeptPrice[],
  now: Date = systemClock.now(),
): FetchedPrice[] {
  return said.filter(({ base, quote, rate }) => {
    const last = base === 'usd' ? newestCross(kept, quote, now) : undefined;
    return last !== undefined && !ratesWithin(rate, last.rate, CROSS_JUMP_BPS);
  });
}

interface Leg {
  rate: Rate;
  pricedAt: Date;
}

/** The price columns hold no more digits, and no real price has so many. */
const MOST = 10n ** 70n;

function product(a: Leg | undefined, b: Leg | undefined): Leg | undefined {
  if (a === undefined || b === undefined) return undefined;
  const rate = fraction(a.rate.num * b.rate.num, a.rate.den * b.rate.den);
  if (rate.num > MOST || rate.den > MOST) return undefined;
  return { rate, pricedAt: a.pricedAt < b.pricedAt ? a.pricedAt : b.pricedAt };
}

function usdtAgreed(kept: readonly KeptPrice[], now: Date): Leg | undefined {
  const prices = kept.filter(({ base, quote }) => base === 'usdt' && quote === 'usd');
  const sources = prices.map(({ source }) => source);
  const rules = { sources, maxAgeMs: COIN_LEG_MAX_AGE_MS, quorum: 2, outlierBps: USDT_OUTLIER_BPS };
  try {
    const { rate, used } = aggregate(prices, rules, 'usdt/usd', now);
    return { rate, pricedAt: new Date(Math.min(...used.map(({ pricedAt }) => pricedAt.getTime()))) };
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

function newestCross(kept: readonly KeptPrice[], fiat: string, now: Date): Leg | undefined {
  return kept
    .filter(({ base, quote, pricedAt }) => {
      const ageMs = now.getTime() - pricedAt.getTime();
      return base === 'usd' && quote === fiat && ageMs >= 0 && ageMs <= CROSS_MAX_AGE_MS;
    })
    .sort((a, b) => b.pricedAt.getTime() - a.pricedAt.getTime())[0];
}
