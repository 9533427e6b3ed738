/**
 * `npm run simulate -- --seeds A..B [--orders N] [--workers N] [--json FILE] [--end-at POINT] [--trace] [--twice]
 * [--restore always|only] [--kept FILE] [--mutants [--only PART|PART] [--note]]`: plays each seed, and reports findings and
 * coverage.
 *
 * A failing seed prints its violations, the history of the orders they name, and the command to play it again. Seeds are played
 * in workers, each a process with a PostgreSQL of its own. After five hundred seeds or more, further runs end a process at each
 * point at which no process was ended by chance: the same seed up to that point, and there it ends.
 *
 * `--kept FILE` is a journal: its seeds are not played again. A stopped run continues from it, and ranges of seeds that were
 * played separately add up. The caller vouches that the code is the same.
 *
 * `--json FILE` writes a Report (report.ts):
 *   { command, seeds, runs, orders, unmade, steps, waits, seconds, ordersPerSecond, ended: { state: n },
 *     faults: { kind: { rate, times } }, points: { known, hit, ends, never: [{ point, why }] },
 *     paidTwice, paidAgainst, submissions, lost, restores: { played, ended: { action: n } }, strays: { played, done: { action: n } },
 *     outages: { played, done: { what: n } }, own: { played, done: { what: n } }, keptCancelled, unexplained,
 *     failing: [{ seed, violations: [{ kind, what }], again }] }
 * and with `--mutants` a Hunt (mutants.ts):
 *   { command, seconds, planted, found, mutants: [{ mutant, files, found, seed?, kind?, violation? }] }
 * The exit code is 0 if at least one order was made and nothing failed, a process was ended at the point of `--end-at`, and every
 * mutant was found.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openJournal } from '../support/journal.ts';
import { findMutants } from './mutants.ts';
import { again, COMMON_POINTS_A_RUN, inWords, MANY, openTally, POINTS_A_RUN } from './report.ts';
import { restores } from './restore.ts';
import { type Asked, openWorkers, type Told } from './workers.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1..20' },
    orders: { type: 'string', default: '10' },
    workers: { type: 'string', default: '2' },
    json: { type: 'string' },
    /** Seeds played before, which are not played again. */
    kept: { type: 'string' },
    /** Prints the last steps of a seed that fails. */
    trace: { type: 'boolean', default: false },
    /** Ends a process where it first comes to this point, and to each if it is said several times. */
    'end-at': { type: 'string', multiple: true },
    /** Plays every seed a second time and reports the first difference. */
    twice: { type: 'boolean', default: false },
    /** Plays planted bugs instead, each until it is found (mutants.ts). */
    mutants: { type: 'boolean', default: false },
    /** Only those whose name contains this, or one of several separated by `|`. */
    only: { type: 'string', default: '' },
    /** 'always': the database of each seed is put back; 'only': of the seeds those whose database is. */
    restore: { type: 'string', default: '' },
    /** Notes the seeds that found them, to be tried first from then on. */
    note: { type: 'boolean', default: false },
  },
});

const [, first, last] = /^(\d+)(?:\.\.(\d+))?$/.exec(values.seeds) ?? [];
const from = Number(first);
const to = Number(last ?? first);
const orders = Number(values.orders);
const workers = Number(values.workers);
if (![from, to, orders, workers].every((n) => Number.isSafeInteger(n) && n > 0))
  throw new Error('--seeds A..B, --orders N and --workers N are whole numbers from 1');
if (!['', 'always', 'only'].includes(values.restore)) throw new Error('--restore is always or only');
if (to < from) throw new Error(`--seeds ${values.seeds} are none: A..B goes up`);
const command = `npm run simulate -- ${process.argv.slice(2).join(' ')}`.trimEnd();
const keep = (what: object): void => {
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(what, undefined, 2)}\n`);
};

const journal = openJournal(values.kept);

if (values.mutants) {
  const hunt = await findMutants({
    command,
    journal,
    seeds: [from, to],
    orders,
    workers,
    only: values.only,
    note: values.note,
  });
  keep(hunt);
  if (hunt.planted === 0) throw new Error(`--only ${values.only}: no mutant has that in its name`);
  process.exit(hunt.found === hunt.planted ? 0 : 1);
}

function* seeds(): Generator<Asked> {
  const endAt = values['end-at'];
  for (let seed = from; seed <= to; seed += 1) {
    if (values.restore === 'only' && !restores(seed)) continue;
    yield {
      seed,
      orders,
      ...(values.twice ? { twice: true } : {}),
      ...(endAt === undefined ? {} : { endAt }),
      ...(values.restore === 'always' ? { restore: true } : {}),
    };
  }
}

const began = performance.now();
const tally = openTally();
let played = 0;
const endedAt = new Set<string>();
/** The duration of the kept runs: as many at a time as there are workers. */
let keptMs = 0;
const nameOf = (asked: Asked): string => JSON.stringify(asked, Object.keys(asked).toSorted());
/** The seeds missing in the journal; those in it are reported at once. */
function* unknown(all: Iterable<Asked>): Generator<Asked> {
  for (const asked of all) {
    const told = journal.known<Told>(nameOf(asked));
    if (told === undefined) {
      yield asked;
      continue;
    }
    keptMs += told.realMs / workers;
    tell(told, asked);
  }
}
const tellAndKeep = (told: Told, asked: Asked): undefined => {
  journal.keep(nameOf(asked), told);
  tell(told, asked);
};
const tell = (told: Told, asked: Asked): void => {
  tally.add(told, asked);
  for (const point of asked.endAt ?? []) if (told.ends.has(point)) endedAt.add(point);
  played += 1;
  // Progress of many seeds: the whole takes half an hour.
  if (played % 100 === 0) console.log(`${played} runs after ${Math.round((performance.now() - began) / 1000)} s`);
  if (told.violations.length === 0) return;
  console.log(`seed ${told.seed} FAILED`);
  for (const { kind, what } of told.violations) console.log(`  ${kind}: ${what}`);
  for (const line of told.history) console.log(`    ${line}`);
  if (values.trace) for (const line of told.schedule) console.log(`    ${line}`);
  console.log(`  again: ${again(asked)}`);
};
await playAll([...unknown(seeds())]);
// Several in one run: after the first end it is another run, which does not always reach the others. Those have fewer in a run.
if (to - from + 1 >= MANY)
  for (const [most, mostCommon] of [
    [POINTS_A_RUN, COMMON_POINTS_A_RUN],
    [3, POINTS_A_RUN],
    [1, 1],
  ] as const)
    await playAll([...unknown(tally.unhit(most, mostCommon).map((one) => ({ ...one, orders })))]);

async function playAll(all: readonly Asked[]): Promise<void> {
  if (all.length === 0) return;
  const open = await openWorkers(Math.min(workers, all.length), { cpu: 0 });
  await open.play(all, tellAndKeep);
  await open.close();
}

const report = tally.report(command, (performance.now() - began + keptMs) / 1000);
for (const line of inWords(report)) console.log(line);
keep(report);
const nowhere = (values['end-at'] ?? []).filter((point) => !endedAt.has(point));
for (const point of nowhere) console.log(`no process was ended at ${point}`);
if (report.orders === 0) console.log('nothing was ordered, so nothing was shown');
process.exitCode = report.failing.length === 0 && report.orders > 0 && nowhere.length === 0 ? 0 : 1;
