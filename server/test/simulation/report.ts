/**
 * The results of many runs: counted, in words, and as JSON for the evidence (main.process.ts describes its shape).
 */
import type { Kind, Violation } from './checks.ts';
import { FAULTS, type Fault } from './faults.ts';
import type { Asked, Told } from './workers.ts';

export interface Report {
  command: string;
  seeds: number;
  /** One of each seed, and those that went to a point. */
  runs: number;
  orders: number;
  /** Orders that failed for lack of a price or a process. */
  unmade: number;
  /** Points that were passed, one after the other. */
  steps: number;
  /** Statements that waited for a lock. */
  waits: number;
  /** Of this machine's clock. */
  seconds: number;
  ordersPerSecond: number;
  ended: Record<string, number>;
  /** All kinds, including those that never occurred. */
  faults: Record<string, { rate: number; times: number }>;
  points: { known: number; hit: number; ends: number; never: { point: string; why: string }[] };
  paidTwice: number;
  /** Payments against a block, kill switch, clearing time or limit. */
  paidAgainst: number;
  /** Payouts and refunds that were checked at their submission. */
  submissions: number;
  lost: number;
  /** Runs whose database was replaced by an older copy, and operators' actions then, with counts. */
  restores: { played: number; ended: Record<string, number> };
  /** Runs with money without an order, and people's actions on it, with counts. */
  strays?: { played: number; done: Record<string, number> };
  /** Runs with a bank that forgets keys, and the events, with counts. */
  outages?: { played: number; done: Record<string, number> };
  /** In runs with further actions of people: the actions, with counts. */
  moves?: { played: number; done: Record<string, number> };
  meetings?: { played: number; done: Record<string, number> };
  references?: { played: number; done: Record<string, number> };
  contradictions?: { played: number; done: Record<string, number> };
  parts?: { played: number; done: Record<string, number> };
  /** Signed transactions that could not leave and that people have cancelled. */
  keptCancelled?: number;
  own?: { played: number; done: Record<string, number> };
  rules?: { played: number; done: Record<string, number> };
  again?: { played: number; done: Record<string, number> };
  promises?: { played: number; done: Record<string, number> };
  wild?: { played: number; done: Record<string, number> };
  /** All other violations. */
  unexplained: number;
  failing: { seed: number; violations: Violation[]; again: string }[];
}

export interface Tally {
  add(told: Told, asked: Asked): void;
  /**
   * Runs that reach the points at which no process was ended yet. Once a process has ended, the rest of a run differs from its
   * seed: it still passes the points that most seeds pass, and seldom a rare one. So rare and common points have separate runs.
   *
   * @param most       maximum number of rare points per run
   * @param mostCommon the same for points that at least COMMON seeds passed
   */
  unhit(most: number, mostCommon?: number): { seed: number; endAt: string[] }[];
  report(command: string, seconds: number): Report;
}

export const again = ({ seed, orders, endAt, restore }: Asked): string =>
  `npm run simulate -- --seeds ${seed}..${seed} --orders ${orders}${restore === true ? ' --restore always' : ''}${(endAt ?? []).map((point) => ` --end-at '${point}'`).join('')} --trace`;

