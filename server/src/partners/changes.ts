/**
 * Changes: the previous value of a market, fee, limit, cap, policy or partner, and who changed it and why.
 *
 * Written in the transaction that makes the change, so there is none without its row, and never changed itself. Setting a term to
 * its present value leaves no row: a sandbox sets its terms at every start, except those that an operator has set.
 */
import type { Tx } from '../base/db.ts';
import { conditions, parameters } from '../base/scan.ts';
import { sql } from './store.ts';

export interface Reason {
  by: string;
  why: string;
}

/** Used by seeds and tests, where no person makes the change. */
export const UNSAID: Reason = { by: 'the program', why: 'as configured' };

export interface MarketChange {
  id: bigint;
  what: 'market' | 'fee' | 'limit' | 'exposure' | 'policy' | 'partner';
  marketId: bigint | null;
  partnerId: bigint | null;
  /** The kind of a fee, the level of a limit, the fiat of a cap, the question of a policy. */
  item: string;
  /** The row before and after, as JSON text; null when there was or is none. */
  before: string | null;
  after: string | null;
  by: string;
  why: string;
  at: Date;
}

/** A row as PostgreSQL formats it: text, because a JSON number could not carry its units exactly. */
export const jsonOf = async (tx: Tx, statement: string, values: readonly unknown[]): Promise<string | null> => {
  const row = await tx.row<{ json: string }>(statement, values);
  return row?.json ?? null;
};

/** Rows as JSON for PostgreSQL: whole numbers of any size as text. */
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
  marketId: bigint | null;
  partnerId: bigint | null;
  item: string;
  before: string | null;
  after: string | null;
  changedBy: string;
  why: string;
  at: Date;
}

/** Markets and fees as an operator has last set them: market, term, and for a fee its partner and kind. */
export async function setByPeople(
  tx: Tx,
): Promise<(of: Pick<MarketChange, 'what' | 'marketId'> & Partial<MarketChange>) => boolean> {
  const keyOf = (row: readonly unknown[]): string => row.map((part) => part ?? '').join(' ');
  const rows = await tx.rows<Pick<ChangeRow, 'what' | 'marketId' | 'partnerId' | 'item'>>(sql.setByPeople, [UNSAID.by]);
  const known = new Set(rows.map(({ what, marketId, partnerId, item }) => keyOf([what, marketId, partnerId, item])));
  return ({ what, marketId, partnerId = null, item = '' }) => known.has(keyOf([what, marketId, partnerId, item]));
}

/** The latest changes, newest first: of one market or all, of one partner's own terms, of one kind, within a time span. */
export async function marketChanges(
  tx: Tx,
  input: {
    marketId?: bigint | undefined;
    partnerId?: bigint | undefined;
    what?: MarketChange['what'] | undefined;
    item?: string | undefined;
    from?: Date | undefined;
    until?: Date | undefined;
    /** Only changes older than this id. */
    below?: bigint | undefined;
    limit: number;
  },
): Promise<MarketChange[]> {
  const { values, put } = parameters();
  const given = conditions(put, [
    ['market_id =', input.marketId],
    ['partner_id =', input.partnerId],
    ['what =', input.what],
    ['item =', input.item],
    ['at >=', input.from],
    ['at <', input.until],
    ['id <', input.below],
  ]);
  const rows = await tx.rows<ChangeRow>(sql.changes(given, put(input.limit)), values);
  return rows.map(changeOf);
}

export async function findChange(tx: Tx, id: bigint): Promise<MarketChange | undefined> {
  const row = await tx.row<ChangeRow>(sql.change, [id]);
  return row && changeOf(row);
}

const changeOf = ({ marketId, partnerId, changedBy, ...rest }: ChangeRow): MarketChange => ({
  ...rest,
  marketId,
  partnerId,
  by: changedBy,
});

/** One term's row as JSON text; null when there is none. */
export const feeRow = (tx: Tx, marketId: bigint, partnerId: bigint | null, kind: string) =>
  jsonOf(tx, sql.feeJson, [marketId, partnerId, kind]);
export const limitRow = (tx: Tx, marketId: bigint, level: number) => jsonOf(tx, sql.limitJson, [marketId, level]);
export const capRow = (tx: Tx, partnerId: bigint, fiat: string) => jsonOf(tx, sql.capJson, [partnerId, fiat]);
export const partnerRow = (tx: Tx, partnerId: bigint) => jsonOf(tx, sql.partnerJson, [partnerId]);
export const policyRow = (tx: Tx, marketId: bigint, partnerId: bigint | null, question: string) =>
  jsonOf(tx, sql.policyJson, [marketId, partnerId, question]);
