/**
 * The figures as people read them: a table for the terminal, a page for the docs.
 */
import type { Heard } from './webhooks.ts';

export interface Pair {
  name: string;
  unit: string;
  goal: number;
  /** Limit ÷ ours: 1 is as little as it can cost. */
  ratio: number;
  ours: Figures;
  limit: Figures;
}

export interface Figures {
  us: number;
  /** Of the Node process that answers, its background with it; the rest is PostgreSQL's. */
  nodeUs: number;
  /** What its processes take in a second without a request; not in `us`. */
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
  /** Of the machine, at the end: others run beside us. */
  load: number;
  pairs: readonly Pair[];
  webhooks?: Heard | undefined;
}

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

const cells = ({ name, ratio, goal, ours, limit }: Pair): string[] => [
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
  `settled → webhook received: p50 ${settled.p50} ms, p99 ${settled.p99} ms (${settled.count} orders, ${eventsPerSecond.toFixed(0)} events/s)`;

export function report({ at, node, machine, concurrency, rounds, pairs }: Results): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  return `# Performance

Written by \`npm run bench -- --report\` on ${at.slice(0, 10)}: ${machine}, Node ${node}, ${concurrency} requests at a time, the median of ${rounds} rounds.

Each operation runs beside a limit (bench/limit.ts): a bare HTTP server that checks the same signature and reads or writes rows of
the same bytes, with the same client, pool, role, row-level policy and durability. **Ratio** is the CPU time of the limit's
processes over that of ours, PostgreSQL included, per operation: 1 would be as little as it can cost. Rates and latencies are of
this machine at that moment; the ratio travels.

${[line(HEADINGS), line(HEADINGS.map(() => '---')), ...pairs.map((pair) => line(cells(pair)))].join('\n')}

${pairs
  .filter(({ ratio, goal }) => ratio < goal)
  .map(({ name, ratio, goal }) => `- **${name}** misses its goal: ${ratio.toFixed(2)} of ${goal}.`)
  .join('\n')}
`;
}
