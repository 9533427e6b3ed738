/**
 * `npm run mutate [-- --only <group or file>] [--json <file>] [--kept <file>] [--stretches N] [--seed S] [--minutes M]`: breaks the code
 * in every small way that Stryker knows, and checks whether a test notices. Accepted survivors and their reasons are in
 * server/test/prove/survivors.json (reasons.ts). One without a reason, or whose reason does not suffice, is reported, and with it the
 * step `mutation` of the evidence did not hold.
 *
 * Each group is files with their own tests: the tests of a mutant run as separate processes, and there are hundreds of mutants. Code that
 * counts money is mutated whole. Of code that acts, which only tests with a database reach, a sample is mutated: N stretches of each file,
 * chosen by the seed; another seed mutates other stretches, and `--stretches 0` all of a file. The first stretch of each file of the groups
 * that are `isFirst` is tried, however long that takes; then the first of the other files, and the further ones, begin until this run has
 * taken M minutes. The journal of `--kept` holds a file's mutants as long as that file and the tests of its group are the same, whatever
 * else has changed, and they take no time again: each run of M minutes tries more. Where a group has more tests than before, only the
 * survivors are tried, with these. Stryker is installed beside this file at the first run, from a lock file of its own.
 *
 * Stopped by a signal it ends its child processes. Prints each file's score and survivors, exits with 1 if a file that was
 * mutated whole is below its minimum, and writes a `Report` on request, which `npm run prove` reads: its names and meanings stay.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isGoneWithin, signal } from '../server/src/base/processes.ts';
import { explanationOf, lineTexts, reasonsHere, wrongWith } from '../server/test/prove/reasons.ts';
import { chanceOf } from '../server/test/simulation/chance.ts';
import { migratedTemplate } from '../server/test/support/database.ts';
import { openJournal } from '../server/test/support/journal.ts';
import { processesOf } from '../server/test/support/leftbehind.ts';
import { folderOfRun, memoryFolder } from '../server/test/support/memory.ts';
import { GROUPS, type Group } from './mutate.groups.ts';
import { startTestDatabase } from './test.database.ts';

/** Minimum percentage of noticed mutants, among those that tests reach and that are not equivalent to the code. */
const FLOOR = 85;

/** Lines of a stretch: many small ones of many files show more of the tests than few long ones. */
const STRETCH = 5;
/** Files of one run of Stryker, which begins with all tests of the group on the code as it is: minutes, where they are stories. */
const FILES_A_RUN = 10;

interface Survivor {
  line: number;
  /** Where it is, as in a range of Stryker's. */
  place: string;
  mutator: string;
  code: string;
  instead: string;
}

interface FileScore {
  file: string;
  mutants: number;
  /** Noticed: a test failed, or did not end. */
  killed: number;
  /** Those of them whose tests did not end: on an overloaded machine, a slow run looks the same. */
  hung: number;
  /** Could not be loaded, so nothing was tested; not counted in the score. */
  broken: number;
  survivors: Survivor[];
  /** Killed of a hundred, without the broken ones. */
  score: number;
  /** Number of mutated lines of the file, if not all. */
  sampled?: { lines: number; of: number };
}

interface Report {
  command: string;
  seconds: number;
  files: FileScore[];
  mutants: number;
  killed: number;
  survived: number;
  /** Files of whose chosen lines none can be changed. */
  untouched: string[];
  /** Files without a mutant in this run or the journal. */
  unreached: string[];
}

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const tool = join(root, 'scripts', 'mutation');
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    json: { type: 'string' },
    kept: { type: 'string' },
    stretches: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '40' },
    /** How many mutants are tried at a time. */
    processes: { type: 'string', default: '2' },
  },
});
const [stretches, seed, minutes, processes] = [values.stretches, values.seed, values.minutes, values.processes].map(
  Number,
) as [number, number, number, number];
if (![stretches, seed, minutes].every((n) => Number.isSafeInteger(n) && n >= 0))
  throw new Error('--stretches, --seed and --minutes are whole numbers from 0');