// Long because `openTally` is one closure: every outcome is counted in the same sums.
export function openTally(): Tally {
  const faults = new Map<Fault, number>();
  const ended = new Map<string, number>();
  /** Points that processes passed, and the seeds that were there. */
  const points = new Map<string, Set<number>>();
  const ends = new Map<string, number>();
  const failing: Report['failing'] = [];
  const seeds = new Set<number>();
  /** Points at which a run was to end a process. */
  const goneTo = new Set<string>();
  const restored = new Map<string, number>();
  let restores = 0;
  const withStrays = new Map<string, number>();
  let strays = 0;
  const withOutages = new Map<string, number>();
  let outages = 0;
  let moves = 0;
  const withMoves = new Map<string, number>();
  let meetings = 0;
  let references = 0;
  let contradictions = 0;
  let parts = 0;
  const withParts = new Map<string, number>();
  let keptCancelled = 0;
  let own = 0;
  const withOwn = new Map<string, number>();
  let rules = 0;
  const withRules = new Map<string, number>();
  let laidAgain = 0;
  const withAgain = new Map<string, number>();
  let capped = 0;
  const withCap = new Map<string, number>();
  let wild = 0;
  const withWild = new Map<string, number>();
  const withMeetings = new Map<string, number>();
  const withReferences = new Map<string, number>();
  const withContradictions = new Map<string, number>();
  let [runs, orders, unmade, steps, waits, submissions] = [0, 0, 0, 0, 0, 0];
  const addTo = <K>(to: Map<K, number>, key: K, times: number) => void to.set(key, (to.get(key) ?? 0) + times);

  const count = (...kinds: Kind[]): number =>
    failing.flatMap(({ violations }) => violations).filter(({ kind }) => kinds.includes(kind)).length;

  /** The rarest first, and the same in any order of playing. */
  const unhit = () =>
    [...points]
      .filter(([point]) => !ends.has(point))
      .map(([point, passed]) => ({ point, passed, seed: Math.min(...passed) }))
      .toSorted((a, b) => a.passed.size - b.passed.size || a.seed - b.seed || (a.point < b.point ? -1 : 1));

  return {
    add(told, asked) {
      seeds.add(told.seed);
      runs += 1;
      orders += told.orders;
      unmade += told.unmade;
      submissions += told.submissions;
      steps += told.steps;
      waits += told.waits;
      for (const [fault, times] of told.faults) addTo(faults, fault, times);
      for (const [state, times] of Object.entries(told.states)) addTo(ended, state, times);
      for (const [point, times] of told.ends) addTo(ends, point, times);
      if (told.strays !== undefined) strays += 1;
      for (const [what, times] of told.strays ?? []) addTo(withStrays, what, times);
      if (told.moves !== undefined) moves += 1;
      for (const [what, times] of told.moves ?? []) addTo(withMoves, what, times);
      if (told.meetings !== undefined) meetings += 1;
      for (const [what, times] of told.meetings ?? []) addTo(withMeetings, what, times);
      if (told.references !== undefined) references += 1;
      for (const [what, times] of told.references ?? []) addTo(withReferences, what, times);
      if (told.contradictions !== undefined) contradictions += 1;
      for (const [what, times] of told.contradictions ?? []) addTo(withContradictions, what, times);
      if (told.parts !== undefined) parts += 1;
      for (const [what, times] of told.parts ?? []) addTo(withParts, what, times);
      keptCancelled += told.kept?.get('cancelled') ?? 0;
      if (told.own !== undefined) own += 1;
      for (const [what, times] of told.own ?? []) addTo(withOwn, what, times);
      if (told.rules !== undefined) rules += 1;
      for (const [what, times] of told.rules ?? []) addTo(withRules, what, times);
      if (told.again !== undefined) laidAgain += 1;
      for (const [what, times] of told.again ?? []) addTo(withAgain, what, times);
      if (told.promises !== undefined) capped += 1;
      for (const [what, times] of told.promises ?? []) addTo(withCap, what, times);
      if (told.wild !== undefined) wild += 1;
      for (const [what, times] of told.wild ?? []) addTo(withWild, what, times);
      if (told.outages !== undefined) outages += 1;
      for (const [what, times] of told.outages ?? []) addTo(withOutages, what, times);
      if (told.restored !== undefined) restores += 1;
      for (const [what, times] of told.restored ?? []) addTo(restored, what, times);
      if (asked.endAt === undefined) {
        for (const point of told.points.keys()) points.set(point, (points.get(point) ?? new Set()).add(told.seed));
      } else for (const point of asked.endAt) goneTo.add(point);
      if (told.violations.length > 0)
        failing.push({ seed: told.seed, violations: told.violations, again: again(asked) });
    },
    unhit(most, mostCommon = most) {
      const all = unhit();
      const isCommon = ({ passed }: (typeof all)[number]) => passed.size >= COMMON;
      return [
        ...packed(
          all.filter((one) => !isCommon(one)),
          most,
        ),
        ...packed(all.filter(isCommon), mostCommon),
      ];
    },
    report(command, seconds) {
      const never = unhit().map(({ point, seed }) => ({
        point,
        why: goneTo.has(point)
          ? `seed ${seed} came there, and when it was played again to end a process there, it did not`
          : `seed ${seed} came there, and it was not played again to end a process there`,
      }));
      const violations = failing.reduce((sum, one) => sum + one.violations.length, 0);
      const paidTwice = count('paid_twice');
      const paidAgainst = count('paid_against');
      const lost = count('lost');
      return {
        command,
        seeds: seeds.size,
        runs,
        orders,
        unmade,
        steps,
        waits,
        seconds: Math.round(seconds * 10) / 10,
        ordersPerSecond: Math.round((orders * 10) / seconds) / 10,
        ended: sorted(ended),
        faults: Object.fromEntries(
          Object.entries(FAULTS).map(([fault, rate]) => [fault, { rate, times: faults.get(fault as Fault) ?? 0 }]),
        ),
        points: {
          known: points.size,
          hit: points.size - never.length,
          ends: [...ends.values()].reduce((sum, times) => sum + times, 0),
          never,
        },
        paidTwice,
        paidAgainst,
        submissions,
        lost,
        restores: { played: restores, ended: sorted(restored) },
        strays: { played: strays, done: sorted(withStrays) },
        outages: { played: outages, done: sorted(withOutages) },
        moves: { played: moves, done: sorted(withMoves) },
        meetings: { played: meetings, done: sorted(withMeetings) },
        references: { played: references, done: sorted(withReferences) },
        contradictions: { played: contradictions, done: sorted(withContradictions) },
        parts: { played: parts, done: sorted(withParts) },
        keptCancelled,
        own: { played: own, done: sorted(withOwn) },
        rules: { played: rules, done: sorted(withRules) },
        again: { played: laidAgain, done: sorted(withAgain) },
        promises: { played: capped, done: sorted(withCap) },
        wild: { played: wild, done: sorted(withWild) },
        unexplained: violations - paidTwice - paidAgainst - lost,
        failing: failing.toSorted((a, b) => a.seed - b.seed),
      };
    },
  };
}

