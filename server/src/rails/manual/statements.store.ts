/** SQL of statements of a manual bank: files taken in, what each covers, and its lines. */
import type { Tx } from '../../base/db.ts';
import type { AssetCode } from '../../base/money.ts';

export interface ImportRow {
  id: bigint;
  asset: AssetCode;
  format: 'csv' | 'camt.053';
  sha256: string;
  bytes: number;
  lines: number;
  newLines: number;
  importedAt: Date;
  importedBy: string;
}

const IMPORT = `id, asset, format, encode(sha256, 'hex') as sha256, bytes, lines, new_lines,
  imported_at, imported_by`;

export const importOf = (tx: Tx, rail: string, asset: AssetCode, sha256: Buffer): Promise<ImportRow | undefined> =>
  tx.row<ImportRow>(`select ${IMPORT} from manual_imports where rail = $1 and asset = $2 and sha256 = $3`, [
    rail,
    asset,
    sha256,
  ]);

export const imports = (tx: Tx, rail: string, most: number): Promise<ImportRow[]> =>
  tx.rows<ImportRow>(`select ${IMPORT} from manual_imports where rail = $1 order by id desc limit $2`, [rail, most]);

export async function insertImport(
  tx: Tx,
  rail: string,
  one: Omit<ImportRow, 'id' | 'sha256'> & { sha256: Buffer },
): Promise<ImportRow | undefined> {
  return await tx.row<ImportRow>(
    `insert into manual_imports (rail, asset, format, sha256, bytes, lines, new_lines, imported_at, imported_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${IMPORT}`,
    [rail, one.asset, one.format, one.sha256, one.bytes, one.lines, one.newLines, one.importedAt, one.importedBy],
  );
}

export interface StatementRow {
  id: bigint;
  asset: AssetCode;
  sequence: bigint | null;
  from: string;
  to: string;
  /** The last of its days that it covers, if it was dated ahead when it was taken in. */
  standsTo: string;
  opening: bigint | null;
  closing: bigint | null;
}

const STATEMENT = `id, asset, sequence, from_on::text as "from", to_on::text as "to", stands_to::text as stands_to,
  opening_units as opening, closing_units as closing`;
const NEWEST = 'order by manual_statements.stands_to desc, sequence desc nulls last, id desc limit 1';
const FIRST = 'order by from_on, sequence nulls first, id limit 1';

export const newestStatement = (tx: Tx, rail: string, asset: AssetCode): Promise<StatementRow | undefined> =>
  tx.row<StatementRow>(`select ${STATEMENT} from manual_statements where rail = $1 and asset = $2 ${NEWEST}`, [
    rail,
    asset,
  ]);

/** What says how far a statement reaches: its last day, the time of its end if the file names one, and when it was taken in. */
export interface Reach {
  to: string;
  shownTo: Date | null;
  importedAt: Date;
}

/** All statements with the newest end, the one taken in last first. */
export const newestTaken = (tx: Tx, rail: string, asset: AssetCode): Promise<Reach[]> =>
  tx.rows<Reach>(
    `select s.stands_to::text as "to", s.shown_to, i.imported_at
       from manual_statements s join manual_imports i on i.id = s.import_id
      where s.rail = $1 and s.asset = $2
        and s.stands_to = (select max(stands_to) from manual_statements where rail = $1 and asset = $2)
      order by i.imported_at desc limit 100`,
    [rail, asset],
  );

/** All statements with the newest end, the one taken in last first. */
export const newestStatements = (tx: Tx, rail: string, asset: AssetCode): Promise<StatementRow[]> =>
  tx.rows<StatementRow>(
    `with newest as (select stands_to, sequence from manual_statements where rail = $1 and asset = $2 ${NEWEST})
     select ${STATEMENT} from manual_statements
      where rail = $1 and asset = $2 and stands_to = (select stands_to from newest)
        and sequence is not distinct from (select sequence from newest)
      order by id desc limit 100`,
    [rail, asset],
  );

export const firstStatement = (tx: Tx, rail: string, asset: AssetCode): Promise<StatementRow | undefined> =>
  tx.row<StatementRow>(`select ${STATEMENT} from manual_statements where rail = $1 and asset = $2 ${FIRST}`, [
    rail,
    asset,
  ]);

