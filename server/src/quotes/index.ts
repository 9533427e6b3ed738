/**
 * Quotes: an offer at a price, kept with what it was made of, good until it expires and taken once.
 *
 * A quote costs two statements: one reads every price and the gas price it needs, one keeps it.
 *
 * Not here: the arithmetic and which prices count (price.ts), markets and fees (partners).
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import { numericId } from '../base/ids.ts';
import { divide, formatRate, quoteToBase, type Rate } from '../base/money.ts';
import { assets, feesFor, type Market, type Partner } from '../partners/index.ts';
import { agree, type Fees, gasCost, price, type SourcedPrice, type Terms } from './price.ts';
import { store } from './store.ts';

export { FEE_KINDS, type FeeKind, type Fees, total } from './price.ts';
export { type FetchedPrice, type Pair, type PriceSource, priceAges, quoteHandlers } from './refresh.ts';

export interface Quote {
  id: bigint;
  partnerId: bigint;
  market: Market;
  /** What the customer gives, in the deposit asset's units. */
  depositUnits: bigint;
  payoutUnits: bigint;
  grossUnits: bigint;
  /** Whole fiat per one whole crypto: the very one used. */
  rate: Rate;
  fees: Fees;
  createdAt: Date;
  expiresAt: Date;
}

/**
 * Prices an amount and keeps the quote.
 *
 * @param ask.depositUnits above zero, in the deposit asset's units
 * @throws Refusal 'amount_outside_limits' | 'amount_below_fees'; Unavailable when no fresh price or gas price is there
 */
export async function createQuote(
  tx: Tx,
  ask: { partner: Partner; market: Market; depositUnits: bigint; now: Date },
): Promise<Quote> {
  const { partner, market, depositUnits, now } = ask;
  const limits = { minUnits: market.minUnits, maxUnits: market.maxUnits, asset: depositAsset(market).code };
  if (depositUnits < market.minUnits || depositUnits > market.maxUnits)
    throw new Refusal('amount_outside_limits', limits);
  const { terms, used } = await termsNow(tx, partner, market);
  const priced = belowFeesWith(limits, () => price(depositUnits, terms));
  const quote: Quote = {
    id: numericId(now),
    partnerId: partner.id,
    market,
    depositUnits,
    ...priced,
    rate: terms.rate,
    createdAt: now,
    expiresAt: later(now, market.quoteTtlMs),
  };
  await store.insert(tx, quote, used);
  return quote;
}

/** A refusal for want of anything left over also says the limits. */
function belowFeesWith<T>(limits: Record<string, unknown>, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'amount_below_fees') throw new Refusal(error.code, limits);
    throw error;
  }
}

/**
 * What the chain transfers of one order cost now, in the market's crypto, smallest units, rounded up.
 *
 * @throws Unavailable when no fresh price or gas price is there
 */
export async function chainCost(tx: Tx, market: Market): Promise<bigint> {
  const { terms } = await termsNow(tx, { id: 0n }, market);
  const fiatUnits = divide(terms.fees.chain.gasUnits * terms.gasCost.num, terms.gasCost.den, 'up');
  return quoteToBase(fiatUnits, terms.rate, { base: market.crypto.decimals, quote: market.fiat.decimals }, 'up');
}

/** The terms that hold at this moment, and the prices they rest on. */
async function termsNow(tx: Tx, partner: { id: bigint }, market: Market): Promise<{ terms: Terms; used: unknown[] }> {
  const fees = await feesFor(tx, market, partner.id);
  const native = await nativeOf(tx, market);
  const found = await store.prices(tx, {
    bases: [market.crypto.coin, native?.coin ?? ''],
    quote: market.fiat.coin,
    chain: market.crypto.chain,
  });
  const of = (coin: string): SourcedPrice[] => found.prices.filter((row) => row.base === coin);
  const rules = {
    sources: market.priceSources,
    maxAgeMs: market.priceMaxAgeMs,
    quorum: market.priceQuorum,
    outlierBps: market.outlierBps,
  };
  const main = agree(of(market.crypto.coin), rules, `${market.crypto.coin}/${market.fiat.coin}`);
  let cost = { num: 0n, den: 1n };
  let nativeUsed: SourcedPrice[] = [];
  if (native !== undefined && fees.chain.gasUnits > 0n) {
    const nativePrice = agree(of(native.coin), rules, `${native.coin}/${market.fiat.coin}`);
    if (found.gasUnits === null || found.gasAgeMs > MAX_GAS_AGE_MS) {
      throw new Unavailable('gas price', `none fresh for ${market.crypto.chain}`);
    }
    nativeUsed = nativePrice.used;
    cost = gasCost(found.gasUnits, nativePrice.rate, { native: native.decimals, fiat: market.fiat.decimals });
  }
  const terms: Terms = {
    direction: market.direction,
    cryptoDecimals: market.crypto.decimals,
    fiatDecimals: market.fiat.decimals,
    payoutPlaces: market.payoutPlaces,
    rate: main.rate,
    fees,
    gasCost: cost,
  };
  return { terms, used: [...described(market.crypto.coin, main.used), ...described(native?.coin ?? '', nativeUsed)] };
}

/** Gas moves fast, but a fee a minute old is still about right; older is no price at all. */
const MAX_GAS_AGE_MS = 60_000;

const described = (base: string, used: readonly SourcedPrice[]) =>
  used.map((one) => ({ base, source: one.source, rate: formatRate(one.rate), at: one.pricedAt.toISOString() }));

async function nativeOf(tx: Tx, market: Market) {
  for (const asset of (await assets(tx)).values()) {
    if (asset.native && asset.chain === market.crypto.chain) return asset;
  }
  return undefined;
}

export const depositAsset = (market: Market) => (market.direction === 'offramp' ? market.crypto : market.fiat);
export const payoutAsset = (market: Market) => (market.direction === 'offramp' ? market.fiat : market.crypto);

/**
 * A live quote of the partner for the same market and amount (and rate and payout, where given), taken for this order.
 * Taken means: nobody else gets it. `undefined` where there is none.
 */
export async function takeQuote(
  tx: Tx,
  ask: {
    partner: Partner;
    market: Market;
    depositUnits: bigint;
    rate: Rate;
    payoutUnits: bigint;
    orderId: bigint;
    now: Date;
  },
): Promise<Quote | undefined> {
  return await store.take(tx, ask);
}
