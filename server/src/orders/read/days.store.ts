/**
 * A partner's orders by market and by the UTC day of their creation: their number, how many settled, and the settled amounts and
 * fees. One statement walks the partner's orders of a span; at the partner role, row-level security hides all others.
 */
import type { Tx } from '../../base/db.ts';
import type { Direction } from '../store.ts';

export interface DayRow {
  /** YYYY-MM-DD. */
  day: string;
  marketId: bigint;
  direction: Direction;
  depositAsset: string;
  payoutAsset: string;
  fiatAsset: string;
  created: bigint;
  settled: bigint;
  refunded: bigint;
  depositUnits: bigint;
  payoutUnits: bigint;
  feePartnerUnits: bigint;
  feeTotalUnits: bigint;
}

/** Newest day first. */
export const partnerDays = (tx: Tx, input: { partnerId: bigint; from: Date; until: Date }): Promise<DayRow[]> =>
  tx.rows<DayRow>(
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, market_id, direction, deposit_asset, payout_asset,
        fiat_asset, count(*) as created, count(*) filter (where state = 'settled') as settled,
        count(*) filter (where state = 'refunded') as refunded,
        coalesce(sum(deposit_units) filter (where state = 'settled'), 0) as deposit_units,
        coalesce(sum(payout_units) filter (where state = 'settled'), 0) as payout_units,
        coalesce(sum(fee_partner) filter (where state = 'settled'), 0) as fee_partner_units,
        coalesce(sum(fee_operator + fee_partner + fee_rail + fee_chain) filter (where state = 'settled'), 0) as fee_total_units
      from orders where partner_id = $1 and created_at >= $2 and created_at < $3
      group by 1, 2, 3, 4, 5, 6 order by 1 desc, 2`,
    [input.partnerId, input.from, input.until],
  );
