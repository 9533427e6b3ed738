/**
 * What every pair says: the CPU time of one operation of ours and of its limit, all processes included, and their ratio.
 */
import type { Seen } from './ours.ts';
import type { Shares } from './profile.ts';

export interface Pair {
  name: string;
  goal: number;
  /** Limit ÷ ours, the median of the rounds: 1 is as little as it can cost. */
  ratio: number;
  /** CPU microseconds per operation. */
  ours: number;
  limit: number;
  /** What else was found, a line each. */
  notes: readonly string[];
  /** Of pairs over HTTP. */
  detail?: { ours: Figures; limit: Figures };
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

export const medianOf = (all: readonly number[]): number =>
  [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
