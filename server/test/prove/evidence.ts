/**
 * The evidence: makes docs/evidence.md from the results of the steps. Pure: every number in it comes from a result, and steps
 * that failed, did not run, or ran less than requested are named first.
 */
import { KINDS } from '../chaos/faults.ts';
import type { Outcome as Chaos } from '../chaos/run.ts';
import { FAULTS } from '../simulation/faults.ts';
import type { Report as Simulated } from '../simulation/report.ts';
import { explanationOf, type Reasons, wrongWith } from './reasons.ts';
import {
  isChaos,
  isFuzzed,
  isHunt,
  isMutation,
  isSimulated,
  type Mutation,
  type Result,
  type Sizes,
  type Step,
  WHOLE,
} from './steps.ts';

export interface About {
  commit: string;
  /** The hash of the code: a result for other code does not count. */
  code: string;
  /** Whether uncommitted changes exist. */
  dirty: boolean;
  node: string;
  postgres: string;
  anvil: string;
  system: string;
  machine: string;
}

/** Below this a kind of fault has not occurred often enough for a conclusion. */
const ENOUGH = 100;
const FEWEST_MUTANTS = 70;

export interface Trouble {
  step: string;
  why: string;
}

/** Every fault of the evidence as a whole. Empty without faults. */
export function troubles(
  steps: readonly Step[],
  results: readonly Result[],
  sizes: Sizes,
  { dirty }: Pick<About, 'dirty'>,
  reasons: Reasons,
): Trouble[] {
  const found: Trouble[] = [];
  if (dirty) found.push({ step: 'commit', why: 'what was run is not committed, so nobody can run the same' });
  for (const step of steps) {
    const say = (why: string) => found.push({ step: step.name, why });
    const result = results.find((one) => one.step === step.name);
    if (result === undefined) {
      say('did not run');
      continue;
    }
    if (result.exitCode !== 0)
      say(result.exitCode === null ? 'was stopped before its end' : `failed (exit code ${result.exitCode})`);
    for (const why of wrongIn(step, result, sizes, reasons)) say(why);
  }
  for (const [name, wanted] of Object.entries(WHOLE) as [keyof Sizes, string][])
    if (sizes[name] !== wanted)
      found.push({ step: 'sizes', why: `${name} ${sizes[name]}, and the whole is ${wanted}` });
  return found;
}

/** server/test/fuzz/v1.long.test.ts: its name, and its number of requests at the size of one. The whole run makes 20,000. */
const PARTNER_API = 'requests: the partner API';
const REQUESTS_ONCE = 1_000;

function wrongIn(step: Step, { report, exitCode, said }: Result, sizes: Sizes, reasons: Reasons): string[] {
  if (!step.args.includes('{json}')) return exitCode === 0 ? wrongInTests(said) : [];
  const found: string[] = [];
  const counted = (what: Record<string, number>) => {
    for (const [name, count] of Object.entries(what)) if (count !== 0) found.push(`${name} ${count}`);
  };
  if (isSimulated(report)) {
    const { paidTwice, paidAgainst, submissions, lost, unexplained, failing, faults, seeds, orders, ended } = report;
    counted({
      'paid twice': paidTwice,
      'paid against a block, kill switch, clearing time or limit': paidAgainst,
      lost,
      unexplained,
      'seeds that failed': failing.length,
    });
    if (submissions === 0) found.push('no submission was looked at');
    const [from = 1, to = 1] = sizes.seeds.split('..').map(Number);
    if (seeds <= to - from) found.push(`${seeds} seeds, and ${to - from + 1} were asked for`);
    found.push(...wrongInOrders(orders, ended));
    const times = Object.keys(FAULTS).map((name) => ({ name, n: faults[name]?.times ?? 0 }));
    const rare = times.filter(({ n }) => n < ENOUGH);
    if (rare.length > 0)
      found.push(`faults fewer than ${ENOUGH} times: ${rare.map(({ name, n }) => `${name} ${n}`).join(', ')}`);
  } else if (isHunt(report)) {
    counted({ 'mutants that were not found': report.mutants.filter((one) => !one.found).length });
    const planted = report.mutants.length;
    if (planted < FEWEST_MUTANTS) found.push(`${planted} mutants, and ${FEWEST_MUTANTS} are the least`);
  } else if (isChaos(report)) {
    for (const { paidTwice, lost, unexplained, broken, trouble, good, orders, states, faults } of report) {
      counted({
        'paid twice': paidTwice.length,
        lost: lost.length,
        unexplained: unexplained.length,
        broken: broken.length,
        trouble: trouble.length,
      });
      if (!good && found.length === 0) found.push('says that it is not good');
      found.push(...wrongInOrders(orders, states));
      const never = KINDS.filter((kind) => (faults[kind] ?? 0) === 0);
      if (never.length > 0) found.push(`never injected: ${never.join(', ')}`);
    }
  } else if (isFuzzed(report)) {
    if (!report.held) found.push('a property did not hold');
    if (report.inputs === 0) found.push('no inputs');
    const asked = report.readers.find(({ reader }) => reader === PARTNER_API)?.inputs ?? 0;
    const least = REQUESTS_ONCE * Number(sizes.times);
    if (asked < least) found.push(`${asked} requests to the partner API, and ${least} were asked for`);
  } else if (isMutation(report)) {
    if (report.mutants === 0) found.push('no changes of the code');
    found.push(...wrongInSurvivors(report, reasons));
  } else if (exitCode === 0) {
    found.push('left no report');
  }
  return found;
}

