/**
 * Changes: what a market, fee, limit, cap or policy was before somebody changed it, and who it was and why.
 *
 * Written in the transaction that makes the change, so there is none without its row, and never changed itself. Setting a
 * term to what it is already leaves no row: a sandbox says all of its terms at every start.
 */
import type { Tx } from '../base/db.ts';
import { sql } from './store.ts';

export interface Reason {
  by: string;
  why: string;
}

/** For seeds and tests, where nobody is there to ask. */
export const UNSAID: Reason = { by: 'the program', why: 'as configured' };

export interface MarketChange {
  id: bigint;
  what: 'market' | 'fee' | 'limit' | 'exposure' | 'policy';
  marketId: bigint | null;
  partnerId: bigint | null;
  /** Of a fee its kind, of a limit its level, of a cap its fiat, of a policy its question. */
  item: string;
  /** The row as it was and as it is, as JSON text; null where there was or is none. */
  before: string | null;
  after: string | null;
  by: string;
  why: string;
  at: Date;
}

/** A row as PostgreSQL writes it: text, because a number of JSON could not carry its units. */
export const jsonOf = async (tx: Tx, statement: string, values: readonly unknown[]): Promise<string | null> => {
  const row = await tx.row<{ json: string }>(statement, values);
  return row?.json ?? null;
};

/** Rows as JSON for PostgreSQL to read: whole numbers of any size as text. */
export const rowsJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

export async function recordChange(
  tx: Tx,
  change: {
    what: MarketChange['what'];
    marketId?: bigint;
    partnerId?: bigint | null;
    item?: string;
    before: string | null;
    after: string | null;
    reason: Reason;
  },
): Promise<void> {
  await tx.run(sql.insertChange, [
    change.what,
    change.marketId ?? null,
    change.partnerId ?? null,
    change.item ?? '',
    change.before,
    change.after,
    change.reason.by,
    change.reason.why,
  ]);
}

interface ChangeRow {
  id: bigint;
  what: MarketChange['what'];
  market_id: bigint | null;
  partner_id: bigint | null;
  item: string;
  before: string | null;
  after: string | null;
  changed_by: string;
  why: string;
  at: Date;
}

/** The latest changes, newest first: of one market or of everything, of one kind, made within a span of time. */
export async function marketChanges(
  tx: Tx,
  input: {
    marketId?: bigint | undefined;
    what?: MarketChange['what'] | undefined;
    from?: Date | undefined;
    until?: Date | undefined;
    /** Those older than this one. */
    below?: bigint | undefined;
    limit: number;
  },
): Promise<MarketChange[]> {
  const { marketId = null, what = null, from = null, until = null, below = null, limit } = input;
  const rows = await tx.rows<ChangeRow>(sql.changes, [marketId, limit, what, from, until, below]);
  return rows.map(changeOf);
}

export async function findChange(tx: Tx, id: bigint): Promise<MarketChange | undefined> {
  const row = await tx.row<ChangeRow>(sql.change, [id]);
  return row && changeOf(row);
}

const changeOf = ({ market_id, partner_id, changed_by, ...rest }: ChangeRow): MarketChange => ({
  ...rest,
  marketId: market_id,
  partnerId: partner_id,
  by: changed_by,
});

/** One term as its row says, as JSON text; null where there is none. */
export const feeRow = (tx: Tx, marketId: bigint, partnerId: bigint | null, kind: string) =>
  jsonOf(tx, sql.feeJson, [marketId, partnerId, kind]);
export const limitRow = (tx: Tx, marketId: bigint, level: number) => jsonOf(tx, sql.limitJson, [marketId, level]);
export const capRow = (tx: Tx, partnerId: bigint, fiat: string) => jsonOf(tx, sql.capJson, [partnerId, fiat]);
export const policyRow = (tx: Tx, marketId: bigint, partnerId: bigint | null, question: string) =>
  jsonOf(tx, sql.policyJson, [marketId, partnerId, question]);
