/**
 * Dust: amounts too small to handle. The threshold is one row per asset; without a row nothing is dust.
 *
 * Money that fits an order belongs to it, however small. Money that fits no order and is below the threshold is booked to
 * suspense like any other, appears in the trace, and is counted. It opens no case, is not reported to the partner, and is
 * refunded only if an operator requests it. So thousands of tiny amounts create rows, but no work.
 */
import type { Tx } from '../../base/db.ts';
import type { AssetCode } from '../../base/money.ts';

export async function isDust(tx: Tx, { asset, units }: { asset: AssetCode; units: bigint }): Promise<boolean> {
  const row = await tx.row('select from dust_thresholds where asset = $1 and below_units > $2', [asset, units]);
  return row !== undefined;
}

/** Leaves an existing row unchanged. */
export async function seedDustThreshold(tx: Tx, asset: AssetCode, belowUnits: bigint): Promise<void> {
  await tx.run('insert into dust_thresholds (asset, below_units) values ($1, $2) on conflict do nothing', [
    asset,
    belowUnits,
  ]);
}

/** Sets the amount below which a deposit of this asset is dust; 0 for never. */
export async function setDustThreshold(tx: Tx, asset: AssetCode, belowUnits: bigint): Promise<void> {
  if (belowUnits === 0n) await tx.run('delete from dust_thresholds where asset = $1', [asset]);
  else
    await tx.run(
      `insert into dust_thresholds (asset, below_units) values ($1, $2)
       on conflict (asset) do update set below_units = excluded.below_units`,
      [asset, belowUnits],
    );
}

/** Threshold in units of the asset; undefined when nothing is dust. */
export const dustThreshold = async (tx: Tx, asset: AssetCode): Promise<bigint | undefined> =>
  (await tx.row<{ units: bigint }>('select below_units as units from dust_thresholds where asset = $1', [asset]))
    ?.units;

/** For metrics: number of dust deposits by rail. */
export const dustCounts = (tx: Tx): Promise<{ rail: string; count: bigint }[]> =>
  tx.rows(
    `select rail, count(*) as count from deposits where dust and state <> 'written_off' group by rail order by rail`,
  );

/** Dust in suspense, oldest first. */
export const oldestDust = (
  tx: Tx,
  { asset, before, most }: { asset: AssetCode; before: Date; most: number },
): Promise<{ id: bigint; orderId: bigint | null }[]> =>
  tx.rows(
    `select id, order_id from deposits d where dust and state = 'suspense' and asset = $1 and seen_at < $2
        and refund_units = 0 and not exists (select from held_deposits h where h.deposit_id = d.id)
      order by id limit $3`,
    [asset, before, most],
  );
