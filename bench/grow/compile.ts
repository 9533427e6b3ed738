/**
 * Compiling: a captured row becomes pieces of text, some fixed, some made for each copy. Pure.
 *
 * Three things differ between copies: names (an order's number, an address, a hash), numbers that tables count (identity
 * columns, positions, nonces, blocks), and times, all shifted by the same span. Encrypted values are decrypted, compiled like
 * any other text, and encrypted again for the row of the copy.
 */
import type { Vault } from '../../server/src/base/crypto.ts';
import { escaped, NULL } from './copy.ts';
import type { Row, Schema } from './schema.ts';

/** The values that differ in one copy of an order or customer. */
export interface Copy {
  /** Milliseconds by which every time is shifted. */
  shiftMs: number;
  /** One for each name of the template, in its order. */
  names: readonly string[];
  /** First number of each table's rows. */
  firsts: ReadonlyMap<string, number>;
  /** Index of its deposit address. */
  index: number;
  /** Nonces of the paying wallet, counted downwards. */
  nonce: number;
  blockShift: number;
  /** Event positions in its partner's feed. */
  position: number;
  customerSeq: number;
  listSeq: number;
  contents: readonly string[];
  /** One for each time of the template, in its order. */
  times: readonly string[];
}

export type Piece = string | ((copy: Copy) => string);

export const textOf = (pieces: readonly Piece[], copy: Copy): string => {
  let text = '';
  for (const piece of pieces) text += typeof piece === 'string' ? piece : piece(copy);
  return text;
};

