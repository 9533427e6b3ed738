/**
 * `npm run bench [-- --quick | --full] [--rounds N] [--only name] [--report] [--profile]`: the cost of an operation, beside its
 * minimum possible cost.
 *
 * Ours and the limit (limit.ts) take turns, round by round, on this machine and on a PostgreSQL each with the same settings. The
 * figure is the CPU time of all their processes, PostgreSQL included and the sandbox's chains not, per operation; the ratio is
 * limit ÷ ours, the median of the rounds. It says how much of the work is unavoidable. Rates and latencies are shown beside it,
 * and are valid for this machine at this moment only.
 *
 * An idle sandbox is busy: it follows chains, refreshes prices, reconciles. The idle cost of each side is measured before each
 * operation, subtracted from the rounds, and stated. Otherwise a slow machine's rounds, which last longer, would be charged more
 * of it. What a fresh idle sandbox costs in transactions, rows and WAL comes first (idle.ts).
 *
 * Finally orders are paid, and the time from settled to the webhook's arrival is measured (webhooks.ts). If they arrive more
 * slowly than required the figures are still written, and the bench exits with 1.
 *
 * `--quick` ends within three minutes: a fifth of the requests, one round, and operations not begun in time are left out and
 * named. `--full` runs nine rounds, and reads bank statements beside the XML parser alone (statement.ts).
 *
 * Writes bench/results/<date>.json; with --report docs/performance.md, too. With --profile the server's CPU profile is written
 * beside it.
 */
import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { runningPostgres, startPostgres } from '../server/src/base/postgres.ts';
import { cpuOf, usOf } from './cpu.ts';
import { idleLine, measureIdle } from './idle.ts';
import { drive, type Prepared, percentile, send } from './load.ts';
import { newCustomer, type Ours, type Seen, startOurs } from './ours.ts';
import { type Figures, heardLine, type Pair, report, statementLine, table } from './report.ts';
import { measureStatement } from './statement.ts';
import { measureWebhooks, WANTED_PER_SECOND } from './webhooks.ts';

const CONCURRENCY = 8;
const PAGE_SIZE = 50;
const LISTED = 200;
/** Orders that are paid and settled for the sake of their webhooks. */
const PAID = 200;
/** Each takes half a minute, and they differ little. */
const MOST_STATEMENTS = 3;
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    report: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  },
});

const ROUNDS = Number(values.rounds ?? (values.quick ? 1 : values.full ? 9 : 5));
const IDLE_MS = values.quick ? 1_000 : 3_000;
/** Of a round's requests, and of the orders that are paid. */
const SHARE = values.quick ? 0.2 : 1;
const STATEMENT = 'statement';
const IDLE = 'idle';
/** How long a fresh sandbox is left alone, and then counted. */
const LEFT_ALONE = values.quick ? { settleMs: 5_000, ms: 10_000 } : { settleMs: 30_000, ms: 60_000 };
/** When --quick begins nothing more: the current operation and the end of the server fit into the rest of three minutes. */
const BEGUN_WITHIN_MS = 130_000;
const isLate = (): boolean => values.quick && performance.now() > BEGUN_WITHIN_MS;

interface Side {
  baseUrl: string;
  /** The first is the Node process that answers. */
  pids: readonly [number, ...number[]];
}

interface Operation {
  name: string;
  goal: number;
  /** Per round. */
  count: number;
  prepare(count: number): Promise<Prepared[]>;
}

