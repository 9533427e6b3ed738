/**
 * Quotes: an offer at a price, stored with its inputs, valid until it expires and taken once.
 *
 * A quote costs two statements: one reads every price and the gas price it needs, one stores it.
 *
 * Not here: the arithmetic and which prices count (price.ts), markets and fees (partners).
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import { numericId } from '../base/ids.ts';
import { divide, formatRate, formatUnits, quoteToBase, type Rate } from '../base/money.ts';
import {
  assets,
  feesFor,
  lockExposure,
  type Market,
  marketById,
  maxUnitsFor,
  type Partner,
  requireOpen,
} from '../partners/index.ts';
import { isNear } from './breaker.ts';
import {
  aggregate,
  depositFor,
  FEE_KINDS,
  gasCost,
  type Priced,
  price,
  rulesOf,
  type SourcedPrice,
  type Terms,
} from './price.ts';
import type { FixedSide, Quote, TakeInput, UsedPrice } from './quote.ts';
import { store } from './store.ts';

export { FEE_KINDS, type FeeKind, type Fees, PRICED_FEES, type PricedFee, total } from './price.ts';
export type { FixedSide, Quote, UsedPrice } from './quote.ts';
export {
  intervalOf,
  POLL,
  pollPrices,
  priceAges,
  priceSourceHealth,
  quoteHandlers,
  refreshNow,
} from './refresh.ts';
export type { FetchedPrice, Pair, PriceSource } from './source.ts';
export { type PricedRow, pricedOf } from './store.ts';
export { confirmLevel, confirmPair, haltedPrices, priceLevels, type ShownLevel } from './watch.ts';

/** A quote with the order that took it and the prices it is based on. */
export interface KeptQuote extends Quote {
  orderId: bigint | null;
  prices: readonly UsedPrice[];
  fixedSide: FixedSide;
}

/** A quote by its id, read with its partner's role. `undefined` if there is none or it has been deleted. */
export const findQuote = (tx: Tx, id: bigint): Promise<KeptQuote | undefined> =>
  store.byId(tx, id, (marketId) => marketById(tx, marketId));

/** Takes the quote with this id for an order. `undefined` if it has expired, is taken, or a price it is based on is halted. */
export const takeQuoteById = (
  tx: Tx,
  input: { partnerId: bigint; id: bigint; market: Market; orderId: bigint; now: Date },
): Promise<Quote | undefined> => store.takeOne(tx, input);

/** Moves the expiry of a partner's quotes earlier. @returns the number of quotes */
export const bringQuotesForward = (tx: Tx, input: { partnerId: bigint; ms: number }): Promise<number> =>
  store.shiftDueTimes(tx, input);

/**
 * Prices an amount and stores the quote.
 *
 * @param input.depositUnits above zero, in the deposit asset's units
 * @param input.forOrder true for an order, which has checked the kill switches itself
 * @throws Refusal 'partner_switched_off' | 'market_switched_off' | 'amount_outside_limits' | 'amount_below_fees' |
 *   'exposure_exceeded'; Unavailable without a fresh price or gas price
 */
export async function createQuote(
  tx: Tx,
  input: { partner: Partner; market: Market; depositUnits: bigint; now: Date; forOrder?: boolean },
): Promise<Quote> {
  const { partner, market } = input;
  if (input.forOrder !== true) await requireOpen(tx, { partnerId: partner.id, marketId: market.id, exactly: false });
  return (await promise(tx, await offerNow(tx, input), 'pay')).quote;
}

/** Stores an offer as a quote, if the partner's exposure cap allows it. */
async function promise(tx: Tx, offer: Awaited<ReturnType<typeof offerNow>>, fixedSide: FixedSide) {
  await requireRoom(tx, offer.quote, offer.fiatUnits);
  store.insert(tx, offer.quote, { ...offer, orderId: null, fixedSide });
  return offer;
}

/**
 * The same for a fixed amount on either side, with the prices that were used: what the customer pays, or what the customer
 * receives. For the latter it finds a deposit whose payout is at least that amount (price.ts).
 *
 * @param input.units above zero, in units of the deposit's asset or the payout's, depending on `side`
 * @throws as `createQuote`
 */
