/**
 * Price: aggregates several sources into the one rate we use, and computes a quote from it. Pure, on integers, the same for
 * both directions.
 *
 * A source's price counts only while it is fresh and near the median of the others, and there must be as many as the market's
 * quorum: an old price is never used in place of none. Prices age on real time even when an order's clock has been moved,
 * because they come from the outside world.
 *
 * Fees are in the market's fiat. Selling crypto they are taken from the converted amount, buying it from the deposit. Every
 * fee is rounded up to the fiat's smallest unit, and the payout is rounded down to the places shown, so no rounding favours
 * the house twice or creates money; the fraction cut off is booked (orders/entries.ts).
 *
 * Source: docs/decisions/0004-rounding.md
 */
import { systemClock } from '../base/clock.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import {
  baseToQuote,
  divide,
  percentage,
  pow10,
  quoteToBase,
  type Rate,
  ratesWithin,
  roundRate,
  truncateTo,
} from '../base/money.ts';
import type { Market } from '../partners/index.ts';

export interface FeeTerm {
  fixedUnits: bigint;
  bps: bigint;
  minimumUnits: bigint;
  /** Gas used by an order's chain transfers; only the chain's fee has it. */
  gasUnits: bigint;
}

/** Four fees have a schedule each. The tax is withheld for the authority and is a column of the market. */
export const FEE_KINDS = ['operator', 'partner', 'rail', 'chain', 'tax'] as const;
export type FeeKind = (typeof FEE_KINDS)[number];
/** Fees with a schedule. */
export const PRICED_FEES = ['operator', 'partner', 'rail', 'chain'] as const satisfies readonly FeeKind[];
export type PricedFee = (typeof PRICED_FEES)[number];
export type FeeTerms = Readonly<Record<PricedFee, FeeTerm>>;
/** Amounts in the fiat's smallest units. */
export type Fees = Readonly<Record<FeeKind, bigint>>;

export interface Terms {
  direction: 'offramp' | 'onramp';
  cryptoDecimals: number;
  fiatDecimals: number;
  /** Decimal places of the payout; at most the asset's own. */
  payoutDecimals: number;
  /** Whole fiat per one whole crypto. */
  rate: Rate;
  fees: FeeTerms;
  /** Current cost of one unit of gas, in the fiat's smallest units, exact. Zero numerator when the market has no gas fee. */
  gasCost: { num: bigint; den: bigint };
  /** Withheld from the fiat that is converted or paid in, before fees. */
  taxBps: bigint;
}

export interface Priced {
  payoutUnits: bigint;
  /** The converted amount: the fiat before fees when selling, the crypto before truncation when buying. */
  grossUnits: bigint;
  fees: Fees;
}

/**
 * @param depositUnits what the customer pays, smallest units of the deposit asset, above zero
 * @returns selling: `gross = payout + Σ fees + cut-off`; buying: `deposit − Σ fees` buys `gross = payout + cut-off`
 * @throws Refusal 'amount_below_fees' when nothing would be left after fees
 */
export function price(depositUnits: bigint, terms: Terms): Priced {
  const decimals = { base: terms.cryptoDecimals, quote: terms.fiatDecimals };
  if (terms.direction === 'offramp') {
    const grossUnits = baseToQuote(depositUnits, terms.rate, decimals, 'down');
    const fees = feesOn(grossUnits, terms);
    const left = grossUnits - total(fees);
    const payoutUnits = left > 0n ? truncateTo(left, terms.fiatDecimals, terms.payoutDecimals) : 0n;
    if (payoutUnits <= 0n) throw new Refusal('amount_below_fees', {});
    return { payoutUnits, grossUnits, fees };
  }
  const fees = feesOn(depositUnits, terms);
  const left = depositUnits - total(fees);
  const grossUnits = left > 0n ? quoteToBase(left, terms.rate, decimals, 'down') : 0n;
  const payoutUnits = truncateTo(grossUnits, terms.cryptoDecimals, terms.payoutDecimals);
  if (payoutUnits <= 0n) throw new Refusal('amount_below_fees', {});
  return { payoutUnits, grossUnits, fees };
}

/**
 * A deposit whose payout is at least this amount, while one unit less pays less.
 *
 * The search bisects with `price` itself, so roundings and minimum fees are those of that deposit. The payout grows with the
 * deposit, except by single units where several fees round up at once. So in rare cases a deposit that is smaller by up to as
 * many units as there are fees pays as much.
 *
 * @param receiveUnits above zero, in the payout's units
 * @param mostUnits    the largest deposit to consider
 * @returns `undefined` when even the largest deposit pays less
 */
