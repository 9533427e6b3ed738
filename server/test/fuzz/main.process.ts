/**
 * `npm run fuzz -- [--times 20] [--seed <number>] [--json <file>]`: the tests of this folder with more inputs, and others; and one
 * partner against another, which then also prints how long answers take.
 *
 * A signal is passed on to the tests, and their end waited for: nothing is left running.
 *
 * Prints how many inputs each reader was given, and exits with 1 where a property did not hold. With `--json` it writes
 * `Report`, which `npm run prove` reads: its names and meanings stay.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Count } from './fuzz.ts';

interface Report {
  /** What was run, so that anybody can run it again. */
  command: string;
  seed: number;
  times: number;
  seconds: number;
  /** Each reader of outside bytes once: how many inputs it was given, and how long the slowest of them took. */
  readers: Count[];
  /** Of all readers together. */
  inputs: number;
  /** Whether every property held for every input. */
  held: boolean;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    json: { type: 'string' },
  },
});
const [times, seed] = [Number(values.times), Number(values.seed)];
if (!(times > 0) || !Number.isInteger(seed)) throw new Error('--times is a number above 0, --seed a whole one');

const folder = mkdtempSync(join(tmpdir(), 'cloverleaf-fuzz-'));
const counts = join(folder, 'counts');
writeFileSync(counts, '');
const began = Date.now();
const tests = spawn(
  process.execPath,
  ['scripts/test.ts', 'server/test/fuzz', 'server/test/attack/strangers.test.ts', '--timeout', '3600'],
  {
    cwd: root,
    env: { ...process.env, LONG_TESTS: '1', FUZZ: String(times), FUZZ_SEED: String(seed), FUZZ_COUNTS: counts },
    stdio: 'inherit',
  },
);
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => tests.kill(name));
const [status] = (await once(tests, 'exit')) as [number | null];
const lines = readFileSync(counts, 'utf8').split('\n').filter(Boolean);
rmSync(folder, { recursive: true });

const readers = new Map<string, Count>();
for (const { reader, inputs, slowestMs } of lines.map((line) => JSON.parse(line) as Count)) {
  const before = readers.get(reader) ?? { reader, inputs: 0, slowestMs: 0 };
  readers.set(reader, {
    reader,
    inputs: before.inputs + inputs,
    slowestMs: Math.max(before.slowestMs, slowestMs),
  });
}
const all = [...readers.values()].toSorted((a, b) => (a.reader < b.reader ? -1 : 1));
const report: Report = {
  command: `npm run fuzz -- --times ${times} --seed ${seed}`,
  seed,
  times,
  seconds: Math.round((Date.now() - began) / 1_000),
  readers: all,
  inputs: all.reduce((sum, { inputs }) => sum + inputs, 0),
  held: status === 0,
};
for (const { reader, inputs, slowestMs } of all)
  console.log(`${String(inputs).padStart(9)}  ${reader} (slowest ${slowestMs} ms)`);
console.log(`${String(report.inputs).padStart(9)}  in all, in ${report.seconds} s: ${report.command}`);
console.log(report.held ? 'every property held' : 'a property did not hold: see above');
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.held ? 0 : 1;
