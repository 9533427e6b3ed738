/**
 * Limits of a customer across all orders: how much is used, how much is left, and whether another order fits.
 *
 * An order counts with its value in its fiat, from its creation on, within the 24 hours and within the 30 days before the order
 * that is checked. Orders that expired, were cancelled or were refunded do not count: their money was not traded. An order is one
 * row and counts once, whatever its history; a follow-on order counts for its own money.
 *
 * Code that reads these sums in order to create or enlarge an order holds the customer's lock until the commit, so of two
 * concurrent orders the second counts the first. The lock is taken after an order's row and the customer's order number, and
 * before a quote's row and the partner's exposure.
 *
 * Not here: which limits there are (partners/customer-limits.ts).
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { formatUnits, quoteToBase } from '../base/money.ts';
import { type Customer, findCustomer, HIGHEST_LEVEL } from '../customers/index.ts';
import {
  type CustomerLimit,
  covers,
  customerLimits,
  customerLimitsNow,
  levelWithMore,
  lockCustomerOrders,
  type Market,
  marketById,
} from '../partners/index.ts';
import { depositAsset } from '../quotes/index.ts';
import { createdWithWorth, type MarketWorth, worthOfOrders } from './limits.store.ts';
import type { Order } from './store.ts';

const DAY_MS = 86_400_000;
export const PERIOD_MS = { order: 0, day: DAY_MS, month: 30 * DAY_MS } as const;

/** Usage of a limit. */
export interface LimitUse {
  readonly limit: CustomerLimit;
  readonly usedUnits: bigint;
  readonly leftUnits: bigint;
  /** When the oldest counted order no longer counts; null if no order counts. */
  readonly freesAt: Date | null;
  /** When the newest counted order no longer counts: from then on the whole limit is available. */
  readonly resetsAt: Date | null;
}

/** Pure: the amount that counts against a limit. */
export function useOf(limit: CustomerLimit, worth: readonly MarketWorth[]): LimitUse {
  const { period, maxUnits } = limit;
  if (period === 'order') return { limit, usedUnits: 0n, leftUnits: maxUnits, freesAt: null, resetsAt: null };
  const its = worth.filter(({ marketId: id, direction, fiatAsset: code }) =>
    covers(limit, { id, direction, fiat: { code } }),
  );
  const counted = its.filter((one) => period === 'month' || one.dayFirst !== null);
  const usedUnits = counted.reduce((sum, one) => sum + (period === 'day' ? one.dayUnits : one.monthUnits), 0n);
  const firsts = counted.map((one) => (period === 'day' && one.dayFirst !== null ? one.dayFirst : one.monthFirst));
  const ends = (times: readonly Date[], pick: (...ms: number[]) => number): Date | null =>
    times.length === 0 ? null : later(new Date(pick(...times.map(Number))), PERIOD_MS[period]);
  return {
    limit,
    usedUnits,
    leftUnits: usedUnits < maxUnits ? maxUnits - usedUnits : 0n,
    freesAt: ends(firsts, Math.min),
    resetsAt: ends(
      counted.map(({ newest }) => newest),
      Math.max,
    ),
  };
}

type Limited = Pick<Customer, 'id' | 'level'>;
/** The highest level that the verifier gives to customers of a kind. */
export type HighestLevelFor = (kind: Customer['kind']) => number;

const leastLeft = (uses: readonly LimitUse[]): LimitUse | undefined =>
  uses.reduce<LimitUse | undefined>((a, b) => (a === undefined || b.leftUnits < a.leftUnits ? b : a), undefined);

interface Counting {
  customerId: string;
  now: Date;
  /** The order that is checked, which is counted separately. */
  orderId?: bigint | undefined;
  upTo?: { createdAt: Date; id: bigint } | undefined;
}

async function usesOf(tx: Tx, limits: readonly CustomerLimit[], of: Counting): Promise<LimitUse[]> {
  if (limits.length === 0) return [];
  const worth = limits.every(({ period }) => period === 'order')
    ? []
    : await worthOfOrders(tx, {
        ...of,
        dayFrom: later(of.now, -PERIOD_MS.day),
        monthFrom: later(of.now, -PERIOD_MS.month),
      });
  return limits.map((limit) => useOf(limit, worth));
}

/** All limits of a customer, with the amounts used and left. */
export const limitsOfCustomer = async (
  tx: Tx,
  { customer, now }: { customer: { id: string; level: number }; now: Date },
): Promise<LimitUse[]> => usesOf(tx, await customerLimits(tx, customer.level), { customerId: customer.id, now });

/**
 * The limits that cover an order of this customer on this market. If there are any, the customer's lock is taken until `tx` ends,
 * so that the sums read next stay correct.
 */
export async function lockLimitsOf(
  tx: Tx,
  { customer, market }: { customer: { id: string; level: number }; market: Market },
): Promise<readonly CustomerLimit[]> {
  const limits = await customerLimits(tx, customer.level, market);
  if (limits.length > 0) lockCustomerOrders(tx, customer.id);
  return limits;
}

/**
 * Checks that an order fits every limit. For a binding answer the caller must hold the lock (`lockLimitsOf`).
 *
 * @param input.units value of the order, in the units of the market's fiat
 * @throws Refusal 'customer_limit_exceeded' with the limit that has the least left, and what would help
 */
