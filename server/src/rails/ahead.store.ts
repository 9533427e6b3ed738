/** SQL of the state that a restore leaves: the first lost number of each number sequence, and whether there was a restore. */
import type { Tx } from '../base/db.ts';

/** A deposit moves the sequence at most this far, because a payer can write any reference. */
const FARTHEST = 1_000n;

/** How far a restore moves the sequence (backup/post-restore.ts): a lost range has no number beyond. */
const JUMP = 1_000_000n;

/** Ranges of numbers that these books have not assigned: the first number, and the highest one at which money was seen. */
export const frontiers = (tx: Tx): Promise<{ first: bigint; highest: bigint; isNow: boolean }[]> =>
  tx.rows(
    `with runs as (
       select first_lost_index as first, first_lost_index + $1::bigint as past, false as now
         from restores where first_lost_index is not null
       union all select case when is_called then last_value + 1 else last_value end, 9223372036854775807, true from deposit_indexes)
     select r.first, r.now as is_now,
            coalesce((select max(d.index) from deposit_addresses d where d.order_id is null and d.index >= r.first
                and d.index < least(r.past, (select min(o.first) from runs o where o.first > r.first))), r.first) as highest
       from runs r`,
    [JUMP],
  );

/** Moves the sequence past this number, so that no order gets it, if it is one of the next ones. */
export async function passOver(tx: Tx, index: bigint): Promise<void> {
  await tx.run(
    `select setval('deposit_indexes', $1::bigint) from deposit_indexes
      where $1::bigint >= case when is_called then last_value + 1 else last_value end and $1::bigint <= last_value + $2::bigint`,
    [index, FARTHEST],
  );
}

/** When the database was last restored to an earlier moment. */
export const lastRestore = async (tx: Tx): Promise<Date | undefined> =>
  (await tx.row<{ at: Date | null }>('select max(restored_at) as at from restores'))?.at ?? undefined;

/**
 * Milliseconds since the oldest backup that was restored: sends since then may be lost, earlier ones are not. Undefined if there
 * was no restore.
 */
export const msSinceLost = async (tx: Tx): Promise<number | undefined> =>
  (
    await tx.row<{ ms: number | null }>(
      `select (extract(epoch from clock_timestamp() - min(backup_taken_at)) * 1000)::float8 as ms from restores`,
    )
  )?.ms ?? undefined;

/** Whether a row was created after the first restore. If so, the restored books may have lost an earlier counterpart of it. */
export const isMadeSince = async (tx: Tx, at: Date): Promise<boolean> =>
  (await tx.row('select from restores having min(restored_at) < $1', [at])) !== undefined;

/** Whether the database was ever restored to an earlier moment: then chains and banks may show payments that it lacks. */
export const wasRestored = async (tx: Tx): Promise<boolean> =>
  (await tx.row('select from restores limit 1')) !== undefined;
