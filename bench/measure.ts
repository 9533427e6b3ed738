/**
 * A pair over HTTP: ours and the limit run in turns, round by round, with the same requests, and the CPU time of all their
 * processes is compared. The idle cost of each side is measured in advance, and subtracted from its rounds.
 */
import { cpuOf, usOf } from './cpu.ts';
import type { RowsLimit } from './creation.ts';
import { drive, percentile } from './load.ts';
import type { Operation } from './operations.ts';
import type { Ours } from './ours.ts';
import { type Figures, medianOf, type Pair } from './pairs.ts';
import type { Side } from './side.ts';
import type { Watched } from './watch.ts';

export const CONCURRENCY = 8;

export interface How {
  rounds: number;
  /** Share of the operation's requests. */
  share: number;
  idleMs: number;
}

interface Round {
  us: number;
  nodeUs: number;
  perSecond: number;
  latencies: number[];
}

export async function measure(
  { name, goal, count, prepare }: Operation,
  { ours, limit }: { ours: Side; limit: Side | RowsLimit },
  { rounds: wanted, share, idleMs }: How,
): Promise<Pair> {
  const rounds: { ours: Round; limit: Round }[] = [];
  const idle = new Map([
    [ours, await idleUs(ours)],
    [limit, await idleUs(limit)],
  ]);
  for (let round = 0; round <= wanted; round += 1) {
    const own = await oneRound(ours);
    if ('feed' in limit) await limit.feed();
    const done = { ours: own, limit: await oneRound(limit) };
    // The first round warms both up.
    if (round > 0) rounds.push(done);
  }
  const detail = { ours: figures('ours'), limit: figures('limit') };
  const ratio = medianOf(rounds.map((round) => round.limit.us / round.ours.us));
  return { name, goal, ratio, ours: detail.ours.us, limit: detail.limit.us, notes: [], detail };

  async function oneRound(side: Side): Promise<Round> {
    const all = await prepare(Math.round(count * share));
    const [before, nodeBefore] = [cpuOf(side.pids), usOf(side.pids[0])];
    const { seconds, latencies } = await drive(side.baseUrl, all, CONCURRENCY);
    const background = (idle.get(side) ?? 0) * seconds;
    return {
      us: (cpuOf(side.pids) - before - background) / all.length,
      nodeUs: (usOf(side.pids[0]) - nodeBefore) / all.length,
      perSecond: all.length / seconds,
      latencies,
    };
  }

  function figures(side: 'ours' | 'limit'): Figures {
    const all = rounds.map((round) => round[side]);
    const latencies = all.flatMap((round) => round.latencies).sort((a, b) => a - b);
    return {
      us: medianOf(all.map(({ us }) => us)),
      nodeUs: medianOf(all.map(({ nodeUs }) => nodeUs)),
      idleUsPerSecond: idle.get(side === 'ours' ? ours : limit) ?? 0,
      perSecond: medianOf(all.map(({ perSecond }) => perSecond)),
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      p99: percentile(latencies, 0.99),
    };
  }

  /** The idle cost of a side, in CPU microseconds per second. */
  async function idleUs({ pids }: Side): Promise<number> {
    const [before, began] = [cpuOf(pids), performance.now()];
    await new Promise((done) => setTimeout(done, idleMs));
    return (cpuOf(pids) - before) / ((performance.now() - began) / 1_000);
  }
}

/** PostgreSQL queries per second. */
export type Quiet = Pick<Watched, 'statements' | 'roundTrips'>;

/** The server's PostgreSQL queries per second while idle. */
export async function watchedQuiet(ours: Ours, ms: number): Promise<Quiet> {
  const { seen } = await ours.watch(() => new Promise((done) => setTimeout(done, ms)));
  return { statements: seen.statements / (ms / 1_000), roundTrips: seen.roundTrips / (ms / 1_000) };
}

/** One more round after the measured ones, profiled inside the server. */
export async function why({ count, prepare }: Operation, ours: Ours, quiet: Quiet): Promise<Watched> {
  const all = await prepare(count);
  return await whyOf(ours, quiet, { count, body: () => drive(ours.baseUrl, all, CONCURRENCY) });
}

/** Watches the server while it carries out `count` operations. @returns its queries per operation, and its profile */
export async function whyOf(
  ours: Ours,
  quiet: Quiet,
  { count, body }: { count: number; body: () => Promise<unknown> },
): Promise<Watched> {
  const began = performance.now();
  const { seen } = await ours.watch(body);
  const seconds = (performance.now() - began) / 1_000;
  return {
    ...seen,
    statements: (seen.statements - quiet.statements * seconds) / count,
    roundTrips: (seen.roundTrips - quiet.roundTrips * seconds) / count,
  };
}
