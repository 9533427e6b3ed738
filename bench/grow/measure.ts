/**
 * `npm run grow:measure -- --data-dir <small> --data-dir <large> [--rounds N] [--only <pattern>] [--alone-s N]`: the cost of the
 * same reads on databases of different sizes, each with its own server, in turns. The reads are those that the operator API
 * declares (operations.ts), and the lists of the biggest customer.
 *
 * The figure is the CPU time of the server and its PostgreSQL per operation, minus their idle time; the response time is shown
 * beside it, and is valid for this machine at this moment only. The ratio compares the last folder with the first. Pages are
 * those of the customer with the most orders. Afterwards the servers stay idle, and the cost of their recurring jobs per run is
 * read from their metrics.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { runningPostgres } from '../../server/src/base/postgres.ts';
import { cpuOf } from '../cpu.ts';
import { type Prepared, percentile, send } from '../load.ts';
import { type Ours, startOurs } from '../ours.ts';
import { clientOf } from './grow.ts';
import { type Known, operatorOperations } from './operations.ts';

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string', multiple: true },
    rounds: { type: 'string', default: '5' },
    'alone-s': { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
  },
});

const PAGE = 50;
/** Requests of one kind per round: enough that one tick of the kernel's clock does not matter. */
const EACH = 20;
/** Time of one operation on one side, beyond the request that is under way then (it is given up after 30 s). */
const MOST_MS = 20_000;
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

/** One value per name: rows that exist, and spans around a day 40 days before the newest order. */
const VALUES: Readonly<Record<string, string>> = {
  customer: `select customer_id from order_counts where direction = 'offramp' order by count desc limit 1`,
  small: `select customer_id from order_counts where direction = 'offramp' and count between 5 and 50 limit 1`,
  partner: `select partner_id from order_counts where direction = 'offramp' order by count desc limit 1`,
  order: `select id from orders where state = 'settled' and direction = 'offramp' order by created_at desc limit 1 offset 100`,
  address: `select deposit_target from orders where state = 'settled' and direction = 'offramp' order by created_at desc limit 1 offset 100`,
  text: `select id from orders where state = 'settled' order by created_at desc limit 1 offset 200`,
  reference: `select reference from deposits where reference <> '' order by id desc limit 1 offset 100`,
  word: `select external_id from bank_lines order by booked_at desc limit 1 offset 100`,
  market: `select market_id from orders group by 1 order by count(*) desc limit 1`,
  deposit: 'select max(id) from deposits',
  payout: 'select id from payouts order by created_at desc limit 1',
  case: 'select max(id) from cases',
  bulk: 'select max(id) from bulk_actions',
  proposal: 'select max(id) from proposals',
  plan: 'select max(id) from planned_changes',
  endpoint: 'select id from webhook_endpoints limit 1',
  position: 'select position from webhook_deliveries order by position desc limit 1',
  operator: 'select min(id) from operators',
  operatorName: 'select name from operators order by id limit 1',
  from: `select to_char(max(created_at) - interval '40 days', 'YYYY-MM-DD"T00:00:00Z"') from orders`,
  until: `select to_char(max(created_at) - interval '39 days', 'YYYY-MM-DD"T00:00:00Z"') from orders`,
  monthAgo: `select to_char(max(created_at) - interval '69 days', 'YYYY-MM-DD"T00:00:00Z"') from orders`,
  at: `select to_char(max(created_at) - interval '40 days', 'YYYY-MM-DD"T11:00:00Z"') from orders`,
  past: `select to_char(max(created_at) - interval '400 days', 'YYYY-MM-DD"T23:00:00Z"') from orders`,
};

async function knownIn(pg: Client): Promise<Known> {
  const known: Record<string, string | undefined> = {};
  for (const [name, sql] of Object.entries(VALUES)) {
    // A table that this version has not is one without rows.
    const { rows } = await pg.query({ text: sql, rowMode: 'array' }).catch(() => ({ rows: [] }));
    const value: unknown = rows[0]?.[0];
    known[name] = value === undefined || value === null ? undefined : String(value);
  }
  return known;
}

