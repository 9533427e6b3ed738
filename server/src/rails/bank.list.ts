/** Lines of bank statements for operators' lists: how they were booked, without their texts and without the other party. */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { parameters } from '../base/scan.ts';
import { textIndexes } from './bank.texts.ts';

export interface BankLine {
  /** `rail:line`, as cases name it. */
  id: string;
  rail: string;
  line: string;
  direction: 'credit' | 'debit';
  asset: AssetCode;
  units: bigint;
  chargeUnits: bigint;
  meaning: 'deposit' | 'funding' | 'return' | 'payout' | 'recall' | 'unexplained';
  /** The payout or refund that the line belongs to. */
  key: string | null;
  bookedAt: Date;
  readAt: Date;
  /** When two operators declared that this unexplained debit paid no payout of ours. */
  foreignAt: Date | null;
}

export interface BankLineFilter {
  rail?: string | undefined;
  direction?: BankLine['direction'] | undefined;
  meaning?: BankLine['meaning'] | undefined;
  asset?: AssetCode | undefined;
  minUnits?: bigint | undefined;
  maxUnits?: bigint | undefined;
  from?: Date | undefined;
  until?: Date | undefined;
}

const nameOf = (id: string): [string, string] => {
  const at = id.indexOf(':');
  return [id.slice(0, at), id.slice(at + 1)];
};

const COLUMNS = `rail || ':' || external_id as id, rail, external_id as line, direction, asset, units, charge_units, meaning, key,
  booked_at, read_at, foreign_at`;

export const bankLineExists = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.row('select from bank_lines where rail = $1 and external_id = $2', nameOf(id))) !== undefined;

/** Lines booked before the given one, newest first, each with whether the whole filter accepts it (base/scan.ts). */
export async function bankLinesBelow(
  tx: Tx,
  input: BankLineFilter,
  below: string | undefined,
  count: number,
): Promise<{ row: BankLine; fits: boolean }[]> {
  const { values, put } = parameters();
  const span = [
    'true',
    ...(input.from === undefined ? [] : [`booked_at >= ${put(input.from)}`]),
    ...(input.until === undefined ? [] : [`booked_at < ${put(input.until)}`]),
  ];
  if (below !== undefined) {
    const [rail, line] = nameOf(below).map((part) => put(part));
    const last = `(select booked_at from bank_lines where rail = ${rail} and external_id = ${line})`;
    span.push(`(booked_at, rail, external_id) < (${last}, ${rail}::text, ${line}::text)`);
  }
  const equal = (name: 'rail' | 'direction' | 'meaning' | 'asset') =>
    input[name] === undefined ? [] : [`${name} = ${put(input[name])}`];
  const fits = [
    'true',
    ...(['rail', 'direction', 'meaning', 'asset'] as const).flatMap(equal),
    ...(input.minUnits === undefined ? [] : [`units >= ${put(input.minUnits)}`]),
    ...(input.maxUnits === undefined ? [] : [`units <= ${put(input.maxUnits)}`]),
  ];
  const rows = await tx.rows<BankLine & { fits: boolean }>(
    `select ${COLUMNS}, (${fits.join(' and ')}) as fits
       from (select * from bank_lines where ${span.join(' and ')}
              order by booked_at desc, rail desc, external_id desc limit ${count}) as l
      order by l.booked_at desc, l.rail desc, l.external_id desc`,
    values,
  );
  return rows.map(({ fits: isIn, ...row }) => ({ row, fits: isIn }));
}

/** Maximum results of a search. */
const MOST_FOUND = 50;

/**
 * Lines with one of these texts as their id (with or without the rail), key, reference or remittance text; newest first, at
 * most fifty. Each is looked up by itself, and as a range of one that an index returns in order: PostgreSQL else reads the lines
 * by time, because it expects that a reference has many (payouts.store.ts).
 */
export function bankLinesLike(
  tx: Tx,
  vault: Vault,
  { texts, rails }: { texts: readonly string[]; rails: readonly string[] },
): Promise<BankLine[]> {
  const newest = (column: string, values: string) => `
    select l.* from unnest(${values}) as a (given) cross join lateral (
      select * from bank_lines where ${column} between a.given and a.given and ${column} <> ''
       order by ${column} desc, booked_at desc limit ${MOST_FOUND}) l`;
  return tx.rows<BankLine>(
    `select ${COLUMNS} from (
       select * from bank_lines where rail = any($1::text[]) and external_id = any($2::text[])
       union select l.* from unnest($3::text[], $4::text[]) as n (rail, line)
               join bank_lines l on l.rail = n.rail and l.external_id = n.line
       union (select * from bank_lines where rail = any($1::text[]) and key = any($2::text[]) limit ${MOST_FOUND})
       union ${newest('reference', '$2::text[]')}
       union ${newest('text_index', '$5::bytea[]')}) as l
      order by l.booked_at desc, l.rail desc, l.external_id desc limit ${MOST_FOUND}`,
    [rails, texts, ...transposed(texts.map(nameOf)), texts.flatMap((text) => textIndexes(vault, text))],
  );
}

const transposed = (names: readonly (readonly [string, string])[]): [string[], string[]] => [
  names.map(([rail]) => rail),
  names.map(([, line]) => line),
];