export interface Template {
  schema: Schema;
  vault: Vault;
  rows: readonly Row[];
  names: readonly string[];
  deposits: readonly string[];
  /** Values that are replaced as a whole, such as a cost. */
  replaced: ReadonlyMap<string, string>;
  /** Every time in its rows, collected while they are compiled. */
  times: number[];
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/;
/** Most times occur in several rows, so a copy makes each once. */
function at(times: number[], ms: number): Piece {
  const n = times.includes(ms) ? times.indexOf(ms) : times.push(ms) - 1;
  return (copy) => copy.times[n] as string;
}

const days = new Map<number, string>();
const two = (n: number): string => (n < 10 ? `0${n}` : String(n));

/** Same result as `toISOString`, which takes ten times as long. */
export function isoOf(ms: number): string {
  const day = Math.floor(ms / 86_400_000);
  let date = days.get(day);
  if (date === undefined) {
    date = new Date(day * 86_400_000).toISOString().slice(0, 11);
    days.set(day, date);
  }
  const rest = ms - day * 86_400_000;
  const seconds = Math.floor(rest / 1_000);
  const thousandths = String(rest % 1_000).padStart(3, '0');
  return `${date}${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${thousandths}Z`;
}

/** Parses PostgreSQL's text of a time, in UTC. */
export const msOf = (text: string): number => {
  const ms = Date.parse(text.replace(' ', 'T').replace('+00', 'Z'));
  if (Number.isNaN(ms)) throw new Error(`${text} is no time`);
  return ms;
};

/** Compiles free text: the names and times in it. */
export function compileText(template: Pick<Template, 'names' | 'deposits' | 'times'>, text: string): Piece[] {
  const { names, deposits, times } = template;
  const bare = names.map((name) => (/^0x[0-9a-f]{40}$/.test(name) ? name.slice(2) : undefined));
  const quoted = (one: string) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const patterns = [
    ISO.source,
    ...deposits.flatMap((id) => [`\\bdep_${id}:`, `"deposit": "${id}"`, `\\bdeposit:${id}\\b`]),
    ...names.map(quoted),
    ...bare.flatMap((one) => (one === undefined ? [] : [one])),
  ];
  const pattern = new RegExp(`(${patterns.join('|')})`);
  return text.split(pattern).flatMap((part, n): Piece[] => {
    if (n % 2 === 0) return part === '' ? [] : [part];
    const [name, address] = [names.indexOf(part), bare.indexOf(part)];
    if (name !== -1) return [(copy) => copy.names[name] as string];
    if (address !== -1) return [(copy) => (copy.names[address] as string).slice(2)];
    if (ISO.test(part)) return [at(times, Date.parse(part))];
    const deposit = deposits.findIndex((id) => part.replace(/[^0-9]/g, '') === id);
    const [before, after] = part.split(deposits[deposit] ?? '') as [string, string];
    return [before, (copy) => String((copy.firsts.get('deposits') ?? 0) + deposit), after];
  });
}

/** Encrypted columns: the encryption context of the row, and whether equal texts must be equal. */
const ENCRYPTED: Readonly<Record<string, (values: Row['values']) => string>> = {
  'customers.phone': (row) => `customers.phone:${row.get('id')}`,
  'fiat_accounts.details': (row) => `fiat_accounts.details:${row.get('id')}`,
  'bank_lines.details': (row) => `bank_lines.details:${row.get('rail')}:${row.get('external_id')}`,
};

/** Compiles one value of a row. */
export type Compile = (template: Template, row: Row, column: string, value: string) => Piece[] | undefined;

/** Number of earlier rows of the row's table in its template. */
const ordinal = ({ rows }: Template, row: Row): number => rows.filter(({ table }) => table === row.table).indexOf(row);

const number =
  (table: string, n: number): Piece =>
  (copy) =>
    String((copy.firsts.get(table) as number) + n);

/** The row of another table that a number refers to; undefined for a row that all copies share. */
function refers(template: Template, table: string, value: string): Piece[] | undefined {
  const n = template.rows.filter((row) => row.table === table).findIndex(({ values }) => values.get('id') === value);
  return n === -1 ? undefined : [number(table, n)];
}

const REFERENCES: Readonly<Record<string, string>> = {
  'transfers.debit': 'accounts',
  'transfers.credit': 'accounts',
  'holds.debit': 'accounts',
  'holds.credit': 'accounts',
  'refunds.deposit_id': 'deposits',
  'payouts.deposit_id': 'deposits',
  'event_feed.event_id': 'events',
};

const COUNTED: Readonly<Record<string, (copy: Copy) => number>> = {
  'orders.customer_seq': (copy) => copy.customerSeq,
  'orders.partner_seq': (copy) => copy.listSeq,
  'orders.fiat_seq': (copy) => copy.listSeq,
  'orders.deposit_index': (copy) => copy.index,
  'own_transfers.index': (copy) => copy.index,
  'deposit_addresses.index': (copy) => copy.index,
};

const isNumbered = (schema: Schema, table: string, column: string): boolean =>
  schema.identities.some((one) => one.table === table && one.column === column);

/** The nonces of the paying wallet that one copy uses, in the order of its sends. */
export const noncesOf = (rows: readonly Row[]): string[] =>
  rows
    .filter(({ table, values }) => table === 'chain_sends' && values.get('wallet')?.startsWith('deposit:') === false)
    .map(({ values }) => values.get('nonce') ?? '');

function compileNumber(template: Template, row: Row, column: string, value: string): Piece[] | undefined {
  const name = `${row.table}.${column}`;
  const counted = COUNTED[name];
  if (counted !== undefined) return [(copy) => String(counted(copy))];
  const table = REFERENCES[name];
  if (table !== undefined) return refers(template, table, value);
  if (name === 'event_feed.position') {
    const n = ordinal(template, row);
    return [(copy) => String(copy.position + n)];
  }
  if (column === 'block') return [(copy) => String(Number(value) + copy.blockShift)];
  if (name === 'chain_sends.nonce' || name === 'chain_slots.slot') {
    const n = noncesOf(template.rows).indexOf(value);
    return row.values.get('wallet')?.startsWith('deposit:') || n === -1
      ? undefined
      : [(copy) => String(copy.nonce - n)];
  }
  if (column === 'wallet' && /^deposit:\d+$/.test(value)) return ['deposit:', (copy) => String(copy.index)];
  return isNumbered(template.schema, row.table, column) ? [number(row.table, ordinal(template, row))] : undefined;
}

/** @param own compiles values that only the caller knows; asked first */
export function compileRow(template: Template, row: Row, own: Compile): Piece[] {
  const { schema, vault, replaced } = template;
  const values = [...row.values].map(([column, value]): Piece[] => {
    if (value === null) return [NULL];
    const name = `${row.table}.${column}`;
    const special = own(template, row, column, value) ?? compileNumber(template, row, column, value);
    if (special !== undefined) return special;
    if (schema.types.get(name) === 'timestamp with time zone')
      return value.includes('infinity') ? [value] : [at(template.times, msOf(value))];
    const context = ENCRYPTED[name];
    if (context !== undefined) {
      const text = compileText(template, vault.decrypt(Buffer.from(value.slice(2), 'hex'), context(row.values)));
      const place = compileText(template, context(row.values));
      return [(copy) => `\\\\x${vault.encrypt(textOf(text, copy), textOf(place, copy)).toString('hex')}`];
    }
    return compileText(template, escaped(replaced.get(value) ?? value));
  });
  return values.flatMap((pieces, n) => [...pieces, n === values.length - 1 ? '\n' : '\t']);
}

/** Joins adjacent fixed pieces. */
export function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') all[all.length - 1] = last + piece;
    else all.push(piece);
  }
  return all;
}
