/**
 * The tables of the bank engine: how far a statement was read, every line once, and the lines that could not be taken.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export type LineMeaning = 'deposit' | 'funding' | 'return' | 'payout' | 'recall' | 'unexplained';

export interface BankLine {
  direction: 'credit' | 'debit';
  asset: AssetCode;
  units: bigint;
  meaning: LineMeaning;
  key: string | null;
  chargeUnits: bigint;
}

export const readCursor = async (tx: Tx, rail: string): Promise<string> =>
  (await tx.row<{ cursor: string }>('select cursor from bank_cursors where rail = $1', [rail]))?.cursor ?? '';

/** Stores how far we are, unless another process has moved on meanwhile: then its word stands. */
export async function moveCursor(tx: Tx, rail: string, from: string, to: string): Promise<void> {
  await tx.run(
    `insert into bank_cursors (rail, cursor, read_at) values ($1, $3, clock_timestamp())
     on conflict (rail) do update
       set cursor = case when bank_cursors.cursor = $2 then excluded.cursor else bank_cursors.cursor end, read_at = excluded.read_at`,
    [rail, from, to],
  );
}

/** Real milliseconds since the statement was last read; null before the first time. */
export const cursorAgeMs = async (tx: Tx, rail: string): Promise<number | null> =>
  (
    await tx.row<{ ageMs: number }>(
      `select (extract(epoch from clock_timestamp() - read_at) * 1000)::float8 as "ageMs" from bank_cursors where rail = $1`,
      [rail],
    )
  )?.ageMs ?? null;

export const readLine = (tx: Tx, rail: string, externalId: string): Promise<BankLine | undefined> =>
  tx.row<BankLine>(
    `select direction, asset, units, meaning, key, charge_units as "chargeUnits" from bank_lines where rail = $1 and external_id = $2`,
    [rail, externalId],
  );

/** @returns whether the line is new */
export async function insertLine(
  tx: Tx,
  rail: string,
  line: BankLine & { externalId: string; details: Buffer; bookedAt: Date },
): Promise<boolean> {
  const rows = await tx.run(
    `insert into bank_lines (rail, external_id, direction, asset, units, details, meaning, key, charge_units, booked_at, read_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp()) on conflict (rail, external_id) do nothing`,
    [
      rail,
      line.externalId,
      line.direction,
      line.asset,
      line.units,
      line.details,
      line.meaning,
      line.key,
      line.chargeUnits,
      line.bookedAt,
    ],
  );
  return rows > 0;
}

/** Whether a line of this meaning stands already for a payout. */
export const hasLine = async (tx: Tx, rail: string, key: string, meaning: LineMeaning): Promise<boolean> =>
  (await tx.row('select from bank_lines where rail = $1 and key = $2 and meaning = $3 limit 1', [
    rail,
    key,
    meaning,
  ])) !== undefined;

/** @returns whether it is new with this content */
export async function insertOddLine(
  tx: Tx,
  rail: string,
  odd: { externalId: string; content: Buffer; why: string; details: Buffer },
): Promise<boolean> {
  const rows = await tx.run(
    `insert into bank_odd_lines (rail, external_id, content, why, details, read_at)
     values ($1, $2, $3, $4, $5, clock_timestamp()) on conflict do nothing`,
    [rail, odd.externalId, odd.content, odd.why, odd.details],
  );
  return rows > 0;
}

/** What the lines say the account holds: for reconciliation with the bank's own balance. */
export const sumOfLines = async (tx: Tx, rail: string, asset: AssetCode): Promise<bigint> =>
  (
    await tx.row<{ units: bigint }>(
      `select coalesce(sum(case direction when 'credit' then units else -units - charge_units end), 0)::numeric as units
         from bank_lines where rail = $1 and asset = $2`,
      [rail, asset],
    )
  )?.units ?? 0n;
