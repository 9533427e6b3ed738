/**
 * The figures as people read them: a table for the terminal, a page for the docs.
 */
import { type Idle, idleLine } from './idle.ts';
import type { Seen } from './ours.ts';
import type { Shares } from './profile.ts';
import type { StatementFigures } from './statement.ts';
import { type Heard, WANTED_PER_SECOND } from './webhooks.ts';

export interface Pair {
  name: string;
  unit: string;
  goal: number;
  /** Limit ÷ ours: 1 is as little as it can cost. */
  ratio: number;
  ours: number;
  limit: number;
  detail: { ours: Figures; limit: Figures };
  /** Of ours, with --report: one round looked at from inside. */
  why?: Pick<Seen, 'statements' | 'roundTrips' | keyof Shares>;
}

export interface Figures {
  us: number;
  /** Of the Node process that answers, including its background work; the rest is PostgreSQL's. */
  nodeUs: number;
  /** Idle cost of its processes per second; not in `us`. */
  idleUsPerSecond: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
}

export interface Results {
  at: string;
  node: string;
  machine: string;
  concurrency: number;
  rounds: number;
  /** Of the machine, at the end: other programs run beside ours. */
  load: number;
  /** Of a fresh sandbox. */
  idle?: Idle | undefined;
  pairs: readonly Pair[];
  webhooks?: Heard | undefined;
  statement?: StatementFigures | undefined;
  /** Not begun within the time that --quick has. */
  leftOut?: readonly string[];
}

const STATEMENT_GOAL = 0.5;
export const statementLine = ({ entries, ours, limit, ratio, heap }: StatementFigures): string =>
  `camt.053 read, ${entries} entries: ratio ${ratio.toFixed(2)} (goal ${STATEMENT_GOAL}), ours ${ours.toFixed(1)} µs an entry, the parser alone ${limit.toFixed(1)} µs; heap ${heap.map((bytes) => `${(bytes / 1e6).toFixed(0)} MB`).join(' then ')}`;

const HEADINGS = [
  'operation',
  'ratio',
  'goal',
  'ours µs',
  '(Node)',
  'limit µs',
  '(Node)',
  'ours /s',
  'ours p50/p95/p99 ms',
];
const WIDTHS = [22, 6, 6, 9, 8, 9, 8, 9, 22];

const cells = ({ name, ratio, goal, detail: { ours, limit } }: Pair): string[] => [
  name,
  ratio.toFixed(2),
  goal.toFixed(1),
  ours.us.toFixed(0),
  ours.nodeUs.toFixed(0),
  limit.us.toFixed(0),
  limit.nodeUs.toFixed(0),
  ours.perSecond.toFixed(0),
  [ours.p50, ours.p95, ours.p99].map((ms) => ms.toFixed(1)).join(' / '),
];

export function table(pairs: readonly Pair[], withHeadings: boolean): string {
  const rows = [...(withHeadings ? [HEADINGS] : []), ...pairs.map(cells)];
  return rows.map((row) => row.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0)).join('')).join('\n');
}

export const heardLine = ({ eventsPerSecond, settled }: Heard): string =>
  `settled → webhook received: p50 ${settled.p50} ms, p99 ${settled.p99} ms (${settled.count} orders, ${eventsPerSecond.toFixed(0)} events/s${eventsPerSecond < WANTED_PER_SECOND ? `: below the ${WANTED_PER_SECOND} wanted` : ''})`;

export function report(results: Results): string {
  const { at, node, machine, concurrency, rounds, load, idle, pairs, webhooks, statement } = results;
  const missed = pairs.filter(({ ratio, goal }) => ratio < goal);
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  return `# Performance

Written by \`npm run bench -- --report\` on ${at.slice(0, 10)}: ${machine}, Node ${node}, ${concurrency} requests at a time, the median of ${rounds} rounds.
Other work ran on the machine meanwhile: its load at the end was ${load.toFixed(1)}.

Each operation runs beside a limit (bench/limit.ts): a bare HTTP server that checks the same signature and reads or writes rows of
the same bytes, with the same client, pool, role, row-level policy and durability. **Ratio** is the CPU time of the limit's
processes over that of ours, PostgreSQL included, per operation: 1 would be as little as it can cost. Rates and latencies are of
this machine at that moment; the ratio travels.

${[line(HEADINGS), line(HEADINGS.map(() => '---')), ...pairs.map((pair) => line(cells(pair)))].join('\n')}

${webhooks === undefined ? '' : `${heardLine(webhooks)}.`}
${idle === undefined ? '' : `\nA fresh sandbox, ${idleLine(idle)}.\n`}
${statement === undefined ? '' : `\n${statementLine(statement)}.\n`}
${ELSEWHERE}

## Goals missed

${missed.length === 0 ? 'None.' : missed.map(explained).join('\n\n')}
`;
}

/** Limits of this bench. */
const ELSEWHERE = `What the same operations cost beside a million orders, and how to make such a database with \`npm run grow\`:
[growth.md](growth.md).`;

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** Why it costs this much, from the measurements of this run; the limit's three round trips are in its source. */
function explained({ name, ratio, goal, detail: { ours, limit }, why }: Pair): string {
  const parts = (side: Figures) =>
    `Node ${side.nodeUs.toFixed(0)} µs (its background with it), PostgreSQL about ${Math.max(0, side.us - side.nodeUs).toFixed(0)} µs`;
  const bare = name.startsWith('kyb') ? 'none' : '4 statements in 3 round trips';
  const seen =
    why === undefined
      ? []
      : [
          `- PostgreSQL is asked ${Math.max(0, why.statements).toFixed(1)} statements in ${Math.max(0, why.roundTrips).toFixed(1)} round trips per operation; by the limit ${bare}.`,
          `- Node's time: ${Object.entries(why.groups)
            .sort((a, b) => b[1] - a[1])
            .map(([group, share]) => `${group} ${percent(share)}`)
            .join(', ')}.`,
          `- Most time of their own, of what is not idle: ${why.top.map((one) => `\`${one.name}\` ${percent(one.share)}`).join(', ')}.`,
        ];
  return [
    `### ${name}: ${ratio.toFixed(2)} of ${goal}`,
    '',
    `- Ours: ${parts(ours)}. Limit: ${parts(limit)}.`,
    ...seen,
  ].join('\n');
}
