/**
 * `npm run grow:measure -- --data-dir <small> --data-dir <large> [--rounds N]`: the cost of the same reads on databases of
 * different sizes, each with its own server, in turns.
 *
 * The figure is the CPU time of the server and its PostgreSQL per operation, minus their idle time; the response time is shown
 * beside it, and is valid for this machine at this moment only. The ratio compares the last folder with the first. Pages are
 * those of the customer with the most orders. Afterwards the servers stay idle, and the cost of their recurring jobs per run is
 * read from their metrics.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runningPostgres } from '../../server/src/base/postgres.ts';
import { cpuOf } from '../cpu.ts';
import { type Prepared, percentile, send } from '../load.ts';
import { type Ours, startOurs } from '../ours.ts';
import { clientOf } from './grow.ts';

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string', multiple: true },
    rounds: { type: 'string', default: '5' },
    'alone-s': { type: 'string', default: '60' },
  },
});

const PAGE = 50;
/** Requests of one kind per round: enough that one tick of the kernel's clock does not matter. */
const EACH = 20;
const IDLE_MS = 5_000;

interface Side {
  dir: string;
  ours: Ours;
  orders: number;
  operations: ReadonlyMap<string, Prepared>;
  idleUs: number;
}

const ending: (() => Promise<void>)[] = [];
const median = (all: readonly number[]): number =>
  [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;

async function sideOf(dir: string): Promise<Side> {
  const ours = await startOurs(resolve(dir), ending);
  await using client = await clientOf(runningPostgres(resolve(dir)) ?? '');
  const one = async (sql: string, given: unknown[] = []) => (await client.pg.query(sql, given)).rows[0];
  const biggest = await one(`select customer_id as id, count, partner_id as partner from order_counts
    where direction = 'offramp' order by count desc limit 1`);
  const { orders } = await one('select count(*)::int as orders from orders');
  const middle = await one(
    `select id, deposit_target as address from orders where customer_id = $1 and state = 'settled' order by created_at limit 1 offset $2`,
    [biggest.id, Math.min(100, Math.floor(Number(biggest.count) / 4))],
  );
  const { month } = await one(
    `select to_char(max(created_at) - interval '40 days', 'YYYY-MM-DD') as month from orders`,
  );
  const { year } = await one(`select to_char(max(created_at) - interval '400 days', 'YYYY-MM-DD') as year from orders`);
  const { next } = await one(`select to_char($1::date + 1, 'YYYY-MM-DD') as next`, [month]);
  const token = readFileSync(join(dir, 'operator.token'), 'utf8').trim();
  const operator = (path: string): Prepared => ({
    method: 'GET',
    path: `/operator/v1${path}`,
    headers: { authorization: `Bearer ${token}` },
    body: '',
  });
  const last = Math.ceil(Number(biggest.count) / PAGE);
  const page = (n: number) =>
    ours.post('offramp/allUserTransaction', { customerId: biggest.id, page: String(n), pageSize: String(PAGE) });
  const operations: [string, Prepared][] = [
    ['page 1 of the biggest customer', page(1)],
    ...(last > 100 ? ([['page 100', page(100)]] as [string, Prepared][]) : []),
    ['last page', page(last)],
    ['one order', ours.post('offramp/transaction', { transactionId: String(middle.id), customerId: biggest.id })],
    ['operators: newest orders', operator('/orders?limit=50')],
    ['operators: orders of the biggest customer', operator(`/orders?limit=50&customer=${biggest.id}`)],
    ['operators: orders of a partner, refunded', operator(`/orders?limit=50&partner=2&state=refunded`)],
    ['operators: orders on hold', operator('/orders?limit=50&state=on_hold')],
    [
      'operators: settled orders of a day',
      operator(`/orders?limit=50&state=settled&from=${month}T00:00:00Z&until=${next}T00:00:00Z`),
    ],
    ['operators: orders of at least 40 usdc', operator('/orders?limit=50&asset=usdc.matic20&min=40')],
    ['operators: deposits', operator('/deposits?limit=50')],
    ['operators: deposits in suspense', operator('/suspense?limit=50')],
    ['operators: payouts', operator('/payouts?limit=50')],
    ['operators: cases', operator('/cases?limit=50')],
    ['operators: the biggest customer', operator(`/customers/${biggest.id}`)],
    ['operators: treasury balances', operator('/treasury/balances')],
    ['search by number', operator(`/lookup?text=${middle.id}`)],
    ['search by address', operator(`/lookup?text=${middle.address}`)],
    ['report: revenue of a day', operator(`/reports/revenue?from=${month}T00:00:00Z&until=${next}T00:00:00Z`)],
    [
      'report: statement of the biggest customer, a day',
      operator(`/reports/statement?customer=${biggest.id}&from=${month}T00:00:00Z&until=${next}T00:00:00Z`),
    ],
    ['report: trial balance of a past instant', operator(`/trial-balance?at=${month}T11:00:00Z`)],
    ['report: trial balance of last year', operator(`/trial-balance?at=${year}T23:00:00Z`)],
    ['report: wallets over 30 days', operator(`/treasury/history?until=${month}T11:00:00Z`)],
    [
      'report: orders by country, a day',
      operator(`/reports/countries?from=${month}T00:00:00Z&until=${next}T00:00:00Z`),
    ],
    [
      'report: statement of a partner, a day',
      operator(`/reports/partner?partner=1&from=${month}T00:00:00Z&until=${next}T00:00:00Z`),
    ],
    ['readiness', { method: 'GET', path: '/readyz', headers: {}, body: '' }],
  ];
  return { dir, ours, orders, operations: new Map(operations), idleUs: 0 };
}

async function idle({ ours }: Side): Promise<number> {
  const [before, began] = [cpuOf([ours.pid]), performance.now()];
  await new Promise((done) => setTimeout(done, IDLE_MS));
  return (cpuOf([ours.pid]) - before) / ((performance.now() - began) / 1_000);
}

interface Figure {
  us: number;
  p50: number;
  p95: number;
}

async function round(side: Side, name: string): Promise<{ us: number; times: number[] } | string> {
  const prepared = side.operations.get(name);
  if (prepared === undefined) return 'none';
  const times: number[] = [];
  const [before, began] = [cpuOf([side.ours.pid]), performance.now()];
  for (let n = 0; n < EACH; n += 1) {
    const at = performance.now();
    try {
      await send(side.ours.baseUrl, prepared);
    } catch (error) {
      return (error as Error).message.slice(0, 120);
    }
    times.push(performance.now() - at);
  }
  const seconds = (performance.now() - began) / 1_000;
  return { us: Math.max(0, (cpuOf([side.ours.pid]) - before - side.idleUs * seconds) / EACH), times };
}

/** Measures in turns, so that other work on the machine affects all sides equally. */
async function measure(sides: readonly Side[], name: string): Promise<(Figure | string)[]> {
  const all = sides.map(() => [] as { us: number; times: number[] }[]);
  const failed = sides.map(() => '');
  for (let n = 0; n <= Number(values.rounds); n += 1)
    for (const [at, side] of sides.entries()) {
      const one = await round(side, name);
      if (typeof one === 'string') failed[at] = one;
      else if (n > 0) all[at]?.push(one); // The first round warms up.
    }
  return all.map((rounds, at) => {
    if (failed[at] !== '') return failed[at] as string;
    const times = rounds.flatMap((one) => one.times).sort((a, b) => a - b);
    return { us: median(rounds.map(({ us }) => us)), p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
  });
}

const shown = (figure: Figure | string | undefined): string =>
  typeof figure === 'object'
    ? `${figure.us.toFixed(0)} µs, ${figure.p50.toFixed(0)}/${figure.p95.toFixed(0)} ms`
    : (figure ?? '');

/** Seconds and runs of each kind of job since the server started. */
async function jobsOf({ ours }: Side): Promise<Map<string, { seconds: number; runs: number }>> {
  const text = await (await fetch(ours.metricsUrl)).text();
  const jobs = new Map<string, { seconds: number; runs: number }>();
  for (const [, what, labels = '', value] of text.matchAll(/^cloverleaf_job_seconds_(sum|count)\{(.+)\} (\S+)$/gm)) {
    const kind = /kind="([^"]+)"/.exec(labels)?.[1] ?? '';
    const job = jobs.get(kind) ?? { seconds: 0, runs: 0 };
    jobs.set(kind, job);
    if (what === 'sum') job.seconds += Number(value);
    else job.runs += Number(value);
  }
  return jobs;
}

