/**
 * Reads a statement in CSV. There is no common format among banks, so the columns are settings; their content is parsed strictly.
 *
 * A truncated file is detected where possible: a last row without a line end is rejected, unless the settings say that this bank
 * omits it. With a balance column, rows must lead from balance to balance, forwards or backwards: a missing, duplicate, altered
 * or misplaced row rejects the file. Without one, a file that was cut between two rows is a shorter statement, and the rest is
 * taken in when it arrives.
 */
import { isDay } from '../../base/clock.ts';
import { parseUnits } from '../../base/money.ts';
import { readRows } from './csv.ts';
import { type Chunks, decodeWhole, refuseFile } from './decode.ts';
import { LONGEST_TEXT, MOST_LINES, meant, type ReadLine, type ReadStatement } from './read.ts';
import { type CsvForm, type ManualAccount, plainAccount } from './settings.ts';

/** Banks put their address and a summary before the header row. */
const HEADER_WITHIN = 40;

interface Row {
  line: ReadLine;
  signed: bigint;
  balance: bigint | null;
}

/**
 * @param decimals of the account's asset
 * @throws Refusal 'file_refused' with a sentence that has the line and the rule
 */
export async function readCsvStatement(
  chunks: Chunks,
  account: ManualAccount,
  decimals: number,
): Promise<ReadStatement[]> {
  const form = account.csv;
  if (form === undefined) throw refuseFile('This account has no settings for statements in CSV.');
  const { rows, lines: numbers, ended } = readRows(await decodeWhole(chunks, form.encoding), form.delimiter);
  const { at, columns } = findHeader(rows, form);
  if (!ended && form.lastRowEnds) throw refuseFile('The last row has no line end: the file may be incomplete.');
  const read: Row[] = [];
  for (let i = at + 1; i < rows.length; i += 1) {
    const row = readRow(rows[i] ?? [], {
      form,
      account,
      columns,
      decimals,
      width: rows[at]?.length ?? 0,
      number: numbers[i] ?? 0,
    });
    if (row !== undefined) read.push(row);
    if (read.length > MOST_LINES) throw refuseFile(`The file has more than ${MOST_LINES} lines.`);
  }
  const days = read.map(({ line }) => line.bookedOn).toSorted();
  const [from, to] = [days[0], days.at(-1)];
  if (from === undefined || to === undefined) return [];
  const lines = read.map(({ line }) => line).filter(({ units }) => units > 0n);
  return [{ id: '', sequence: null, from, to, ...balancesOf(read), lines }];
}

type Columns = Partial<Record<Exclude<keyof CsvForm['columns'], 'text'>, number>> & { text: number[] };

function findHeader(rows: readonly string[][], form: CsvForm): { at: number; columns: Columns } {
  const { text, ...single } = form.columns;
  const wanted = [...Object.values(single), ...text];
  let nearest: string[] = wanted;
  for (let at = 0; at < Math.min(rows.length, HEADER_WITHIN); at += 1) {
    const names = (rows[at] ?? []).map((name) => name.trim());
    const missing = wanted.filter((name) => !names.includes(name));
    if (missing.length === 0) {
      if (wanted.some((name) => names.indexOf(name) !== names.lastIndexOf(name)))
        throw refuseFile('The header names a column twice.');
      const columns = Object.fromEntries(Object.entries(single).map(([ours, theirs]) => [ours, names.indexOf(theirs)]));
      return { at, columns: { ...columns, text: text.map((name) => names.indexOf(name)) } };
    }
    if (missing.length < nearest.length) nearest = missing;
  }
  throw refuseFile(
    `The file has no header with the column ${nearest[0]}: the file is of another bank, or the bank has changed its format.`,
  );
}