const folder = mkdtempSync(join(tmpdir(), 'cloverleaf-bench-'));
const ending: (() => Promise<void>)[] = [];
async function run(): Promise<void> {
  const dataDir = join(folder, 'ours');
  const ours = await startOurs(
    dataDir,
    ending,
    values.profile
      ? ['--cpu-prof', `--cpu-prof-dir=${fileURLToPath(new URL('results/profile', import.meta.url))}`]
      : [],
  );
  const side: Side = { baseUrl: ours.baseUrl, pids: [ours.pid] };
  const left =
    values.only === undefined || values.only === IDLE
      ? await measureIdle({ adminUrl: runningPostgres(dataDir) ?? '', pids: side.pids }, LEFT_ALONE)
      : undefined;
  if (left !== undefined) process.stdout.write(`${idleLine(left)}\n`);
  // These two need no orders.
  const isAlone = values.only === IDLE || values.only === STATEMENT;
  const { operations, orders } = isAlone ? { operations: [], orders: [] } : await operationsOn(ours);
  const limit = isAlone ? undefined : await startLimit(ours, dataDir, orders);

  const quiet = values.report ? await watchedQuiet(ours) : undefined;
  const pairs: Pair[] = [];
  const leftOut: string[] = [];
  for (const operation of operations) {
    if (limit === undefined || (values.only !== undefined && operation.name !== values.only)) continue;
    if (isLate()) {
      leftOut.push(operation.name);
      continue;
    }
    const pair = await measure(operation, { ours: side, limit });
    if (quiet !== undefined) pair.why = await why(operation, ours, quiet);
    pairs.push(pair);
    process.stdout.write(`${table(pairs.slice(-1), pairs.length === 1)}\n`);
  }
  if (isLate()) leftOut.push('webhooks');
  const heard =
    !isLate() && (values.only === undefined || values.only === 'webhooks')
      ? await measureWebhooks(ours, orders.slice(0, PAID * SHARE))
      : undefined;
  const statement =
    values.full || values.only === STATEMENT ? await measureStatement(Math.min(ROUNDS, MOST_STATEMENTS)) : undefined;
  if (statement !== undefined) process.stdout.write(`${statementLine(statement)}\n`);
  if (leftOut.length > 0) process.stdout.write(`not measured within three minutes: ${leftOut.join(', ')}\n`);
  if (heard !== undefined) process.stdout.write(`${heardLine(heard)}\n`);
  const results = {
    at: new Date().toISOString(),
    node: process.version,
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    concurrency: CONCURRENCY,
    rounds: ROUNDS,
    load: loadavg()[0] ?? 0,
    idle: left,
    pairs,
    webhooks: heard,
    statement,
    leftOut,
  };
  const file = fileURLToPath(new URL(`results/${results.at.slice(0, 10)}.json`, import.meta.url));
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  if (values.report) writeFileSync(fileURLToPath(new URL('../docs/performance.md', import.meta.url)), report(results));
  // A latency at another pace is not the one that was asked for.
  if (!values.quick && heard !== undefined && heard.eventsPerSecond < WANTED_PER_SECOND) process.exitCode = 1;
}

async function measure(
  { name, goal, count, prepare }: Operation,
  { ours, limit }: { ours: Side; limit: Side },
): Promise<Pair> {
  const rounds: { ours: Round; limit: Round }[] = [];
  const idle = new Map([
    [ours, await idleUs(ours)],
    [limit, await idleUs(limit)],
  ]);
  for (let round = 0; round <= ROUNDS; round += 1) {
    const done: { ours: Round; limit: Round } = { ours: await oneRound(ours), limit: await oneRound(limit) };
    // The first warms both up.
    if (round > 0) rounds.push(done);
  }
  const middle = median(rounds.map((round) => round.limit.us / round.ours.us));
  const detail = { ours: figures('ours'), limit: figures('limit') };
  return { name, unit: 'µs', goal, ratio: middle, ours: detail.ours.us, limit: detail.limit.us, detail };

  async function oneRound(side: Side): Promise<Round> {
    const all = await prepare(Math.round(count * SHARE));
    const [before, nodeBefore] = [cpuOf(side.pids), usOf(side.pids[0])];
    const { seconds, latencies } = await drive(side.baseUrl, all, CONCURRENCY);
    const background = (idle.get(side) ?? 0) * seconds;
    return {
      us: (cpuOf(side.pids) - before - background) / all.length,
      nodeUs: (usOf(side.pids[0]) - nodeBefore) / all.length,
      perSecond: all.length / seconds,
      latencies,
    };
  }

  function figures(side: 'ours' | 'limit'): Figures {
    const all = rounds.map((round) => round[side]);
    const latencies = all.flatMap((round) => round.latencies).sort((a, b) => a - b);
    return {
      us: median(all.map(({ us }) => us)),
      nodeUs: median(all.map(({ nodeUs }) => nodeUs)),
      idleUsPerSecond: idle.get(side === 'ours' ? ours : limit) ?? 0,
      perSecond: median(all.map(({ perSecond }) => perSecond)),
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      p99: percentile(latencies, 0.99),
    };
  }
}

/** The cost of an idle side per second. */
async function idleUs({ pids }: Side): Promise<number> {
  const [before, began] = [cpuOf(pids), performance.now()];
  await new Promise((done) => setTimeout(done, IDLE_MS));
  return (cpuOf(pids) - before) / ((performance.now() - began) / 1_000);
}

