/**
 * `npm run bench [-- --quick | --full] [--rounds N] [--only name] [--report] [--profile]`: the cost of an operation, compared
 * with its minimum possible cost.
 *
 * Ours and the limit run in turns, round by round, on this machine, each on its own PostgreSQL with the same settings. The
 * figure is the CPU time of all their processes, PostgreSQL included and the sandbox's chains not, per operation; the ratio is
 * limit ÷ ours, the median of the rounds. It says how much of the work is unavoidable. Rates and latencies are shown too, and
 * are valid for this machine at this moment only.
 *
 * An idle sandbox is busy: it follows chains, refreshes prices, reconciles. The idle cost of each side is measured before each
 * operation, subtracted from the rounds, and stated. Otherwise rounds on a slow machine, which last longer, would include more
 * of it. The cost of a fresh idle sandbox in transactions, rows and WAL is measured first (idle.ts).
 *
 * The pairs: requests over HTTP (operations.ts), whole lives and then the sweeps they leave (lives.ts, sweeps.ts), webhooks
 * sent again (posting.ts), the follower of a chain (follower.ts), a bank's statement (statement.ts). Between them the time from
 * settled to the webhook's arrival is measured (webhooks.ts); if they arrive more slowly than required the figures are still
 * written, and the bench exits with 1. The console is opened in a real browser, up to the first row of its orders (console.ts); the
 * bench also exits with 1 if the page has more bytes than it may have. `--only` takes the beginning or a part of a name.
 *
 * `--quick` ends within three minutes: smaller sizes, one round, and parts that cannot begin in time are skipped and named.
 * `--full` runs nine rounds.
 *
 * Writes bench/results/<date>.json; with --report docs/performance.md, too. With --profile the server's CPU profile is written
 * beside it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runningPostgres } from '../server/src/base/postgres.ts';
import { writeCharts } from './charts.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type FirstRow, MOST_COMPRESSED_BYTES, measureConsole } from './console.ts';
import { startRowsLimit } from './creation.ts';
import { measureFollower } from './follower.ts';
import { measureHotAccount } from './hot.ts';
import { type Idle, idleLine, measureIdle } from './idle.ts';
import { startLimit } from './limits.ts';
import { measureLives } from './lives.ts';
import { CONCURRENCY, measure, watchedQuiet, why } from './measure.ts';
import { type Made, OPERATIONS, type Operation, operationsOn } from './operations.ts';
import { type Ours, startOurs } from './ours.ts';
import type { Pair } from './pairs.ts';
import { measurePosting } from './posting.ts';
import { firstRowLine, heardLine, type Results, report, table } from './report.ts';
import { measureStatement } from './statement.ts';
import { measureSweeps } from './sweeps.ts';
import { type Heard, measureWebhooks, WANTED_PER_SECOND } from './webhooks.ts';

const PARTS = ['idle', 'lives', 'webhooks', 'console', 'posting', 'follower', 'statement'] as const;

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
const { quick, only } = values;
const ROUNDS = Number(values.rounds ?? (quick ? 1 : values.full ? 9 : 5));
/** Rounds of pairs that take half a minute per round and vary little. */
const FEW_ROUNDS = Math.min(ROUNDS, 3);
const SIZES = quick
  ? {
      share: 0.2,
      idleMs: 1_000,
      opened: 3,
      lives: 16,
      paid: 40,
      entries: 300,
      scale: 0.05,
      idle: { settleMs: 12_000, ms: 12_000 },
    }
  : {
      share: 1,
      idleMs: 3_000,
      opened: 10,
      lives: 200,
      paid: 200,
      entries: 5_000,
      scale: 1,
      idle: { settleMs: 30_000, ms: 60_000 },
    };
/**
 * Time after which --quick begins no further part: the current part and stopping the server fit into the rest of three minutes.
 */
const BEGUN_WITHIN_MS = 140_000;

const folder = mkdtempSync(join(tmpdir(), 'cloverleaf-bench-'));
const ending: (() => Promise<void>)[] = [];
const pairs: Pair[] = [];
const leftOut: string[] = [];

/** Whether a part is selected, and can still begin. */
function isDue(name: string): boolean {
  if (only !== undefined && !name.includes(only)) return false;
  const isLate = quick && performance.now() > BEGUN_WITHIN_MS;
  if (isLate) leftOut.push(name);
  return !isLate;
}

function take(pair: Pair | undefined): void {
  if (pair === undefined) return;
  pairs.push(pair);
  process.stdout.write(`${table([pair], pairs.length === 1)}\n`);
  for (const note of pair.notes) process.stdout.write(`    ${note}\n`);
}

