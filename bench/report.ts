/**
 * The figures for people: a table for the terminal, a page for the docs.
 */
import { chartName } from './charts.ts';
import type { FirstRow } from './console.ts';
import { type Idle, idleLine } from './idle.ts';
import type { Figures, Pair } from './pairs.ts';
import { type Heard, WANTED_PER_SECOND } from './webhooks.ts';

export interface Results {
  at: string;
  node: string;
  machine: string;
  concurrency: number;
  rounds: number;
  /** Load of the machine at the end, because other programs run beside ours. */
  load: number;
  /** Idle cost of a fresh sandbox. */
  idle?: Idle;
  pairs: readonly Pair[];
  webhooks?: Heard;
  firstRow?: FirstRow;
  /** Entries per second on one account, as text. */
  hot?: string;
  /** Parts that could not begin within the time of --quick. */
  leftOut?: readonly string[];
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
const WIDTHS = [24, 6, 6, 9, 8, 9, 8, 9, 22];

const cells = ({ name, ratio, goal, ours, limit, detail }: Pair): string[] => [
  name,
  ratio.toFixed(2),
  goal.toFixed(1),
  ours.toFixed(0),
  detail?.ours.nodeUs.toFixed(0) ?? '',
  limit.toFixed(0),
  detail?.limit.nodeUs.toFixed(0) ?? '',
  detail?.ours.perSecond.toFixed(0) ?? '',
  detail === undefined
    ? ''
    : [detail.ours.p50, detail.ours.p95, detail.ours.p99].map((ms) => ms.toFixed(1)).join(' / '),
];

export function table(pairs: readonly Pair[], withHeadings: boolean): string {
  const rows = [...(withHeadings ? [HEADINGS] : []), ...pairs.map(cells)];
  return rows.map((row) => row.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0)).join('')).join('\n');
}

export const heardLine = ({ eventsPerSecond, settled }: Heard): string =>
  `settled → webhook received: p50 ${settled.p50} ms, p99 ${settled.p99} ms (${settled.count} orders, ${eventsPerSecond.toFixed(0)} events/s${eventsPerSecond < WANTED_PER_SECOND ? `: below the ${WANTED_PER_SECOND} wanted` : ''})`;

export const firstRowLine = ({ orders, rounds, coldMs, warmMs, ...sent }: FirstRow): string =>
  `console, navigation → first of ${orders} orders on the screen: ${coldMs.p50} ms (at most ${coldMs.most}) without a cache, ${warmMs.p50} ms (at most ${warmMs.most}) with one, ${rounds} times each; ${sent.requests} replies of ${(sent.bytes / 1_000).toFixed(0)} kB, ${(sent.compressedBytes / 1_000).toFixed(0)} kB compressed`;

export function report(results: Results): string {
  const { at, node, machine, concurrency, rounds, load, idle, pairs, webhooks, firstRow, hot } = results;
  const missed = pairs.filter(({ ratio, goal }) => ratio < goal);
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  const parts = [
    '# Performance',
    `Written by \`npm run bench -- --report\` on ${at.slice(0, 10)}: ${machine}, Node ${node}, ${concurrency} requests at a time, the median of ${rounds} rounds
(of fewer where a round takes half a minute). Other work ran on the machine meanwhile: its load at the end was ${load.toFixed(1)}.`,
    WHAT_IT_IS,
    [line(HEADINGS), line(HEADINGS.map(() => '---')), ...pairs.map((pair) => line(cells(pair)))].join('\n'),
    ...(webhooks === undefined ? [] : [`${heardLine(webhooks)}.`]),
    ...(firstRow === undefined ? [] : [`${firstRowLine(firstRow)}.`]),
    ...(idle === undefined ? [] : [`A fresh sandbox, ${idleLine(idle)}.`]),
    ...(hot === undefined ? [] : [`${hot}.`]),
    ELSEWHERE,
    '## Each pair',
    ...pairs.map(shown),
    '## Goals missed',
    missed.length === 0 ? 'None.' : missed.map(explained).join('\n\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

const WHAT_IT_IS = `Each operation runs beside a limit. Of requests it is a bare HTTP server that checks the same signature and reads or writes
rows of the same bytes (bench/limit.ts), or the same rows into the same tables in one statement (bench/limit.rows.ts), with the same client,
pool, role, row-level policy and durability; what the other limits are is below. **Ratio** is the CPU time of the limit's processes over that of
ours, PostgreSQL included, per operation: 1 would be as little as it can cost. Rates and latencies are of this machine at that
moment; the ratio travels.`;

/** Description of a pair's limit, by the beginning of the pair's name. */
const LIMITS: Readonly<Record<string, string>> = {
  'a whole life':
    'a bare client that writes as many rows of as many bytes in as many transactions, one prepared statement each',
  'a sweep': 'the same chain transactions sent by a bare viem client',
  'a webhook out': 'undici, as Node has it, posting the same bodies over connections that stay open',
  'chain follower': '`eth_getLogs` of the same blocks alone, a hundred at a time, parsed as JSON',
  'camt.053': 'the XML parser alone over the same bytes',
  'order creation, one row': 'one row of the same bytes as all of ours',
  'order creation': 'the same rows into the same tables in one statement, nothing priced or checked',
};

const limitOf = (name: string): string =>
  Object.entries(LIMITS).find(([start]) => name.startsWith(start))?.[1] ??
  'a bare server that reads or writes rows of the same bytes';

const shown = (pair: Pair): string =>
  [
    `![${pair.name}: ratio ${pair.ratio.toFixed(2)}, goal ${pair.goal}](performance/${chartName(pair.name)})`,
    '',
    `- ${pair.name}. Limit: ${limitOf(pair.name)}.`,
    ...pair.notes.map((note) => `- ${note}.`),
  ].join('\n');

const ELSEWHERE = `What the same operations cost beside a million orders, and how to make such a database with \`npm run grow\`:
[growth.md](growth.md).`;

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** Explains the cost from the measurements of this run. The limit's three round trips are known from its source. */
function explained({ name, ratio, goal, detail, why, ours: oursUs, limit: limitUs }: Pair): string {
  const parts = (side: Figures) =>
    `Node ${side.nodeUs.toFixed(0)} µs (its background with it), PostgreSQL about ${Math.max(0, side.us - side.nodeUs).toFixed(0)} µs`;
  const bare = name.startsWith('kyb') ? 'none' : '4 statements in 3 round trips';
  const costs =
    detail === undefined
      ? `Ours: ${oursUs.toFixed(0)} µs. Limit: ${limitUs.toFixed(0)} µs.`
      : `Ours: ${parts(detail.ours)}. Limit: ${parts(detail.limit)}.`;
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
  return [`### ${name}: ${ratio.toFixed(2)} of ${goal}`, '', `- ${costs}`, ...seen].join('\n');
}