export async function quoteFor(
  tx: Tx,
  input: { partner: Partner; market: Market; side: FixedSide; units: bigint; now: Date },
): Promise<KeptQuote> {
  const { partner, market, side, units, now } = input;
  await requireOpen(tx, { partnerId: partner.id, marketId: market.id, exactly: false });
  const known = await termsNow(tx, partner, market);
  const limits = { minUnits: market.minUnits, maxUnits: market.maxUnits, asset: depositAsset(market).code };
  const depositUnits =
    side === 'pay' ? units : belowFeesWith(limits, () => depositFor(units, known.terms, market.maxUnits));
  if (depositUnits === undefined) throw new Refusal('amount_outside_limits', limits);
  const { quote, prices } = await promise(tx, await offerNow(tx, { partner, market, depositUnits, now }, known), side);
  return { ...quote, orderId: null, prices: prices as UsedPrice[], fixedSide: side };
}

/**
 * Prices an amount again for an order that already has its money, with the limits and terms of any quote; the order takes the
 * quote at once. The partner's exposure cap does not apply: it bounds promises for money that may never arrive.
 *
 * @throws Refusal 'amount_outside_limits' | 'amount_below_fees'; Unavailable without a fresh price or gas price
 */
export async function requote(
  tx: Tx,
  input: { partner: { id: bigint }; market: Market; depositUnits: bigint; orderId: bigint; now: Date },
): Promise<Quote> {
  return keep(tx, await offerNow(tx, input), input.orderId);
}

/**
 * As `requote`, but stores nothing if the order already has these terms.
 *
 * @param isSame whether the order already has these terms; throws a Refusal if it may not have them
 * @returns undefined if it does
 */
export async function requoteUnless(
  tx: Tx,
  input: Parameters<typeof requote>[1],
  isSame: (quote: Quote) => Promise<boolean>,
): Promise<Quote | undefined> {
  const offer = await offerNow(tx, input);
  return (await isSame(offer.quote)) ? undefined : keep(tx, offer, input.orderId);
}

function keep(tx: Tx, offer: Awaited<ReturnType<typeof offerNow>>, orderId: bigint): Quote {
  store.insert(tx, offer.quote, { ...offer, orderId });
  return offer.quote;
}

/**
 * Prices another amount at a booked rate, with the fees of the current schedule. The chain's fee stays as booked, because gas
 * does not depend on the amount; so no price is needed.
 *
 * @throws Refusal 'amount_outside_limits' | 'amount_below_fees'
 */
export async function repriceAt(
  tx: Tx,
  input: { partner: { id: bigint }; market: Market; depositUnits: bigint; rate: Rate; chainFee: bigint },
): Promise<Priced> {
  const { partner, market, depositUnits, rate, chainFee } = input;
  const limits = withinLimits(market, depositUnits);
  const fees = await feesFor(tx, market, partner.id);
  const chain = { fixedUnits: chainFee, bps: 0n, minimumUnits: 0n, gasUnits: 0n };
  const terms = { ...termsOf(market), rate, fees: { ...fees, chain }, gasCost: NO_GAS };
  return belowFeesWith(limits, () => price(depositUnits, terms));
}

/** The quote at this moment, for display: nothing is stored or promised. Throws as `createQuote`. */
export const previewQuote = async (
  tx: Tx,
  input: { partner: Partner; market: Market; depositUnits: bigint; now: Date },
): Promise<Quote> => (await offerNow(tx, input)).quote;

async function offerNow(
  tx: Tx,
  input: { partner: { id: bigint }; market: Market; depositUnits: bigint; now: Date },
  known?: Awaited<ReturnType<typeof termsNow>>,
): Promise<{ quote: Quote; prices: unknown[]; fiatUnits: bigint }> {
  const { partner, market, depositUnits, now } = input;
  const limits = withinLimits(market, depositUnits);
  const { terms, used } = known ?? (await termsNow(tx, partner, market));
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
  return { quote, prices: used, fiatUnits: market.direction === 'offramp' ? quote.grossUnits : depositUnits };
}

function withinLimits(market: Market, depositUnits: bigint) {
  const limits = { minUnits: market.minUnits, maxUnits: market.maxUnits, asset: depositAsset(market).code };
  if (depositUnits < market.minUnits || depositUnits > market.maxUnits)
    throw new Refusal('amount_outside_limits', limits);
  return limits;
}

/**
 * @throws Refusal 'amount_outside_limits'; 'verification_required' if the maximum of this level is below the market's minimum:
 *   then no amount fits, and a higher verification level may help
 */