interface Unhit {
  point: string;
  /** The seeds that passed it. */
  passed: ReadonlySet<number>;
  /** The lowest of them. */
  seed: number;
}

/** Assigns the points to runs: each run takes the first point that is left, its lowest seed, and further points of that seed. */
function packed(points: readonly Unhit[], most: number): { seed: number; endAt: string[] }[] {
  const runs: { seed: number; endAt: string[] }[] = [];
  for (let left = points; left.length > 0; ) {
    const seed = (left[0] as Unhit).seed;
    const endAt = new Set(left.filter(({ passed }) => passed.has(seed)).slice(0, most));
    runs.push({ seed, endAt: [...endAt].map(({ point }) => point) });
    left = left.filter((one) => !endAt.has(one));
  }
  return runs;
}

const sorted = (from: ReadonlyMap<string, number>) =>
  Object.fromEntries([...from].toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Points per run: with more, hardly anything of the first run is left. */
export const POINTS_A_RUN = 6;
/** The same for common points, which a run still passes after its process has ended. */
export const COMMON_POINTS_A_RUN = 20;
/** A point is common if at least so many seeds passed it. */
const COMMON = 25;

/** From this many seeds on every point is visited, and rare kinds are reported. */
export const MANY = 500;

/** Below this a kind of fault has not occurred often enough for a conclusion. */
const ENOUGH = 100;

export function inWords(report: Report): string[] {
  const { points, faults } = report;
  const list = (of: Record<string, number>) =>
    Object.entries(of)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ');
  const times = Object.fromEntries(Object.entries(faults).map(([name, one]) => [name, one.times]));
  const rare = Object.entries(times).filter(([, n]) => n < ENOUGH);
  return [
    `${report.seeds} seeds in ${report.runs} runs: ${report.runs - report.failing.length} clean, ${report.failing.length} failed ${report.failing.map(({ seed }) => seed).join(' ')}`,
    `${report.orders} orders in ${report.seconds} s, ${report.ordersPerSecond} a second; ${report.steps} steps, ${report.waits} waits for a lock`,
    `ended as: ${list(report.ended)}`,
    `faults: ${list(times)}`,
    ...(report.seeds < MANY || rare.length === 0
      ? []
      : [`fewer than ${ENOUGH}: ${rare.map(([name, n]) => `${name} ${n}`).join(', ')}`]),
    `points: ${points.known} known, ${points.hit} hit, processes ended ${points.ends} times`,
    ...(report.seeds < MANY ? [] : points.never.map(({ point, why }) => `  never: ${point} (${why})`)),
    `restores from an older copy: ${report.restores.played}, ended by: ${list(report.restores.ended)}`,
    `runs with money of no order: ${report.strays?.played ?? 0}, ended by: ${list(report.strays?.done ?? {})}`,
    `runs with a bank that forgets keys: ${report.outages?.played ?? 0}: ${list(report.outages?.done ?? {})}`,
    `runs with senders, requested refunds and destinations that wait: ${report.moves?.played ?? 0}: ${list(report.moves?.done ?? {})}`,
    `runs in which things meet: ${report.meetings?.played ?? 0}: ${list(report.meetings?.done ?? {})}`,
    `runs with credits without a reference: ${report.references?.played ?? 0}: ${list(report.references?.done ?? {})}`,
    `runs with a bank that shows what it has refused: ${report.contradictions?.played ?? 0}: ${list(report.contradictions?.done ?? {})}`,
    `runs with a bank that recalls parts: ${report.parts?.played ?? 0}: ${list(report.parts?.done ?? {})}`,
    `signed, not to leave, and cancelled by people: ${report.keptCancelled ?? 0}`,
    `runs with transfers to own addresses: ${report.own?.played ?? 0}: ${list(report.own?.done ?? {})}`,
    `runs in which rules change: ${report.rules?.played ?? 0}: ${list(report.rules?.done ?? {})}`,
    `runs in which what stands is laid again: ${report.again?.played ?? 0}: ${list(report.again?.done ?? {})}`,
    `runs with a cap on promises: ${report.promises?.played ?? 0}: ${list(report.promises?.done ?? {})}`,
    `runs with wild prices: ${report.wild?.played ?? 0}: ${list(report.wild?.done ?? {})}`,
    `paid twice ${report.paidTwice}, lost ${report.lost}, unexplained ${report.unexplained}`,
    `paid against a block, kill switch, clearing time or limit ${report.paidAgainst} (of ${report.submissions} submissions looked at)`,
  ];
}
