/**
 * Orders affected by a wrong fee or price: those of a market created within a time span, with their charges, the charges by other
 * terms, and the difference in money, per order and in total. Exact: the other amount is computed like a quote, in whole units,
 * each fee rounded up and each payout down (decision 4).
 *
 * Charges come from the journal, not from the order's promise. Orders not converted yet are shown with their promised terms, and
 * summed separately: they can still be repriced. Orders that ended without a charge are omitted. The difference is the customer's
 * gain under the other terms; negative means a loss.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { type AssetCode, baseToQuote, quoteToBase, type Rate, truncateTo } from '../base/money.ts';
import { chargedOf } from '../ledger/index.ts';
import { isFinal, type OrderLine, type OrderState, ordersBelow, otherFee } from '../orders/index.ts';
import type { Market } from '../partners/index.ts';
import { type PricedFee, total } from '../quotes/index.ts';

/** The terms to compare with: one different fee, or a price with the fees as they were. */
export type OtherTerms =
  | { fee: PricedFee; fixedUnits: bigint; bps: bigint; minimumUnits: bigint; notFor: readonly bigint[] }
  | { rate: Rate };

export interface Affected {
  id: bigint;
  createdAt: Date;
  partnerId: bigint;
  customerId: string;
  state: OrderState;
  /** True if the order was converted on these terms; otherwise they are only promised. */
  isCharged: boolean;
  asset: AssetCode;
  /** The fee, or for a price comparison the payout. */
  was: bigint;
  other: bigint;
  difference: bigint;
}

export interface Sum {
  asset: AssetCode;
  orders: number;
  was: bigint;
  other: bigint;
  difference: bigint;
}

export interface AffectedOrders {
  /** Affected orders, oldest first. */
  orders: Affected[];
  /** Sums over charged orders, and over those only promised so far. */
  charged: Sum;
  promised: Sum;
}

/** Maximum per span; beyond it the caller has to choose a shorter span, so that a sum always covers all orders. */
export const MOST_AFFECTED = 20_000;
const STEP_ROWS = 500;

/** Converted and not undone. A frozen order may be either: the journal decides. */
const CONVERTED: readonly OrderState[] = ['paying_out', 'payout_held', 'settled'];

/** @throws Refusal 'malformed_field' when there are too many */
export async function affectedOrders(
  tx: Tx,
  input: { market: Market; from: Date; until: Date; partnerId?: bigint | undefined; terms: OtherTerms },
): Promise<AffectedOrders> {
  const { market, from, until, partnerId, terms } = input;
  const filter = { marketId: market.id, from, until, partnerId };
  const orders: Affected[] = [];
  let below: bigint | undefined;
  let read = 0;
  for (;;) {
    const step = await ordersBelow(tx, filter, below, STEP_ROWS);
    read += step.length;
    if (read > MOST_AFFECTED)
      throw new Refusal('malformed_field', {
        fields: { until: `must be nearer to from: more than ${MOST_AFFECTED} orders were made in between` },
      });
    const lines = step.filter(({ fits }) => fits).map(({ row }) => row);
    orders.push(...(await compared(tx, lines, market, terms)));
    below = step.at(-1)?.row.id;
    if (step.length < STEP_ROWS) break;
  }
  orders.reverse();
  const asset = 'rate' in terms ? payoutOf(market) : market.fiat.code;
  const sum = (isCharged: boolean) =>
    summed(
      asset,
      orders.filter((one) => one.isCharged === isCharged),
    );
  return { orders, charged: sum(true), promised: sum(false) };
}

async function compared(tx: Tx, lines: readonly OrderLine[], market: Market, terms: OtherTerms): Promise<Affected[]> {
  const charges = new Map<bigint, Map<string, bigint>>();
  for (const { orderId, kind, units } of await chargedOf(
    tx,
    lines.map(({ id }) => id),
  ))
    charges.set(orderId, (charges.get(orderId) ?? new Map()).set(kind, units));
  const isCharged = ({ id, state }: OrderLine): boolean =>
    CONVERTED.includes(state) || [...(charges.get(id)?.values() ?? [])].some((units) => units !== 0n);
  return lines
    .filter((order) => isCharged(order) || !isFinal(order.state))
    .filter((order) => 'rate' in terms || !terms.notFor.includes(order.partnerId))
    .map((order): Affected => {
      const about = {
        ...{ id: order.id, createdAt: order.createdAt, partnerId: order.partnerId, customerId: order.customerId },
        ...{ state: order.state, isCharged: isCharged(order) },
      };
      if ('rate' in terms) {
        const other = otherPayout(order, market, terms.rate);
        const was = order.payoutUnits;
        return { ...about, asset: order.payoutAsset, was, other, difference: other - was };
      }
      const was = about.isCharged ? (charges.get(order.id)?.get(`fee_${terms.fee}`) ?? 0n) : order.fees[terms.fee];
      const other = otherFee(order, terms);
      return { ...about, asset: order.fiatAsset, was, other, difference: was - other };
    });
}

type Priced = Pick<OrderLine, 'payoutAsset' | 'fiatAsset' | 'grossUnits' | 'depositUnits' | 'fees'>;

/** Pure. The payout at another price with unchanged fees. */
export function otherPayout(
  order: Priced,
  market: Pick<Market, 'crypto' | 'fiat' | 'payoutDecimals'>,
  rate: Rate,
): bigint {
  const decimals = { base: market.crypto.decimals, quote: market.fiat.decimals };
  const fees = total(order.fees);
  if (order.payoutAsset === order.fiatAsset) {
    const left = baseToQuote(order.depositUnits, rate, decimals, 'down') - fees;
    return left > 0n ? truncateTo(left, decimals.quote, market.payoutDecimals) : 0n;
  }
  const left = order.depositUnits - fees;
  return left > 0n ? truncateTo(quoteToBase(left, rate, decimals, 'down'), decimals.base, market.payoutDecimals) : 0n;
}

const payoutOf = ({ direction, crypto, fiat }: Market): AssetCode =>
  direction === 'offramp' ? fiat.code : crypto.code;

function summed(asset: AssetCode, orders: readonly Affected[]): Sum {
  const of = (name: 'was' | 'other' | 'difference') => orders.reduce((sum, one) => sum + one[name], 0n);
  return { asset, orders: orders.length, was: of('was'), other: of('other'), difference: of('difference') };
}