if (!Number.isSafeInteger(processes) || processes < 1) throw new Error('--processes is a whole number from 1');
const wanted = Object.entries(GROUPS).flatMap(([name, group]): [string, Group][] => {
  if (values.only === undefined || values.only === name) return [[name, group]];
  return group.mutate.includes(values.only) ? [[name, { ...group, mutate: [values.only] }]] : [];
});
if (wanted.length === 0) throw new Error(`--only is a file of a group, or one of ${Object.keys(GROUPS).join(', ')}`);
for (const path of wanted.flatMap(([, { mutate, tests }]) => [
  ...mutate.map((one) => join('src', one)),
  ...tests.map((one) => join('test', one)),
]))
  if (!existsSync(join(root, 'server', path))) throw new Error(`server/${path} is not there`);

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort(new Error(name)));

if (!existsSync(join(tool, 'node_modules')))
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], tool);
const memory = memoryFolder('cloverleaf-mutate');
const folder = memory === undefined ? mkdtempSync(join(tmpdir(), 'cloverleaf-mutate-')) : folderOfRun(memory);
const postgres = await startTestDatabase(join(folder, 'database'));
process.env.TEST_DATABASE_ADMIN_URL = postgres.adminUrl;
// The tests of each mutant begin with a database: a copy takes a tenth of the time of the migrations.
process.env.TEST_DATABASE_TEMPLATE = await migratedTemplate(postgres.adminUrl);
process.env.TEST_DATA_DIR = folder;
process.env.TMPDIR = folder;
// Each mutant is a process, which would compile the same sources again.
process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
const files: FileScore[] = [];
const journal = openJournal(values.kept);
const reasons = reasonsHere(root);
let [wholeMs, sampledMs] = [0, 0];
/** What was tried now, and not in an earlier run. */
let spentMs = 0;
const reached = new Set<string>();
try {
  // One by one: of a run that is stopped, the files before it are kept.
  for (const [name, { mutate, tests }] of wanted.filter(([, { isSampled }]) => !isSampled))
    for (const [n, path] of mutate.entries()) {
      const { scores, ms } = await mutatedOnce(`${name}-${n + 1}`, [path], tests);
      wholeMs += ms;
      files.push(...scores);
      reached.add(path);
    }
  for (const { name, isFirst, ranges, tests } of roundsOf(wanted)) {
    const isOver = !isFirst && spentMs >= minutes * 60_000;
    const some = isOver ? ranges.filter((range) => knownOf(range, digestsOf(tests)) !== undefined) : ranges;
    if (some.length === 0) continue;
    const from = Date.now();
    const { scores, ms } = await mutatedOnce(name, some, tests);
    spentMs += Date.now() - from;
    sampledMs += ms;
    for (const score of scores) addSampled(score);
    for (const range of some) reached.add(fileOf(range));
  }
} finally {
  await postgres.stop();
  await endLeftBehind();
  rmSync(folder, { recursive: true, force: true });
}