export async function requireWithinLevel(
  tx: Tx,
  { market, level, depositUnits }: { market: Market; level: number; depositUnits: bigint },
): Promise<void> {
  const { minUnits } = market;
  const maxUnits = await maxUnitsFor(tx, market, level);
  if (maxUnits < minUnits) throw new Refusal('verification_required', { level });
  if (depositUnits <= maxUnits) return;
  throw new Refusal('amount_outside_limits', { minUnits, maxUnits, asset: depositAsset(market).code });
}

/**
 * A live quote is a commitment at a price that may move. If the partner has an exposure cap, this quote and its other live ones
 * in the fiat must not exceed it. So the partner's quotes and orders in that fiat are created one after the other, and each quote
 * reads the live ones again.
 */
async function requireRoom(tx: Tx, quote: Quote, fiatUnits: bigint): Promise<void> {
  const { partnerId, createdAt } = quote;
  const { fiat } = quote.market;
  const cap = await lockExposure(tx, partnerId, fiat.code);
  if (cap === null) return;
  const { units: live } = await liveExposure(tx, { partnerId, fiat: fiat.code, now: createdAt });
  requireWithin(cap, { asked: fiatUnits, live, fiat });
}

/**
 * Value of a partner's live quotes in a fiat that no order has taken, in the fiat's units. The last of them expires at `until`.
 */
export const liveExposure = (
  tx: Tx,
  input: { partnerId: bigint; fiat: string; now: Date },
): Promise<{ units: bigint; until: Date | null }> => store.liveExposure(tx, input);

/** @throws Refusal 'exposure_exceeded' with what is left of the cap */
export function requireWithin(
  cap: bigint,
  { asked, live, fiat }: { asked: bigint; live: bigint; fiat: Market['fiat'] },
): void {
  if (live + asked <= cap) return;
  throw new Refusal('exposure_exceeded', {
    left: formatUnits(live < cap ? cap - live : 0n, fiat.decimals),
    cap: formatUnits(cap, fiat.decimals),
    asset: fiat.coin.toUpperCase(),
  });
}

/** The current rate of a market. @throws Unavailable without a fresh price or while quoting is halted */
export async function rateNow(tx: Tx, market: Market): Promise<Rate> {
  const { coin } = market.crypto;
  const found = await store.prices(tx, { bases: [coin], quote: market.fiat.coin, chain: null, marketId: market.id });
  return ratesOf(found, market, coin).rate;
}

/** A retry before this time is pointless. */
const ASK_HALTED_AGAIN_MS = 5_000;

/** The error for a market on which quoting is halted, or was halted while an order was being created. */
export const priceHalted = (market: Market, waitMs = 0): Unavailable =>
  new Unavailable('price', `quoting is halted on market ${market.id}`, {
    reason: 'price_halted',
    retryAfterMs: Math.max(ASK_HALTED_AGAIN_MS, waitMs),
  });

/**
 * The rate that the sources agree on, if the market may quote at it.
 *
 * @throws Unavailable if they agree on none; with the reason 'price_halted' if quoting is halted, or the rate is a jump that
 *   would halt it
 */
function ratesOf(found: Awaited<ReturnType<typeof store.prices>>, market: Market, coin: string) {
  const { prices, levels, now } = found;
  const judged = levels.find((one) => one.coin === coin);
  const ofCoin = prices.filter((row) => row.base === coin);
  if (judged !== undefined && judged.haltedAt !== null) {
    const seenForMs = judged.seenSince === null ? 0 : now.getTime() - judged.seenSince.getTime();
    throw priceHalted(market, market.resumeMs - seenForMs);
  }
  const agreed = aggregate(ofCoin, rulesOf(market), `${coin}/${market.fiat.coin}`, now);
  // An older server stores prices without judging them; the next judgement follows within seconds. Until then the level is
  // checked here.
  const level = judged?.level ?? null;
  if (level !== null && !isNear(agreed.rate, level, market.jumpBps)) throw priceHalted(market);
  return agreed;
}

/** If nothing would be left after fees, adds the limits to the Refusal. */
function belowFeesWith<T>(limits: Record<string, unknown>, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'amount_below_fees') throw new Refusal(error.code, limits);
    throw error;
  }
}

/**
 * Current cost of one order's chain transfers, in units of the market's crypto, rounded up.
 *
 * @param atRest native units per unit of gas, used if no fresh gas price is known: for a chain whose node has not been started
 *   yet
 * @throws Unavailable without a fresh price or gas price
 */
