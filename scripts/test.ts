/**
 * `npm test [paths] [--concurrency N] [--timeout seconds] [--name pattern] [--retries N] [--watch]`: every `server/**\/*.test.ts`
 * but those of the long run (`*.long.test.ts`, support/long.ts), four processes at a time.
 * What proves its case by processes, or takes long, has a process of its own (ALONE); the others run one after another in shared
 * processes (test.files.ts), which load what they share once.
 *
 * One PostgreSQL of our own, without fsync, serves the whole run; its address is in TEST_DATABASE_ADMIN_URL. A test's files
 * belong under TEST_DATA_DIR, which is also the folder for temporary files: in memory if there is enough (memory.ts), because a
 * database is copied for most files, and costs ten times as much on a disk. What is large stays under TEST_RUN_DIR
 * (`.test-data/<our pid>`). Both are removed at the end, also after a Ctrl-C; those of a run that was killed are removed by the next
 * one. Processes that tests leave behind are named, ended, and a failure; so is what cannot be removed.
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
import { globSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect, parseArgs } from 'node:util';
import { isGoneWithin, signal } from '../server/src/base/processes.ts';
import { migratedTemplate } from '../server/test/support/database.ts';
import { processesOf } from '../server/test/support/leftbehind.ts';
import { isLong } from '../server/test/support/long.ts';
import { folderOfRun, memoryFolder, removeFolder } from '../server/test/support/memory.ts';
import { startTestDatabase } from './test.database.ts';
import { changesIn, named, reachedBy } from './watch.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Twice the usual cores: eight take as long (docs/decisions/0098-what-npm-test-runs.md).
    concurrency: { type: 'string', default: '4' },
    // Of a file. The longest takes a minute on a free core; this allows for busy machines.
    timeout: { type: 'string', default: '900' },
    name: { type: 'string' },
    retries: { type: 'string', default: '1' },
    watch: { type: 'boolean', default: false },
  },
});

/** These begin first, each in a process of its own: a long file that begins last runs alone at the end. */
const LONGEST = [
  'simulation/simulation',
  'chaos/chaos',
  'treasury/sweeps',
  'rails/evm',
  'sdk/package',
  'sdk/certify.long',
  'crash/kills',
  'examples.long',
  'backup/whole',
  'stories/reversed',
].map((path) => `server/test/${path}.test.ts`);
/** These begin first in the shared processes. */
const EARLY = [
  'backup/personal',
  'plans',
  'production/upgrade',
  'stories/restored',
  'stories/operator',
  'console/baddays',
  'backup/post-restore',
  'stories/gate',
  'console/baddays.money',
  'console/partner',
  'ops/output',
  'ops/stuck',
].map((path) => `server/test/${path}.test.ts`);
/** These have processes of their own: they change what a process has once, or take so long that others would wait for them. */
const ALONE =
  /^server\/test\/(?:(?:chaos|crash|simulation|prove)\/|(?:install|runner|start|steppedclock|watch)(?:\.long)?\.test)/;
/** More of them are not chance. */
const FLAKY_FILES_AT_MOST = 3;
const NEVER_RETRIED = /^server\/test\/(?:attack|chaos|crash|fuzz|simulation)\//;

const SHARED = join(root, 'scripts', 'test.files.ts');
// Beside paths that have tests, a mistyped one would pass unnoticed.
for (const pattern of positionals)
  if (filesOf(pattern).length === 0) throw new Error(`${pattern}: there is no file of tests`);

const folder = folderOfRun(join(root, '.test-data'));
const memory = memoryFolder('cloverleaf-tests');
const data = memory === undefined ? folder : folderOfRun(memory);

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort(new Error(name)));

const postgres = await startTestDatabase(join(data, 'database'));
process.env.TEST_DATABASE_ADMIN_URL = postgres.adminUrl;
process.env.TEST_DATABASE_TEMPLATE = await migratedTemplate(postgres.adminUrl);
process.env.TEST_DATA_DIR = data;
process.env.TMPDIR = data;
process.env.TEST_RUN_DIR = folder;
// Hundreds of processes start: each would compile the same sources again, which is half of what its start costs.
if (process.env.NODE_COMPILE_CACHE === undefined) {
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
  compileOnce();
}
let counts: Outcome = { passed: 0, failed: 0, skipped: 0, flaky: 0 };
let leftBehind: string[];
try {
  if (!values.watch || positionals.length > 0) counts = await runFiles(filesToRun());
  if (values.watch) await keepWatching();
} finally {
  await postgres.stop();
  leftBehind = await endLeftBehind();
  leftBehind.push(...[folder, data].flatMap(removed));
}

