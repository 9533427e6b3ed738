/**
 * SQL of targets that are issued one by one: the free ones, how many of the issuer's are known, and whether a restore withdraws
 * them.
 */
import type { Tx } from '../base/db.ts';

/** Takes the oldest free target for an order; undefined when none is free. */
export const takeTarget = async (tx: Tx, rail: string): Promise<string | undefined> =>
  (
    await tx.row<{ target: string }>(
      `delete from issued_targets where rail = $1 and target =
         (select target from issued_targets where rail = $1 order by number limit 1 for update skip locked) returning target`,
      [rail],
    )
  )?.target;

export interface Pool {
  /** Number of the issuer's targets that are in the books. */
  known: bigint;
  /** Whether a restore has lost time: then targets that were issued before it may have been assigned. */
  withdraws: boolean;
  free: number;
}

export async function poolOf(tx: Tx, rail: string): Promise<Pool> {
  const row = await tx.row<Pool>(
    `select coalesce(i.known, 0) as known, coalesce(i.withdraws, false) as withdraws,
            (select count(*)::int from issued_targets t where t.rail = $1) as free
       from (select $1::text as rail) asked left join target_issuers i using (rail)`,
    [rail],
  );
  return row ?? { known: 0n, withdraws: false, free: 0 };
}

/**
 * Counts targets as known.
 * @returns false if another process has done so since
 */
export async function countKnown(tx: Tx, rail: string, from: bigint, count: number): Promise<boolean> {
  await tx.run('insert into target_issuers (rail) values ($1) on conflict do nothing', [rail]);
  return (
    (await tx.row('update target_issuers set known = $2::bigint + $3 where rail = $1 and known = $2 returning known', [
      rail,
      from,
      count,
    ])) !== undefined
  );
}

/** Stores new targets as free, except those already in the books. @returns the number of new ones */
export async function addFree(tx: Tx, rail: string, from: bigint, targets: readonly string[]): Promise<number> {
  const added = await tx.rows(
    `insert into issued_targets (rail, target, number)
     select $1, n.target, $2::bigint + n.at - 1 from unnest($3::text[]) with ordinality as n (target, at)
      where not exists (select from deposit_addresses d where d.rail = $1 and d.address = n.target)
         on conflict do nothing returning target`,
    [rail, from, targets],
  );
  return added.length;
}

/** Watches targets that no order gets, each under a separate number. */
export async function watchWithoutOrder(tx: Tx, rail: string, targets: readonly string[], at: Date): Promise<void> {
  await tx.run(
    `insert into deposit_addresses (rail, address, index, made_at)
     select $1, target, nextval('deposit_indexes'), $3 from unnest($2::text[]) as target on conflict do nothing`,
    [rail, targets, at],
  );
}

/** Removes these targets from the pool, if they are free. */
export const takeOut = async (tx: Tx, rail: string, targets: readonly string[]): Promise<string[]> =>
  (
    await tx.rows<{ target: string }>(
      'delete from issued_targets where rail = $1 and target = any($2::text[]) returning target',
      [rail, targets],
    )
  ).map(({ target }) => target);

/** All of the issuer's targets up to here are known, so targets issued from now on may be assigned again. */
export const endWithdrawing = (tx: Tx, rail: string, known: bigint) =>
  tx.run('update target_issuers set withdraws = false where rail = $1 and known = $2', [rail, known]);

/** The numbers under which these targets are watched. */
export const indexesOf = (tx: Tx, rail: string, targets: readonly string[]) =>
  tx.rows<{ address: string; index: bigint }>(
    'select address, index from deposit_addresses where rail = $1 and address = any($2::text[])',
    [rail, targets],
  );
