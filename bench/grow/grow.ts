/** Growing: a database of finished orders becomes one with many times as many, index by index and table by table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openVault } from '../../server/src/base/crypto.ts';
import { buildIndexes, finish, firstNumbers, rewrite } from './finish.ts';
import { type Generated, Generator, type Plan } from './generate.ts';
import type { Lived } from './lives.ts';
import { schemaOf } from './schema.ts';
import { Sealer } from './sealer.ts';
import { templatesOf } from './templates.ts';

/** Of the daily totals: half a million entries. */
const SEALS_AT_ONCE = 500;
/** Of the sums of customers. */
const ENTRIES_AT_ONCE = 100_000;

export async function clientOf(url: string): Promise<{ pg: pg.Client } & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=cloverleaf -c timezone=UTC' });
  await client.connect();
  return { pg: client, [Symbol.asyncDispose]: () => client.end() };
}

/** Multiplies the captured orders, and prints the result. */
export async function grow(from: {
  dataDir: string;
  adminUrl: string;
  lived: readonly Lived[];
  plan: Omit<Plan, 'untilMs'>;
  tell: (what: string) => void;
}): Promise<void> {
  const { dataDir, adminUrl, lived, plan, tell } = from;
  await using connected = await clientOf(adminUrl);
  const client = connected.pg;
  const schema = await schemaOf(client);
  const vault = openVault(Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8').trim(), 'hex'));
  const { partners } = await templatesOf(client, schema, vault, lived);
  const one = <T>(sql: string) => client.query(sql).then(({ rows }) => rows[0] as T);
  const last = await one<{ number: string; hash: Buffer } | undefined>(
    'select number, hash from seals order by number desc limit 1',
  );
  const { index } = await one<{ index: string }>('select max(index) + 1 as index from deposit_addresses');
  const { rows: positions } = await client.query('select partner_id, max(position) as last from event_feed group by 1');
  const lives = partners.flatMap((of) => [of.customer, ...of.orders, of.held]);
  const tables = [...new Set(lives.flatMap((life) => life.tables.map(({ table }) => table)))];
  const grown = [...tables, 'seals', 'sealed_entries', 'order_counts'];
  tell(`an order has ${(rowsOfAnOrder(partners)).toFixed(1)} rows on average, in ${grown.length} tables`);
  const sealer = new Sealer(last === undefined ? undefined : { number: BigInt(last.number), hash: last.hash });
  const generator = new Generator(
    ...([client, schema, vault] as const),
    {
      ...plan,
      untilMs: Math.min(...lives.map(({ createdMs }) => createdMs)) - 60_000,
    },
    {
      ...{ partners, firsts: await firstNumbers(client, schema), index: Number(index) },
      positions: new Map(positions.map((row) => [String(row.partner_id), Number(row.last)])),
    },
    sealer,
  );
  // Keys and triggers were enforced for the originals; the copies are checked as a whole, by verify-ledger.
  await client.query('set session_replication_role = replica');
  await client.query('begin');
  await rewrite(client, grown);
  const generated = await generator.run(tell);
  await finish(client, schema, { generated, partners, seal: sealer.number });
  tell('rows are in; indexes');
  await buildIndexes(client, grown);
  await client.query('commit');
  tell('indexes are built; statistics');
  await client.query('vacuum (analyze)');
  tell('daily totals of the journal');
  // The server's database module changes how values of PostgreSQL are read, in the whole process: only after all rows are copied.
  const { txOn } = await import('../../server/src/base/db.ts');
  const { addToCustomers, addToDailyTotals } = await import('../../server/src/ledger/index.ts');
  while ((await addToDailyTotals(txOn(client), SEALS_AT_ONCE)) > 0);
  tell('sums of customers');
  // Seals were made in order, and nothing else posts here.
  await client.query(
    'update journal_progress set complete_to = (select last_seq from seals order by number desc limit 1)',
  );
  while ((await addToCustomers(txOn(client), ENTRIES_AT_ONCE)) > 0);
  tell('done');
  await print(client, generated);
}

function rowsOfAnOrder(partners: Awaited<ReturnType<typeof templatesOf>>['partners']): number {
  const orders = partners[0]?.orders ?? [];
  return orders.reduce(
    (sum, { counts, kind }) => sum + [...counts.values()].reduce((a, b) => a + b) * (kind?.share ?? 0),
    0,
  );
}

async function print(client: pg.Client, { orders, rows, biggest }: Generated): Promise<void> {
  const { rows: sizes } = await client.query<{ table: string; data: string; indexes: string }>(
    `select relname as table, pg_table_size(oid) as data, pg_indexes_size(oid) as indexes from pg_class
      where relnamespace = 'cloverleaf'::regnamespace and relkind = 'r' order by pg_total_relation_size(oid) desc limit 16`,
  );
  const { rows: total } = await client.query(
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relnamespace = 'cloverleaf'::regnamespace and relkind = 'r'`,
  );
  const mb = (bytes: string | number) => `${(Number(bytes) / 1e6).toFixed(0)} MB`.padStart(10);
  for (const { table, data, indexes } of sizes)
    process.stdout.write(
      `${table.padEnd(20)} ${String(rows.get(table) ?? 0).padStart(10)} rows ${mb(data)} and ${mb(indexes)} of indexes\n`,
    );
  const bytes = Number(total[0].bytes);
  process.stdout.write(
    `${orders} orders: ${mb(bytes).trim()}, ${Math.round(bytes / orders)} bytes per order\n` +
      `the customer ${biggest.customerId} has ${biggest.orders} of them\n`,
  );
}