/** One sentence for each thing that is wrong with reasons, with the places. */
function wrongInSurvivors({ files }: Mutation, reasons: Reasons): string[] {
  const wrong = files.flatMap(({ file, survivors }) =>
    survivors.flatMap((one) => {
      const why = wrongWith(reasons, file, one);
      return why === undefined ? [] : { why, place: `${file}:${one.line}` };
    }),
  );
  return [...Map.groupBy(wrong, ({ why }) => why)].map(
    ([why, all]) => `survivors, ${why}: ${[...new Set(all.map(({ place }) => place))].join(', ')}`,
  );
}

/** If no order succeeded, nothing was at risk. */
function wrongInOrders(orders: number, ended: Record<string, number>): string[] {
  if (orders === 0) return ['no orders'];
  return (ended.settled ?? 0) === 0 ? ['no order settled'] : [];
}

/** A skipped test does not count. */
function wrongInTests(said: string): string[] {
  const skipped = /^[1-9]\d* skipped$/m.exec(said);
  if (skipped !== null) return [skipped[0]];
  return /^[1-9]\d* passed, 0 failed$/m.test(said) ? [] : ['does not say that tests passed'];
}

export function evidence(
  steps: readonly Step[],
  results: readonly Result[],
  sizes: Sizes,
  about: About,
  reasons: Reasons,
): string {
  const wrong = troubles(steps, results, sizes, about, reasons);
  const all = (name: string) => results.find(({ step }) => step === name);
  const chaos = results.flatMap(({ report }) => (isChaos(report) ? report : []));
  const paragraphs = [
    '# Evidence',
    '<!-- Written by `npm run prove`. Change the code that is proved, or server/test/prove, and never this page. -->',
    `The results of \`npm run prove\`, gathered at commit \`${about.commit}\`${about.dirty ? ', with changes that are not committed' : ''}. The table names the commit at which each step ran: the server's code, migrations and dependencies that the step uses have not changed since. Each command can be run alone; \`npm run prove\` runs them all and writes this page. Every number on it comes from a run, and stands in \`docs/evidence/\`.`,
    wrong.length === 0
      ? 'Everything ran and everything held.'
      : `## What did not hold, did not run, or is less than the whole\n\n${wrong.map(({ step, why }) => `- **${step}**: ${why}`).join('\n')}`,
    `## In one line\n\n${oneLine(all('simulate')?.report, chaos)}${againstLine(all('simulate')?.report)}`,
    `## Commands\n\n${table(
      ['Step', 'Command', 'At commit', 'Took', 'Outcome'],
      steps.map((step) => rowOf(step, all(step.name))),
    )}`,
    `## Versions\n\n${table(
      ['What', 'Which'],
      [
        ['Node', about.node],
        ['PostgreSQL', about.postgres],
        ['anvil', about.anvil],
        ['System', about.system],
        ['Machine', about.machine],
      ],
    )}`,
    ...simulationPart(all('simulate')?.report),
    ...huntPart(all('mutants')?.report),
    ...chaosPart(chaos),
    ...ledgerPart(chaos),
    ...fuzzPart(all('fuzz')?.report),
    ...mutationPart(all('mutation')?.report, reasons),
    ...results
      .filter(({ step, report }) => report === undefined && steps.some(({ name }) => name === step))
      .map(({ step, said }) => `## ${step}: its last words\n\n\`\`\`\n${said.trim()}\n\`\`\``),
  ];
  return `${paragraphs.join('\n\n')}\n`;
}