/** The server's PostgreSQL queries per second while idle. */
async function watchedQuiet(ours: Ours): Promise<{ statements: number; roundTrips: number }> {
  const { seen } = await ours.watch(() => new Promise((done) => setTimeout(done, IDLE_MS)));
  const seconds = IDLE_MS / 1_000;
  return { statements: seen.statements / seconds, roundTrips: seen.roundTrips / seconds };
}

/** One more round, outside those measured, looked at from inside. */
async function why({ count, prepare }: Operation, ours: Ours, quiet: Pick<Seen, 'statements' | 'roundTrips'>) {
  const all = await prepare(count);
  const { result, seen } = await ours.watch(() => drive(ours.baseUrl, all, CONCURRENCY));
  return {
    statements: (seen.statements - quiet.statements * result.seconds) / count,
    roundTrips: (seen.roundTrips - quiet.roundTrips * result.seconds) / count,
    groups: seen.groups,
    top: seen.top,
  };
}

interface Round {
  us: number;
  nodeUs: number;
  perSecond: number;
  latencies: number[];
}

const median = (all: readonly number[]): number =>
  [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;

interface Made {
  id: string;
  customerId: string;
  /** The reply's item, as text. */
  item: string;
}

async function operationsOn(ours: Ours): Promise<{ operations: Operation[]; orders: Made[] }> {
  const customers = await inTurn(20, () => newCustomer(ours));
  const [seller] = customers as [(typeof customers)[number]];
  let amount = 1_000;
  const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20' };
  // Each its own amount, so that each has its own quote.
  const asks = (count: number) =>
    Array.from({ length: count }, () => ({ ...pair, fromAmount: `${(amount += 1) / 10}` }));
  const create = async (count: number, pick: (at: number) => (typeof customers)[number]): Promise<Prepared[]> => {
    const made: Prepared[] = [];
    for (const [at, input] of asks(count).entries()) {
      const { rate, toAmount } = await ours.call<{ rate: string; toAmount: string }>('offramp/quote', input);
      made.push(ours.post('offramp/createTransaction', { ...input, rate, toAmount, ...pick(at) }));
    }
    return made;
  };
  for (const one of await create(LISTED, () => seller)) await send(ours.baseUrl, one);
  const page = (at: number) => ({ customerId: seller.customerId, page: String(at), pageSize: String(PAGE_SIZE) });
  const orders: Made[] = [];
  for (let at = 1; at <= LISTED / PAGE_SIZE; at += 1) {
    const items = await ours.call<{ transactionId: string }[]>('offramp/allUserTransaction', page(at));
    for (const item of items)
      orders.push({ id: item.transactionId, customerId: seller.customerId, item: JSON.stringify(item) });
  }
  const each = (count: number, one: (at: number) => Prepared) => Array.from({ length: count }, (_, at) => one(at));
  const operations: Operation[] = [
    {
      name: 'offramp quote',
      goal: 0.8,
      count: 1_500,
      prepare: async (count) => asks(count).map((input) => ours.post('offramp/quote', input)),
    },
    {
      name: `list, a page of ${PAGE_SIZE}`,
      goal: 0.8,
      count: 500,
      prepare: async (count) =>
        // The limit does not count: the number is sent, and ignored like every unknown field.
        each(count, (at) =>
          ours.post('offramp/allUserTransaction', { ...page((at % (LISTED / PAGE_SIZE)) + 1), total: String(LISTED) }),
        ),
    },
    {
      name: 'get',
      goal: 0.8,
      count: 1_500,
      prepare: async (count) =>
        each(count, (at) => {
          const { id, customerId } = orders[at % orders.length] as Made;
          return ours.post('offramp/transaction', { transactionId: id, customerId });
        }),
    },
    {
      name: 'kyb/requirements',
      goal: 0.9,
      count: 8_000,
      prepare: async (count) =>
        each(count, () => ({
          method: 'GET',
          path: '/onramp/api/v2/whiteLabel/kyb/requirements',
          headers: {},
          body: '',
        })),
    },
    {
      name: 'order creation',
      goal: 0.5,
      count: 300,
      prepare: (count) => create(count, (at) => customers[at % customers.length] as (typeof customers)[number]),
    },
  ];
  return { operations, orders };
}

async function inTurn<T>(count: number, one: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let at = 0; at < count; at += 1) all.push(await one());
  return all;
}

