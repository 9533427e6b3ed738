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
import { divide, formatRate, formatUnits, quoteToBase, type Rate } from '../base/money.ts';
import {
  assets,
  feesFor,
  lockExposure,
  type Market,
  maxUnitsFor,
  type Partner,
  requireOpen,
} from '../partners/index.ts';
import { isNear } from './breaker.ts';
import {
  aggregate,
  FEE_KINDS,
  type Fees,
  gasCost,
  type Priced,
  price,
  rulesOf,
  type SourcedPrice,
  type Terms,
} from './price.ts';
import { store } from './store.ts';

export { FEE_KINDS, type FeeKind, type Fees, PRICED_FEES, type PricedFee, total } from './price.ts';
export {
  type FetchedPrice,
  intervalOf,
  type Pair,
  type PriceSource,
  priceAges,
  priceSourceHealth,
  quoteHandlers,
  refreshNow,
} from './refresh.ts';
export { confirmLevel, confirmPair, haltedPrices, priceLevels, type ShownLevel } from './watch.ts';

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

/** Brings the end of a partner's quotes nearer. @returns how many there were */
export const bringQuotesForward = (tx: Tx, input: { partnerId: bigint; ms: number }): Promise<number> =>
  store.shiftDueTimes(tx, input);

/**
 * Prices an amount and keeps the quote.
 *
 * @param input.depositUnits above zero, in the deposit asset's units
 * @param input.forOrder     an order asks, which has looked itself at what is stopped
 * @throws Refusal 'partner_switched_off' | 'market_switched_off' | 'amount_outside_limits' | 'amount_below_fees' |
 *   'exposure_exceeded'; Unavailable when no fresh price or gas price is there
 */
export async function createQuote(
  tx: Tx,
  input: { partner: Partner; market: Market; depositUnits: bigint; now: Date; forOrder?: boolean },
): Promise<Quote> {
  const { partner, market } = input;
  if (input.forOrder !== true) await requireOpen(tx, { partnerId: partner.id, marketId: market.id, exactly: false });
  const offer = await offerNow(tx, input);
  await requireRoom(tx, offer.quote, offer.fiatUnits);
  store.insert(tx, offer.quote, { ...offer, orderId: null });
  return offer.quote;
}

/**
 * Prices an amount anew for an order that has its money already: the same limits and terms as any quote, taken as it is
 * made. The partner's cap is not asked: it bounds what is promised for money that may never come.
 *
 * @throws Refusal 'amount_outside_limits' | 'amount_below_fees'; Unavailable when no fresh price or gas price is there
 */
export async function requote(
  tx: Tx,
  input: { partner: { id: bigint }; market: Market; depositUnits: bigint; orderId: bigint; now: Date },
): Promise<Quote> {
  return keep(tx, await offerNow(tx, input), input.orderId);
}

/**
 * The same where it would change something; what would not is not kept.
 *
 * @param isSame whether the order has these terms already
 * @returns undefined where it has
 */
export async function requoteUnless(
  tx: Tx,
  input: Parameters<typeof requote>[1],
  isSame: (quote: Quote) => boolean,
): Promise<Quote | undefined> {
  const offer = await offerNow(tx, input);
  return isSame(offer.quote) ? undefined : keep(tx, offer, input.orderId);
}

function keep(tx: Tx, offer: Awaited<ReturnType<typeof offerNow>>, orderId: bigint): Quote {
  store.insert(tx, offer.quote, { ...offer, orderId });
  return offer.quote;
}

/**
 * What another amount comes to at a rate that is booked, with the fees of today's schedule. The chain's fee stays what was
 * booked: gas does not ask how much it moves, and so no price is needed.
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

/** What a quote would say now, to be looked at: nothing is kept and nothing promised. Throws what `createQuote` throws. */
export const previewQuote = async (
  tx: Tx,
  input: { partner: Partner; market: Market; depositUnits: bigint; now: Date },
): Promise<Quote> => (await offerNow(tx, input)).quote;

async function offerNow(
  tx: Tx,
  input: { partner: { id: bigint }; market: Market; depositUnits: bigint; now: Date },
): Promise<{ quote: Quote; prices: unknown[]; fiatUnits: bigint }> {
  const { partner, market, depositUnits, now } = input;
  const limits = withinLimits(market, depositUnits);
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
  return { quote, prices: used, fiatUnits: market.direction === 'offramp' ? quote.grossUnits : depositUnits };
}

function withinLimits(market: Market, depositUnits: bigint) {
  const limits = { minUnits: market.minUnits, maxUnits: market.maxUnits, asset: depositAsset(market).code };
  if (depositUnits < market.minUnits || depositUnits > market.maxUnits)
    throw new Refusal('amount_outside_limits', limits);
  return limits;
}