for (const left of leftBehind) console.log(left);
if (interrupted.signal.aborted) console.log(`stopped by ${(interrupted.signal.reason as Error).message}`);
if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
if (counts.flaky > 0) console.log(`${counts.flaky} flaky`);
const failed = counts.failed + leftBehind.length;
const isGood = failed === 0 && counts.passed > 0 && !interrupted.signal.aborted;
process.stdout.write(`${counts.passed} passed, ${failed} failed\n`, () => process.exit(isGood ? 0 : 1));

/** Node writes its cache on a clean exit, and most servers of the tests are killed. */
function compileOnce(): void {
  const sources = ['server/src/server.ts', 'server/src/signer/index.ts', 'server/test/support/story.ts'];
  const program = sources.map((path) => `await import(${JSON.stringify(pathToFileURL(join(root, path)))});`).join('\n');
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' });
  if (ended.status !== 0) throw new Error(`The sources could not be loaded: exit code ${ended.status}.`);
}

function filesToRun(): string[] {
  const patterns = positionals.length > 0 ? positionals : ['server/**/*.test.ts'];
  const found = patterns.flatMap(filesOf);
  const first = [...LONGEST, ...EARLY];
  const rank = (path: string): number => (first.includes(path) ? first.indexOf(path) : first.length);
  return [...new Set(found)].toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).map((path) => join(root, path));
}

/** Of a file, a folder, or a pattern. */
function filesOf(pattern: string): string[] {
  return globSync([pattern, `${pattern}/**/*.test.ts`], { cwd: root }).filter(
    (path) => path.endsWith('.test.ts') && !path.includes('node_modules') && (path === pattern || isListed(path)),
  );
}

/** A file of the long run has to be named. */
function isListed(path: string): boolean {
  return isLong || !path.endsWith('.long.test.ts');
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
    const files = positionals.length > 0 ? filesToRun() : reachedBy(changed, join(root, 'server')).filter(isListed);
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
  const alone = files.filter(isAlone);
  const shared = files.filter((file) => !isAlone(file));
  const outcomes: FileOutcome[] = [];
  const list = mkdtempSync(join(folder, 'shared-'));
  const taken = join(list, 'taken');
  mkdirSync(taken);
  writeFileSync(join(list, 'files.json'), JSON.stringify(shared));
  process.env.TEST_SHARED = list;
  const worker = async () => {
    for (let file = alone.shift(); file !== undefined && !isStopped(); file = alone.shift())
      outcomes.push(await runFile(file));
    for (let count = -1; count < shared.length && !isStopped(); ) {
      outcomes.push(...(await runShared()));
      const now = readdirSync(taken).length;
      if (now === count) break; // it could not even begin
      count = now;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.concurrency)) }, worker));
  const told = new Set(outcomes.map(({ file }) => file));
  for (const file of shared) if (!told.has(file) && !isStopped()) outcomes.push(ended(file));
  const total = await retried(outcomes);
  for (const failure of total.flatMap(({ failures }) => failures)) console.log(`\n${failure}`);
  const sum = (of: keyof Outcome) => total.reduce((all, outcome) => all + outcome[of], 0);
  if (sum('failed') > 0) console.log();
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), flaky: sum('flaky') };
}

function isAlone(file: string): boolean {
  const path = relative(root, file);
  // A pattern is compared with a test's name and its suites': the path of a file is none of them.
  return values.name !== undefined || LONGEST.includes(path) || ALONE.test(path);
}