/** A PostgreSQL of its own with as many rows of as many bytes, and the bare server on it. */
async function startLimit(ours: Ours, dataDir: string, orders: readonly Made[]): Promise<Side> {
  const bytes = await bytesWritten(dataDir);
  const limitDir = join(folder, 'limit');
  mkdirSync(limitDir);
  const postgres = await startPostgres({ dataDir: limitDir });
  ending.push(() => postgres.stop());
  const client = new pg.Client(postgres.adminUrl);
  await client.connect();
  await client.query(`
    create schema bench;
    create role limit_partner nologin nobypassrls;
    create role limit_server login noinherit nobypassrls password 'limit' in role limit_partner;
    create table bench.orders (id bigint primary key, partner_id bigint not null, customer_id text not null, seq bigint not null,
      body text not null, filler text not null, unique (customer_id, seq));
    create table bench.written (id bigint primary key, partner_id bigint not null, filler text not null);
    alter table bench.orders enable row level security;
    alter table bench.written enable row level security;
    create policy own on bench.orders to limit_partner using (partner_id = current_setting('bench.partner')::bigint);
    create policy own on bench.written to limit_partner using (partner_id = current_setting('bench.partner')::bigint);
    alter table bench.orders alter filler set storage plain;
    alter table bench.written alter filler set storage plain;
    grant usage on schema bench to limit_partner;
    grant select, insert on bench.orders, bench.written to limit_partner;`);
  for (const [at, { id, customerId, item }] of orders.entries())
    await client.query('insert into bench.orders values ($1, 1, $2, $3, $4, $5)', [
      id,
      customerId,
      orders.length - at,
      item,
      'x'.repeat(Math.max(0, bytes.row - item.length)),
    ]);
  await client.query('analyze');
  await client.end();
  const requirements = await send(ours.baseUrl, {
    method: 'GET',
    path: '/onramp/api/v2/whiteLabel/kyb/requirements',
    headers: {},
    body: '',
  });
  const url = Object.assign(new URL(postgres.adminUrl), { username: 'limit_server', password: 'limit' }).href;
  const child = fork(fileURLToPath(new URL('limit.ts', import.meta.url)), {
    env: { PATH: process.env.PATH, LIMIT: JSON.stringify({ url, secret: ours.apiSecret, requirements, bytes }) },
  });
  ending.push(async () => {
    child.kill('SIGKILL');
  });
  const port = await new Promise<number>((ready, fail) => {
    child.once('message', (message) => ready(Number(message)));
    child.once('exit', () => fail(new Error('the limit did not start')));
  });
  const postmaster = Number(readFileSync(join(limitDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  return { baseUrl: `http://127.0.0.1:${port}`, pids: [child.pid ?? 0, postmaster] };
}

/** Size of our rows in bytes: of one order as it is read, of one quote and of everything that one new order writes. */
async function bytesWritten(dataDir: string): Promise<{ row: number; quote: number; order: number }> {
  const client = new pg.Client(runningPostgres(dataDir));
  await client.connect();
  try {
    const size = async (table: string, where = 'true'): Promise<number> => {
      const { rows } = await client.query(
        `select coalesce(sum(pg_column_size(t.*)), 0)::float8 as bytes from cloverleaf.${table} t where ${where}`,
      );
      return Number(rows[0].bytes);
    };
    const { rows } = await client.query('select count(*)::int as count from cloverleaf.orders');
    const count = Number(rows[0].count);
    const row = (await size('orders')) / count;
    const quote = (await size('quotes')) / count;
    const parts =
      (await size('order_history')) +
      (await size('events')) +
      (await size('deposit_addresses')) +
      (await size('jobs', "kind = 'expire_order'"));
    return {
      row: Math.round(row),
      quote: Math.round(quote),
      // A new order also rewrites its quote as taken.
      order: Math.round(row + quote + parts / count),
    };
  } finally {
    await client.end();
  }
}

async function endAll(): Promise<void> {
  for (let end = ending.pop(); end !== undefined; end = ending.pop()) await end();
}

const running = run();
let signalled = false;
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)
  process.on(signal, async () => {
    if (signalled) return;
    signalled = true;
    await endAll();
    // A process that was being started may exist only now. The run itself fails for lack of its servers.
    const enough = new Promise((done) => setTimeout(done, 5_000));
    await Promise.race([running.catch(() => {}), enough]);
    await endAll();
    rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  });
try {
  await running;
} catch (error) {
  if (!signalled) throw error;
} finally {
  if (!signalled) {
    await endAll();
    rmSync(folder, { recursive: true, force: true });
  }
}
