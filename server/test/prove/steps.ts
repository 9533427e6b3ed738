/**
 * The steps of the evidence: each a command that anyone can run alone, and the conditions on its report.
 *
 * A step writes its report as JSON if it can; of the others their last lines are kept.
 */
import type { Outcome as Chaos } from '../chaos/run.ts';
import type { Hunt } from '../simulation/mutants.ts';
import type { Report as Simulated } from '../simulation/report.ts';
import type { Survivor } from './reasons.ts';

export interface Sizes {
  /** Seeds of the simulation, `A..B`. */
  seeds: string;
  /** Of each chaos run. */
  minutes: string;
  kills: string;
  /** How many times as many inputs as in `npm test`. */
  times: string;
}

/** The sizes of the whole run. */
export const WHOLE: Sizes = { seeds: '1..500', minutes: '5', kills: '20', times: '20' };

/** The seeds in which a planted bug has to be found. */
const MUTANT_SEEDS = '1..200';
/**
 * The sample is the same on every machine: files that count money are changed whole, of each file that acts on money or people a stretch,
 * and of the others what the journal has. `npm run mutate -- --kept docs/evidence/mutation.kept`
 * extends it.
 */
const MUTATION_MINUTES = '0';

/** @throws when one of them is not a valid size */
export function sizesOf({ seeds, minutes, kills, times }: Sizes): Sizes {
  const [from, to] = /^[1-9]\d*\.\.[1-9]\d*$/.test(seeds) ? seeds.split('..').map(Number) : [];
  if (from === undefined || to === undefined || to < from)
    throw new Error('--seeds is A..B, of whole numbers from 1, and B is not below A');
  for (const [name, size] of Object.entries({ minutes, times }))
    if (!(Number(size) > 0 && Number.isFinite(Number(size)))) throw new Error(`--${name} is a number above 0`);
  if (!/^[1-9]\d*$/.test(kills)) throw new Error('--kills is a whole number from 1');
  return { seeds, minutes, kills, times };
}

export interface Step {
  name: string;
  about: string;
  /** Of package.json, with its arguments. `{json}` is replaced by the file of its report, `{kept}` by its journal. */
  script: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The file whose imports are all of server/src that it runs; without one it runs everything. */
  entry?: string;
  /**
   * Further conditions of its journal besides the code: as long as these are the same, results hold and are not repeated. Of null,
   * the step itself names in its journal what each result depends on, and the journal serves other code as well.
   */
  keptFor?: readonly string[] | null;
}

/** What only runs with LONG_TESTS (support/long.ts), and what does more with it. The step `kills` runs those of crash/. */
const LONG = [
  'server/test/*.long.test.ts',
  'server/test/!(crash)/**/*.long.test.ts',
  'server/test/backup/drill.test.ts',
  'server/test/backup/promoted.test.ts',
  'server/test/backup/whole.test.ts',
  'server/test/console',
  'server/test/protocols/checkout',
  'server/test/reports/signed.test.ts',
  'server/test/runner.test.ts',
  'server/test/sdk/cli.test.ts',
  'server/test/sdk/package.test.ts',
  'server/test/site',
  'server/test/start.test.ts',
  'server/test/stories/buying.test.ts',
  'server/test/stories/fiats.test.ts',
  'server/test/treasury/sweeps.test.ts',
] as const;

const SIMULATION = ['server/test/simulation', 'server/test/support'] as const;
const SIMULATION_ENTRY = 'server/test/simulation/worker.process.ts';

const ofTests = (name: string, about: string, paths: readonly string[], env: Record<string, string> = {}): Step => ({
  name,
  about,
  script: 'test',
  args: [...paths, '--timeout', '7200', '--retries', '0'],
  env,
});

