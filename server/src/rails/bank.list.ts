/** Lines of bank statements for operators' lists: how they were booked, without their texts and without the other party. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { parameters } from '../base/scan.ts';

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
    `select rail || ':' || external_id as id, rail, external_id as line, direction, asset, units, charge_units, meaning, key,
            booked_at, read_at, foreign_at, (${fits.join(' and ')}) as fits
       from (select * from bank_lines where ${span.join(' and ')}
              order by booked_at desc, rail desc, external_id desc limit ${count}) as l
      order by l.booked_at desc, l.rail desc, l.external_id desc`,
    values,
  );
  return rows.map(({ fits: isIn, ...row }) => ({ row, fits: isIn }));
}
