/**
 * Answers of the provider: asks it about an address, stores its answer, and keeps one case open while it does not answer.
 *
 * Answers are rows that never change. The newest answer about an address counts. "Newest" means the time of the question, so a
 * late reply never replaces a newer one. An answer counts only while it is younger than the maximum age and was read under the
 * current rules.
 */
import { createHash } from 'node:crypto';
import { type Clock, later } from '../../base/clock.ts';
import type { Database, Tx } from '../../base/db.ts';
import { Unavailable } from '../../base/errors.ts';
import type { Handled } from '../../base/jobs.ts';
import { closeCases, openCase } from '../cases.ts';
import { ProviderDown } from '../screener.ts';
import { screeningMaxAgeMs } from '../screenings.ts';
import { type AddressRiskProvider, type AskedAddress, isAtLeast, type Level, type Threshold } from './provider.ts';
import { sql } from './store.ts';

/** Changes whenever our use of an answer changes. */
const RULES = '1';

/** Pause between two refreshes of the destinations of open orders. */
const REFRESH_EVERY_MS = 30_000;
const REFRESH_FAILED_MS = 60_000;
/** Destinations per refresh. The others are asked about when their money is about to move. */
const REFRESHED_AT_ONCE = 500;
/** A refresh that takes longer continues in the next run: even with one more request it ends before the job's lease does. */
const REFRESHING_FOR_MS = 8_000;
/**
 * After this many requests in a row without an answer the refresh ends: the provider is down, not just one address unanswered.
 */
const MOST_SILENCES = 3;
/** An address without an answer keeps the case open this long. The server asks about waiting money more often than that. */
const SILENT_FOR_MS = 600_000;

export interface AnswersDeps {
  db: Database;
  clock: Clock;
  provider: AddressRiskProvider;
  /** Lowest level at which an address is a hit. */
  threshold: Threshold;
  maxAgeMs: number;
  /** Destinations on chains of open orders, at most `limit`. */
  underWay(tx: Tx, limit: number): Promise<AskedAddress[]>;
}

/** The newest answer about an address (nulls if there is none), and the state of the owner's hit with the same finding. */
export interface Standing extends AskedAddress {
  id: bigint | null;
  rules: string | null;
  level: Level | null;
  reason: string | null;
  askedAt: Date | null;
  state: 'open' | 'true_hit' | 'false_positive' | null;
}

export const columnsOf = (all: readonly AskedAddress[]): [rails: string[], addresses: string[]] => [
  all.map(({ rail }) => rail),
  all.map(({ address }) => address),
];

export function openAnswers(deps: AnswersDeps) {
  const { db, clock, provider, threshold } = deps;
  const rules = `addresses ${RULES}, ${provider.code} ${provider.rules}`;
  const outage = { kind: 'screening_unavailable', subject: `address risk ${provider.code}` } as const;
  /** A case opened by an earlier process may still be open until this process gets an answer. */
  let mayBeOpen = true;
  /**
   * Addresses without an answer, with the time of the request. An address that the provider never answers for is dropped after
   * SILENT_FOR_MS, so it does not keep the case open.
   */
  const silent = new Map<string, number>();

  function isSilent(now: Date): boolean {
    for (const [key, at] of silent) if (now.getTime() - at > SILENT_FOR_MS) silent.delete(key);
    return silent.size > 0;
  }

  const standingOf = (tx: Tx, owner: string, asked: readonly AskedAddress[]): Promise<Standing[]> =>
    asked.length === 0
      ? Promise.resolve([])
      : tx.rows<Standing>(sql.standing, [...columnsOf(asked), owner, clock.now()]);

  const isAnswered = ({ rules: of, askedAt }: Standing, since: Date): boolean =>
    of === rules && askedAt !== null && askedAt >= since;

  /** Asks the provider and stores its answer. @throws ProviderDown after opening the case */
  async function ask({ rail, address }: AskedAddress): Promise<void> {
    const askedAt = clock.now();
    const key = JSON.stringify([rail, address]);
    try {
      const { level, score, reason, answer } = await provider.assess({ rail, address });
      const digest = createHash('sha256').update(key).update(answer).digest();
      silent.delete(key);
      const isOver = mayBeOpen && !isSilent(askedAt);
      await db.asSystem(async (tx) => {
        const from = [rail, address, provider.code, rules, threshold];
        await tx.run(sql.insertAnswer, [...from, level, score, reason, digest, askedAt, clock.now()]);
        if (isOver) await closeCases(tx, { ...outage, outcome: 'it answers again', now: clock.now() });
      });
      if (isOver) mayBeOpen = false;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      mayBeOpen = true;
      silent.set(key, askedAt.getTime());
      const reason = `${error.message}: money whose addresses have to be screened waits`;
      await db.asSystem((tx) => openCase(tx, { ...outage, reason, now: clock.now() }));
      throw new ProviderDown(error);
    }
  }

  return {
    /** Version of our rules and of the adapter's reading of answers. An answer stored under another version does not count. */
    rules,
    standingOf,

    isHit: ({ level }: Standing): boolean => level !== null && isAtLeast(level, threshold),

    /** @returns a test whether an answer is young enough now, including an extension that two operators granted */
    async countsSince(tx: Tx): Promise<(standing: Standing) => boolean> {
      const now = clock.now();
      const since = later(now, -(await screeningMaxAgeMs(tx, now, deps.maxAgeMs)));
      return (standing) => isAnswered(standing, since);
    },

    /** Makes sure that there is an answer that is young enough. @throws ProviderDown when there is none */
    async ensure(one: AskedAddress): Promise<void> {
      const [standing] = await db.asSystem((tx) => standingOf(tx, '', [one]));
      const now = clock.now();
      if (standing !== undefined && isAnswered(standing, later(now, -deps.maxAgeMs))) return;
      try {
        await ask(one);
      } catch (error) {
        const mostMs = await db.asSystem((tx) => screeningMaxAgeMs(tx, now, deps.maxAgeMs));
        if (standing === undefined || !isAnswered(standing, later(now, -mostMs))) throw error;
      }
    },

    /** The job: asks about destinations of open orders when their answers have reached half of the maximum age. */
    async refresh(): Promise<Handled> {
      const now = clock.now();
      const since = later(now, -deps.maxAgeMs / 2);
      const due = await db.asSystem(async (tx) => {
        const all = await deps.underWay(tx, REFRESHED_AT_ONCE);
        return all.length === 0 ? [] : await tx.rows<AskedAddress>(sql.due, [...columnsOf(all), rules, since, now]);
      });
      let [silences, inARow] = [0, 0];
      const began = performance.now();
      for (const one of due) {
        if (performance.now() - began > REFRESHING_FOR_MS) return { againInMs: 0 };
        try {
          await ask(one);
          inARow = 0;
        } catch (error) {
          if (!(error instanceof Unavailable)) throw error;
          silences += 1;
          inARow += 1;
          if (inARow === MOST_SILENCES) break;
        }
      }
      return { againInMs: silences === 0 ? REFRESH_EVERY_MS : REFRESH_FAILED_MS };
    },
  };
}
