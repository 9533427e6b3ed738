/**
 * Answers of the provider: asks about an address, keeps what it says, and opens one case while it does not answer.
 *
 * Answers are rows that never change. The newest one of an address counts, by the time of its question, so what comes late
 * displaces nothing; and only while it is young enough and was read under the current rules.
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

/** Between two looks for destinations of open orders. */
const REFRESH_EVERY_MS = 30_000;
const REFRESH_FAILED_MS = 60_000;
/** Addresses of one look; the others are asked when their money is about to move. */
const REFRESHED_AT_ONCE = 500;
/** A look that lasts longer goes on in the next one: with one question more it ends before the lease of its job. */
const REFRESHING_FOR_MS = 8_000;
/** After this many in a row without an answer a look ends: the provider is down, and not only for one address. */
const MOST_SILENCES = 3;
/** An address without an answer keeps its case open this long: waiting money is asked about more often. */
const SILENT_FOR_MS = 600_000;

export interface AnswersDeps {
  db: Database;
  clock: Clock;
  provider: AddressRiskProvider;
  /** From which level on an address is a hit. */
  threshold: Threshold;
  maxAgeMs: number;
  /** Destinations on chains of open orders. */
  underWay(tx: Tx, limit: number): Promise<AskedAddress[]>;
}

/** The newest answer about an address, as far as there is one, and the owner's hit with the same finding. */
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
  /** Until this process has an answer, a case of before may be open. */
  let mayBeOpen = true;
  /** Addresses that were asked about in vain, with the time. One that the provider never answers for is no outage that ends. */
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

  /** Asks the provider, and keeps its answer. @throws ProviderDown; then a case is open */
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
    /** Versions of our rules and of the reading of its answers. */
    rules,
    standingOf,

    isHit: ({ level }: Standing): boolean => level !== null && isAtLeast(level, threshold),

    /** How old an answer may be now: two people may have extended it. */
    async countsSince(tx: Tx): Promise<(standing: Standing) => boolean> {
      const now = clock.now();
      const since = later(now, -(await screeningMaxAgeMs(tx, now, deps.maxAgeMs)));
      return (standing) => isAnswered(standing, since);
    },

    /** An answer that is young enough, or a new one. @throws ProviderDown when there is neither */
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

    /** The job: asks about destinations of open orders before their answers are half as old as they may be. */
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