export const statementByIdentity = (
  tx: Tx,
  rail: string,
  asset: AssetCode,
  identity: Buffer,
): Promise<StatementRow | undefined> =>
  tx.row<StatementRow>(`select ${STATEMENT} from manual_statements where rail = $1 and asset = $2 and identity = $3`, [
    rail,
    asset,
    identity,
  ]);

export const statementsOf = (
  tx: Tx,
  rail: string,
  asset: AssetCode,
  span: { from: string; to: string },
): Promise<StatementRow[]> =>
  tx.rows<StatementRow>(
    `select ${STATEMENT} from manual_statements where rail = $1 and asset = $2 and to_on >= $3::date and from_on <= $4::date
      order by from_on, sequence nulls first, id limit 1000`,
    [rail, asset, span.from, span.to],
  );

/**
 * Whether new lines of a statement may be known ones in other words: another statement begins or ends on the same day and has
 * added a line that this one lacks, or covers days before and after a day of theirs. Lines that sum to zero may be anywhere.
 */
export const isShownBefore = async (
  tx: Tx,
  rail: string,
  asset: AssetCode,
  one: {
    id: bigint;
    from: string;
    to: string;
    opening: bigint;
    closing: bigint;
    /** All of the statement's lines, and the days of the new ones. */
    lines: readonly string[];
    days: readonly string[];
  },
): Promise<boolean> =>
  (await tx.row(
    `select from manual_statements s
      where rail = $1 and asset = $2 and id <> $3 and opening_units is not null
        and (exists (select from unnest($8::date[]) as day where day > from_on and day < stands_to)
          or opening_units <> closing_units and $6::numeric <> $7::numeric
             and ((from_on = $4::date and opening_units = $6) or (stands_to = $5::date and closing_units = $7))
             and exists (select from manual_lines l
                          where l.rail = $1 and l.asset = $2 and l.booked_on between s.from_on and s.to_on
                            and l.statement_id = s.id and l.external_id <> $10 and not l.external_id = any($9::text[]))) limit 1`,
    [rail, asset, one.id, one.from, one.to, one.opening, one.closing, one.days, one.lines, openingId(asset)],
  )) !== undefined;

/** Whether every statement of an account has balances: only then can lines be checked against them. */
export const allHaveBalances = async (tx: Tx, rail: string, asset: AssetCode): Promise<boolean> =>
  (await tx.row('select from manual_statements where rail = $1 and asset = $2 and opening_units is null limit 1', [
    rail,
    asset,
  ])) === undefined;

export async function insertStatement(
  tx: Tx,
  rail: string,
  one: Omit<StatementRow, 'id'> & { importId: bigint; identity: Buffer; shownTo: Date | null },
): Promise<bigint> {
  const row = await tx.row<{ id: bigint }>(
    `insert into manual_statements (rail, asset, import_id, identity, sequence, from_on, to_on, stands_to, opening_units,
       closing_units, shown_to)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id`,
    [
      ...[rail, one.asset, one.importId, one.identity, one.sequence, one.from, one.to, one.standsTo, one.opening],
      ...[one.closing, one.shownTo],
    ],
  );
  return row?.id ?? 0n;
}

/** The non-personal part of a line. */
export interface LineFacts {
  seq: bigint;
  externalId: string;
  asset: AssetCode;
  direction: 'credit' | 'debit';
  units: bigint;
  chargeUnits: bigint;
  bookedOn: string;
  statementId: bigint;
}

export interface LineRow extends LineFacts {
  content: Buffer;
}

const LINE = `seq, external_id, asset, direction, units, charge_units,
  booked_on::text as booked_on, statement_id`;

/** Number of the newest line; 0 if there is none. */
export const lastLine = async (tx: Tx, rail: string): Promise<bigint> =>
  (await tx.row<{ seq: bigint }>('select coalesce(max(seq), 0) as seq from manual_lines where rail = $1', [rail]))
    ?.seq ?? 0n;