function oneLine(simulated: unknown, chaos: readonly Chaos[]): string {
  const runs = [
    ...(isSimulated(simulated) ? [simulated] : []),
    ...chaos.map(({ paidTwice, lost, unexplained, broken, trouble, orders }) => ({
      orders,
      paidTwice: paidTwice.length,
      lost: lost.length,
      unexplained: unexplained.length + broken.length + trouble.length,
    })),
  ];
  if (runs.length === 0) return 'Nothing was counted: neither simulation nor chaos ran.';
  const sum = (of: 'orders' | 'paidTwice' | 'lost' | 'unexplained') => runs.reduce((all, run) => all + run[of], 0);
  return `${sum('orders')} orders: paid twice ${sum('paidTwice')}, lost ${sum('lost')}, unexplained ${sum('unexplained')}.`;
}

/** Checks of the simulation alone: chaos counts payments, without checking whether they were allowed. */
const againstLine = (simulated: unknown): string =>
  isSimulated(simulated)
    ? ` Paid against a block, kill switch, clearing time or limit ${simulated.paidAgainst}, of ${simulated.submissions} submissions that the simulation looked at.`
    : '';

function rowOf(step: Step, result: Result | undefined): string[] {
  if (result === undefined) return [step.name, step.about, '', '', 'did not run'];
  const outcome =
    result.exitCode === 0 ? 'held' : result.exitCode === null ? 'stopped' : `**failed** (${result.exitCode})`;
  const at = result.commit.slice(0, 12);
  return [step.name, `\`${result.command}\``, at, lasted(result.seconds), outcome];
}

function simulationPart(report: unknown): string[] {
  if (!isSimulated(report)) return [];
  const { points } = report;
  return [
    `## Simulation\n\n${report.seeds} seeds in ${report.runs} runs, ${report.orders} orders (${report.unmade} more could not be made), ${report.ordersPerSecond} orders a second; ${report.steps} points passed, ${report.waits} waits for a lock. Orders ended as ${counts(report.ended)}.`,
    `Crash points: ${points.known} known, ${points.hit} hit, ${points.never.length} never; a process was ended ${points.ends} times.`,
    ...(points.never.length === 0
      ? []
      : [
          table(
            ['Never hit', 'Why'],
            points.never.map(({ point, why }) => [`\`${point}\``, why]),
          ),
        ]),
    table(
      ['Fault', 'Rate', 'Times'],
      Object.entries(report.faults).map(([name, { rate, times }]) => [
        name.replaceAll('_', ' '),
        String(rate),
        String(times),
      ]),
    ),
    ...movesPart(report),
    ...(report.failing.length === 0
      ? []
      : [`Seeds that failed:\n\n${report.failing.map(({ seed, again }) => `- ${seed}: \`${again}\``).join('\n')}`]),
  ];
}

function huntPart(report: unknown): string[] {
  if (!isHunt(report)) return [];
  return [
    `## Mutants\n\n${report.found} of ${report.planted} planted bugs were found.`,
    table(
      ['Planted bug', 'Found by', 'What was seen'],
      report.mutants.map(({ mutant, found, seed, test, kind }) => [
        mutant,
        found ? (test ?? `seed ${seed}`) : '**not found**',
        (kind ?? (test === undefined ? '' : 'the test fails')).replaceAll('_', ' '),
      ]),
    ),
  ];
}

function chaosPart(runs: readonly Chaos[]): string[] {
  if (runs.length === 0) return [];
  const kinds = KINDS.toSorted();
  return [
    `## Chaos\n\n${runs
      .map(
        (run) =>
          `- ${run.mode} bank, seed ${run.seed}: ${run.orders} orders (${run.sales} sales) in ${lasted(run.seconds)} of faults, all at their end ${lasted(run.healedAfterS)} later, ${run.perSecond.toFixed(2)} orders a second; ended as ${counts(run.states)}; ${run.retries} requests were made again; ${run.missed.length} faults came to nothing; ${run.left.length} left with a case.`,
      )
      .join('\n')}`,
    table(
      ['Fault', ...runs.map(({ mode }) => mode)],
      kinds.map((kind) => [kind, ...runs.map(({ faults }) => String(faults[kind] ?? 0))]),
    ),
  ];
}

