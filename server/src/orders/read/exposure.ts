/**
 * Exposure: the amounts promised and owed by open orders, by market, and the amounts that wait for funds, by rail and asset. Both
 * read open orders only, through their indexes.
 *
 * Not here: the cap of a partner's quotes (quotes/index.ts).
 */
import type { Tx } from '../../base/db.ts';
import type { OrderState } from '../machine.ts';

/** States without a confirmed deposit. */
const UNPAID: readonly OrderState[] = ['created', 'deposit_seen'];
/** States with a confirmed deposit whose payout is owed. */
const OWED: readonly OrderState[] = ['deposit_confirmed', 'awaiting_liquidity', 'on_hold', 'paying_out', 'payout_held'];

export interface MarketExposure {
  marketId: bigint;
  depositAsset: string;
  payoutAsset: string;
  /** Orders that wait for their deposit: the sum of their deposits, and of their payouts. */
  unpaid: bigint;
  unpaidDepositUnits: bigint;
  unpaidPayoutUnits: bigint;
  /** Orders with a confirmed deposit: how much of it we hold, and how much we owe for it. */
  owed: bigint;
  receivedUnits: bigint;
  owedPayoutUnits: bigint;
}

export const exposure = (tx: Tx): Promise<MarketExposure[]> =>
  tx.rows<MarketExposure>(
    `select market_id, deposit_asset, payout_asset,
            count(*) filter (where not is_owed) as unpaid,
            coalesce(sum(deposit_units) filter (where not is_owed), 0) as unpaid_deposit_units,
            coalesce(sum(payout_units) filter (where not is_owed), 0) as unpaid_payout_units,
            count(*) filter (where is_owed) as owed,
            coalesce(sum(received_units) filter (where is_owed), 0) as received_units,
            coalesce(sum(payout_units) filter (where is_owed), 0) as owed_payout_units
       from (select o.*, o.state = any($2::text[]) as is_owed from orders o
              where o.state = any($1::text[]) and o.state not in ('settled', 'expired')) as open
      group by market_id, deposit_asset, payout_asset order by market_id`,
    [[...UNPAID, ...OWED], OWED],
  );

/** Payouts that wait for funds, by the rail and asset of the payout. */
export const shortfalls = (tx: Tx) =>
  tx.rows<{ rail: string; asset: string; orders: bigint; units: bigint; since: Date }>(
    `select payout_rail as rail, payout_asset as asset, count(*) as orders, sum(payout_units) as units, min(short_since) as since
       from orders where state = 'awaiting_liquidity' group by payout_rail, payout_asset order by payout_rail, payout_asset`,
  );
