/**
 * Shared by selling and buying: a quote, limits as amounts, the market that an order names, one order, a list.
 */
import { awaitAll, type Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { idNamed } from '../../../base/fields.ts';
import { formatUnits } from '../../../base/money.ts';
import { isoTime } from '../../../base/times.ts';
import { findCustomer } from '../../../customers/index.ts';
import type { Direction, ListedOrder, Order } from '../../../orders/index.ts';
import { type Asset, assets, findMarket, type Market, markets, recordActivity } from '../../../partners/index.ts';
import { createQuote, depositAsset } from '../../../quotes/index.ts';
import type { Reply } from '../../protocol.ts';
import { amount, code, type Fields, id, optional, required, unitsOf, wholeNumber } from '../fields.ts';
import { methodsOf } from '../reference.ts';
import { ok, type SignedRequest, throughOf, whenNeeded } from '../route.ts';
import { type Assets, quoteShape } from '../shapes.ts';

export const quoteFields = {
  fromCurrency: required(code),
  toCurrency: required(code),
  fromAmount: required(amount),
  chain: optional(code),
  paymentMethodType: optional(code),
};

/** The paid amount comes first, in both directions. */
export async function quoteIn(
  direction: Direction,
  { deps, caller, values, inTx }: SignedRequest<typeof quoteFields>,
): Promise<Reply> {
  const { fromCurrency, toCurrency, fromAmount, chain, paymentMethodType } = values;
  const [coin, fiat] = direction === 'offramp' ? [fromCurrency, toCurrency] : [toCurrency, fromCurrency];
  const quote = await inTx(async (tx) => {
    const market = await findMarket(tx, { direction, coin, fiat, chain });
    // A sale is paid out as its market determines: a named method has no effect, as in the original interface.
    if (direction === 'onramp' && paymentMethodType !== undefined) await methodNamed(tx, market, paymentMethodType);
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

/** A method of paying the market's fiat, in our spelling. @throws Refusal 'unsupported_method' */
export async function methodNamed(tx: Tx, { fiat }: Market, named: string): Promise<string> {
  const methods = methodsOf(fiat, await markets(tx));
  const method = methods.find((one) => one.toLowerCase() === named.toLowerCase());
  if (method === undefined) throw unsupportedMethod(named, fiat, methods);
  return method;
}

export const unsupportedMethod = (method: string, fiat: Asset, methods: readonly string[]): Refusal =>
  new Refusal('unsupported_method', { method, fiat: fiat.coin.toUpperCase(), supported: methods.toSorted() });

/** Limits are stored in units; a partner reads amounts. */
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

/**
 * The market, or the Refusal that the caller throws after earlier checks have passed. An order names its chain as a quote does:
 * the coin's own code, which some programs send, means the chain that was quoted for it. For a sale the reply names that chain.
 */
export async function marketOf(
  { deps }: Pick<SignedRequest<Fields>, 'deps'>,
  input: { direction: Direction; coin: string; fiat: string; chain: string },
): Promise<Market | Refusal> {
  try {
    return await findMarket(whenNeeded(deps.db), input);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Records that a key created an order, and the order's destination. */
export function recordOrder(tx: Tx, caller: SignedRequest<Fields>['caller'], order: Order, now: Date): void {
  const { direction, customerId, fiatAccountId, payoutAddress, refundAddress } = order;
  const facts = { direction, customer: customerId, account: fiatAccountId?.toString(), payoutAddress, refundAddress };
  recordActivity(tx, throughOf(caller), { action: 'order.created', subject: `order:${order.id}`, facts, now });
}

export const transactionFields = { transactionId: required(id), customerId: required(id) };

/** An order's number; a text that is not a number is treated like an unknown order. */
export function orderNumberOf(value: string): bigint {
  const named = idNamed(value);
  if (named === undefined) throw new Refusal('unknown_order');
  return named;
}

/** One of a customer's orders. @throws Refusal 'unknown_customer' | 'unknown_order' */
export async function orderIn(
  direction: Direction,
  tx: Tx,
  { deps, values }: Pick<SignedRequest<typeof transactionFields>, 'deps' | 'values'>,
): Promise<Order> {
  const { customerId, transactionId } = values;
  const orderAsked = async () => deps.orders.get(tx, { id: orderNumberOf(transactionId), direction, customerId });
  const [, order] = await awaitAll(findCustomer(tx, customerId), orderAsked());
  return order;
}

/** Handler that replies with one of a customer's orders. */
export const getIn =
  (direction: Direction, shape: (order: Order, assets: Assets, tx: Tx) => unknown) =>
  (input: SignedRequest<typeof transactionFields>): Promise<Reply> =>
    input.readOnly(async (tx) => ok(await shape(await orderIn(direction, tx, input), await assets(tx), tx)));

export const listFields = (mostAtOnce: number) => ({
  customerId: required(id),
  page: required(wholeNumber({ min: 1 })),
  pageSize: required(wholeNumber({ min: 1, max: mostAtOnce })),
});

/** Handler that replies with a page of a customer's orders. */
export const listIn =
  (direction: Direction, shape: (order: ListedOrder, assets: Assets) => unknown) =>
  ({ deps, values, readOnly: look }: SignedRequest<ReturnType<typeof listFields>>): Promise<Reply> =>
    look(async (tx) => {
      const { customerId, page, pageSize } = values;
      const [, { orders, total }] = await awaitAll(
        findCustomer(tx, customerId),
        deps.orders.list(tx, { customerId, direction, page, pageSize }),
      );
      const known = await assets(tx);
      return ok(
        orders.map((order) => shape(order, known)),
        { 'x-total-count': String(total) },
      );
    });
