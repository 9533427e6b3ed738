/**
 * Selling crypto: quote, create, get, list.
 */

import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { formatUnits, parseRate } from '../../../base/money.ts';
import { fiatAccounts, findCustomer, requireTrading } from '../../../customers/index.ts';
import type { Direction } from '../../../orders/index.ts';
import { type Asset, assets, findMarket, type Market } from '../../../partners/index.ts';
import { createQuote, depositAsset } from '../../../quotes/index.ts';
import type { Reply } from '../../protocol.ts';
import {
  amount,
  code,
  id,
  malformedField,
  missingFields,
  optional,
  required,
  text,
  unitsOf,
  wholeNumber,
} from '../fields.ts';
import { idempotencyKey, once } from '../idempotency.ts';
import { ok, type SignedAsk, whenNeeded } from '../route.ts';
import {
  createdOfframpShape,
  isoTime,
  offrampDetailShape,
  offrampShape,
  type onrampShape,
  quoteShape,
} from '../shapes.ts';
import { accountNumberOf } from './accounts.ts';

export const quoteFields = {
  fromCurrency: required(code),
  toCurrency: required(code),
  fromAmount: required(amount),
  chain: optional(code),
  paymentMethodType: optional(code),
};

/** The same for both directions: what is given comes first. */
export const quoteOfframp = (ask: SignedAsk<typeof quoteFields>): Promise<Reply> => quoteIn('offramp', ask);

export async function quoteIn(
  direction: Direction,
  { deps, caller, values, inTx }: SignedAsk<typeof quoteFields>,
): Promise<Reply> {
  const { fromCurrency, toCurrency, fromAmount, chain } = values;
  const [coin, fiat] = direction === 'offramp' ? [fromCurrency, toCurrency] : [toCurrency, fromCurrency];
  const quote = await inTx(async (tx) => {
    const market = await findMarket(tx, { direction, coin, fiat, chain });
    const given = depositAsset(market);
    const depositUnits = unitsOf('fromAmount', fromAmount, given.decimals);
    return await sayLimits(given, () =>
      createQuote(tx, { partner: caller.partner, market, depositUnits, now: deps.clock.now() }),
    );
  });
  return ok(quoteShape(quote, { fromCurrency, toCurrency }, caller.partner.quoteShape), {
    'quote-id': String(quote.id),
    'quote-expires-at': isoTime(quote.expiresAt),
  });
}

/** Limits are counted in units inside; a partner reads amounts. */
export async function sayLimits<T>(asset: Asset, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof Refusal) || typeof error.facts.minUnits !== 'bigint') throw error;
    const amountOf = (units: unknown) => formatUnits(units as bigint, asset.decimals);
    throw new Refusal(error.code, {
      min: amountOf(error.facts.minUnits),
      max: amountOf(error.facts.maxUnits),
      asset: asset.coin.toUpperCase(),
    });
  }
}

export const createFields = {
  fromCurrency: required(code),
  toCurrency: required(code),
  chain: required(code),
  fromAmount: required(amount),
  toAmount: optional(amount),
  rate: optional(amount),
  customerId: required(id),
  fiatAccountId: optional(id),
  merchantRecognitionId: optional(text()),
};

/**
 * Creates the order, once per request. Form is checked first, places of amounts too where the market is known; then, in the
 * transaction that also keeps the reply: customer, login, account, market, price.
 */