/**
 * @throws Refusal 'amount_outside_limits', or 'verification_required' where a customer of this level may give less than the
 *   market takes: no amount would do, and being verified further may help
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
 * A live quote is a promise at a price that may move. Where a cap is set, this one and the partner's other live ones of
 * the fiat must not come to more. Where a cap is set, quotes and orders of the partner in that fiat are made one after the
 * other, and a quote reads each live one of the partner once more.
 */
async function requireRoom(tx: Tx, quote: Quote, fiatUnits: bigint): Promise<void> {
  const { partnerId, createdAt } = quote;
  const { fiat } = quote.market;
  const cap = await lockExposure(tx, partnerId, fiat.code);
  if (cap === null) return;
  const live = await liveUnits(tx, { partnerId, fiat: fiat.code, now: createdAt });
  requireWithin(cap, { asked: fiatUnits, live, fiat });
}

/** What a partner's live quotes of a fiat come to, in its units; those taken by orders are not among them. */
export const liveUnits = (tx: Tx, input: { partnerId: bigint; fiat: string; now: Date }): Promise<bigint> =>
  store.liveUnits(tx, input);

/** @throws Refusal 'exposure_exceeded' that says what is left of the cap */
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

/** The rate that holds on a market now. @throws Unavailable when no fresh price is there, or quoting is halted */
export async function rateNow(tx: Tx, market: Market): Promise<Rate> {
  const { coin } = market.crypto;
  const found = await store.prices(tx, { bases: [coin], quote: market.fiat.coin, chain: null, marketId: market.id });
  return ratesOf(found, market, coin).rate;
}

/** Asking again makes sense then, at the soonest. */
const ASK_HALTED_AGAIN_MS = 5_000;

/** Quoting is halted, or was while an order was being made. */
export const priceHalted = (market: Market, waitMs = 0): Unavailable =>
  new Unavailable('price', `quoting is halted on market ${market.id}`, {
    reason: 'price_halted',
    retryAfterMs: Math.max(ASK_HALTED_AGAIN_MS, waitMs),
  });

/**
 * The rate that sources agree on, where the market may quote at it.
 *
 * @throws Unavailable where there is none; where quoting is halted, or should be, with the reason 'price_halted'
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
  // Kept by something that does not judge, an older server: the next judgement is due in seconds.
  const level = judged?.level ?? null;
  if (level !== null && !isNear(agreed.rate, level, market.jumpBps)) throw priceHalted(market);
  return agreed;
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
 * @param atRest native units for one unit of gas where none fresh is known: of a chain whose node has yet to be started
 * @throws Unavailable when no fresh price or gas price is there
 */
export async function chainCost(tx: Tx, market: Market, atRest?: bigint): Promise<bigint> {
  const { terms } = await termsNow(tx, { id: 0n }, market, atRest);
  const fiatUnits = divide(terms.fees.chain.gasUnits * terms.gasCost.num, terms.gasCost.den, 'up');
  return quoteToBase(fiatUnits, terms.rate, { base: market.crypto.decimals, quote: market.fiat.decimals }, 'up');
}

/** The terms that hold at this moment, and the prices they rest on. */
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

/** Which live quote is taken, and for which order. */
export interface TakeInput {
  partner: Partner;
  market: Market;
  depositUnits: bigint;
  rate: Rate;
  payoutUnits: bigint;
  orderId: bigint;
  now: Date;
}

/**
 * A live quote of the partner for the same market, amount, rate and payout, taken for this order.
 * Taken means: nobody else gets it. `undefined` where there is none, or a price that it rests on is halted.
 */
export const takeQuote = (tx: Tx, input: TakeInput): Promise<Quote | undefined> => store.take(tx, input);

/** A quote of this market and amount that is still good and that nobody has taken. */
export const liveQuote = (
  tx: Tx,
  input: { id: bigint; market: Market; depositUnits: bigint; now: Date },
): Promise<Quote | undefined> => store.live(tx, input);

/** A quote that was shown, good or ended. `undefined` once it is forgotten. */
export const shownQuote = (
  tx: Tx,
  input: { id: bigint; market: Market; depositUnits: bigint },
): Promise<Quote | undefined> => store.shown(tx, input);

/** Whether two quotes of one amount promise the same: payout, rate and each fee. */
export const isSameOffer = (a: Quote, b: Quote): boolean =>
  a.payoutUnits === b.payoutUnits &&
  a.rate.num * b.rate.den === b.rate.num * a.rate.den &&
  FEE_KINDS.every((kind) => a.fees[kind] === b.fees[kind]);
