/**
 * SQL of held_deposits: deposits whose money an operator holds back (migrations/0006_orders.sql).
 */
import { later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';

export interface HeldDeposit {
  by: string;
  why: string;
  at: Date;
}

export const heldDeposit = (tx: Tx, id: bigint): Promise<HeldDeposit | undefined> =>
  tx.row<HeldDeposit>('select by, why, at from held_deposits where deposit_id = $1', [id]);

/** Whether any of these deposits is held. */
export const areHeld = async (tx: Tx, deposits: readonly { id: bigint }[]): Promise<boolean> =>
  (await heldAmong(tx, deposits)).size > 0;

/** The numbers of those that are held. */
export async function heldAmong(tx: Tx, deposits: readonly { id: bigint }[]): Promise<ReadonlySet<bigint>> {
  if (deposits.length === 0) return new Set();
  const rows = await tx.rows<{ depositId: bigint }>(
    'select deposit_id from held_deposits where deposit_id = any($1::bigint[])',
    [deposits.map(({ id }) => id)],
  );
  return new Set(rows.map(({ depositId }) => depositId));
}

/** A repeated hold is a new one, with its own time, because an older proposal to release refers to the earlier hold. */
export async function insertHeld(tx: Tx, id: bigint, { by, why, at }: HeldDeposit): Promise<void> {
  const before = await heldDeposit(tx, id);
  if (before !== undefined) await deleteHeld(tx, id);
  const since = before === undefined || before.at < at ? at : later(before.at, 1);
  await tx.run('insert into held_deposits (deposit_id, by, why, at) values ($1, $2, $3, $4)', [id, by, why, since]);
}

/** @returns whether the deposit was held */
export const deleteHeld = async (tx: Tx, id: bigint): Promise<boolean> =>
  (await tx.run('delete from held_deposits where deposit_id = $1', [id])) > 0;
