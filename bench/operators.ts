/**
 * Latency of the console's reads with many orders: `node scripts/run.mjs bench/operators.ts [data-dir] [rounds]`.
 *
 * Uses a database that `npm run grow` made. Calls each list, search and report of the operator interface in turn, one request
 * at a time, with values picked from the database, and prints median, 95th percentile and maximum. The time is that of the
 * whole request over loopback. Exits with 1 if a 95th percentile is above half a second, or if a table of more than 50,000 rows
 * was scanned meanwhile.
 *
 * Trial balances at an instant read the journal from that instant on, and have ninety seconds (decision 43): they are measured
 * without a limit.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../server/src/base/postgres.ts';
import { clientOf } from './grow/grow.ts';
import { startOurs } from './ours.ts';

const MOST_MS = 500;
const LARGE_ROWS = 50_000;
const DAY_MS = 86_400_000;
const [folder = 'data-grown', roundsWanted = '30'] = parseArgs({ allowPositionals: true }).positionals;
const rounds = Number(roundsWanted);

type Pick = () => string;
type Client = Awaited<ReturnType<typeof clientOf>>['pg'];
interface Asked {
  name: string;
  path: Pick;
  /** It is known to take longer, which the page says. */
  isSlow?: true;
}

/** @returns a function that returns a value of a column, a different one each time */
async function picks(client: Client, sql: string): Promise<Pick> {
  const { rows } = await client.query<{ value: string }>(sql);
  if (rows.length === 0) throw new Error(`nothing to pick: ${sql}`);
  let at = 0;
  return () => encodeURIComponent(String(rows[(at += 1) % rows.length]?.value));
}

async function readsOf(client: Client): Promise<Asked[]> {
  const some = (column: string, table: string, where = 'true') =>
    picks(client, `select ${column}::text as value from ${table} tablesample system (5) where ${where} limit 200`);
  const order = await some('id', 'orders');
  const customer = await some('customer_id', 'orders');
  const heavy = await picks(client, `select customer_id as value from order_counts order by count desc limit 1`);
  const hash = await some('reference', 'deposits', `reference <> ''`);
  const payout = await some('id', 'payouts');
  const utr = await some('reference', 'payouts', 'reference is not null');
  const address = await some('deposit_target', 'orders');
  const partner = await picks(client, 'select id::text as value from partners order by id limit 2');
  const market = await picks(client, 'select market_id::text as value from orders tablesample system (1) limit 50');
  const day = await picks(
    client,
    "select created_at::date::text as value from orders tablesample system (1) where created_at < now() - interval '60 days' limit 50",
  );
  const span = (days: number) => {
    const from = new Date(`${decodeURIComponent(day())}T00:00:00Z`);
    return `from=${from.toISOString()}&until=${new Date(from.getTime() + days * DAY_MS).toISOString()}`;
  };
  const states = ['on_hold', 'settled', 'refunded', 'expired', 'cancelled', 'paying_out'];
  let at = 0;
  const state = () => states[(at += 1) % states.length] ?? '';
  const list = (name: string, path: string, query: Pick = () => ''): Asked => ({
    name,
    path: () => `${path}?limit=200&${query()}`,
  });
  return [
    list('orders', '/orders'),
    list('orders of a state', '/orders', () => `state=${state()}`),
    list('orders of a partner', '/orders', () => `partner=${partner()}`),
    list('orders of a customer', '/orders', () => `customer=${customer()}`),
    list('orders of the largest customer, of a market', '/orders', () => `customer=${heavy()}&market=${market()}`),
    list('orders of a market and a day', '/orders', () => `market=${market()}&${span(1)}`),
    list('orders above an amount', '/orders', () => 'asset=inr&min=1000000'),
    list('orders, from the middle on', '/orders', () => `below=${order()}`),
    list('orders as CSV', '/orders', () => 'format=csv'),
    list('deposits', '/deposits'),
    list('deposits of a state and a day', '/deposits', () => `state=applied&${span(1)}`),
    list('deposits of the largest customer', '/deposits', () => `customer=${heavy()}`),
    list('suspense', '/suspense'),
    list('payouts', '/payouts'),
    list('payouts of a state', '/payouts', () => 'state=rejected'),
    list('payouts of a partner and a day', '/payouts', () => `partner=${partner()}&${span(1)}`),
    { name: 'payout', path: () => `/payouts/${payout()}` },
    list('cases', '/cases'),
    list('cases that are overdue', '/cases', () => 'overdue=true'),
    list('cases that are closed', '/cases', () => 'open=false'),
    list('audit', '/audit'),
    list('proposals', '/proposals'),
    list('sweeps', '/treasury/sweeps'),
    list('sweeps that are not booked', '/treasury/transfers'),
    { name: 'treasury levels', path: () => '/treasury/levels' },
    { name: 'treasury balances', path: () => '/treasury/balances' },
    { name: 'exposure', path: () => '/treasury/exposure' },
    { name: 'breaks', path: () => '/breaks' },
    { name: 'alerts, what was told', path: () => '/alerts/messages?limit=200' },
    { name: 'timeline of an order', path: () => `/orders/${order()}/timeline` },
    { name: 'trace of an order', path: () => `/orders/${order()}/trace` },
    { name: 'customer', path: () => `/customers/${customer()}` },
    { name: 'search: order', path: () => `/lookup?text=${order()}` },
    { name: 'search: hash', path: () => `/lookup?text=${hash()}` },
    { name: 'search: bank reference', path: () => `/lookup?text=${utr()}` },
    { name: 'search: address', path: () => `/lookup?text=${address()}` },
    { name: 'search: customer', path: () => `/lookup?text=${customer()}` },
    { name: 'search: nothing there', path: () => '/lookup?text=nothing-has-this-name' },
    { name: 'trial balance', path: () => '/trial-balance' },
    {
      name: 'trial balance of an instant',
      path: () => `/trial-balance?at=${decodeURIComponent(day())}T00:00:00Z`,
      isSlow: true,
    },
    list('revenue of a day', '/reports/revenue', () => span(1)),
    list('revenue of a month', '/reports/revenue', () => span(30)),
    list('statement of a customer, a month', '/reports/statement', () => `customer=${customer()}&${span(30)}`),
  ];
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;

/** Rows read by sequential scans so far, of each large table. PostgreSQL updates the counters some time after a statement. */
async function scanned(client: Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ table: string; read: string }>(
    `select s.relname as table, s.seq_tup_read as read from pg_stat_user_tables s join pg_class c on c.oid = s.relid
      where s.schemaname = 'cloverleaf' and c.reltuples > $1`,
    [LARGE_ROWS],
  );
  return new Map(rows.map(({ table, read }) => [table, Number(read)]));
}

