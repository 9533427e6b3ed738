/**
 * Dust: money too little to be looked at. A threshold is a row per asset; without one nothing is dust.
 *
 * What fits an order is the order's, however little. What fits nothing and is below the threshold is booked to suspense like
 * all money, stands in the order's trace, and is counted; it opens no case, tells the partner nothing and is refunded only
 * when a person says so: whoever sends crumbs by the thousand makes rows, and no work for anybody.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export async function isDust(tx: Tx, { asset, units }: { asset: AssetCode; units: bigint }): Promise<boolean> {
  const row = await tx.row('select from dust_thresholds where asset = $1 and below_units > $2', [asset, units]);
  return row !== undefined;
}

/** Leaves a row that is there as it is. */
export async function seedDustThreshold(tx: Tx, asset: AssetCode, belowUnits: bigint): Promise<void> {
  await tx.run('insert into dust_thresholds (asset, below_units) values ($1, $2) on conflict do nothing', [
    asset,
    belowUnits,
  ]);
}

/** What of an asset is dust from now on; 0 for none of it. */
export async function setDustThreshold(tx: Tx, asset: AssetCode, belowUnits: bigint): Promise<void> {
  if (belowUnits === 0n) await tx.run('delete from dust_thresholds where asset = $1', [asset]);
  else
    await tx.run(
      `insert into dust_thresholds (asset, below_units) values ($1, $2)
       on conflict (asset) do update set below_units = excluded.below_units`,
      [asset, belowUnits],
    );
}

/** Below which units of an asset; undefined where nothing is dust. */
export const dustThreshold = async (tx: Tx, asset: AssetCode): Promise<bigint | undefined> =>
  (await tx.row<{ units: bigint }>('select below_units as units from dust_thresholds where asset = $1', [asset]))
    ?.units;

/** For metrics: how many there are by the rail they came by. */
export const dustCounts = (tx: Tx): Promise<{ rail: string; count: bigint }[]> =>
  tx.rows(
    `select rail, count(*) as count from deposits where dust and state <> 'written_off' group by rail order by rail`,
  );

/** Dust in suspense, the oldest first. */
export const oldestDust = (
  tx: Tx,
  { asset, before, most }: { asset: AssetCode; before: Date; most: number },
): Promise<{ id: bigint; order_id: bigint | null }[]> =>
  tx.rows(
    `select id, order_id from deposits d where dust and state = 'suspense' and asset = $1 and seen_at < $2
        and refund_units = 0 and not exists (select from held_deposits h where h.deposit_id = d.id)
      order by id limit $3`,
    [asset, before, most],
  );