export const stepsOf = ({ seeds, minutes, kills, times }: Sizes): readonly Step[] => [
  {
    name: 'simulate',
    about: 'the modules under faults, by seed',
    script: 'simulate',
    // Prices, blocks and statements are polled however few orders there are: four times as many cost less than twice as much.
    args: ['--seeds', seeds, '--orders', '20', '--json', '{json}', '--kept', '{kept}'],
    entry: SIMULATION_ENTRY,
    keptFor: SIMULATION,
  },
  {
    name: 'mutants',
    about: 'planted bugs, each to be found by the simulation',
    script: 'simulate',
    args: ['--mutants', '--seeds', MUTANT_SEEDS, '--json', '{json}', '--kept', '{kept}'],
    entry: SIMULATION_ENTRY,
    keptFor: SIMULATION,
  },
  ...(['deduplicating', 'repeating'] as const).map((bank) => ({
    name: `chaos-${bank}`,
    about: `real processes killed under load, with a ${bank} bank`,
    script: 'chaos',
    args: ['--minutes', minutes, '--bank', bank, '--json', '{json}'],
  })),
  ofTests(
    'kills',
    'kill -9 of the server at random moments of the demo and of a compensation, and of two servers that exchange travel rule data',
    ['server/test/crash'],
    { KILLS: kills, LONG_TESTS: '1' },
  ),
  ofTests(
    'long',
    'what `npm test` leaves out or does in a smaller size: played incidents, drills of backups, every page at each width in each scheme',
    LONG,
    {
      LONG_TESTS: '1',
    },
  ),
  {
    name: 'fuzz',
    about: 'every reader of outside bytes, with generated bytes',
    script: 'fuzz',
    args: ['--times', times, '--json', '{json}'],
  },
  ofTests('partners', 'one partner with the ids of all others, and strangers', [
    'server/test/isolation.test.ts',
    'server/test/attack/strangers.test.ts',
  ]),
  ofTests('verify-ledger', 'the journal computed again, and every way of tampering with it found', [
    'server/test/reconcile',
  ]),
  // The longest of those in real time: if it is stopped before its end, the others have run.
  {
    name: 'mutation',
    about: 'Stryker: do the tests notice each change of the code that counts money',
    script: 'mutate',
    args: ['--minutes', MUTATION_MINUTES, '--json', '{json}', '--kept', '{kept}'],
    keptFor: null,
  },
];

/** `chaos` means both of them. @throws for an unknown word: a requested step would not run */
export function chosenOf(steps: readonly Step[], only: string | undefined): readonly Step[] {
  if (only === undefined) return steps;
  const isMeant = (word: string, { name }: Step): boolean => name === word || name.startsWith(`${word}-`);
  const words = only.split(',');
  for (const word of words)
    if (!steps.some((step) => isMeant(word, step)))
      throw new Error(`--only ${word}: some of ${steps.map(({ name }) => name).join(', ')}`);
  return steps.filter((step) => words.some((word) => isMeant(word, step)));
}

/** The kept result of a step. */
export interface Result {
  step: string;
  command: string;
  commit: string;
  /** The hash of the code that it runs: results hold for it, whatever else is committed. */
  code: string;
  startedAt: string;
  seconds: number;
  /** Null when a signal ended it. */
  exitCode: number | null;
  /** Its JSON report, if it writes one and did. */
  report?: unknown;
  /** The last lines of its output. */
  said: string;
}

export const isSimulated = (report: unknown): report is Simulated =>
  has(report, 'runs', 'ordersPerSecond', 'faults', 'points', 'failing');
export const isHunt = (report: unknown): report is Hunt => has(report, 'planted', 'mutants');
export const isChaos = (report: unknown): report is Chaos[] =>
  Array.isArray(report) && report.length > 0 && report.every((one) => has(one, 'faults', 'paidTwice'));
export interface Fuzzed {
  inputs: number;
  held: boolean;
  seed: number;
  readers: { reader: string; inputs: number; slowestMs: number }[];
}
export const isFuzzed = (report: unknown): report is Fuzzed => has(report, 'readers', 'inputs', 'held');
export interface Mutation {
  mutants: number;
  killed: number;
  survived: number;
  files: {
    file: string;
    score: number;
    mutants: number;
    killed: number;
    hung: number;
    broken: number;
    survivors: (Survivor & { line: number })[];
    /** Number of changed lines, if not all. */
    sampled?: { lines: number; of: number };
  }[];
  /** Files of whose chosen lines none could be changed. */
  untouched: string[];
  /** Files of which nothing was changed yet. */
  unreached: string[];
}
export const isMutation = (report: unknown): report is Mutation => has(report, 'files', 'mutants', 'killed');

const has = (value: unknown, ...names: string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => name in value);