async function run(): Promise<void> {
  const names = [...PARTS, ...OPERATIONS];
  if (only !== undefined && !names.some((name) => name.includes(only)))
    throw new Error(`--only names none of: ${names.join('; ')}`);
  const cluster = await startCluster(folder, ending);
  // These need no server.
  if (isDue('follower'))
    take(await measureFollower(cluster, { scale: SIZES.scale, rounds: FEW_ROUNDS, isWatched: values.report }));
  if (isDue('statement')) take(await measureStatement({ scale: SIZES.scale, rounds: FEW_ROUNDS }));
  const rest = names.filter((name) => name !== 'follower' && name !== 'statement');
  const served = rest.some((name) => only === undefined || name.includes(only)) ? await serve(cluster) : {};
  const results: Results = {
    at: new Date().toISOString(),
    node: process.version,
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    concurrency: CONCURRENCY,
    rounds: ROUNDS,
    load: loadavg()[0] ?? 0,
    pairs,
    leftOut,
    ...served,
  };
  if (leftOut.length > 0) process.stdout.write(`not measured within three minutes: ${leftOut.join(', ')}\n`);
  const file = fileURLToPath(new URL(`results/${results.at.slice(0, 10)}.json`, import.meta.url));
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  if (values.report) {
    const docs = new URL('../docs/', import.meta.url);
    writeFileSync(new URL('performance.md', docs), report(results));
    writeCharts(new URL('performance/', docs), results.pairs);
  }
  // A latency at a lower rate than requested does not count.
  const heard = results.webhooks;
  if (!quick && heard !== undefined && heard.eventsPerSecond < WANTED_PER_SECOND) process.exitCode = 1;
  if ((results.firstRow?.compressedBytes ?? 0) > MOST_COMPRESSED_BYTES) process.exitCode = 1;
}

/** The parts that need a server of ours. */
async function serve(cluster: Cluster): Promise<{ idle?: Idle; webhooks?: Heard; firstRow?: FirstRow; hot?: string }> {
  const dataDir = join(folder, 'ours');
  const profiles = fileURLToPath(new URL('results/profile', import.meta.url));
  const ours = await startOurs(dataDir, ending, values.profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : []);
  const adminUrl = runningPostgres(dataDir) ?? '';
  const needsIdle = ['idle', 'lives', 'posting'].some((name) => only === undefined || name.includes(only));
  const idle = needsIdle ? await measureIdle({ adminUrl, pids: [ours.pid] }, SIZES.idle) : undefined;
  if (idle !== undefined) process.stdout.write(`${idleLine(idle)}\n`);
  let hot: string | undefined;
  let webhooks: Heard | undefined;
  let firstRow: FirstRow | undefined;
  // Webhooks need existing orders.
  if ([...OPERATIONS, 'webhooks', 'console', 'posting'].some((name) => only === undefined || name.includes(only))) {
    const { operations, orders } = await operationsOn(ours);
    if (isDue('webhooks')) webhooks = await measureWebhooks(ours, orders.slice(0, SIZES.paid));
    if (webhooks !== undefined) process.stdout.write(`${heardLine(webhooks)}\n`);
    if (isDue('console')) {
      firstRow = await measureConsole({ baseUrl: ours.baseUrl, dataDir, orders: orders.length }, SIZES.opened);
      process.stdout.write(`${firstRow === undefined ? 'console: no Chromium here' : firstRowLine(firstRow)}\n`);
    }
    await overHttp({ ours, adminUrl, cluster, operations, orders });
  }
  if (idle !== undefined) {
    const quiet = values.report ? await watchedQuiet(ours, SIZES.idleMs) : undefined;
    const server = { ours, adminUrl, idle, quiet };
    if (isDue('lives')) {
      take(await measureLives(server, cluster, SIZES.lives));
      take(await measureSweeps(server));
      hot = await measureHotAccount(cluster, SIZES.entries);
      process.stdout.write(`    ${hot}\n`);
    }
    // The events that are sent again are those of the earlier parts.
    if (isDue('posting')) take(await measurePosting(server, FEW_ROUNDS));
  }
  return { ...(idle && { idle }), ...(webhooks && { webhooks }), ...(firstRow && { firstRow }), ...(hot && { hot }) };
}

async function overHttp(on: {
  ours: Ours;
  adminUrl: string;
  cluster: Cluster;
  operations: readonly Operation[];
  orders: readonly Made[];
}): Promise<void> {
  const { ours, adminUrl, cluster, operations, orders } = on;
  const due = operations.filter(({ name }) => only === undefined || name.includes(only));
  if (due.length === 0) return;
  const limits = {
    bytes: await startLimit(ours, adminUrl, orders, { cluster, ending }),
    ...(due.some(({ beside }) => beside === 'rows')
      ? { rows: await startRowsLimit(ours, adminUrl, cluster, ending) }
      : {}),
  };
  const quiet = values.report ? await watchedQuiet(ours, SIZES.idleMs) : undefined;
  for (const operation of due) {
    const limit = limits[operation.beside];
    if (limit === undefined || !isDue(operation.name)) continue;
    const side = { baseUrl: ours.baseUrl, pids: [ours.pid] } as const;
    const how = { rounds: ROUNDS, share: SIZES.share, idleMs: SIZES.idleMs };
    const pair = await measure(operation, { ours: side, limit }, how);
    if (quiet !== undefined) pair.why = await why(operation, ours, quiet);
    take(pair);
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
    // A process that was just being started may exist only now. The run then fails because its servers are gone.
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
