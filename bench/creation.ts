/**
 * The rows of created orders, for the limit that writes the same rows (limit.rows.ts): a database with our tables, a copy of
 * our rows, and the rows of each order that ours creates.
 *
 * The rows of one order are found by the transaction that wrote them.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { openVault } from '../server/src/base/crypto.ts';
import { migrateFor } from '../server/src/base/migrate.ts';
import { type Cluster, newDatabase, withClient } from './cluster.ts';
import { rowsOf, type Schema, schemaOf } from './grow/schema.ts';
import type { Ours } from './ours.ts';
import type { Side } from './side.ts';

/**
 * Tables into which the creation of an order inserts. It also updates the quote and the customer's count; triggers add the
 * event's row in the feed, and count the partner's lists.
 */
const INSERTED = [
  'orders',
  'order_history',
  'deposit_addresses',
  'jobs',
  'partner_activity',
  'events',
  'idempotency_records',
] as const;
const QUOTED = 'quotes';
/** Columns of the order's row that the updates need. */
const OTHERS = ['id', 'quote_id', 'partner_id', 'customer_id', 'direction'] as const;

type Values = (string | null)[];

export interface RowsLimit extends Side {
  /** Gives the limit the rows of the orders that ours has created since the last call. */
  feed(): Promise<void>;
}

export async function startRowsLimit(
  ours: Ours,
  adminUrl: string,
  cluster: Cluster,
  ending: (() => Promise<void>)[],
): Promise<RowsLimit> {
  const copyUrl = await newDatabase(cluster, 'created');
  await migrateFor(copyUrl, openVault(createHash('sha256').update('bench').digest()));
  const schema = await withClient(adminUrl, (client) => schemaOf(client), 'cloverleaf');
  await copyAll(adminUrl, copyUrl, schema);
  await withClient(copyUrl, (client) =>
    client.query(`create role limit_rows login noinherit nobypassrls password 'limit' in role cloverleaf_partner;
      grant select, insert, update on all tables in schema cloverleaf to cloverleaf_partner;
      -- A job's policy reads its order, which one statement does not see yet.
      alter policy own_rows on cloverleaf.jobs using (true)`),
  );
  const url = Object.assign(new URL(copyUrl), { username: 'limit_rows', password: 'limit' }).href;
  const child = fork(fileURLToPath(new URL('limit.rows.ts', import.meta.url)), {
    env: { PATH: process.env.PATH, LIMIT: JSON.stringify({ url, secret: ours.apiSecret }) },
  });
  ending.push(async () => void child.kill('SIGKILL'));
  const port = await told<number>(child);
  let last = '0';
  const newest = `select coalesce(max(id), 0)::text as id from orders`;
  const feed = async (): Promise<void> => {
    const { statement, rows, quotes, upTo } = await withClient(
      adminUrl,
      (client) => createdSince(client, schema, last),
      'cloverleaf',
    );
    last = upTo;
    await withClient(copyUrl, (client) => insertAll(client, QUOTED, schema, quotes), 'cloverleaf');
    const fed = told(child);
    child.send({ statement, rows });
    await fed;
  };
  last = await withClient(adminUrl, async (client) => (await client.query(newest)).rows[0].id, 'cloverleaf');
  return { baseUrl: `http://127.0.0.1:${port}`, pids: [child.pid ?? 0, cluster.pid], feed };
}

const told = <T>(child: ChildProcess): Promise<T> =>
  new Promise((ready, fail) => {
    child.once('message', (message) => ready(message as T));
    child.once('exit', () => fail(new Error('the limit has ended')));
  });

