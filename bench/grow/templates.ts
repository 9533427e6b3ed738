/** Templates: the captured lives, ready to be copied, and the changes that each makes to balances that all copies share. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Vault } from '../../server/src/base/crypto.ts';
import { digestOf } from '../../server/src/ledger/digest.ts';
import { type Captured, captureCustomer, captureOrder, LEFT_OUT, withParts } from './capture.ts';
import { type Compile, compileRow, compileText, joined, msOf, noncesOf, type Piece, type Template } from './compile.ts';
import type { Kind, Lived } from './lives.ts';
import { type Row, rowsOf, type Schema } from './schema.ts';

export interface Entry {
  id: Piece[];
  kind: string;
  atMs: number;
  /** The pieces that are hashed as the entry's content. */
  digested: Piece[];
}

/** Units by account, for accounts that all copies share. */
export type Shared = Map<string, { debits: bigint; credits: bigint; debitsHeld: bigint; creditsHeld: bigint }>;

export interface Compiled {
  /** For each table: the text of all its rows, and their number. */
  tables: readonly { table: string; pieces: Piece[]; rows: number }[];
  counts: ReadonlyMap<string, number>;
  names: readonly string[];
  entries: readonly Entry[];
  shared: Shared;
  nonces: number;
  times: readonly number[];
  createdMs: number;
  kind?: Kind;
}

export interface OfPartner {
  partnerId: bigint;
  customer: Compiled;
  orders: readonly Compiled[];
  held: Compiled;
  lived: Lived;
}

const KNOWN_BYTES = [
  'entries.content',
  'chain_sends.data',
  'chain_sends.raw',
  'customers.phone',
  'customers.phone_index',
  'fiat_accounts.details',
  'bank_lines.details',
];

/**
 * Blind indexes of numbers that all copies share, with the column that makes the index of each copy different. With equal indexes,
 * one lookup would find all copies. The numbers themselves cannot be looked up in a grown database.
 */
const DISTINCT_BY: Readonly<Record<string, string>> = {
  'fiat_accounts.details_index': 'customer_id',
  'fiat_accounts.number_index': 'customer_id',
  'bank_lines.payer_index': 'external_id',
  'bank_lines.text_index': 'external_id',
};

/** Tables without rows of orders, some of them large. */
const CATALOGUE = ['markets', 'fee_schedules', 'market_changes', 'price_levels', 'prices', 'confirmation_policies'];

export async function templatesOf(
  client: pg.Client,
  schema: Schema,
  vault: Vault,
  lived: readonly Lived[],
): Promise<{ partners: OfPartner[]; known: Row[] }> {
  const tables = [...schema.columns.keys()].filter((table) => !CATALOGUE.includes(table) && !(table in LEFT_OUT));
  const all = await rowsOf(client, schema, tables);
  const partners = lived.map((one): OfPartner => {
    const orders = one.orders.map(({ id }) => withParts(all, captureOrder(all, id)));
    const taken = new Set<Row>();
    for (const row of orders.flatMap(({ rows }) => rows)) {
      if (taken.has(row)) throw new Error(`${row.place} belongs to two orders`);
      taken.add(row);
    }
    const customer = captureCustomer(all, one, taken);
    const base = { schema, vault, all };
    const compiled = orders.map((captured, at) => ({
      ...compile(base, named(captured, one)),
      kind: one.orders[at]?.kind as Kind,
    }));
    const owner = customer.rows.find(({ table }) => table === 'customers')?.values;
    const clientId = owner?.get('client_customer_id') ?? '';
    return {
      partnerId: BigInt(owner?.get('partner_id') ?? 0),
      customer: compile(base, { ...customer, names: [clientId, one.phone, ...customer.names] }),
      orders: compiled.slice(0, -1),
      held: compiled.at(-1) as Compiled,
      lived: one,
    };
  });
  return { partners, known: all };
}

/** Adds the names of customer and partner reference, because an order's rows contain these too. */
function named(captured: Captured, { customerId, accountId }: Lived): Captured {
  const own = captured.rows.find(({ table }) => table === 'orders')?.values.get('merchant_reference') ?? '';
  const names = [own, ...captured.names, customerId, accountId].filter((name) => name !== '');
  return { ...captured, names: names.sort((a, b) => b.length - a.length) };
}

interface Base {
  schema: Schema;
  vault: Vault;
  all: readonly Row[];
}

function compile({ schema, vault, all }: Base, captured: Captured): Compiled {
  const rows = inOrder(captured.rows);
  requireKnown(schema, rows);
  const template: Template = { schema, vault, ...captured, rows, replaced: exactGas(rows), times: [] };
  const codes = new Map(
    all.filter(({ table }) => table === 'accounts').map(({ values }) => [values.get('id'), values.get('code') ?? '']),
  );
  const entries = rows.filter(({ table }) => table === 'entries');
  const tables = [...new Set(rows.map(({ table }) => table))].map((table) => {
    const own = rows.filter((row) => row.table === table);
    return { table, rows: own.length, pieces: joined(own.flatMap((row) => compileRow(template, row, special))) };
  });
  const order = rows.find(({ table }) => table === 'orders' || table === 'customers')?.values;
  return {
    tables,
    counts: new Map(tables.map((one) => [one.table, one.rows])),
    names: captured.names,
    entries: entries.map((row) => entryOf(template, row, codes)),
    shared: sharedBy(template, rows),
    nonces: noncesOf(rows).length,
    times: template.times,
    createdMs: msOf(order?.get('created_at') ?? ''),
  };
}

