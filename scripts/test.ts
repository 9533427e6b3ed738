/**
 * `npm test [paths] [--concurrency N] [--timeout seconds] [--name pattern] [--retries N] [--watch]`: every `server/**\/*.test.ts`,
 * each file in a process of its own.
 *
 * One PostgreSQL of our own, without fsync, serves the whole run; its address is in TEST_DATABASE_ADMIN_URL. A test's files
 * belong under TEST_DATA_DIR (`.test-data/<our pid>`), which is removed at the end, also after a Ctrl-C; a folder whose run was
 * killed is removed by the next one. Processes that tests leave behind are named, ended, and a failure.
 *
 * With `--watch` it continues until Ctrl-C: after each change below `server/` the named tests run again, or if none were named,
 * those that the change reaches (watch.ts). The database stays up in between, so a round costs only its tests.
 *
 * If no more than three files failed, each runs once more alone (`--retries 0`: none does). One that passes then is flaky: its
 * tests count as passed, and its first failure is still printed, under its name. The folders that prove what may never happen to
 * money (NEVER_RETRIED) are not run again: a failure there counts, however rare it is.
 *
 * The last line is `N passed, N failed`, and the exit code agrees. No test at all is a failure.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect, parseArgs } from 'node:util';
import { startPostgres } from '../server/src/base/postgres.ts';
import { isAlive, isGoneWithin, signal } from '../server/src/base/processes.ts';
import { migratedTemplate } from '../server/test/support/database.ts';
import { processesOf } from '../server/test/support/leftbehind.ts';
import { changesIn, named, reachedBy } from './watch.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Twice the usual cores: files wait for blocks and processes more than they compute.
    concurrency: { type: 'string', default: '4' },
    // Of a file. The longest takes a minute on a free core; this allows for busy machines.
    timeout: { type: 'string', default: '900' },
    name: { type: 'string' },
    retries: { type: 'string', default: '1' },
    watch: { type: 'boolean', default: false },
  },
});

/** These begin first: a long file that begins last runs alone at the end. */
const LONGEST = [
  'simulation/simulation',
  'chaos/chaos',
  'treasury/sweeps',
  'rails/evm',
  'sdk/package',
  'sdk/certify',
  'crash/kills',
  'examples',
  'backup/whole',
  'stories/reversed',
].map((path) => `server/test/${path}.test.ts`);
/** More of them are not chance. */
const FLAKY_FILES_AT_MOST = 3;
const NEVER_RETRIED = /^server\/test\/(?:attack|chaos|crash|fuzz|simulation)\//;

const folders = join(root, '.test-data');
const folder = join(folders, String(process.pid));
removeFoldersOfTheDead();
mkdirSync(folder, { recursive: true });

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort(new Error(name)));

const postgres = await startPostgres({ dataDir: join(folder, 'database'), fast: true });
process.env.TEST_DATABASE_ADMIN_URL = postgres.adminUrl;
process.env.TEST_DATABASE_TEMPLATE = await migratedTemplate(postgres.adminUrl);
process.env.TEST_DATA_DIR = folder;
// Hundreds of processes start: each would compile the same sources again, which is half of what its start costs.
process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
compileOnce();
let counts: Outcome = { passed: 0, failed: 0, skipped: 0, flaky: 0 };
let leftBehind: string[];
try {
  if (!values.watch || positionals.length > 0) counts = await runFiles(filesToRun());
  if (values.watch) await keepWatching();
} finally {
  await postgres.stop();
  leftBehind = await endLeftBehind();
  rmSync(folder, { recursive: true, force: true });
}

for (const command of leftBehind) console.log(`left running by a test: ${command}`);
if (interrupted.signal.aborted) console.log(`stopped by ${(interrupted.signal.reason as Error).message}`);
if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
if (counts.flaky > 0) console.log(`${counts.flaky} flaky`);
const failed = counts.failed + leftBehind.length;
const isGood = failed === 0 && counts.passed > 0 && !interrupted.signal.aborted;
process.stdout.write(`${counts.passed} passed, ${failed} failed\n`, () => process.exit(isGood ? 0 : 1));

/** Node writes its cache when a process ends in order, which most servers of the tests are not left to. */
function compileOnce(): void {
  const sources = ['server/src/server.ts', 'server/src/signer/index.ts', 'server/test/support/story.ts'];
  const program = sources.map((path) => `await import(${JSON.stringify(pathToFileURL(join(root, path)))});`).join('\n');
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' });
  if (ended.status !== 0) throw new Error(`The sources could not be loaded: exit code ${ended.status}.`);
}

function filesToRun(): string[] {
  const patterns = positionals.length > 0 ? positionals : ['server/**/*.test.ts'];
  const found = patterns.flatMap((pattern) => {
    const files = globSync([pattern, `${pattern}/**/*.test.ts`], { cwd: root });
    return files.filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'));
  });
  const rank = (path: string): number => (LONGEST.includes(path) ? LONGEST.indexOf(path) : LONGEST.length);
  return [...new Set(found)].toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).map((path) => join(root, path));
}