export async function createOfframp(ask: SignedAsk<typeof createFields>): Promise<Reply> {
  const { deps, caller, values, body, call, path } = ask;
  const { partner } = caller;
  const market = await marketOf(ask);
  const units =
    market instanceof Refusal
      ? undefined
      : {
          deposit: unitsOf('fromAmount', values.fromAmount, market.crypto.decimals),
          payout:
            values.toAmount === undefined ? undefined : unitsOf('toAmount', values.toAmount, market.fiat.decimals),
        };
  const key = idempotencyKey(call.headers['idempotency-key'], caller.payload);
  const now = deps.clock.now();
  return await once(deps.db, { partnerId: partner.id, path, key, body, now }, async (tx) => {
    const customer = await findCustomer(tx, values.customerId);
    requireTrading(customer, partner);
    const account = await accountOf(tx, customer.id, values.fiatAccountId);
    if (market instanceof Refusal) throw market;
    if (account.fiat !== market.fiat.code)
      throw malformedField('fiatAccountId', `is not an account in ${values.toCurrency}`);
    const order = await sayLimits(market.crypto, () =>
      deps.orders.create(tx, {
        partner,
        customer,
        market,
        depositUnits: units?.deposit ?? 0n,
        ...(units?.payout === undefined ? {} : { payoutUnits: units.payout }),
        ...(values.rate === undefined ? {} : { rate: parseRate(values.rate) }),
        ...(values.merchantRecognitionId === undefined ? {} : { merchantReference: values.merchantRecognitionId }),
        fiatAccountId: account.id,
        now,
      }),
    );
    return ok(createdOfframpShape(order, await assets(tx)));
  });
}

/**
 * The market, or the refusal there will be when nothing before it refuses. An order names its chain: a guessed one would
 * hand out an address that the money never reaches.
 */
async function marketOf({ deps, values }: SignedAsk<typeof createFields>): Promise<Market | Refusal> {
  const { fromCurrency, toCurrency, chain } = values;
  try {
    const market = await findMarket(whenNeeded(deps.db), {
      direction: 'offramp',
      coin: fromCurrency,
      fiat: toCurrency,
      chain,
    });
    if (market.crypto.chain?.toLowerCase() === chain.toLowerCase()) return market;
    return new Refusal('unsupported_chain', { chain, coin: fromCurrency });
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The account named, or the customer's only one. */
async function accountOf(tx: Tx, customerId: string, named: string | undefined) {
  const accounts = await fiatAccounts(tx, customerId);
  if (named === undefined) {
    const [only, second] = accounts;
    if (only === undefined || second !== undefined) throw missingFields(['fiatAccountId']);
    return only;
  }
  const number = accountNumberOf(named);
  const found = accounts.find((account) => account.id === number);
  if (found === undefined) throw new Refusal('unknown_account');
  return found;
}

export const transactionFields = { transactionId: required(id), customerId: required(id) };

/** An order's number; what cannot be one is as unknown as one that is not there. */
export function orderNumberOf(value: string): bigint {
  if (!/^[1-9][0-9]{0,17}$/.test(value)) throw new Refusal('unknown_order');
  return BigInt(value);
}

export async function getOfframp({ deps, values, inTx }: SignedAsk<typeof transactionFields>): Promise<Reply> {
  return await inTx(async (tx) => {
    const customer = await findCustomer(tx, values.customerId);
    const order = await deps.orders.get(tx, {
      id: orderNumberOf(values.transactionId),
      direction: 'offramp',
      customerId: customer.id,
    });
    return ok(offrampDetailShape(order, await assets(tx)));
  });
}

export const offrampListFields = {
  customerId: required(id),
  page: required(wholeNumber({ min: 1 })),
  pageSize: required(wholeNumber({ min: 1, max: 499 })),
};

export const listOfframp = (ask: SignedAsk<typeof offrampListFields>): Promise<Reply> =>
  listIn('offramp', ask, offrampShape);

export async function listIn(
  direction: Direction,
  { deps, values, inTx }: SignedAsk<typeof offrampListFields>,
  shape: typeof offrampShape | typeof onrampShape,
): Promise<Reply> {
  return await inTx(async (tx) => {
    const { page, pageSize } = values;
    const customer = await findCustomer(tx, values.customerId);
    const { orders, total } = await deps.orders.list(tx, {
      customerId: customer.id,
      direction,
      page,
      pageSize,
    });
    const known = await assets(tx);
    return ok(
      orders.map((order) => shape(order, known)),
      { 'x-total-count': String(total) },
    );
  });
}