async function sideOf(dir: string): Promise<Side> {
  const ours = await startOurs(resolve(dir), ending);
  await using client = await clientOf(runningPostgres(resolve(dir)) ?? '');
  const one = async (sql: string, given: unknown[] = []) => (await client.pg.query(sql, given)).rows[0];
  const known = await knownIn(client.pg);
  const { customer = '' } = known;
  const { count, orders } = await one(
    `select count, (select count(*)::int from orders) as orders from order_counts where direction = 'offramp' and customer_id = $1`,
    [customer],
  );
  const token = readFileSync(join(dir, 'operator.token'), 'utf8').trim();
  const last = Math.ceil(Number(count) / PAGE);
  const page = (n: number) =>
    ours.post('offramp/allUserTransaction', { customerId: customer, page: String(n), pageSize: String(PAGE) });
  const operations = new Map<string, Prepared>([
    ['page 1 of the biggest customer', page(1)],
    ...(last > 100 ? ([['page 100', page(100)]] as [string, Prepared][]) : []),
    ['last page', page(last)],
    ['readiness', { method: 'GET', path: '/readyz', headers: {}, body: '' }],
  ]);
  for (const [name, path] of operatorOperations(known))
    if (path !== undefined)
      operations.set(name, {
        method: 'GET',
        path: `/operator/v1${path}`,
        headers: { authorization: `Bearer ${token}` },
        body: '',
      });
  return { dir, ours, orders, operations, idleUs: 0 };
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
  requests: number;
  isSlow: boolean;
}

/** Milliseconds of each request of a round, which ends early when its time is over. */
async function round(side: Side, prepared: Prepared, mostMs: number): Promise<{ us: number; times: number[] }> {
  const times: number[] = [];
  const [before, began] = [cpuOf([side.ours.pid]), performance.now()];
  while (times.length < EACH && (times.length === 0 || performance.now() - began < mostMs)) {
    const at = performance.now();
    await send(side.ours.baseUrl, prepared);
    times.push(performance.now() - at);
  }
  const ms = performance.now() - began;
  return {
    us: Math.max(0, (cpuOf([side.ours.pid]) - before - (side.idleUs * ms) / 1_000) / times.length),
    times,
  };
}

/**
 * Measures in turns, so that other work on the machine affects all sides equally. Each side has MOST_MS for all its rounds: a
 * slow operation gets fewer requests, and one that fails is not asked again.
 */
async function measure(sides: readonly Side[], name: string): Promise<(Figure | string)[]> {
  const rounds = Number(values.rounds);
  const all = sides.map((side) => ({
    side,
    prepared: side.operations.get(name),
    rounds: [] as { us: number; times: number[] }[],
    spentMs: 0,
    failed: '',
  }));
  for (let n = 0; n <= rounds; n += 1)
    for (const one of all) {
      if (one.prepared === undefined || one.failed !== '' || one.spentMs >= MOST_MS) continue;
      const began = performance.now();
      try {
        const figures = await round(one.side, one.prepared, MOST_MS / (rounds + 1));
        // The first round warms up, unless there is no time for another.
        if (n > 0 || performance.now() - began >= MOST_MS) one.rounds.push(figures);
      } catch (error) {
        one.failed = (error as Error).message.slice(0, 120);
      }
      one.spentMs += performance.now() - began;
    }
  return all.map(({ prepared, rounds: done, failed }) => {
    if (prepared === undefined) return 'none';
    if (failed !== '') return failed;
    const times = done.flatMap((one) => one.times).sort((a, b) => a - b);
    return {
      us: median(done.map(({ us }) => us)),
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      requests: times.length,
      isSlow: times.length < rounds * EACH,
    };
  });
}

const shown = (figure: Figure | string | undefined): string =>
  typeof figure === 'object'
    ? `${figure.us.toFixed(0)} µs, ${figure.p50.toFixed(0)}/${figure.p95.toFixed(0)} ms${
        figure.isSlow ? `, slow: ${figure.requests} requests` : ''
      }`
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
    if (!new RegExp(values.only).test(name)) continue;
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
