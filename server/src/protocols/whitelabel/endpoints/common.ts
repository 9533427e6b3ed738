/**
 * General data in the interface's own terms: maps from codes to its numbers, limits, prices, fees, and an order's status by
 * number. Made from the configured markets; assets without a market are not included.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal, Unavailable } from '../../../base/errors.ts';
import { baseToQuote, formatRate, formatUnits, type Rate } from '../../../base/money.ts';
import { isoTime } from '../../../base/times.ts';
import { findMarket, type Market, markets } from '../../../partners/index.ts';
import { createQuote, depositAsset, rateNow } from '../../../quotes/index.ts';
import type { Reply } from '../../protocol.ts';
import { type Body, isAbsent, JsonNumber } from '../body.ts';
import { fiatNamed, requiredFiat } from '../fiat.ts';
import { amount, code, type Field, id, oneOf, optional, required, unitsOf } from '../fields.ts';
import { allConfig, chainNumber, coinNumber, configMap, fiatNumber, type NetworkIds } from '../reference.ts';
import { ok, type SignedRequest, whenNeeded } from '../route.ts';
import { quoteNumbersShape, rawNumber } from '../shapes.ts';
import { statusNumber } from '../status.ts';
import { orderNumberOf, sayLimits } from './orders.ts';

export const noFields = {};
type NoFields = typeof noFields;

const fromMarkets =
  (view: (all: readonly Market[], networkIds: NetworkIds) => unknown) =>
  async ({ deps }: SignedRequest<NoFields>): Promise<Reply> =>
    ok(view(await markets(whenNeeded(deps.db)), deps.networkIds ?? new Map()));

export const allConfigMapping = fromMarkets(configMap);
export const allChainMapping = fromMarkets(allConfig);

/** `{"54": {"3": {withdrawalFee: "0.21", minimumWithdrawal: "0.21", nodeInSync: 1, depositEnable: 1}}}`, as text. */
export async function gasFeeMap({ deps }: SignedRequest<NoFields>): Promise<Reply> {
  const { withdrawalFee } = deps;
  if (withdrawalFee === undefined) throw new Refusal('unknown_path');
  const all = await markets(whenNeeded(deps.db));
  const list: Record<string, Record<string, unknown>> = {};
  for (const market of all) {
    const { crypto } = market;
    const byChain = (list[coinNumber(crypto)] ??= {});
    if (crypto.chain === null || chainNumber(crypto.chain) in byChain) continue;
    const fee = formatUnits(await withdrawalFee(market), crypto.decimals);
    const isSold = all.some((one) => one.direction === 'offramp' && one.crypto.code === crypto.code);
    byChain[chainNumber(crypto.chain)] = {
      withdrawalFee: fee,
      minimumWithdrawal: fee,
      nodeInSync: 1,
      depositEnable: isSold ? 1 : 0,
    };
  }
  return ok(list);
}

/** 1 buying, 2 selling, 3 both. */
const SIDES = {
  1: ['onramp'],
  2: ['offramp'],
  3: ['onramp', 'offramp'],
} as const;

const SIDE = '1: buying. 2: selling. 3: both';
const DIRECTION = '1: buying. 2: selling';

export const limitsFields = { type: required(oneOf('1', '2', '3'), SIDE) };

/**
 * `{onramp: {"1": {min: 100, max: 10000000}}, offramp: {…}}`: minimum and maximum of a fiat over all its markets. A limit in
 * crypto is converted at the current rate, and omitted while there is none.
 */
export async function limits({ deps, values }: SignedRequest<typeof limitsFields>): Promise<Reply> {
  const tx = whenNeeded(deps.db);
  const all = await markets(tx);
  const side = async (direction: Market['direction']) => {
    const ranges = new Map<number, { min: bigint; max: bigint; decimals: number }>();
    for (const market of all.filter((one) => one.direction === direction)) {
      const range = await fiatRange(market, () => rateNow(tx, market));
      if (range === undefined) continue;
      const number = fiatNumber(market.fiat);
      const known = ranges.get(number);
      ranges.set(number, {
        min: known !== undefined && known.min < range.min ? known.min : range.min,
        max: known !== undefined && known.max > range.max ? known.max : range.max,
        decimals: market.fiat.decimals,
      });
    }
    return Object.fromEntries(
      [...ranges].map(([number, { min, max, decimals }]) => [
        number,
        { min: rawNumber(formatUnits(min, decimals)), max: rawNumber(formatUnits(max, decimals)) },
      ]),
    );
  };
  const data: Record<string, unknown> = {};
  for (const direction of SIDES[values.type]) data[direction] = await side(direction);
  return ok(data);
}

async function fiatRange(market: Market, rate: () => Promise<Rate>): Promise<{ min: bigint; max: bigint } | undefined> {
  if (depositAsset(market) === market.fiat) return { min: market.minUnits, max: market.maxUnits };
  const now = await orNone(rate);
  if (now === undefined) return undefined;
  const decimals = { base: market.crypto.decimals, quote: market.fiat.decimals };
  return {
    min: baseToQuote(market.minUnits, now, decimals, 'up'),
    max: baseToQuote(market.maxUnits, now, decimals, 'down'),
  };
}

/** A stale price is omitted; the others are shown. */
async function orNone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

export const coinLimitsFields = requiredFiat;

