/**
 * The result of a pair: the CPU time of one operation of ours and of its limit, including all processes, and their ratio.
 */
import type { Watched } from './watch.ts';

export interface Pair {
  name: string;
  goal: number;
  /** Limit ÷ ours, the median of the rounds: 1 means the minimum possible cost. */
  ratio: number;
  /** CPU microseconds per operation. */
  ours: number;
  limit: number;
  /** Further findings, one line each. */
  notes: readonly string[];
  /** For pairs over HTTP only. */
  detail?: { ours: Figures; limit: Figures };
  /** For ours, with --report: a further round, watched inside the process; per operation. */
  why?: Watched;
}

export interface Figures {
  us: number;
  /** CPU time of the Node process that answers, including its background work; the rest is PostgreSQL's. */
  nodeUs: number;
  /** Idle cost of its processes per second; not included in `us`. */
  idleUsPerSecond: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
}

export const medianOf = (all: readonly number[]): number =>
  [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