/** Copies every row of ours, so that the references of new rows exist. */
async function copyAll(fromUrl: string, toUrl: string, schema: Schema): Promise<void> {
  const tables = [...schema.columns.keys()];
  const all = await withClient(fromUrl, (client) => rowsOf(client, schema, tables), 'cloverleaf');
  const insert = async (client: pg.Client) => {
    for (const table of tables) await client.query(`alter table ${table} disable trigger all`);
    for (const [table, rows] of Map.groupBy(all, (row) => row.table)) {
      await client.query(`delete from ${table}`);
      await insertAll(
        client,
        table,
        schema,
        rows.map(({ values }) => [...values.values()]),
      );
    }
    for (const table of tables) await client.query(`alter table ${table} enable trigger all`);
    await client.query('analyze');
  };
  await withClient(toUrl, insert, 'cloverleaf');
}

async function insertAll(client: pg.Client, table: string, schema: Schema, rows: readonly Values[]): Promise<void> {
  const { text } = insertOf(table, schema, 0);
  await client.query('begin');
  for (const values of rows) await client.query({ name: table, text, values });
  await client.query('commit');
}

const columnsOf = (schema: Schema, table: string): readonly string[] => schema.columns.get(table) ?? [];

/** @param from number of parameters before these */
function insertOf(table: string, schema: Schema, from: number): { text: string; next: number } {
  const columns = columnsOf(schema, table);
  const values = columns.map((_, at) => `$${from + at + 1}`).join(', ');
  const text = `insert into ${table} (${columns.join(', ')}) overriding system value values (${values})`;
  return { text, next: from + columns.length };
}

async function createdSince(client: pg.Client, schema: Schema, after: string) {
  const made = await client.query<{ tx: string; others: string[] }>(
    `select xmin::text as tx, array[${OTHERS.map((one) => `${one}::text`).join(', ')}] as others from orders where id > $1 order by id`,
    [after],
  );
  const found = new Map<string, Map<string, Values>>();
  for (const table of INSERTED)
    found.set(
      table,
      await rowsByTx(
        client,
        schema,
        table,
        made.rows.map(({ tx }) => tx),
      ),
    );
  const columns = columnsOf(schema, QUOTED).map((one) => (one === 'order_id' ? 'null' : `${one}::text`));
  const quotes = await client.query<{ row: Values }>(
    `select array[${columns.join(', ')}] as row from quotes where id = any($1)`,
    [made.rows.map(({ others }) => others[OTHERS.indexOf('quote_id')])],
  );
  const rows = made.rows.map(({ tx, others }) => ({
    partner: others[OTHERS.indexOf('partner_id')],
    values: [...INSERTED.flatMap((table) => found.get(table)?.get(tx) ?? missing(table)), ...others],
  }));
  const upTo = made.rows.at(-1)?.others[0] ?? after;
  return { statement: statementOf(schema), rows, quotes: quotes.rows.map(({ row }) => row), upTo };
}

/** Rows of a table by the transaction that wrote them. */
async function rowsByTx(client: pg.Client, schema: Schema, table: string, txs: readonly string[]) {
  const columns = columnsOf(schema, table).map((one) => `${one}::text`);
  const { rows } = await client.query<{ tx: string; row: Values }>(
    `select xmin::text as tx, array[${columns.join(', ')}] as row from ${table} where xmin::text = any($1)`,
    [txs],
  );
  return new Map(rows.map(({ tx, row }) => [tx, row]));
}

const missing = (table: string): never => {
  throw new Error(`a created order has no row in ${table}`);
};

/** The whole statement: the inserts, the quote's update, and the customer's count. */
function statementOf(schema: Schema): string {
  let from = 0;
  const parts = INSERTED.map((table) => {
    const { text, next } = insertOf(table, schema, from);
    from = next;
    return `${table}_ as (${text})`;
  });
  const [id, quote, partner, customer, direction] = OTHERS.map((_, at) => `$${from + at + 1}`);
  return `with ${parts.join(', ')},
    taken as (update quotes set order_id = ${id}::bigint where id = ${quote}::bigint)
    insert into order_counts (partner_id, customer_id, direction, count)
      values (${partner}::bigint, ${customer}, ${direction}, 1)
      on conflict (customer_id, direction) do update set count = order_counts.count + 1`;
}