export const linesAfter = (tx: Tx, rail: string, after: bigint, most: number): Promise<LineRow[]> =>
  tx.rows<LineRow>(`select ${LINE}, content from manual_lines where rail = $1 and seq > $2 order by seq limit $3`, [
    rail,
    after,
    most,
  ]);

export const linesOfSpan = (
  tx: Tx,
  rail: string,
  asset: AssetCode,
  span: { from: string; to: string; after: bigint },
  most: number,
): Promise<LineFacts[]> =>
  tx.rows<LineFacts>(
    `select ${LINE} from manual_lines
      where rail = $1 and asset = $2 and booked_on between $3::date and $4::date and seq > $5 order by seq limit $6`,
    [rail, asset, span.from, span.to, span.after, most],
  );

/** The known lines among these ids. */
export const linesByIds = (
  tx: Tx,
  rail: string,
  ids: readonly string[],
): Promise<Pick<LineRow, 'externalId' | 'direction' | 'units' | 'chargeUnits'>[]> =>
  tx.rows(
    `select external_id, direction, units, charge_units
       from manual_lines where rail = $1 and external_id = any($2)`,
    [rail, ids],
  );

export interface OtherLine
  extends Pick<LineRow, 'externalId' | 'direction' | 'units' | 'chargeUnits' | 'bookedOn' | 'content'> {
  format: 'csv' | 'camt.053';
  from: string;
  to: string;
}

/** Lines of these days from files of the other format, except those with these ids. */
export const linesOfOtherForm = (
  tx: Tx,
  rail: string,
  asset: AssetCode,
  input: { format: 'csv' | 'camt.053'; days: readonly string[]; without: readonly string[]; most: number },
): Promise<OtherLine[]> =>
  tx.rows<OtherLine>(
    `select l.external_id, l.direction, l.units, l.charge_units, l.booked_on::text as booked_on,
            l.content, i.format, s.from_on::text as "from", s.to_on::text as "to"
       from manual_lines l join manual_statements s on s.id = l.statement_id join manual_imports i on i.id = s.import_id
      where l.rail = $1 and l.asset = $2 and l.booked_on = any($3::date[]) and i.format <> $4
        and not l.external_id = any($5::text[]) and l.external_id <> $6
      order by l.seq limit $7`,
    [rail, asset, input.days, input.format, input.without, openingId(asset), input.most],
  );

/** Whether there are lines that the bank engine has not read yet. */
export const hasUnread = async (tx: Tx, rail: string): Promise<boolean> =>
  (await tx.row(
    `select from manual_lines
      where rail = $1 and seq > coalesce((select nullif(cursor, '')::bigint from bank_cursors where rail = $1), 0) limit 1`,
    [rail],
  )) !== undefined;

/** The line that represents the balance before the first statement. */
export const openingId = (asset: AssetCode): string => `opening:${asset}`;

/** Debits of an account, with their encrypted content. One that is not read yet has no row of bank_lines. */
const DEBITS = `select m.external_id, m.content
       from manual_lines m left join bank_lines l on l.rail = m.rail and l.external_id = m.external_id
      where m.rail = $1 and m.asset = $2 and m.direction = 'debit'`;
type Debit = Pick<LineRow, 'externalId' | 'content'>;

/** Debits that no payout explains and about which operators have not decided. */
export const unexplainedDebits = (tx: Tx, rail: string, asset: AssetCode): Promise<Debit[]> =>
  tx.rows(`${DEBITS} and l.meaning = 'unexplained' and l.foreign_at is null`, [rail, asset]);

/** Debits by which no payout was settled, whatever operators decided about them, and those that are not read yet. */
export const unsettledDebits = (tx: Tx, rail: string, asset: AssetCode): Promise<Debit[]> =>
  tx.rows(`${DEBITS} and coalesce(l.meaning, 'unexplained') = 'unexplained'`, [rail, asset]);

/** The encrypted content of a line. */
export const contentOf = async (tx: Tx, rail: string, externalId: string): Promise<Buffer | undefined> =>
  (
    await tx.row<{ content: Buffer }>('select content from manual_lines where rail = $1 and external_id = $2', [
      rail,
      externalId,
    ])
  )?.content;
