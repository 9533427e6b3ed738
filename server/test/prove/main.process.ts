/**
 * `npm run prove [-- --only a,b] [--seeds A..B] [--minutes M] [--kills N] [--times N] [--fresh] [--write] [--store FOLDER]
 * [--results FOLDER] [--out FILE]`: runs all steps of the evidence, and writes docs/evidence.md.
 *
 * One step runs at a time. Beside any other, the steps with virtual time would be slowed down far more than by a half: a simulated
 * process and its PostgreSQL wake each other at each statement.
 *
 * The result of a step in its whole size is kept in `docs/evidence/`, to be committed: so the evidence grows over days and
 * machines. It names the hash of the code that the step ran on, from git: migrations, lock file, and of server/src what the step
 * imports. A step that has run on that code with the same command is not run again, unless `--fresh` is given; an interrupted one
 * is, and so is one whose code changed while it ran. With uncommitted changes, or in another size, results are kept apart, in
 * `.evidence/`.
 *
 * A step that was stopped continues from its journal: finished seeds and planted bugs are not run again, as long as the code and
 * the tests they depend on are the same. `--seeds 1..350` and then `--seeds 351..500` are most of `--seeds 1..500`. A mutated file is
 * not run again as long as it and its tests are the same; that journal is committed as well.
 *
 * `--write` runs nothing and writes the page from the kept results. The exit code is 0 if everything ran and held; with `--only`,
 * if those steps did.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { aboutHere, codeHere, codeOf, hashOf } from './about.ts';
import { evidence, troubles } from './evidence.ts';
import { reasonsHere } from './reasons.ts';
import { chosenOf, type Result, type Sizes, type Step, sizesOf, stepsOf, WHOLE } from './steps.ts';
import { openStore, readJson, without } from './store.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LAST_LINES = 30;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seeds: { type: 'string', default: WHOLE.seeds },
    minutes: { type: 'string', default: WHOLE.minutes },
    kills: { type: 'string', default: WHOLE.kills },
    times: { type: 'string', default: WHOLE.times },
    fresh: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    /** Of journals and logs, and of results that are not to be committed. */
    store: { type: 'string', default: join(ROOT, '.evidence') },
    results: { type: 'string', default: join(ROOT, 'docs', 'evidence') },
    out: { type: 'string', default: join(ROOT, 'docs', 'evidence.md') },
  },
});

const sizes: Sizes = sizesOf(values);
const steps = stepsOf(sizes);
const chosen = chosenOf(steps, values.only);

const about = await aboutHere(ROOT);
const scripts = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts;
const home = join(values.store, about.dirty ? 'uncommitted' : about.code);
// The code of an uncommitted result could not be identified later.
if (about.dirty) rmSync(home, { recursive: true, force: true });
mkdirSync(home, { recursive: true });
const apart = openStore(home);
const published = openStore(values.results);
const wholeCommands = new Set(stepsOf(WHOLE).map(commandOf));
/** Where the result of a step belongs. */
const storeOf = (step: Step) => (!about.dirty && wholeCommands.has(commandOf(step)) ? published : apart);
const keptOf = (step: Step): Result | undefined =>
  storeOf(step).kept(step.name, { code: codeOf(ROOT, step.entry), command: commandOf(step) });

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort());

/** The running code differs from that at the begin. */
let isChanged = false;
if (!values.write) {
  for (const step of chosen) {
    if (interrupted.signal.aborted || isChanged) break;
    const said = await runUnlessKept(step);
    if (said !== undefined) console.log(`${step.name}: ${said}`);
  }
}

const results = steps.flatMap((step) => keptOf(step) ?? []);
const reasons = reasonsHere(ROOT);
const wrong = troubles(steps, results, sizes, about, reasons).filter(
  ({ step }) => values.only === undefined || chosen.some(({ name }) => name === step),
);
writeFileSync(values.out, evidence(steps, results, sizes, about, reasons));
console.log(`written: ${values.out}`);
for (const { step, why } of wrong) console.log(`${step}: ${why}`);
const good = values.only === undefined ? 'proved' : `held: ${chosen.map(({ name }) => name).join(', ')}`;
console.log(wrong.length === 0 && !interrupted.signal.aborted ? good : 'not proved');
process.exit(wrong.length === 0 && !interrupted.signal.aborted ? 0 : 1);