/** The command's report about the books that each run of chaos left. */
const ledgerPart = (runs: readonly Chaos[]): string[] =>
  runs.map(
    ({ mode, ledger }) => `\`npm run verify-ledger\` after the ${mode} run:\n\n\`\`\`\n${ledger.trim()}\n\`\`\``,
  );

function fuzzPart(report: unknown): string[] {
  if (!isFuzzed(report)) return [];
  return [
    `## Fuzzing\n\n${report.inputs} inputs, seed ${report.seed}.`,
    table(
      ['Reader', 'Inputs', 'Slowest'],
      report.readers.map(({ reader, inputs, slowestMs }) => [reader, String(inputs), `${slowestMs} ms`]),
    ),
  ];
}

function mutationPart(report: unknown, reasons: Reasons): string[] {
  if (!isMutation(report)) return [];
  const { files, untouched, unreached } = report;
  const survivors = files.flatMap(({ file, survivors: all }) =>
    all.map((one) => ({ file, ...one, ...explanationOf(reasons, file, one) })),
  );
  const explained = survivors.filter(({ why }) => why !== undefined).length;
  return [
    `## Mutation testing\n\n${report.mutants} changes of the code, ${report.killed} noticed by a test, ${report.survived} not, of which ${explained} are explained. A file of which a part of the lines is named was changed there alone, in stretches that a seed chose. A file that is the same as at an earlier commit, with the same tests, was not changed again.`,
    table(
      [
        'File',
        'Lines',
        'Score of 100',
        'Changes',
        'Noticed',
        'Of them by no end',
        'Not noticed',
        'Could not be loaded',
      ],
      files.map(({ file, sampled, score, mutants, killed, hung, broken, survivors: all }) =>
        [
          file,
          sampled === undefined ? 'all' : `${sampled.lines} of ${sampled.of}`,
          score,
          mutants,
          killed,
          hung,
          all.length,
          broken,
        ].map(String),
      ),
    ),
    ...(untouched.length === 0 ? [] : [`The chosen lines of these have nothing to change: ${untouched.join(', ')}.`]),
    ...(unreached.length === 0
      ? []
      : [`The sample has ${files.length} files. ${unreached.length} more are not in it: ${unreached.join(', ')}.`]),
    ...(survivors.length === 0
      ? []
      : [
          table(
            ['Not noticed', 'What stands there', 'Instead', 'Kind', 'Why no test has to notice it'],
            survivors.map(({ file, line, code, instead, kind = '', why }) => [
              `${file}:${line}`,
              quoted(code),
              quoted(instead),
              kind,
              why ?? '**not explained**',
            ]),
          ),
        ]),
  ];
}

/** Code in a table cell. */
const quoted = (code: string): string => (code === '' ? 'nothing' : `\`${code.replaceAll('`', "'")}\``);

/** Moves of people and events outside, with counts: a move that was never made shows nothing. */
function movesPart(report: Simulated): string[] {
  const kinds = [
    ['restored from an older copy', report.restores.played, report.restores.ended],
    ['money of no order', report.strays?.played, report.strays?.done],
    ['a bank that forgets keys', report.outages?.played, report.outages?.done],
    ['senders, requested refunds, destinations that wait', report.moves?.played, report.moves?.done],
    ['events at the same moment', report.meetings?.played, report.meetings?.done],
    ['credits without a reference', report.references?.played, report.references?.done],
    ['a bank that shows as paid what it refused', report.contradictions?.played, report.contradictions?.done],
    ['rules change', report.rules?.played, report.rules?.done],
  ] as const;
  return [
    table(
      ['Runs with', 'Runs', 'What was done there, and how often'],
      kinds.map(([name, played = 0, done = {}]) => [name, String(played), counts(done)]),
    ),
  ];
}

const counts = (of: Record<string, number>): string =>
  Object.entries(of)
    .map(([name, times]) => `${name.replaceAll('_', ' ')} ${times}`)
    .join(', ');

const lasted = (seconds: number): string =>
  seconds < 100
    ? `${Math.round(seconds)} s`
    : seconds < 6_000
      ? `${Math.round(seconds / 60)} min`
      : `${(seconds / 3_600).toFixed(1)} h`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
