/** SQL of the value of one customer's orders, summed for limits. */
import type { Tx } from '../base/db.ts';
import type { OrderState } from './machine.ts';
import type { Direction } from './row.ts';

/**
 * Orders that ended without a trade: their money never arrived, was refunded, or waits in suspense for a refund or a new order.
 */
const NOT_COUNTED: readonly OrderState[] = ['expired', 'cancelled', 'refunded'];

const WORTH = 'case when deposit_asset = fiat_asset then deposit_units else gross_units end';
const COUNTED = 'customer_id = $1 and state <> all($2) and id <> $3';

const SQL = {
  worth: `select market_id, direction, fiat_asset,
      coalesce(sum(${WORTH}) filter (where created_at > $4), 0) as day_units, sum(${WORTH}) as month_units,
      min(created_at) filter (where created_at > $4) as day_first, min(created_at) as month_first,
      max(created_at) as newest
    from orders where ${COUNTED} and created_at > $5 and (created_at, id) <= ($6, $7)
    group by market_id, direction, fiat_asset`,
  freed: `select created_at from (
      select created_at, id, sum(${WORTH}) over (order by created_at, id) as freed
        from orders where ${COUNTED} and created_at > $4 and fiat_asset = $5
         and ($6::text is null or direction = $6) and ($7::bigint is null or market_id = $7)) as orders
    where freed >= $8 order by created_at, id limit 1`,
} as const;

/** The counted sums of a customer's orders on one market. */
export interface MarketWorth {
  marketId: bigint;
  direction: Direction;
  fiatAsset: string;
  dayUnits: bigint;
  monthUnits: bigint;
  /** Creation time of the oldest order that counts; null if there is none. */
  dayFirst: Date | null;
  monthFirst: Date;
  newest: Date;
}

const FAR = new Date('9999-01-01T00:00:00Z');

/**
 * @param of.orderId the order being checked, which is excluded
 * @param of.upTo    only orders created no later than this one
 */
export const worthOfOrders = (
  tx: Tx,
  of: {
    customerId: string;
    dayFrom: Date;
    monthFrom: Date;
    orderId?: bigint | undefined;
    upTo?: { createdAt: Date; id: bigint } | undefined;
  },
) =>
  tx.rows<MarketWorth>(SQL.worth, [
    ...[of.customerId, NOT_COUNTED, of.orderId ?? 0n, of.dayFrom, of.monthFrom],
    ...[of.upTo?.createdAt ?? FAR, of.upTo?.id ?? 0n],
  ]);

/** Creation time of the order up to which the oldest orders together reach this value. */
export const createdWithWorth = async (
  tx: Tx,
  of: {
    customerId: string;
    from: Date;
    orderId?: bigint | undefined;
    fiatAsset: string;
    direction: Direction | null;
    marketId: bigint | null;
    units: bigint;
  },
): Promise<Date | undefined> =>
  (
    await tx.row<{ createdAt: Date }>(SQL.freed, [
      ...[of.customerId, NOT_COUNTED, of.orderId ?? 0n, of.from, of.fiatAsset, of.direction, of.marketId, of.units],
    ])
  )?.createdAt;
