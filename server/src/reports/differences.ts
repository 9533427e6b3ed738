/**
 * Lists of what reconciliation and a restore left to a person: items on which books and outside differ now, movements of our
 * wallets that no row of ours explains, and the statements that were imported at the desk of a bank. Each with filters and pages.
 *
 * The SQL reads tables of three modules (reconcile, rails, rails/manual). Only operators' lists need it in pages, so it is here
 * and not in their stores.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { conditions, type Page, parameters } from '../base/scan.ts';

export const BREAK_KINDS = [
  'break_missing_in_ledger',
  'break_missing_outside',
  'break_amount',
  'break_balance',
] as const;
/** A break waits for a person; an item in transit resolves by itself. */
export const BREAK_STATES = ['break', 'in_transit'] as const;
export const MOVEMENT_STATES = ['unread', 'open', 'adopted', 'foreign', 'cancelled'] as const;
/** The movement is undecided. */
const UNDECIDED = `state in ('unread', 'open')`;

interface Narrowing {
  rail?: string | undefined;
  asset?: AssetCode | undefined;
  /** When it was found or imported. */
  from?: Date | undefined;
  until?: Date | undefined;
  limit: number;
}

export interface BreakRow {
  id: bigint;
  rail: string;
  wallet: string;
  asset: AssetCode;
  key: string;
  kind: (typeof BREAK_KINDS)[number];
  outsideUnits: bigint;
  ledgerUnits: bigint;
  /** Positive if there is more outside than in the books. */
  differenceUnits: bigint;
  transit: string | null;
  why: string;
  names: string[];
  foundAt: Date;
}

/** Items that differ now, oldest first: what has waited longest matters most. */
export async function listBreaks(
  tx: Tx,
  input: Narrowing & {
    kind?: BreakRow['kind'] | undefined;
    state?: (typeof BREAK_STATES)[number] | undefined;
    after?: bigint | undefined;
  },
): Promise<Page<BreakRow, bigint>> {
  const { values, put } = parameters();
  const where = ['closed_at is null', narrowing(input, 'found_at', put)];
  if (input.kind !== undefined) where.push(`kind = ${put(input.kind)}`);
  if (input.state !== undefined) where.push(`transit is ${input.state === 'break' ? 'null' : 'not null'}`);
  if (input.after !== undefined) where.push(`id > ${put(input.after)}`);
  const found = await tx.rows<BreakRow>(
    `select id, rail, wallet, asset, key, kind, outside_units, ledger_units, outside_units - ledger_units as difference_units,
            transit, why, names, found_at
       from reconcile_items where ${where.join(' and ')} order by id limit ${put(input.limit + 1)}`,
    values,
  );
  return pageOf(found, input.limit, ({ id }) => id);
}

export interface MovementRow {
  id: bigint;
  rail: string;
  wallet: string;
  nonce: bigint | null;
  hash: string | null;
  state: (typeof MOVEMENT_STATES)[number];
  signed: boolean;
  block: bigint | null;
  succeeded: boolean | null;
  recipient: string | null;
  asset: AssetCode | null;
  units: bigint | null;
  key: string | null;
  cancelAt: Date | null;
  foundAt: Date;
  endedAt: Date | null;
}

/**
 * A place in the list of movements: `waiting:12` or `decided:12`. A decision between two pages skips no movement; one that is decided
 * meanwhile is shown once more, among the decided ones.
 */
export const MOVEMENT_PLACE = /^(waiting|decided):([1-9][0-9]{0,17})$/;

/** Undecided movements first, then the others; each part newest first. */
export async function listMovements(
  tx: Tx,
  input: Narrowing & { state?: MovementRow['state'] | undefined; below?: string | undefined },
): Promise<Page<MovementRow, string>> {
  const { values, put } = parameters();
  const where = [narrowing(input, 'found_at', put)];
  if (input.state !== undefined) where.push(`state = ${put(input.state)}`);
  const [, part, id] = MOVEMENT_PLACE.exec(input.below ?? '') ?? [];
  if (id !== undefined) {
    const lower = `id < ${put(BigInt(id))}`;
    where.push(part === 'waiting' ? `(not ${UNDECIDED} or ${lower})` : `not ${UNDECIDED} and ${lower}`);
  }
  const found = await tx.rows<MovementRow>(
    `select id, rail, wallet, nonce, hash, state, signed, block, succeeded, recipient, asset, units, key, cancel_at, found_at,
            ended_at
       from found_movements where ${where.join(' and ')} order by ${UNDECIDED} desc, id desc limit ${put(input.limit + 1)}`,
    values,
  );
  return pageOf(found, input.limit, (row) => `${isUndecided(row) ? 'waiting' : 'decided'}:${row.id}`);
}

const isUndecided = ({ state }: MovementRow): boolean => state === 'unread' || state === 'open';

export interface ImportRow {
  id: bigint;
  asset: AssetCode;
  format: string;
  sha256: string;
  bytes: number;
  lines: number;
  newLines: number;
  importedAt: Date;
  importedBy: string;
}

/** Imported statements of a bank, newest first. */
export async function listImports(
  tx: Tx,
  input: Narrowing & { by?: string | undefined; below?: bigint | undefined },
): Promise<Page<ImportRow, bigint>> {
  const { values, put } = parameters();
  const where = [narrowing(input, 'imported_at', put)];
  if (input.by !== undefined) where.push(`imported_by = ${put(input.by)}`);
  if (input.below !== undefined) where.push(`id < ${put(input.below)}`);
  const found = await tx.rows<ImportRow>(
    `select id, asset, format, encode(sha256, 'hex') as sha256, bytes, lines, new_lines, imported_at, imported_by
       from manual_imports where ${where.join(' and ')} order by id desc limit ${put(input.limit + 1)}`,
    values,
  );
  return pageOf(found, input.limit, ({ id }) => id);
}

function narrowing(by: Narrowing, time: 'found_at' | 'imported_at', put: (value: unknown) => string): string {
  return conditions(put, [
    ['rail =', by.rail],
    ['asset =', by.asset],
    [`${time} >=`, by.from],
    [`${time} <`, by.until],
  ]);
}

/** @param found one row more than the page shows, if there is one */
function pageOf<R, I>(found: readonly R[], limit: number, place: (row: R) => I): Page<R, I> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: found.length > limit && last !== undefined ? place(last) : null };
}
