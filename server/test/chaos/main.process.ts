/**
 * `npm run chaos -- [--minutes M | --seconds S] [--seed N] [--bank deduplicating|repeating|both] [--rate R] [--only a,b] [--failover N
 * [--behind S]] [--json FILE]`: real processes, real trade, and real kills; then all faults are undone, the work is awaited, and the result is counted.
 *
 * Bounded: faults for the given time, recovery for HEAL_MS at most, and then the end. No process is left: it stops those it
 * started, and reaper.process.ts ends the rest, however this process ends. The folder of a run with findings is kept.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { BankMode } from './bank.ts';
import { KINDS } from './faults.ts';
import { type Outcome, run } from './run.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    bank: { type: 'string', default: 'both' },
    /** Orders begun per second. */
    rate: { type: 'string', default: '2' },
    only: { type: 'string' },
    json: { type: 'string' },
    /** Instead of all other faults: the database's primary dies this many times, and its standby takes its place. */
    failover: { type: 'string' },
    /** The standby is asynchronous, and this many seconds late when the primary dies. */
    behind: { type: 'string', default: '0' },
    /** Has a repeating bank make one payment twice, which the checks have to find. */
    plant: { type: 'boolean', default: false },
  },
});

const seconds = values.seconds === undefined ? Number(values.minutes ?? 1) * 60 : Number(values.seconds);
const [seed, rate] = [Number(values.seed), Number(values.rate)];
const only = values.only?.split(',');
const MODES: Readonly<Record<string, readonly BankMode[]>> = {
  deduplicating: ['deduplicating'],
  repeating: ['repeating'],
  both: ['deduplicating', 'repeating'],
};
const modes = MODES[values.bank];
if (!(seconds > 0 && seconds <= 86_400)) throw new Error('--minutes and --seconds are above 0, and a day at the most');
if (!Number.isSafeInteger(seed)) throw new Error('--seed is a whole number');
if (!(rate > 0 && rate <= 50)) throw new Error('--rate is orders a second, above 0 and at most 50');
if (modes === undefined) throw new Error('--bank is deduplicating, repeating or both');
const [times, behind] = [Number(values.failover ?? 1), Number(values.behind)];
if (!(Number.isSafeInteger(times) && times >= 1 && times <= 100))
  throw new Error('--failover is how often, from 1 to 100');
if (!(behind >= 0 && behind <= 60)) throw new Error('--behind is seconds, from 0 to 60');
if (values.failover === undefined && behind > 0) throw new Error('--behind needs --failover');
if (values.failover !== undefined && only !== undefined) throw new Error('--only and --failover exclude each other');
const failover = values.failover === undefined ? undefined : { times, behindMs: behind * 1_000 };
for (const kind of only ?? []) if (!KINDS.includes(kind)) throw new Error(`--only: one of ${KINDS.join(', ')}`);

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    // A second interrupt does not wait.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort(new Error(name));
  });

const outcomes: Outcome[] = [];
let isGood = true;
for (const mode of modes) {
  if (interrupted.signal.aborted) break;
  const folder = mkdtempSync(join(process.env.TEST_DATA_DIR ?? tmpdir(), 'cloverleaf-chaos-'));
  const reaper = spawn(process.execPath, [fileURLToPath(new URL('reaper.process.ts', import.meta.url)), folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  const reaped = new Promise((done) => reaper.once('exit', done));
  const begun = Date.now();
  const say = (line: string) =>
    process.stdout.write(`${String(((Date.now() - begun) / 1_000).toFixed(1)).padStart(6)}  ${line}\n`);
  let keep = false;
  try {
    const ms = (seconds * 1_000) / modes.length;
    const { plant } = values;
    const outcome = await run({ folder, mode, seed, ms, rate, only, plant, failover, signal: interrupted.signal, say });
    outcomes.push(outcome);
    keep = !outcome.good && !interrupted.signal.aborted;
    isGood &&= outcome.good;
    process.stdout.write(`${outcome.summary}\n`);
  } catch (error) {
    isGood = false;
    keep = !interrupted.signal.aborted;
    if (keep) process.stdout.write(`the run itself failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  } finally {
    reaper.stdin?.end(keep ? 'keep' : '');
    await reaped;
    if (keep) process.stdout.write(`kept to look at: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(outcomes, null, 2)}\n`);
if (interrupted.signal.aborted) process.stdout.write('stopped before its end\n');
process.exit(isGood && !interrupted.signal.aborted && outcomes.length === modes.length ? 0 : 1);