async function main(): Promise<boolean> {
  const dataDir = resolve(folder);
  const ending: (() => Promise<void>)[] = [];
  try {
    const postgres = await startPostgres({ dataDir, fast: true, settings: {} });
    ending.push(() => postgres.stop());
    await using connected = await clientOf(postgres.adminUrl);
    const client = connected.pg;
    // Prevents a full reconciliation, which would compare with nodes that never saw these orders.
    await client.query('update reconcile_rails set run_ended_at = now()');
    const { baseUrl } = await startOurs(dataDir, ending, [], { DATABASE_URL: postgres.adminUrl });
    const authorization = `Bearer ${readFileSync(join(dataDir, 'operator.token'), 'utf8').trim()}`;
    const { rows } = await client.query('select count(*) as orders from orders');
    process.stdout.write(`${rows[0].orders} orders, ${rounds} requests of each, one at a time\n\n`);
    process.stdout.write(`${'Read'.padEnd(44)} ${'median'.padStart(8)} ${'p95'.padStart(8)} ${'most'.padStart(8)}\n`);
    const reads = await readsOf(client);
    const before = await scanned(client);
    let isGood = true;
    for (const { name, path, isSlow } of reads) {
      const took: number[] = [];
      for (let round = 0; round < (isSlow ? 3 : rounds); round += 1) {
        const began = performance.now();
        const reply = await fetch(`${baseUrl}/operator/v1${path()}`, { headers: { authorization } });
        const body = await reply.text();
        took.push(performance.now() - began);
        if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${body.slice(0, 200)}`);
      }
      const sorted = took.toSorted((one, other) => one - other);
      const isLate = isSlow !== true && at(sorted, 0.95) > MOST_MS;
      if (isLate) isGood = false;
      const [median, p95, most] = [at(sorted, 0.5), at(sorted, 0.95), at(sorted, 1)].map((ms) => `${ms.toFixed(0)} ms`);
      process.stdout.write(
        `${name.padEnd(44)} ${median?.padStart(8)} ${p95?.padStart(8)} ${most?.padStart(8)}${isLate ? '  too slow' : ''}\n`,
      );
    }
    await sleep(2_000);
    const after = await scanned(client);
    for (const [table, read] of after)
      if (read > (before.get(table) ?? 0)) {
        isGood = false;
        process.stdout.write(`\n${table} was read from end to end: ${read - (before.get(table) ?? 0)} rows\n`);
      }
    return isGood;
  } finally {
    for (const end of ending.toReversed()) await end();
  }
}

process.exitCode = (await main()) ? 0 : 1;