/** Until Ctrl-C. Results of an earlier round are not counted with the last one. */
async function keepWatching(): Promise<void> {
  const say = ({ passed, failed }: Outcome) => console.log(`${passed} passed, ${failed} failed`);
  if (positionals.length > 0) say(counts);
  console.log('watching server/ for changes; Ctrl-C ends');
  for await (const changed of changesIn(join(root, 'server'), interrupted.signal)) {
    if ([...changed].some((path) => path.endsWith('.sql'))) {
      process.env.TEST_DATABASE_TEMPLATE = await migratedTemplate(postgres.adminUrl);
    }
    const files = positionals.length > 0 ? filesToRun() : reachedBy(changed, join(root, 'server'));
    console.log(`\n${named(changed, root)} changed: ${files.length} files of tests`);
    if (files.length === 0) continue;
    counts = await runFiles(files);
    say(counts);
  }
}

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  /** Files that failed, and passed when they ran again alone. */
  flaky: number;
}

interface FileOutcome extends Outcome {
  file: string;
  failures: string[];
}

/** A few files at a time; a file's output is printed together when it has ended, repeated failures at the very end. */
async function runFiles(files: string[]): Promise<Outcome> {
  const outcomes: FileOutcome[] = [];
  const waiting = [...files];
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined && !interrupted.signal.aborted; file = waiting.shift())
      outcomes.push(await runFile(file));
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.concurrency)) }, worker));
  const total = await retried(outcomes);
  for (const failure of total.flatMap(({ failures }) => failures)) console.log(`\n${failure}`);
  const sum = (of: keyof Outcome) => total.reduce((all, outcome) => all + outcome[of], 0);
  if (sum('failed') > 0) console.log();
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), flaky: sum('flaky') };
}

/** @returns the outcomes; for flaky files those of the run alone */
async function retried(outcomes: readonly FileOutcome[]): Promise<FileOutcome[]> {
  const failing = outcomes.filter(({ failed }) => failed > 0);
  if (failing.length === 0 || failing.length > FLAKY_FILES_AT_MOST) return [...outcomes];
  const final = new Map(outcomes.map((outcome) => [outcome.file, outcome]));
  for (const first of failing) {
    const path = relative(root, first.file);
    if (NEVER_RETRIED.test(path)) continue;
    for (let n = 0; n < Number(values.retries) && !interrupted.signal.aborted; n += 1) {
      console.log(`\nonce more, alone: ${path}`);
      const again = await runFile(first.file);
      if (again.failed > 0 || again.passed < Math.max(1, first.passed)) continue;
      for (const failure of first.failures) console.log(`\nflaky, failed at first: ${failure}`);
      console.log(`\nflaky, passed alone: ${path}`);
      final.set(first.file, { ...again, flaky: 1 });
      break;
    }
  }
  return [...final.values()];
}

async function runFile(file: string): Promise<FileOutcome> {
  const outcome: FileOutcome = { file, passed: 0, failed: 0, skipped: 0, flaky: 0, failures: [] };
  const lines: string[] = [];
  const began = Date.now();
  const tooLong = AbortSignal.timeout(Number(values.timeout) * 1_000);
  const events = run({
    files: [file],
    isolation: 'process',
    execArgv: ['--import', pathToFileURL(join(root, 'scripts', 'test.hooks.ts')).href],
    signal: AbortSignal.any([interrupted.signal, tooLong]),
    ...(values.name === undefined ? {} : { testNamePatterns: [values.name] }),
  });
  const path = relative(root, file);
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') lines.push(data.message.trimEnd());
    // An uncaught error: it belongs to the file, which fails.
    if (type === 'test:diagnostic' && data.message.startsWith('Error: '))
      outcome.failures.push(`${path}: ${data.message}`);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const isSuite = data.details.type === 'suite';
    const indent = '  '.repeat(data.nesting + 1);
    if (type === 'test:pass') {
      if (data.name === file) continue; // the file itself, when it holds no test
      const wasSkipped = data.skip !== undefined || data.todo !== undefined;
      if (!isSuite) outcome[wasSkipped ? 'skipped' : 'passed']++;
      lines.push(`${indent}${wasSkipped ? '-' : isSuite ? '\u00b7' : '\u2714'} ${data.name}`);
      continue;
    }
    const error = data.details.error as Error & { failureType?: string };
    const name = data.name === file ? path : data.name;
    lines.push(`${indent}\u2716 ${name}`);
    if (error.failureType === 'subtestsFailed') continue; // they have been counted themselves
    outcome.failed++;
    const why =
      tooLong.aborted && data.name === file ? `took longer than ${values.timeout} s` : inspect(error.cause ?? error);
    outcome.failures.push(`\u2716 ${path}: ${name}\n${why}`);
  }
  const sign = outcome.failed === 0 ? '\u2714' : '\u2716';
  console.log(`${sign} ${path} (${Date.now() - began} ms)\n${lines.join('\n')}`);
  return outcome;
}

function removeFoldersOfTheDead(): void {
  mkdirSync(folders, { recursive: true });
  for (const name of readdirSync(folders)) {
    if (!isAlive(Number(name))) rmSync(join(folders, name), { recursive: true, force: true });
  }
}

async function endLeftBehind(): Promise<string[]> {
  const commands: string[] = [];
  for (const { pid, command } of processesOf(folder)) {
    if (await isGoneWithin(pid, 500)) continue;
    commands.push(`${pid} ${command.slice(0, 200)}`);
    signal(pid, 'SIGKILL');
    await isGoneWithin(pid, 2_000);
  }
  return commands;
}