const chosen = wanted.flatMap(([, { mutate }]) => mutate);
const untouched = chosen.filter((path) => reached.has(path) && !isChanged(path));
const unreached = chosen.filter((path) => !reached.has(path));
const sum = (of: (one: FileScore) => number): number => files.reduce((all, one) => all + of(one), 0);
const report: Report = {
  command: `npm run mutate${values.only === undefined ? '' : ` -- --only ${values.only}`}`,
  seconds: Math.round((wholeMs + sampledMs) / 1_000),
  files: files.map((score) => ({ ...score, survivors: explainable(score.file, score.survivors) })),
  mutants: sum((one) => one.mutants),
  killed: sum((one) => one.killed),
  survived: sum((one) => one.survivors.length),
  untouched,
  unreached,
};
for (const { file, mutants, killed, hung, broken, survivors, score, sampled } of files) {
  const part = sampled === undefined ? '' : `, in ${sampled.lines} of its ${sampled.of} lines`;
  console.log(
    `${file}${part}: ${score} of 100 (${mutants} mutants, ${killed} killed, ${hung} of them by hanging, ${broken} broken, ${survivors.length} survived)`,
  );
  for (const one of explainable(file, survivors)) {
    const { kind, why } = explanationOf(reasons, file, one) ?? {};
    const wrong = wrongWith(reasons, file, one)?.toUpperCase();
    const said = [wrong, kind, why].filter((part) => part !== undefined).join(': ');
    console.log(`  ${one.line} ${one.mutator}: ${one.code} -> ${one.instead} (${said})`);
  }
}
if (untouched.length > 0) console.log(`nothing to change in the chosen lines of ${untouched.join(', ')}`);
if (unreached.length > 0) console.log(`not in the sample: ${unreached.join(', ')}`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
process.exitCode = files.every(({ score, sampled }) => sampled !== undefined || score >= FLOOR) ? 0 : 1;

/** A stretch of comments or types has nothing to change. */
function isChanged(path: string): boolean {
  return files.some(({ file, mutants, broken }) => file === path && mutants > broken);
}

interface Round {
  name: string;
  /** Tried however long it takes. */
  isFirst: boolean;
  ranges: string[];
  tests: readonly string[];
}

/** The first stretch of every file of every group, a few files at a time, then the second of every file, and so on. */
function roundsOf(groups: readonly (readonly [string, Group])[]): Round[] {
  const runs = groups
    .toSorted(([, a], [, b]) => Number(b.isFirst ?? false) - Number(a.isFirst ?? false))
    .flatMap(([group, { isSampled, isFirst = false, mutate, tests }]) => {
      if (!isSampled) return [];
      const all = mutate.map(stretchesOf);
      return Array.from({ length: Math.ceil(all.length / FILES_A_RUN) }, (_, n) => ({
        ...{ name: `${group}-${n + 1}`, isFirst, tests },
        files: all.slice(n * FILES_A_RUN, (n + 1) * FILES_A_RUN),
      }));
    });
  return Array.from({ length: Math.max(1, stretches) }, (_, n) =>
    runs
      .map(({ name, isFirst, tests, files: some }) => ({
        ...{ name: `${name}-${n + 1}`, isFirst: isFirst && n === 0, tests },
        ranges: some.flatMap((all) => all[n] ?? []),
      }))
      .filter(({ ranges }) => ranges.length > 0),
  ).flat();
}

/** With the text of the line, by which reasons.ts finds a reason. The journal has none: it holds for the same source only. */
function explainable(file: string, survivors: readonly Survivor[]): (Survivor & { lineText: string })[] {
  const texts = lineTexts(sourceOf(file));
  return survivors.map((one) => ({ ...one, lineText: texts[one.line - 1] ?? '' }));
}

function sourceOf(path: string): string {
  return readFileSync(join(root, 'server', 'src', path), 'utf8');
}

function linesOf(path: string): number {
  return sourceOf(path).split('\n').length;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Stretches of a file, in Stryker's format. They depend on no other file. A mutant belongs to a stretch that contains all of it. */
function stretchesOf(path: string): string[] {
  const chance = chanceOf(seed ^ createHash('sha256').update(path).digest().readUInt32LE());
  const of = linesOf(path);
  if (stretches === 0 || stretches * STRETCH >= of) return [path];
  // Each from a different part of the file, so that they are spread out; in any order, because there may be time for the first only.
  const part = of / stretches;
  return Array.from({ length: stretches }, (_, n) => Math.floor(n * part + chance.next() * Math.max(1, part - STRETCH)))
    .map((first) => ({ range: `${path}:${first + 1}-${first + STRETCH}`, at: chance.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ range }) => range);
}

/** Adds the mutants of one more stretch to those of its file. */
function addSampled(score: FileScore): void {
  const of = linesOf(score.file);
  const isWhole = stretches === 0 || stretches * STRETCH >= of;
  const before = files.find(({ file }) => file === score.file);
  if (before === undefined) {
    files.push({ ...score, ...(isWhole ? {} : { sampled: { lines: STRETCH, of } }) });
    return;
  }
  const sum = (name: 'mutants' | 'killed' | 'hung' | 'broken'): number => before[name] + score[name];
  const survivors = [...before.survivors, ...score.survivors];
  Object.assign(before, {
    ...{ mutants: sum('mutants'), killed: sum('killed'), hung: sum('hung'), broken: sum('broken') },
    ...{ survivors, score: scoreOf(sum('killed'), survivors.length) },
    sampled: { lines: (before.sampled?.lines ?? 0) + STRETCH, of },
  } satisfies Partial<FileScore>);
}

/** Of a file or a stretch, under its name and the digest of its file. */
interface Kept {
  /** The digests of the tests that these mutants have had, by path. */
  tests: Record<string, string>;
  scores: FileScore[];
  ms: number;
}

/**
 * The mutants of these files or stretches. What the journal has is not tried again: where tests were added, only the survivors
 * are, and only with these tests. Where a test was changed or removed, all are, because that test may have been the one that failed.
 */
async function mutatedOnce(name: string, mutate: readonly string[], paths: readonly string[]): Promise<Kept> {
  const tests = digestsOf(paths);
  const missing = mutate.filter((range) => knownOf(range, tests) === undefined);
  if (missing.length > 0) {
    const from = Date.now();
    const { scores } = await mutated(name, missing, paths);
    const ms = Math.round((Date.now() - from) / missing.length);
    for (const range of missing)
      journal.keep(keyOf(range), { tests, scores: scores.filter(({ file }) => file === fileOf(range)), ms });
  }
  const sets = Map.groupBy(mutate, (range) =>
    Object.keys(tests)
      .filter((path) => !(path in (knownOf(range, tests)?.tests ?? {})))
      .join(),
  );
  for (const [added, ranges] of sets) {
    if (added === '') continue;
    const from = Date.now();
    const places = ranges.flatMap((range) => (knownOf(range, tests)?.scores ?? []).flatMap(placesOf));
    const { noticed } =
      places.length === 0 ? { noticed: new Map() } : await mutated(`${name}-added`, places, added.split(','));
    const ms = Math.round((Date.now() - from) / ranges.length);
    for (const range of ranges) {
      const known = knownOf(range, tests);
      if (known === undefined) continue;
      const scores = known.scores.map((score) => withoutNoticed(score, noticed));
      journal.keep(keyOf(range), { tests, scores, ms: known.ms + ms } satisfies Kept);
    }
  }
  const all = mutate.flatMap((range) => knownOf(range, tests) ?? []);
  return { tests, scores: all.flatMap(({ scores }) => scores), ms: all.reduce((sum, one) => sum + one.ms, 0) };
}

/** Of tests, by path. */
function digestsOf(paths: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    paths.map((path) => [path, digestOf(readFileSync(join(root, 'server', 'test', path), 'utf8'))]),
  );
}

/** In the journal: of the same file, in front of tests that are all still the same. */
function keyOf(range: string): string {
  return `${range} ${digestOf(sourceOf(fileOf(range)))}`;
}

function knownOf(range: string, tests: Readonly<Record<string, string>>): Kept | undefined {
  const known = journal.known<Kept>(keyOf(range));
  const isSame = known !== undefined && Object.entries(known.tests).every(([path, digest]) => tests[path] === digest);
  return isSame ? known : undefined;
}

/** The survivors of a file as ranges in Stryker's format. */
function placesOf({ file, survivors }: FileScore): string[] {
  return [...new Set(survivors.map(({ place }) => `${file}:${place}`))];
}

/** A survivor that was not tried again, for whatever reason, stays one. */
function withoutNoticed(score: FileScore, noticed: Noticed): FileScore {
  const how = (one: Survivor) => noticed.get(nameOf(score.file, one));
  const survivors = score.survivors.filter((one) => how(one) === undefined);
  const hung = score.hung + score.survivors.filter((one) => how(one) === 'Timeout').length;
  const killed = score.killed + score.survivors.length - survivors.length;
  return { ...score, killed, hung, survivors, score: scoreOf(killed, survivors.length) };
}

/** Among the mutants of all files. */
function nameOf(file: string, { place, mutator, instead }: Omit<Survivor, 'line' | 'code'>): string {
  return `${file} ${place} ${mutator} ${instead}`;
}

/** Of a file, or of a stretch of one. */
function fileOf(range: string): string {
  return range.replace(/:.*/, '');
}

/** How mutants were noticed, by name. */
type Noticed = ReadonlyMap<string, 'Killed' | 'Timeout'>;

async function mutated(
  name: string,
  mutate: readonly string[],
  tests: readonly string[],
): Promise<{ scores: FileScore[]; noticed: Noticed }> {
  const json = join(folder, `${name}.json`);
  const config = join(folder, `${name}.config.json`);
  writeFileSync(
    config,
    JSON.stringify({
      testRunner: 'tap',
      plugins: [join(tool, 'node_modules/@stryker-mutator/tap-runner/dist/src/index.js')],
      tap: {
        testFiles: tests.map((path) => `server/test/${path}`),
        // Node speaks TAP only when asked.
        nodeArgs: ['--test-reporter=tap', '--import', join(tool, 'quick.mjs')],
        forceBail: true,
      },
      mutate: mutate.map((path) => `server/src/${path}`),
      coverageAnalysis: 'perTest',
      // Types are stripped by Node itself, and Stryker's own look at tsconfig needs an older compiler's interface.
      tsconfigFile: 'none.json',
      disableTypeChecks: false,
      ignorePatterns: [
        '/**',
        '!/server/src/**',
        '!/server/test/**',
        '!/server/migrations/**',
        // A test compares the kinds of cases with their pages.
        '!/docs/**',
        '!/package.json',
        '!/server/package.json',
      ],
      allowConsoleColors: false,
      reporters: ['json', 'progress-append-only'],
      jsonReporter: { fileName: json },
      tempDirName: join(folder, 'sandboxes'),
      concurrency: processes,
      timeoutMS: 60_000,
      // The tests of code that acts take minutes on a busy machine, and Stryker gives them five.
      dryRunTimeoutMinutes: 60,
      allowEmpty: true,
    }),
  );
  await run(process.execPath, [join(tool, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', config], root);
  const { files: read } = JSON.parse(readFileSync(json, 'utf8')) as { files: Record<string, StrykerFile> };
  const scores = Object.entries(read).map(([file, { source, mutants }]) => scored(pathOf(file), source, mutants));
  const noticed = new Map<string, 'Killed' | 'Timeout'>();
  for (const [file, { source, mutants }] of Object.entries(read))
    for (const mutant of mutants)
      if (mutant.status === 'Killed' || mutant.status === 'Timeout')
        noticed.set(nameOf(pathOf(file), changeOf(source.split('\n'), mutant)), mutant.status);
  // Stryker skips a file that is missing, or has nothing to mutate: it would get no score.
  for (const path of mutate.filter((one) => !one.includes(':')))
    if (!scores.some(({ file, mutants, broken }) => file === path && mutants > broken))
      throw new Error(`server/src/${path}: nothing of it was mutated`);
  return { scores, noticed };
}

interface StrykerFile {
  source: string;
  mutants: {
    status: string;
    mutatorName: string;
    replacement?: string;
    location: { start: { line: number; column: number }; end: { line: number; column: number } };
  }[];
}

/** A file's path as in GROUPS. */
function pathOf(file: string): string {
  return file.replace(/^server\/src\//, '');
}

function changeOf(
  lines: readonly string[],
  { location: { start, end }, mutatorName, replacement = '' }: StrykerFile['mutants'][number],
): Survivor {
  const short = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 80);
  const last = start.line === end.line ? end.column - 1 : undefined;
  const [code, instead] = [short(lines[start.line - 1]?.slice(start.column - 1, last) ?? ''), short(replacement)];
  // Lines of a range count from one, and its columns from zero.
  const place = `${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
  return { line: start.line, place, mutator: mutatorName, code, instead };
}

function scored(file: string, source: string, mutants: StrykerFile['mutants']): FileScore {
  const lines = source.split('\n');
  const hung = mutants.filter(({ status }) => status === 'Timeout').length;
  const killed = hung + mutants.filter(({ status }) => status === 'Killed').length;
  const survivors = mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map((mutant) => changeOf(lines, mutant));
  const counted = killed + survivors.length;
  return {
    file,
    mutants: mutants.length,
    killed,
    hung,
    broken: mutants.length - counted,
    survivors,
    score: scoreOf(killed, survivors.length),
  };
}

/** Of a hundred; of a stretch without anything to mutate it is 0. */
function scoreOf(killed: number, survived: number): number {
  return killed + survived === 0 ? 0 : Math.floor((1_000 * killed) / (killed + survived)) / 10;
}

/** Never blocking: PostgreSQL logs to this process, and its sessions stop while the pipe is full. */
async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  // Stryker starts `node` by its name.
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  interrupted.signal.throwIfAborted();
  const child = spawn(command, args, { cwd, stdio: 'inherit', env: { ...process.env, PATH: path } });
  const stop = () => child.kill();
  interrupted.signal.addEventListener('abort', stop, { once: true });
  const [code, why] = (await once(child, 'exit')) as [number | null, string | null];
  interrupted.signal.removeEventListener('abort', stop);
  interrupted.signal.throwIfAborted();
  if (code !== 0) throw new Error(`${command} ${args[0]} ended with ${code ?? why}`);
}

/** Stryker that is stopped forgets the tests that its runners had begun. They know our folder by their environment. */
async function endLeftBehind(): Promise<void> {
  for (let left = processesOf(folder); left.length > 0; left = processesOf(folder)) {
    for (const { pid } of left) signal(pid, 'SIGKILL');
    await Promise.all(left.map(({ pid }) => isGoneWithin(pid, 2_000)));
  }
}
