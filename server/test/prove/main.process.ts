/**
 * `npm run prove [-- --only a,b] [--seeds A..B] [--minutes M] [--kills N] [--times N] [--fresh] [--write] [--store FOLDER]
 * [--out FILE]`: runs all that the evidence rests on, a step after the other, and writes docs/evidence.md.
 *
 * What a step left is kept in `.evidence/` under the code that it ran on: the contents of server/src, migrations and the lock
 * file, as git knows them. A step that has been run there with the same command is not run again, unless `--fresh` says so; one
 * that was interrupted is. So this may be stopped and begun again. With changes that are not committed nothing is kept, because
 * nobody could say of what.
 *
 * `--write` runs nothing and writes the page from what is kept. The exit code is 0 where the whole of it ran and held; with
 * `--only`, where those steps did.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { aboutHere } from './about.ts';
import { evidence, troubles } from './evidence.ts';
import { type Result, type Sizes, type Step, stepsOf, WHOLE } from './steps.ts';

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
    store: { type: 'string', default: join(ROOT, '.evidence') },
    out: { type: 'string', default: join(ROOT, 'docs', 'evidence.md') },
  },
});

const sizes: Sizes = { seeds: values.seeds, minutes: values.minutes, kills: values.kills, times: values.times };
if (!/^[1-9]\d*\.\.[1-9]\d*$/.test(sizes.seeds)) throw new Error('--seeds is A..B, of whole numbers from 1');
for (const name of ['minutes', 'kills', 'times'] as const)
  if (!(Number(sizes[name]) > 0)) throw new Error(`--${name} is a number above 0`);
const steps = stepsOf(sizes);
// `chaos` means both of them.
const chosen = steps.filter(
  ({ name }) => values.only?.split(',').some((word) => name === word || name.startsWith(`${word}-`)) ?? true,
);
if (chosen.length === 0) throw new Error(`--only: some of ${steps.map(({ name }) => name).join(', ')}`);

const about = await aboutHere(ROOT);
const scripts = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts;
const home = join(values.store, about.dirty ? 'uncommitted' : about.code);
// Of what is not committed nobody could say later what it was.
if (about.dirty) rmSync(home, { recursive: true, force: true });
mkdirSync(home, { recursive: true });

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort());

for (const step of values.write ? [] : chosen) {
  if (interrupted.signal.aborted) break;
  const before = kept(step);
  if (before !== undefined && !values.fresh && !about.dirty) {
    console.log(`${step.name}: ran on this code at ${before.startedAt}, exit code ${before.exitCode}`);
    continue;
  }
  if (scripts[step.script] === undefined) {
    console.log(`${step.name}: package.json has no script ${step.script}`);
    continue;
  }
  console.log(`${step.name}: ${commandOf(step)}`);
  const result = await runStep(step);
  // What was interrupted says nothing, and is run again.
  if (result.exitCode !== null) writeFileSync(fileOf(step), `${JSON.stringify(result, null, 2)}\n`);
  console.log(`${step.name}: exit code ${result.exitCode} after ${result.seconds} s`);
}

const results = steps.flatMap((step) => kept(step) ?? []);
const ran = values.only === undefined ? steps : chosen;
const wrong = troubles(steps, results, sizes).filter(
  ({ step }) => values.only === undefined || ran.some(({ name }) => name === step),
);
writeFileSync(values.out, evidence(steps, results, sizes, about));
console.log(`written: ${values.out}`);
for (const { step, why } of wrong) console.log(`${step}: ${why}`);
console.log(wrong.length === 0 ? 'proved' : 'not proved');
process.exit(wrong.length === 0 && !interrupted.signal.aborted ? 0 : 1);

/** Under its command: the same step of another size is another result. */
function fileOf(step: Step): string {
  const size = createHash('sha256').update(commandOf(step)).digest('hex').slice(0, 12);
  return join(home, `${step.name}-${size}.json`);
}

function kept(step: Step): Result | undefined {
  const file = fileOf(step);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : undefined;
}

/** As somebody would type it; where its report goes is ours to know. */
function commandOf({ script, args, env = {} }: Step): string {
  const given = args.filter((arg) => arg !== '--json' && arg !== '{json}').join(' ');
  const set = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  return `${set.join('')}npm run ${script}${given === '' ? '' : ` -- ${given}`}`;
}

async function runStep(step: Step): Promise<Result> {
  const json = join(home, `${step.name}.report`);
  rmSync(json, { force: true });
  const log = createWriteStream(join(home, `${step.name}.log`));
  const began = Date.now();
  const [, ...words] = (scripts[step.script] ?? '').replace(/^exec /, '').split(' ');
  const child = spawn(process.execPath, [...words, ...step.args.map((arg) => (arg === '{json}' ? json : arg))], {
    cwd: ROOT,
    env: { ...process.env, ...step.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const hear = (part: Buffer) => {
    said = (said + String(part)).slice(-100_000);
    log.write(part);
    process.stdout.write(part);
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const stop = () => child.kill('SIGINT');
  interrupted.signal.addEventListener('abort', stop, { once: true });
  const exitCode = await new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  interrupted.signal.removeEventListener('abort', stop);
  log.end();
  return {
    step: step.name,
    command: commandOf(step),
    commit: about.commit,
    code: about.code,
    startedAt: new Date(began).toISOString(),
    seconds: Math.round((Date.now() - began) / 1_000),
    exitCode: interrupted.signal.aborted ? null : exitCode,
    ...(existsSync(json) ? { report: JSON.parse(readFileSync(json, 'utf8')) } : {}),
    said: said.split('\n').slice(-LAST_LINES).join('\n'),
  };
}
