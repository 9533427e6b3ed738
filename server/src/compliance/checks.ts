/**
 * Checks: asks the verifier about a customer's details until it has a result.
 *
 * A verifier without a result says how to get it: when to ask again, or that it calls back. The job asks again with growing
 * pauses, from the verifier's own up to an hour. A callback or an operator's decision wakes the job earlier; only the
 * verifier's next answer is trusted. While the verifier cannot be reached, the job is retried like any other job.
 *
 * A result is recorded with its event, and ends the check. Without one after the time of VERIFICATION_OVERDUE_S a case opens;
 * the result closes it, and the job continues asking until there is one.
 *
 * Not here: the rows and the job's key (customers/checks.ts), the effect of a result (customers.recordFinding).
 */
import { pauseAfter } from '../base/backoff.ts';
import { type Clock, dayOf, isCalendarDay, later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { Handled, Handlers } from '../base/jobs.ts';
import { CHECK_VERIFICATION, type Check, checkUnderWay, recordAsked, recordFinding } from '../customers/index.ts';
import { closeCases, openCase } from './cases.ts';
import { openDuplicateCase } from './duplicates.ts';

/** The functions used of a verifier; the full contract is verifiers/verifier.ts. */
export interface AskedVerifier {
  readonly code: string;
  readonly highestLevel: number;
  /** @throws Unavailable */
  begin(input: Asked): Promise<{ pageUrl: string | undefined }>;
  /** @throws Unavailable */
  finding(input: Asked): Promise<Finding>;
}

interface Asked {
  key: string;
  customerId: string;
  kind: Check['kind'];
  level: number;
}

interface Finding {
  outcome: 'in_review' | 'verified' | 'failed' | 'refused';
  level: number;
  reason?: string;
  fields?: Readonly<Record<string, string>>;
  expiresOn?: string;
  pending?: { pollAfterMs?: number; callsBack?: boolean };
}

const OUTCOMES: readonly string[] = ['in_review', 'verified', 'failed', 'refused'];
const OVERDUE = 'verification_overdue';
const subjectOf = (customerId: string): string => `customer:${customerId}`;

/** The first pause after an answer without a result: for a verifier that names none, and for one that calls back. */
const FIRST_PAUSE_MS = 5_000;
const FIRST_PAUSE_BESIDE_CALLBACKS_MS = 600_000;
/** A slow verifier occupies at most this many of a process's workers, so that work with money continues. */
const MOST_AT_ONCE = 4;
const WAIT_FOR_OTHERS_MS = 1_000;
/**
 * Bounds of every pause, whatever a verifier asks for. A callback may be lost, so a verifier that calls back is polled as well.
 */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Begins the check and asks for the result, for the customer's page. Calls outside, so never inside a transaction.
 *
 * @returns also the page to which the verifier sends the customer
 * @throws Unavailable, also for an invalid finding: a level that this verifier cannot reach, an unknown outcome
 */
export async function askVerifier(
  verifier: AskedVerifier,
  check: Check,
): Promise<{ finding: Finding; pageUrl: string | undefined }> {
  const input = inputOf(verifier, check);
  const { pageUrl } = await verifier.begin(input);
  return { finding: await findingOf(verifier, input), pageUrl };
}

/** The same for the job, which begins a check only if it has not begun at this verifier. */
async function askAgain(verifier: AskedVerifier, check: Check): Promise<Finding> {
  const input = inputOf(verifier, check);
  if (check.begunWith !== verifier.code) await verifier.begin(input);
  return await findingOf(verifier, input);
}

const inputOf = (verifier: AskedVerifier, { key, customerId, kind, level }: Check): Asked => ({
  ...{ key, customerId, kind },
  level: Math.min(level, verifier.highestLevel),
});

async function findingOf(verifier: AskedVerifier, input: Asked): Promise<Finding> {
  const finding = await verifier.finding(input);
  const { outcome, level } = finding;
  const isLevel = Number.isInteger(level) && level >= 1 && level <= verifier.highestLevel;
  const isDay = finding.expiresOn === undefined || isCalendarDay(finding.expiresOn);
  if (!OUTCOMES.includes(outcome) || (outcome === 'verified' && !(isLevel && isDay)))
    throw new Unavailable(verifier.code, 'its answer is no finding');
  return finding;
}

/** Records the verifier's answer about these details. A repeated, late or outdated answer changes nothing. */
export async function recordAnswer(
  tx: Tx,
  a: { check: Check; verifier: string; finding: Finding; polls: 0 | 1; now: Date },
): Promise<void> {
  const { check, verifier, now } = a;
  const { customerId, version } = check;
  const { expiresOn, ...rest } = a.finding;
  // If an operator accepts an expired document, the job does not request a new one at once.
  const finding = expiresOn === undefined || expiresOn < dayOf(now) ? rest : a.finding;
  await recordAsked(tx, a);
  await recordFinding(tx, { customerId, version, verifier, finding, now });
}

/** The job that follows each check. @param deps.overdueMs how long a check may be without a result before a case opens */
export function checkHandlers(deps: {
  db: Database;
  vault: Vault;
  clock: Clock;
  verifier: AskedVerifier;
  overdueMs: number;
}): Handlers {
  const { db, vault, clock, verifier, overdueMs } = deps;
  let asking = 0;
  return {
    async [CHECK_VERIFICATION](customerId): Promise<Handled> {
      const check = await db.asSystem(async (tx) => {
        await openDuplicateCase(tx, vault, customerId, clock.now());
        return await checkUnderWay(tx, customerId);
      });
      if (check === undefined) {
        const about = { kind: OVERDUE, subject: subjectOf(customerId) } as const;
        await db.asSystem((tx) => closeCases(tx, { ...about, outcome: 'answered', now: clock.now() }));
        return undefined;
      }
      if (asking >= MOST_AT_ONCE) return { againInMs: WAIT_FOR_OTHERS_MS };
      const overdueAt = later(check.givenAt, overdueMs);
      let finding: Finding;
      try {
        asking += 1;
        finding = await askAgain(verifier, check).finally(() => (asking -= 1));
      } catch (error) {
        await db.asSystem((tx) => openOverdueCase(tx, { check, verifier: verifier.code, overdueAt, now: clock.now() }));
        throw error;
      }
      const now = clock.now();
      await db.asSystem(async (tx) => {
        await recordAnswer(tx, { check, verifier: verifier.code, finding, polls: 1, now });
        if (finding.outcome === 'in_review')
          await openOverdueCase(tx, { check, verifier: verifier.code, overdueAt, now });
      });
      // A recorded result has enqueued this job again; the next run closes the case.
      if (finding.outcome !== 'in_review') return undefined;
      const pauseMs = pauseOf(finding, check.polls);
      const untilOverdueMs = overdueAt.getTime() - now.getTime();
      return { againInMs: untilOverdueMs > 0 ? Math.min(pauseMs, untilOverdueMs + 1) : pauseMs };
    },
  };
}

/** Pause after an answer without a result, in milliseconds. @param polls number of earlier answers without a result */
export function pauseOf({ pending = {} }: Pick<Finding, 'pending'>, polls: number): number {
  const usualMs = pending.callsBack === true ? FIRST_PAUSE_BESIDE_CALLBACKS_MS : FIRST_PAUSE_MS;
  const { pollAfterMs = usualMs } = pending;
  const namedMs = Number.isFinite(pollAfterMs) ? pollAfterMs : usualMs;
  return pauseAfter(polls, { firstMs: Math.max(SHORTEST_PAUSE_MS, namedMs), longestMs: LONGEST_PAUSE_MS });
}

async function openOverdueCase(
  tx: Tx,
  o: { check: Check; verifier: string; overdueAt: Date; now: Date },
): Promise<void> {
  const { customerId, partnerId, version, givenAt } = o.check;
  if (o.now < o.overdueAt) return;
  await openCase(tx, {
    kind: OVERDUE,
    subject: subjectOf(customerId),
    partnerId,
    reason: `no result of the verifier ${o.verifier} since ${givenAt.toISOString()}`,
    facts: { version, verifier: o.verifier },
    now: o.now,
  });
}