/** @returns the outcome, in words */
async function runUnlessKept(step: Step): Promise<string | undefined> {
  const before = keptOf(step);
  if (before !== undefined && before.exitCode !== null && !values.fresh && !about.dirty)
    return `ran on this code at ${before.startedAt}, exit code ${before.exitCode}`;
  if (scripts[step.script] === undefined) return `package.json has no script ${step.script}`;
  const begun = codeHere(ROOT);
  if (begun.code !== about.code || begun.dirty !== about.dirty) {
    isChanged = true;
    return 'the code is another now, or not committed';
  }
  console.log(`${step.name}: ${commandOf(step)}`);
  // If this one does not end, the previous one is not the requested result.
  if (before !== undefined) storeOf(step).forget(step.name);
  const result = await runStep(step, begun.commit);
  const after = codeHere(ROOT);
  if (after.used !== begun.used || after.dirty !== begun.dirty) {
    isChanged = true;
    return 'the code changed while it ran, so it shows nothing';
  }
  // A step that we stopped gives no result; one that something else killed is reported so. Both are run again.
  if (!interrupted.signal.aborted) storeOf(step).keep(step.name, result);
  return `exit code ${result.exitCode} after ${result.seconds} s`;
}

/** The command as a person would type it; the path of its report is internal. */
function commandOf({ script, args, env = {} }: Step): string {
  const ours = ['--json', '{json}', '--kept', '{kept}'];
  const given = args
    .filter((arg) => !ours.includes(arg))
    // A shell would expand a pattern otherwise than the runner does.
    .map((arg) => (/[*(]/.test(arg) ? `'${arg}'` : arg))
    .join(' ');
  const set = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  return `${set.join('')}npm run ${script}${given === '' ? '' : ` -- ${given}`}`;
}

async function runStep(step: Step, commit: string): Promise<Result> {
  const json = join(home, `${step.name}.report`);
  rmSync(json, { force: true });
  const code = codeOf(ROOT, step.entry);
  const kept =
    step.keptFor === null
      ? join(values.results, `${step.name}.kept`)
      : join(values.store, `${step.name}-${code}-${hashOf(ROOT, step.keptFor ?? [])}.kept`);
  if (values.fresh) rmSync(kept, { force: true });
  const paths: Record<string, string> = { '{json}': json, '{kept}': kept };
  const log = createWriteStream(join(home, `${step.name}.log`));
  const began = Date.now();
  const [, ...words] = (scripts[step.script] ?? '').replace(/^exec /, '').split(' ');
  const child = spawn(process.execPath, [...words, ...step.args.map((arg) => paths[arg] ?? arg)], {
    cwd: ROOT,
    env: { ...process.env, ...step.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const hear = (line: string) => {
    said = `${said}${line}\n`.slice(-100_000);
    log.write(`${line}\n`);
    console.log(`${step.name}: ${line}`);
  };
  createInterface(child.stdout).on('line', hear);
  createInterface(child.stderr).on('line', hear);
  const stop = () => child.kill('SIGINT');
  interrupted.signal.addEventListener('abort', stop, { once: true });
  const exitCode = await new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  interrupted.signal.removeEventListener('abort', stop);
  log.end();
  const own = [` --json ${json}`, ` --kept ${kept}`, ROOT];
  const report = readJson(json);
  return {
    step: step.name,
    command: commandOf(step),
    commit,
    code,
    startedAt: new Date(began).toISOString(),
    seconds: Math.round(Math.max((Date.now() - began) / 1_000, secondsIn(report))),
    exitCode,
    ...(report === undefined ? {} : { report: without(report, own) }),
    said: without(said, own).split('\n').slice(-LAST_LINES).join('\n'),
  };
}

/** If it continued from a journal, its report states the total time. */
function secondsIn(report: unknown): number {
  return typeof report === 'object' && report !== null && 'seconds' in report ? Number(report.seconds) : 0;
}