function isStopped(): boolean {
  return interrupted.signal.aborted;
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

function unrun(file: string): FileOutcome {
  return { file, passed: 0, failed: 0, skipped: 0, flaky: 0, failures: [] };
}

/** It was taken by a process that ended before its tests did. */
function ended(file: string): FileOutcome {
  const path = relative(root, file);
  console.log(`\u2716 ${path}\n  its process ended before its tests`);
  return { ...unrun(file), failed: 1, failures: [`\u2716 ${path}: its process ended before its tests`] };
}

async function runFile(file: string): Promise<FileOutcome> {
  const outcome = unrun(file);
  const lines: string[] = [];
  const began = Date.now();
  const tooLong = AbortSignal.timeout(Number(values.timeout) * 1_000);
  for await (const event of eventsOf(file, tooLong)) {
    if (tooLong.aborted && event.type === 'test:fail' && event.data.name === file) noteTooLong(outcome);
    else note(outcome, lines, event, 0);
  }
  print(outcome, lines, began);
  return outcome;
}

/** Those that one shared process took, until none was left or it ended. */
async function runShared(): Promise<FileOutcome[]> {
  const outcomes: FileOutcome[] = [];
  const tooLong = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let current: FileOutcome | undefined;
  let lines: string[] = [];
  let began = Date.now();
  const end = (outcome: FileOutcome) => {
    clearTimeout(timer);
    print(outcome, lines, began);
    outcomes.push(outcome);
    current = undefined;
    lines = [];
    began = Date.now();
  };
  for await (const event of eventsOf(SHARED, tooLong.signal)) {
    const { type, data } = event;
    // The process itself: what it took, and what is uncaught, is reported under the names of its files.
    if (type === 'test:diagnostic' || ('name' in data && data.name === SHARED)) continue;
    const isOfFile = 'nesting' in data && data.nesting === 0;
    if (type === 'test:dequeue' && isOfFile) {
      current = unrun(join(root, data.name));
      timer = setTimeout(() => tooLong.abort(), Number(values.timeout) * 1_000);
    } else if (current === undefined || !isOfFile || (type !== 'test:pass' && type !== 'test:fail')) {
      // What a file prints while it loads comes before its start.
      note(current ?? unrun(''), lines, event, 1);
    } else {
      // Its tests have been counted themselves; this is a hook of the file, or an uncaught error.
      const error = type === 'test:fail' ? (data.details.error as Error & { failureType?: string }) : undefined;
      if (error !== undefined && error.failureType !== 'subtestsFailed') {
        // Such an error may have failed its test already.
        current.failed ||= 1;
        current.failures.push(`\u2716 ${relative(root, current.file)}\n${inspect(error.cause ?? error)}`);
      }
      end(current);
    }
  }
  clearTimeout(timer);
  if (current !== undefined && tooLong.signal.aborted) {
    noteTooLong(current);
    end(current);
  }
  return outcomes;
}

type Events = ReturnType<typeof run>;
type Event = Events extends AsyncIterable<infer E> ? E : never;

function eventsOf(file: string, tooLong: AbortSignal): Events {
  return run({
    files: [file],
    isolation: 'process',
    execArgv: ['--import', pathToFileURL(join(root, 'scripts', 'test.hooks.ts')).href],
    signal: AbortSignal.any([interrupted.signal, tooLong]),
    ...(values.name === undefined ? {} : { testNamePatterns: [values.name] }),
  });
}

/** @param outer the nesting of the tests of the file */
function note(outcome: FileOutcome, lines: string[], { type, data }: Event, outer: number): void {
  const path = relative(root, outcome.file);
  if (type === 'test:stdout' || type === 'test:stderr') lines.push(data.message.trimEnd());
  // An uncaught error: it belongs to the file, which fails.
  if (type === 'test:diagnostic' && data.message.startsWith('Error: '))
    outcome.failures.push(`${path}: ${data.message}`);
  if (type !== 'test:pass' && type !== 'test:fail') return;
  const isSuite = data.details.type === 'suite';
  const indent = '  '.repeat(data.nesting + 1 - outer);
  if (type === 'test:pass') {
    if (data.name === outcome.file) return; // the file itself, when it holds no test
    const wasSkipped = data.skip !== undefined || data.todo !== undefined;
    if (!isSuite) outcome[wasSkipped ? 'skipped' : 'passed']++;
    lines.push(`${indent}${wasSkipped ? '-' : isSuite ? '\u00b7' : '\u2714'} ${data.name}`);
    return;
  }
  const error = data.details.error as Error & { failureType?: string };
  const name = data.name === outcome.file ? path : data.name;
  lines.push(`${indent}\u2716 ${name}`);
  if (error.failureType === 'subtestsFailed') return; // they have been counted themselves
  outcome.failed++;
  outcome.failures.push(`\u2716 ${path}: ${name}\n${inspect(error.cause ?? error)}`);
}

function noteTooLong(outcome: FileOutcome): void {
  outcome.failed++;
  outcome.failures.push(`\u2716 ${relative(root, outcome.file)}: took longer than ${values.timeout} s`);
}

function print({ file, failed }: FileOutcome, lines: readonly string[], began: number): void {
  const sign = failed === 0 ? '\u2714' : '\u2716';
  console.log(`${sign} ${relative(root, file)} (${Date.now() - began} ms)\n${lines.join('\n')}`);
}

async function endLeftBehind(): Promise<string[]> {
  const commands: string[] = [];
  for (const { pid, command } of [...processesOf(folder), ...(data === folder ? [] : processesOf(data))]) {
    if (await isGoneWithin(pid, 500)) continue;
    commands.push(`left running by a test: ${pid} ${command.slice(0, 200)}`);
    signal(pid, 'SIGKILL');
    await isGoneWithin(pid, 2_000);
  }
  return commands;
}

/** @returns why it could not be removed, as one failure: the results are told all the same */
function removed(path: string): string[] {
  try {
    removeFolder(path);
    return [];
  } catch (error) {
    return [`left by a test: ${path}: ${(error as Error).message}`];
  }
}