export function depositFor(receiveUnits: bigint, terms: Terms, mostUnits: bigint): bigint | undefined {
  const pays = (depositUnits: bigint): boolean => {
    try {
      return price(depositUnits, terms).payoutUnits >= receiveUnits;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'amount_below_fees') return false;
      throw error;
    }
  };
  if (!pays(mostUnits)) return undefined;
  let [least, most] = [1n, mostUnits];
  while (least < most) {
    const middle = (least + most) / 2n;
    if (pays(middle)) most = middle;
    else least = middle + 1n;
  }
  return least;
}

export const total = (fees: Fees): bigint => FEE_KINDS.reduce((sum, kind) => sum + fees[kind], 0n);

function feesOn(fiatUnits: bigint, terms: Terms): Fees {
  const fee = (kind: keyof FeeTerms): bigint => {
    const term = terms.fees[kind];
    const gas = divide(term.gasUnits * terms.gasCost.num, terms.gasCost.den, 'up');
    const charged = term.fixedUnits + percentage(fiatUnits, term.bps, 'up') + gas;
    return charged > term.minimumUnits ? charged : term.minimumUnits;
  };
  const tax = percentage(fiatUnits, terms.taxBps, 'up');
  return { operator: fee('operator'), partner: fee('partner'), rail: fee('rail'), chain: fee('chain'), tax };
}

/**
 * Cost of one unit of gas in the fiat's smallest units, as an exact fraction.
 *
 * @param nativeUnits price of one unit of gas in the native asset's smallest units (wei)
 * @param nativeRate  whole fiat per one whole unit of the native asset
 */
export function gasCost(
  nativeUnits: bigint,
  nativeRate: Rate,
  decimals: { native: number; fiat: number },
): { num: bigint; den: bigint } {
  return { num: nativeUnits * nativeRate.num * pow10(decimals.fiat), den: nativeRate.den * pow10(decimals.native) };
}

export interface SourcedPrice {
  source: string;
  rate: Rate;
  /** When it was valid, according to the source. */
  pricedAt: Date;
  /** The pairs it was computed through; absent when the source quotes the pair. */
  composedOf?: readonly string[];
}

export interface PriceRules {
  sources: readonly string[];
  maxAgeMs: number;
  quorum: number;
  /** A price further from the median than this is excluded. */
  outlierBps: bigint;
}

export const rulesOf = (market: Market): PriceRules => ({
  sources: market.priceSources,
  maxAgeMs: market.priceMaxAgeMs,
  quorum: market.priceQuorum,
  outlierBps: market.outlierBps,
});

/** A price may be dated this far ahead, because the clock of its source may differ from ours. */
const MAX_AHEAD_MS = 5_000;

/**
 * @param now the database's time, because its clock dated the prices
 * @returns the median of the prices that count, with at most 15 significant digits, and the prices that count
 * @throws Unavailable if fewer prices than the quorum count
 */
export function aggregate(
  prices: readonly SourcedPrice[],
  rules: PriceRules,
  what: string,
  now: Date = systemClock.now(),
): { rate: Rate; used: SourcedPrice[] } {
  const fresh = prices.filter((price) => {
    const ageMs = now.getTime() - price.pricedAt.getTime();
    return rules.sources.includes(price.source) && ageMs <= rules.maxAgeMs && ageMs >= -MAX_AHEAD_MS;
  });
  const middle = median(fresh);
  const used = middle === undefined ? [] : fresh.filter((price) => ratesWithin(price.rate, middle, rules.outlierBps));
  const rate = median(used);
  if (rate === undefined || used.length < rules.quorum) {
    throw new Unavailable('price', `${used.length} of ${rules.quorum} fresh prices for ${what}`);
  }
  return { rate: roundRate(rate), used };
}

function median(prices: readonly SourcedPrice[]): Rate | undefined {
  const rates = prices.map((price) => price.rate).sort((a, b) => compare(a, b));
  const upper = rates[rates.length >> 1];
  if (upper === undefined || rates.length % 2 === 1) return upper;
  const lower = rates[(rates.length >> 1) - 1] ?? upper;
  return { num: lower.num * upper.den + upper.num * lower.den, den: 2n * lower.den * upper.den };
}

function compare(a: Rate, b: Rate): number {
  const difference = a.num * b.den - b.num * a.den;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