async function main(): Promise<void> {
  const sides: Side[] = [];
  for (const dir of values['data-dir'] ?? []) sides.push(await sideOf(dir));
  for (const side of sides) side.idleUs = await idle(side);
  const line = (cells: readonly string[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);
  line(['CPU per operation, p50/p95', ...sides.map(({ orders }) => `${orders} orders`), 'ratio']);
  line(['---', ...sides.map(() => '---'), '---']);
  for (const name of sides.at(-1)?.operations.keys() ?? []) {
    const figures = await measure(sides, name);
    const [first, last] = [figures[0], figures.at(-1)];
    const ratio = typeof first === 'object' && typeof last === 'object' ? (last.us / first.us).toFixed(2) : '';
    line([name, ...figures.map(shown), ratio]);
  }
  const before = await Promise.all(sides.map(jobsOf));
  await new Promise((done) => setTimeout(done, Number(values['alone-s']) * 1_000));
  const after = await Promise.all(sides.map(jobsOf));
  for (const kind of after[0]?.keys() ?? []) {
    const per = sides.map((_, at) => {
      const [a, b] = [before[at]?.get(kind), after[at]?.get(kind)];
      const runs = (b?.runs ?? 0) - (a?.runs ?? 0);
      return runs === 0
        ? 'did not run'
        : `${((1_000 * ((b?.seconds ?? 0) - (a?.seconds ?? 0))) / runs).toFixed(0)} ms (${runs} runs)`;
    });
    line([`job ${kind}`, ...per, '']);
  }
  line(['CPU while idle', ...sides.map(({ idleUs }) => `${(idleUs / 10_000).toFixed(1)} % of a core`), '']);
}

try {
  await main();
} finally {
  for (const end of ending.toReversed()) await end();
}
