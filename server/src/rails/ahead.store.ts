/** SQL of what a restore has left behind: where its numbers began, and that there was one. */
import type { Tx } from '../base/db.ts';

/** Beyond this the sequence is not moved for what is seen: a stranger may write any reference. */
const FARTHEST = 1_000n;

/** Runs of numbers that the books have not given out: their first, and the highest of each that money was seen at. */
export const frontiers = (tx: Tx): Promise<{ first: bigint; highest: bigint; isNow: boolean }[]> =>
  tx.rows(
    `with runs as (
       select first_lost_index as first, false as now from restores where first_lost_index is not null
       union all select case when is_called then last_value + 1 else last_value end, true from deposit_indexes)
     select r.first, r.now as "isNow",
            coalesce((select max(d.index) from deposit_addresses d where d.order_id is null and d.index >= r.first
                and d.index < coalesce((select min(o.first) from runs o where o.first > r.first), 9223372036854775807)), r.first) as highest
       from runs r`,
  );

/** The next order gets a higher one, where this is one of those that come next. */
export async function passOver(tx: Tx, index: bigint): Promise<void> {
  await tx.run(
    `select setval('deposit_indexes', $1::bigint) from deposit_indexes
      where $1::bigint >= case when is_called then last_value + 1 else last_value end and $1::bigint <= last_value + $2::bigint`,
    [index, FARTHEST],
  );
}

/** When it was last put back to an earlier moment. */
export const lastRestore = async (tx: Tx): Promise<Date | undefined> =>
  (await tx.row<{ at: Date | null }>('select max(restored_at) as at from restores'))?.at ?? undefined;

/** Whether something was made after the database was first put back: then the books may have lost another one of it. */
export const isMadeSince = async (tx: Tx, at: Date): Promise<boolean> =>
  (await tx.row('select from restores having min(restored_at) < $1', [at])) !== undefined;

/** Whether the database was ever put back to an earlier moment: then chain and bank may know what it does not. */
export const wasRestored = async (tx: Tx): Promise<boolean> =>
  (await tx.row('select from restores limit 1')) !== undefined;