export async function requireWithinLimits(
  tx: Tx,
  input: {
    limits: readonly CustomerLimit[];
    customer: Limited;
    market: Market;
    units: bigint;
    /** The highest level that the customer can be told to reach; default: the highest there is. */
    highestLevel?: number | undefined;
    orderId?: bigint | undefined;
    now: Date;
  },
): Promise<void> {
  const { limits, customer, market, units, highestLevel: highest = HIGHEST_LEVEL, orderId, now } = input;
  const uses = await usesOf(tx, limits, { customerId: customer.id, now, orderId });
  const worst = leastLeft(uses);
  if (worst === undefined || worst.leftUnits >= units) return;
  const { limit, usedUnits, leftUnits } = worst;
  const { code, coin, decimals } = market.fiat;
  throw new Refusal('customer_limit_exceeded', {
    ...{ period: limit.period, asset: code, coin: coin.toUpperCase() },
    direction: limit.direction,
    market: limit.marketId === null ? null : String(limit.marketId),
    max: formatUnits(limit.maxUnits, decimals),
    used: formatUnits(usedUnits, decimals),
    left: formatUnits(leftUnits, decimals),
    fitsAt: await fitsAt(tx, worst, { customerId: customer.id, units, orderId, now }),
    level: customer.level,
    nextLevel: await levelWithMore(tx, limit, { level: customer.level, highest }),
  });
}

/**
 * As `requireWithinLimits`, without the lock: for a page that shows an order before it is created. @throws as
 * `requireWithinLimits`
 */
export async function requireLeft(
  tx: Tx,
  input: {
    customer: Limited;
    market: Market;
    quote: { depositUnits: bigint; grossUnits: bigint };
    highestLevel: number;
    now: Date;
  },
): Promise<void> {
  const { customer, market, quote, highestLevel, now } = input;
  const limits = await customerLimits(tx, customer.level, market);
  await requireWithinLimits(tx, { limits, customer, market, units: worthOnMarket(market, quote), highestLevel, now });
}

/** Value of terms on a market, in its fiat. */
export const worthOnMarket = (market: Market, quote: { depositUnits: bigint; grossUnits: bigint }): bigint =>
  worthOf({ ...quote, depositAsset: depositAsset(market).code, fiatAsset: market.fiat.code });

/** When this amount of the limit is available again, if no further order is made; null if never. */
async function fitsAt(
  tx: Tx,
  { limit, leftUnits }: LimitUse,
  { units, now, ...of }: { customerId: string; units: bigint; orderId?: bigint | undefined; now: Date },
): Promise<Date | null> {
  const { period, maxUnits, fiatAsset, direction, marketId } = limit;
  if (units > maxUnits || period === 'order') return null;
  const createdAt = await createdWithWorth(tx, {
    ...{ ...of, fiatAsset, direction, marketId, from: later(now, -PERIOD_MS[period]), units: units - leftUnits },
  });
  return createdAt === undefined ? null : later(createdAt, PERIOD_MS[period]);
}

/** Value of an order, or of its terms, in its fiat. */
export const worthOf = (terms: {
  depositAsset: string;
  fiatAsset: string;
  depositUnits: bigint;
  grossUnits: bigint;
}): bigint => (terms.depositAsset === terms.fiatAsset ? terms.depositUnits : terms.grossUnits);

/**
 * The maximum that an order may accept without exceeding a limit, in the units of its deposit, at its own rate: now, and at its
 * creation, because the gate counts the orders before that. Undefined if no limit covers it. Takes the customer's lock, so the
 * maximum is valid until `tx` ends.
 */
export async function mostWithinLimits(tx: Tx, order: Order, now: Date): Promise<bigint | undefined> {
  const { id: customerId, level } = await findCustomer(tx, order.customerId);
  const market = await marketById(tx, order.marketId);
  const limits = await lockLimitsOf(tx, { customer: { id: customerId, level }, market });
  const { id: orderId, createdAt } = order;
  const uses = [
    ...(await usesOf(tx, limits, { customerId, orderId, now })),
    ...(await usesOf(tx, limits, { customerId, orderId, now: createdAt, upTo: { createdAt, id: orderId } })),
  ];
  const least = leastLeft(uses)?.leftUnits;
  if (least === undefined || depositAsset(market).code === market.fiat.code) return least;
  return quoteToBase(least, order.rate, { base: market.crypto.decimals, quote: market.fiat.decimals }, 'down');
}

/**
 * Limits that the order satisfied at creation and exceeds now, counting it and the earlier orders at their present values. For
 * the gate: a limit may have been lowered since, or an order enlarged.
 */
export async function limitsPassedBy(tx: Tx, order: Order): Promise<CustomerLimit[]> {
  const { id: customerId, level } = await findCustomer(tx, order.customerId);
  const limits = await customerLimitsNow(tx, level, await marketById(tx, order.marketId));
  const { id: orderId, createdAt } = order;
  const uses = await usesOf(tx, limits, { customerId, now: createdAt, orderId, upTo: { createdAt, id: orderId } });
  return uses.filter(({ leftUnits }) => leftUnits < worthOf(order)).map(({ limit }) => limit);
}

/** The name of a limit in an approval. Another limit or another maximum has another name, so it needs another approval. */
export const limitNamed = ({ period, fiatAsset, direction, marketId, maxUnits }: CustomerLimit): string =>
  [period, fiatAsset, direction ?? 'both', marketId ?? 'all', maxUnits].join(' ');