function readRow(
  row: readonly string[],
  given: { form: CsvForm; account: ManualAccount; columns: Columns; decimals: number; width: number; number: number },
): Row | undefined {
  const { form, account, columns, decimals, width, number } = given;
  const bad = (why: string) => refuseFile(`Line ${number} ${why}.`);
  if (row.length !== width) throw bad(`has ${row.length} fields, and the header has ${width}`);
  const field = (at: number | undefined): string => (at === undefined ? '' : (row[at] ?? '')).trim();
  const units = (text: string, what: string): bigint => {
    const read = readAmount(text, form, decimals);
    if (read === undefined) throw bad(`has no readable ${what}`);
    return read;
  };

  if (columns.ownAccount !== undefined && !isOurs(field(columns.ownAccount), account))
    throw bad('belongs to another account');
  if (columns.currency !== undefined && field(columns.currency).toUpperCase() !== account.currency)
    throw bad(`is not in ${account.currency}`);
  const bookedOn = readDay(field(columns.bookedOn), form.date);
  if (bookedOn === undefined) throw bad(`has no date of the form ${form.date}`);

  const signed = columns.amount === undefined ? ofTwo() : units(field(columns.amount), 'amount');
  function ofTwo(): bigint {
    const [credit, debit] = [field(columns.credit), field(columns.debit)];
    const [into, out] = [credit === '' ? 0n : units(credit, 'credit'), debit === '' ? 0n : units(debit, 'debit')];
    if ((credit === '' && debit === '') || into < 0n || (into !== 0n && out !== 0n))
      throw bad('must have either a credit or a debit');
    // Some banks write debits with a sign in their own column.
    return into - (out < 0n ? -out : out);
  }

  const text = columns.text
    .map(field)
    .filter((part) => part !== '')
    .join(' ')
    .slice(0, LONGEST_TEXT);
  const kind = field(columns.kind).toLowerCase();
  const line: ReadLine = {
    bookedOn,
    direction: signed < 0n ? 'debit' : 'credit',
    units: signed < 0n ? -signed : signed,
    chargeUnits: 0n,
    bankRef: meant(field(columns.reference)),
    endToEnd: '',
    paymentId: '',
    batch: '',
    text,
    name: field(columns.name).slice(0, LONGEST_TEXT),
    account: field(columns.account).slice(0, LONGEST_TEXT),
    reversal: false,
    ...(kind !== '' && form.returnKinds.some((one) => one.toLowerCase() === kind)
      ? { returned: /\b(A[CGM]\d\d|B[EO]\d\d|M[DS]\d\d|R[CR]\d\d)\b/.exec(text)?.[1] ?? '' }
      : {}),
  };
  return { line, signed, balance: columns.balance === undefined ? null : units(field(columns.balance), 'balance') };
}

const isOurs = (text: string, account: ManualAccount): boolean =>
  text !== '' && [account.iban, account.accountNumber].filter(Boolean).map(plainAccount).includes(plainAccount(text));

/**
 * Opening and closing balance from the balance column, which must lead from row to row. Rows that cancel each other out may lead in
 * either order: then their days decide, and if they are all of one day, the books (import.ts).
 */
function balancesOf(rows: readonly Row[]): Pick<ReadStatement, 'opening' | 'closing' | 'reversed'> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined || first.balance === null || last.balance === null)
    return { opening: null, closing: null };
  const leads = (order: readonly Row[]): boolean =>
    order.every((row, i) => i === 0 || row.balance === (order[i - 1]?.balance ?? 0n) + row.signed);
  const down = { opening: first.balance - first.signed, closing: last.balance };
  const up = { opening: last.balance - last.signed, closing: first.balance };
  const [leadsDown, leadsUp] = [leads(rows), leads(rows.toReversed())];
  if (!leadsDown && !leadsUp)
    throw refuseFile('The balances of the rows do not add up: rows are missing, altered, or in another order.');
  if (!leadsDown || !leadsUp || down.opening === up.opening) return leadsDown ? down : up;
  const [from, to] = [first.line.bookedOn, last.line.bookedOn];
  return from === to ? { ...down, reversed: up } : from < to ? down : up;
}

/** Signed smallest units; undefined if the text is no amount in this format. */
export function readAmount(
  text: string,
  form: Pick<CsvForm, 'decimal' | 'thousands'>,
  decimals: number,
): bigint | undefined {
  const parts = /^([+\-−]?)\s?([\d.,' \u00a0\u202f]{1,40}?)\s?([+-]?)$/.exec(text);
  const [sign = '', digits = '', after = ''] = parts?.slice(1) ?? [];
  if (parts === null || (sign !== '' && after !== '')) return undefined;
  const [whole = '', fraction = '', ...more] = digits.split(form.decimal);
  if (more.length > 0 || !/^\d*$/.test(fraction) || (digits.includes(form.decimal) && fraction === ''))
    return undefined;
  const groups = form.thousands === '' ? [whole] : whole.replaceAll(/[\u00a0\u202f]/g, ' ').split(form.thousands);
  const grouped =
    groups.length === 1 || (/^\d{1,3}$/.test(groups[0] ?? '') && groups.slice(1).every((g) => /^\d{3}$/.test(g)));
  if (!grouped || !groups.every((group) => /^\d+$/.test(group))) return undefined;
  try {
    const units = parseUnits(`${groups.join('')}.${fraction}`, decimals);
    return sign === '-' || sign === '−' || after === '-' ? -units : units;
  } catch {
    return undefined;
  }
}

/** @param form such as `DD.MM.YYYY` @returns `YYYY-MM-DD`, or undefined */
function readDay(text: string, form: string): string | undefined {
  const escaped = form.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = escaped
    .replace('YYYY', '(?<year>\\d{4})')
    .replace('MM', '(?<month>\\d{2})')
    .replace('DD', '(?<day>\\d{2})');
  const parts = new RegExp(`^${pattern}$`).exec(text)?.groups;
  if (parts === undefined) return undefined;
  const day = `${parts.year}-${parts.month}-${parts.day}`;
  return isDay(day) ? day : undefined;
}