export async function chainCost(tx: Tx, market: Market, atRest?: bigint): Promise<bigint> {
  const { terms } = await termsNow(tx, { id: 0n }, market, atRest);
  const fiatUnits = divide(terms.fees.chain.gasUnits * terms.gasCost.num, terms.gasCost.den, 'up');
  return quoteToBase(fiatUnits, terms.rate, { base: market.crypto.decimals, quote: market.fiat.decimals }, 'up');
}

/** The current terms, and the prices they are based on. */
async function termsNow(
  tx: Tx,
  partner: { id: bigint },
  market: Market,
  atRest?: bigint,
): Promise<{ terms: Terms; used: unknown[] }> {
  const fees = await feesFor(tx, market, partner.id);
  const native = await nativeOf(tx, market);
  const found = await store.prices(tx, {
    bases: [market.crypto.coin, native?.coin ?? ''],
    quote: market.fiat.coin,
    chain: market.crypto.chain,
    marketId: market.id,
  });
  const main = ratesOf(found, market, market.crypto.coin);
  let cost = NO_GAS;
  let nativeUsed: SourcedPrice[] = [];
  if (native !== undefined && fees.chain.gasUnits > 0n) {
    const nativePrice = ratesOf(found, market, native.coin);
    const isFresh = found.gasUnits !== null && found.gasAgeMs <= MAX_GAS_AGE_MS;
    const gasUnits = isFresh ? found.gasUnits : atRest;
    if (gasUnits == null) {
      const { chain } = market.crypto;
      throw new Unavailable('gas price', `none fresh for ${chain}`, chain === null ? {} : { chain });
    }
    nativeUsed = nativePrice.used;
    cost = gasCost(gasUnits, nativePrice.rate, { native: native.decimals, fiat: market.fiat.decimals });
  }
  const terms: Terms = { ...termsOf(market), rate: main.rate, fees, gasCost: cost };
  return { terms, used: [...described(market.crypto.coin, main.used), ...described(native?.coin ?? '', nativeUsed)] };
}

const termsOf = ({ direction, crypto, fiat, payoutDecimals, taxBps }: Market) => ({
  direction,
  cryptoDecimals: crypto.decimals,
  fiatDecimals: fiat.decimals,
  payoutDecimals,
  taxBps,
});

const NO_GAS = { num: 0n, den: 1n };

/** Gas prices move fast. One that is a minute old is still about right; an older one is not used. */
const MAX_GAS_AGE_MS = 60_000;

const described = (base: string, used: readonly SourcedPrice[]) =>
  used.map(
    (one): UsedPrice => ({
      ...{ base, source: one.source, rate: formatRate(one.rate), at: one.pricedAt.toISOString() },
      ...defined({ composedOf: one.composedOf }),
    }),
  );

async function nativeOf(tx: Tx, market: Market) {
  for (const asset of (await assets(tx)).values()) {
    if (asset.native && asset.chain === market.crypto.chain) return asset;
  }
  return undefined;
}

export const depositAsset = (market: Market) => (market.direction === 'offramp' ? market.crypto : market.fiat);
export const payoutAsset = (market: Market) => (market.direction === 'offramp' ? market.fiat : market.crypto);

/**
 * Takes a live quote of the partner with the same market, amount, rate and payout for this order; no other order can take it
 * then. `undefined` if there is none, or a price it is based on is halted.
 */
export const takeQuote = (tx: Tx, input: TakeInput): Promise<Quote | undefined> => store.take(tx, input);

/** A quote for this market and amount that is valid and not taken. */
export const liveQuote = (
  tx: Tx,
  input: { id: bigint; market: Market; depositUnits: bigint; now: Date },
): Promise<Quote | undefined> => store.live(tx, input);

/** A quote that was shown to a customer, live or expired. `undefined` once it is deleted. */
export const shownQuote = (
  tx: Tx,
  input: { id: bigint; market: Market; depositUnits: bigint },
): Promise<Quote | undefined> => store.shown(tx, input);

/** Whether two quotes for one amount have the same payout, rate and fees. */
export const isSameOffer = (a: Quote, b: Quote): boolean =>
  a.payoutUnits === b.payoutUnits &&
  a.rate.num * b.rate.den === b.rate.num * a.rate.den &&
  FEE_KINDS.every((kind) => a.fees[kind] === b.fees[kind]);
