/**
 * What amounts of different assets are worth in one unit, so that people can compare them. Pure.
 *
 * Only for orders of lists, never for money: the prices are the newest stored ones, however many sources agree, and a value may
 * be computed through several pairs.
 */
import { type Rate, roundRate } from '../base/money.ts';

/** Whole units of `quote` for one whole `base`, according to one source. */
export interface PairPrice {
  base: string;
  quote: string;
  num: bigint;
  den: bigint;
}

export interface Worth {
  /** The coin in which values are given: dollars if any price is in dollars, otherwise the coin in which most prices are. */
  unit: string;
  /** Of each coin that prices connect with the unit: units for one whole coin. */
  rates: ReadonlyMap<string, Rate>;
}

const DOLLARS = 'usd';

/** @returns undefined without any price */
export function worthIn(prices: readonly PairPrice[]): Worth | undefined {
  const pairs = [...Map.groupBy(prices, ({ base, quote }) => `${base}/${quote}`)]
    .map(([name, of]) => ({ name, ...median(of) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const unit = unitOf(pairs);
  if (unit === undefined) return undefined;
  const rates = new Map<string, Rate>([[unit, { num: 1n, den: 1n }]]);
  // Breadth first: a value goes through as few pairs as possible. A map lists what is added while it is walked.
  for (const [coin, rate] of rates)
    for (const { base, quote, num, den } of pairs) {
      if (quote === coin && !rates.has(base)) rates.set(base, times(rate, { num, den }));
      if (base === coin && !rates.has(quote)) rates.set(quote, times(rate, { num: den, den: num }));
    }
  return { unit, rates };
}

function unitOf(pairs: readonly PairPrice[]): string | undefined {
  const counts = Map.groupBy(pairs, ({ quote }) => quote);
  if (counts.has(DOLLARS)) return DOLLARS;
  const [first] = [...counts].toSorted(([a, of], [b, other]) => other.length - of.length || (a < b ? -1 : 1));
  return first?.[0];
}

/** With two sources the lower one: an order of a list needs no mean. */
function median(prices: readonly PairPrice[]): PairPrice {
  const sorted = prices.toSorted((a, b) => (a.num * b.den < b.num * a.den ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)] as PairPrice;
}

/** At most 15 digits, so that a product of several rates stays short. */
const times = (a: Rate, b: Rate): Rate => roundRate({ num: a.num * b.num, den: a.den * b.den });