/** Sorts entries by their seals, and rows of one table in the order in which they were written. */
function inOrder(rows: readonly Row[]): Row[] {
  const key = ({ table, values }: Row) => Number(values.get(table === 'entries' ? 'seq' : 'id') ?? 0);
  return [...rows].sort((a, b) => (a.table < b.table ? -1 : a.table > b.table ? 1 : key(a) - key(b)));
}

function requireKnown(schema: Schema, rows: readonly Row[]): void {
  for (const { table, values } of rows)
    for (const [column, value] of values) {
      const name = `${table}.${column}`;
      if (value !== null && schema.types.get(name) === 'bytea' && !KNOWN_BYTES.includes(name) && !(name in DISTINCT_BY))
        throw new Error(`${name}: how its bytes are made for a copy is not known`);
    }
}

/** Values that only the generator can compute: hashes over the copies, and blind indexes by which a customer is found. */
const special: Compile = (template, row, column, value) => {
  const { vault, names, rows } = template;
  const name = `${row.table}.${column}`;
  if (name === 'entries.content') {
    const n = rows.filter(({ table }) => table === 'entries').indexOf(row);
    return [(copy) => `\\\\x${copy.contents[n]}`];
  }
  const phone = names.findIndex((one) => one.startsWith('+'));
  if (name === 'customers.phone_index') {
    const purpose = `customers.phone:${row.values.get('partner_id')}`;
    return [
      (copy) => `\\\\x${vault.index((copy.names[phone] as string).replace(/[^0-9]/g, ''), purpose).toString('hex')}`,
    ];
  }
  const distinctBy = DISTINCT_BY[name];
  // A line without an account has an empty index.
  if (distinctBy !== undefined && value !== '\\x') {
    const place = compileText(template, `${value} ${row.values.get(distinctBy)}`);
    return [
      (copy) =>
        `\\\\x${createHash('sha256')
          .update(place.map((one) => (typeof one === 'string' ? one : one(copy))).join(''))
          .digest('hex')}`,
    ];
  }
  return undefined;
};

/**
 * Corrects gas: a sweep leaves a little of the native asset at its address, which the sandbox's node cannot show at an address
 * of a copy. So a copy's sweep costs all the gas that was sent ahead.
 */
function exactGas(rows: readonly Row[]): Map<string, string> {
  const replaced = new Map<string, string>();
  const transfers = rows.filter(({ table }) => table === 'own_transfers');
  for (const sweep of transfers.filter(({ values }) => values.get('kind') === 'sweep')) {
    const gas = transfers.find(({ values }) => values.get('sweep') === sweep.values.get('key'));
    const [cost, sent] = [sweep.values.get('cost_units') ?? '', gas?.values.get('units') ?? ''];
    if (cost === '' || sent === '') throw new Error('a sweep without gas');
    replaced
      .set(cost, sent)
      .set(`-${cost}`, `-${sent}`)
      .set(String(BigInt(sent) - BigInt(cost)), '0');
  }
  return replaced;
}

function entryOf(template: Template, { values }: Row, codes: ReadonlyMap<string | null | undefined, string>): Entry {
  const id = values.get('id') ?? '';
  const orderId = values.get('order_id');
  const linesBy = (units: (text: string) => string) =>
    template.rows
      .filter((row) => row.table === 'transfers' && row.values.get('entry') === id)
      .sort((a, b) => Number(a.values.get('line')) - Number(b.values.get('line')))
      .map((row) => ({
        step: row.values.get('step') as 'post' | 'hold' | 'settle' | 'void',
        hold: row.values.get('hold') ?? '',
        debit: codes.get(row.values.get('debit')) ?? '',
        credit: codes.get(row.values.get('credit')) ?? '',
        units: units(row.values.get('units') ?? ''),
      }));
  const kind = values.get('kind') ?? '';
  const before = digestOf(
    kind,
    orderId == null ? null : BigInt(orderId),
    linesBy((text) => text),
  ).toString('hex');
  if (`\\x${before}` !== values.get('content')) throw new Error(`entry ${id} was posted with other lines`);
  // The same format as digestOf; the ledger's own check verifies every copy.
  const parts = linesBy((text) => template.replaced.get(text) ?? text).map(({ step, hold, debit, credit, units }) =>
    step === 'post' || step === 'hold' ? [step, hold, debit, credit, units] : [step, hold],
  );
  return {
    id: joined(compileText(template, id)),
    kind,
    atMs: msOf(values.get('at') ?? ''),
    digested: joined(compileText(template, JSON.stringify([kind, orderId ?? '', parts]))),
  };
}

function sharedBy({ replaced }: Template, rows: readonly Row[]): Shared {
  const own = new Set(rows.filter(({ table }) => table === 'accounts').map(({ values }) => values.get('id')));
  const shared: Shared = new Map();
  for (const { values } of rows.filter(({ table }) => table === 'transfers')) {
    const text = values.get('units') ?? '';
    const units = BigInt(replaced.get(text) ?? text);
    const step = values.get('step');
    for (const side of ['debit', 'credit'] as const) {
      const id = values.get(side) ?? '';
      if (own.has(id)) continue;
      const sums = shared.get(id) ?? { debits: 0n, credits: 0n, debitsHeld: 0n, creditsHeld: 0n };
      shared.set(id, sums);
      if (step === 'post' || step === 'settle') sums[`${side}s`] += units;
      if (step !== 'post') sums[`${side}sHeld`] += step === 'hold' ? units : -units;
    }
  }
  return shared;
}
