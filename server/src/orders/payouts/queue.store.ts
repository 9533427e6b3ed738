/**
 * SQL of the queue of orders that wait for funds, per rail and asset: since when each waits, and whether smaller orders may pass.
 */
import type { Tx } from '../../base/db.ts';

export interface Pass {
  until: Date;
  by: string;
  reason: string;
  at: Date;
}

/** Servers of the previous version did not store when an order began to wait. */
const PLACE = 'coalesce(o.short_since, o.updated_at)';

const sql = {
  before: `select from orders o join orders own on own.id = $1
     where o.state = 'awaiting_liquidity' and o.payout_rail = own.payout_rail and o.payout_asset = own.payout_asset
       and o.id <> own.id
       and ((own.short_since is null and own.state <> 'awaiting_liquidity')
         or (${PLACE}, o.id) < (coalesce(own.short_since, own.updated_at), own.id))
       and not exists (
         select from shortage_passes p where p.rail = own.payout_rail and p.asset = own.payout_asset and p.until > $2)
     limit 1`,
  first: `select o.id, ${PLACE} as since, o.payout_units,
           case when o.payout_asset = o.fiat_asset then o.gross_units else o.payout_units end as given_units
      from orders o where o.state = 'awaiting_liquidity' and o.payout_rail = $1 and o.payout_asset = $2
     order by ${PLACE}, o.id limit 1`,
  waiting: `select o.id from orders o where o.state = 'awaiting_liquidity' and o.payout_rail = $1 and o.payout_asset = $2
     order by ${PLACE}, o.id limit 100`,
  firsts: `select distinct on (o.payout_rail, o.payout_asset) o.id from orders o where o.state = 'awaiting_liquidity'
     order by o.payout_rail, o.payout_asset, ${PLACE}, o.id`,
  pass: `select until, by, reason, at from shortage_passes where rail = $1 and asset = $2 and until > $3`,
  setPass: `insert into shortage_passes (rail, asset, until, by, reason, at) values ($1, $2, $3, $4, $5, $6)
    on conflict (rail, asset) do update set until = excluded.until, by = excluded.by, reason = excluded.reason, at = excluded.at`,
  endPass: 'delete from shortage_passes where rail = $1 and asset = $2',
} as const;

/** Whether an order must let others go first: those that have waited longer, or, if it does not wait itself, all that wait. */
export const waitsBehind = async (tx: Tx, orderId: bigint, now: Date): Promise<boolean> =>
  (await tx.row(sql.before, [orderId, now])) !== undefined;

/** The first order in the queue, with the units that it takes from the treasury and the units that it pays out. */
export const firstInTurn = (tx: Tx, { rail, asset }: { rail: string; asset: string }) =>
  tx.row<{ id: bigint; since: Date; payoutUnits: bigint; givenUnits: bigint }>(sql.first, [rail, asset]);

/** The orders waiting for this rail and asset, oldest first. */
export const inTurn = (tx: Tx, { rail, asset }: { rail: string; asset: string }) =>
  tx.rows<{ id: bigint }>(sql.waiting, [rail, asset]);

/** The first order of every queue. */
export const allFirst = (tx: Tx) => tx.rows<{ id: bigint }>(sql.firsts);

export const passNow = (tx: Tx, { rail, asset }: { rail: string; asset: string }, now: Date) =>
  tx.row<Pass>(sql.pass, [rail, asset, now]);

export const setPass = (tx: Tx, { rail, asset }: { rail: string; asset: string }, pass: Pass) =>
  tx.run(sql.setPass, [rail, asset, pass.until, pass.by, pass.reason, pass.at]);

export const endPass = (tx: Tx, { rail, asset }: { rail: string; asset: string }) => tx.run(sql.endPass, [rail, asset]);