/** `{"54": {"3": 100}}`: the minimum fiat amount that buys a coin on a chain. */
export async function coinLimits({ deps, values }: SignedRequest<ReturnType<typeof coinLimitsFields>>): Promise<Reply> {
  const all = await markets(whenNeeded(deps.db));
  const fiat = fiatNamed(values, all);
  const list: Record<string, Record<string, unknown>> = {};
  for (const { direction, crypto, minUnits, fiat: of } of all) {
    if (direction !== 'onramp' || of.code !== fiat.code || crypto.chain === null) continue;
    (list[coinNumber(crypto)] ??= {})[chainNumber(crypto.chain)] = rawNumber(formatUnits(minUnits, of.decimals));
  }
  return ok(list);
}

export const tickerFields = (body: Body) => ({
  type: required(oneOf('1', '2', '3'), SIDE),
  ...requiredFiat(body),
});

/**
 * `{onramp: {"54": 86.41}, offramp: {…}}`: whole fiat per one coin.
 *
 * @throws Unavailable when none of the requested prices is fresh
 */
export async function priceTicker({ deps, values }: SignedRequest<ReturnType<typeof tickerFields>>): Promise<Reply> {
  const tx = whenNeeded(deps.db);
  const all = await markets(tx);
  const fiat = fiatNamed(values, all);
  const data: Record<string, Record<string, unknown>> = {};
  let isShort = false;
  for (const direction of SIDES[values.type]) {
    const prices: Record<string, unknown> = (data[direction] = {});
    for (const market of all) {
      const number = coinNumber(market.crypto);
      if (market.direction !== direction || market.fiat.code !== fiat.code || number in prices) continue;
      const rate = await orNone(() => rateNow(tx, market));
      if (rate === undefined) isShort = true;
      else prices[number] = rawNumber(formatRate(rate));
    }
  }
  const isEmpty = Object.values(data).every((prices) => Object.keys(prices).length === 0);
  if (isShort && isEmpty) throw new Unavailable('price', `none fresh in ${fiat.code}`);
  return ok(data);
}

export const orderStatusFields = { orderId: required(id), type: required(oneOf('1', '2'), DIRECTION) };

export async function orderStatus({ deps, values, inTx }: SignedRequest<typeof orderStatusFields>): Promise<Reply> {
  const direction = values.type === '1' ? 'onramp' : 'offramp';
  try {
    const order = await inTx((tx) => deps.orders.get(tx, { id: orderNumberOf(values.orderId), direction }));
    return ok({ orderStatus: statusNumber(order) });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'unknown_order') throw error;
    throw new Refusal('unknown_order', { sentence: 'Invalid orderId' });
  }
}

/** The given amount depends on the direction: fiat when buying, the coin's quantity when selling. */
export const quotesFields = (body: Body) => {
  const type = body.get('type');
  const isSale = (type instanceof JsonNumber ? type.text : type) === '2';
  // The amount field of the other direction is undeclared here, and ignored.
  const given = { [isSale ? 'quantity' : 'fiatAmount']: required(amount) } as Record<
    'quantity' | 'fiatAmount',
    Field<string | undefined>
  >;
  const needed = isAbsent(body.get('coinId')) ? required : optional;
  return {
    coinCode: needed(code) as Field<string | undefined>,
    coinId: optional(code),
    network: optional(code),
    chainId: optional(code),
    ...given,
    ...requiredFiat(body),
    type: required(oneOf('1', '2'), DIRECTION),
  };
};

/**
 * A quote in the interface's older form: numbers, and the codes or numbers of the assets. Codes take precedence over numbers.
 */
export async function quoteNumbers({
  deps,
  caller,
  values,
  inTx,
}: SignedRequest<ReturnType<typeof quotesFields>>): Promise<Reply> {
  const direction = values.type === '1' ? 'onramp' : 'offramp';
  const [name, given] =
    direction === 'onramp' ? (['fiatAmount', values.fiatAmount] as const) : (['quantity', values.quantity] as const);
  const quote = await inTx(async (tx) => {
    const market = await marketNamed(tx, direction, values);
    const asset = depositAsset(market);
    const depositUnits = unitsOf(name, given ?? '', asset.decimals);
    return await sayLimits(asset, () =>
      createQuote(tx, { partner: caller.partner, market, depositUnits, now: deps.clock.now() }),
    );
  });
  return ok(quoteNumbersShape(quote), {
    'quote-id': String(quote.id),
    'quote-expires-at': isoTime(quote.expiresAt),
  });
}

interface Named {
  readonly coinCode: string | undefined;
  readonly coinId: string | undefined;
  readonly network: string | undefined;
  readonly chainId: string | undefined;
  readonly fiatType: string | undefined;
  readonly countryCode: string | undefined;
}

/**
 * The market named by codes or numbers; codes take precedence.
 *
 * @throws Refusal 'unsupported_pair' | 'unsupported_chain' | 'malformed_field' when fiat and country contradict each other
 */
export async function marketNamed(tx: Tx, direction: Market['direction'], values: Named): Promise<Market> {
  const all = await markets(tx);
  const fiat = fiatNamed(values, all).code;
  const coin = values.coinCode ?? named(all, coinNumber, values.coinId)?.coin ?? values.coinId ?? '';
  const byNumber = named(all, ({ chain }) => chainNumber(chain ?? ''), values.chainId)?.chain;
  const chain = values.network ?? byNumber ?? values.chainId;
  return await findMarket(tx, { direction, coin, fiat, chain });
}

/** The crypto asset with this number, on any market. */
const named = (
  all: readonly Market[],
  numberOf: (crypto: Market['crypto']) => number,
  number: string | undefined,
): Market['crypto'] | undefined => all.find(({ crypto }) => String(numberOf(crypto)) === number)?.crypto;
