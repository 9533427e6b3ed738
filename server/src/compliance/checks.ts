/**
 * Checks: asks the verifier about a customer's details until it has a result.
 *
 * A verifier without a result says how to get it: when to ask again, or that it calls back. The job asks again with growing
 * pauses, from the verifier's own up to an hour. A callback or an operator's decision wakes the job earlier; only the
 * verifier's next answer is trusted. While the verifier cannot be reached, the job is retried like any other job.
 *
 * A result is recorded with its event, and ends the check. If the verifier read another name from the document than the customer
 * typed, its result is not taken: the check stays in review, and the job opens a case `verification_review`, which an operator
 * decides. Without a result after the time of VERIFICATION_OVERDUE_S a case opens;
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
import { encryptTyped } from '../base/typed.ts';
import {
  CHECK_VERIFICATION,
  type Check,
  checkUnderWay,
  type DocumentNames,
  isCountry,
  keepReadNames,
  keepReadNumbers,
  recordAsked,
  recordFinding,
  toldReason,
} from '../customers/index.ts';
import { closeCases, openCase } from './cases.ts';
import { record } from './decisions.ts';
import { openDuplicateCase } from './duplicates.ts';
import { askReview, REVIEW_CASE } from './reviews.ts';

/** The functions used of a verifier; the full contract is verifiers/verifier.ts. */
export interface AskedVerifier {
  readonly code: string;
  readonly highestLevel: number;
  highestLevelFor?(kind: Check['kind']): number;
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
  code?: string;
  reason?: string;
  fields?: Readonly<Record<string, string>>;
  expiresOn?: string;
  names?: DocumentNames;
  documentNumbers?: readonly string[];
  country?: string;
  pending?: { pollAfterMs?: number; callsBack?: boolean };
}

/** The highest level that this verifier gives to customers of this kind; 0 if it verifies none of them. */
export const highestLevelOf = (
  verifier: Pick<AskedVerifier, 'highestLevel' | 'highestLevelFor'>,
  kind: Check['kind'],
): number => verifier.highestLevelFor?.(kind) ?? verifier.highestLevel;

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
  // A verifier of none of this kind says so itself.
  level: Math.max(1, Math.min(level, highestLevelOf(verifier, kind))),
});

async function findingOf(verifier: AskedVerifier, input: Asked): Promise<Finding> {
  const finding = await verifier.finding(input);
  const { outcome, level } = finding;
  const isLevel = Number.isInteger(level) && level >= 1 && level <= highestLevelOf(verifier, input.kind);
  const isDay = finding.expiresOn === undefined || isCalendarDay(finding.expiresOn);
  if (!OUTCOMES.includes(outcome) || (outcome === 'verified' && !(isLevel && isDay)))
    throw new Unavailable(verifier.code, 'its answer is no finding');
  return finding;
}

/** A longer name is cut: no document has one. */
const LONGEST_NAME = 200;

/** The names that count for a customer of this kind; undefined when there are none. */
function namesOf({ names = {} }: Pick<Finding, 'names'>, kind: Check['kind']): DocumentNames | undefined {
  const fields = kind === 'BUSINESS' ? (['companyName'] as const) : (['firstName', 'lastName', 'dob'] as const);
  const given = fields.map((field) => [field, (names[field] ?? '').trim().slice(0, LONGEST_NAME)] as const);
  const kept = given.filter(([field, value]) => (field === 'dob' ? isCalendarDay(value) : value !== ''));
  return kept.some(([field]) => field !== 'dob') ? Object.fromEntries(kept) : undefined;
}

/** Bounds of a provider's numbers. A longer one, which no document has, is cut. */
const LONGEST_NUMBER = 64;
const MOST_NUMBERS = 10;

const numbersOf = ({ documentNumbers = [] }: Finding): string[] =>
  documentNumbers.slice(0, MOST_NUMBERS).map((number) => number.trim().slice(0, LONGEST_NUMBER));

/**
 * Records the verifier's answer about these details. A repeated, late or outdated answer changes nothing.
 *
 * @returns true when the customer is verified under another name than the typed one: a person has to decide, and until then the
 * details are in review
 */
export async function recordAnswer(
  tx: Tx,
  vault: Vault,
  a: { check: Check; verifier: string; finding: Finding; polls: 0 | 1; now: Date },
): Promise<boolean> {
  const { check, verifier, now } = a;
  const { customerId, partnerId, version } = check;
  const { expiresOn, names: _, documentNumbers: __, country, code, reason, ...found } = a.finding;
  const rest = { ...found, ...toldOf(a.finding) };
  await recordAsked(tx, a);
  const names = rest.outcome === 'verified' ? namesOf(a.finding, check.kind) : undefined;
  const isOther = names !== undefined && (await keepReadNames(tx, vault, { customerId, version, names })) === 'other';
  if (rest.outcome === 'verified' && numbersOf(a.finding).length > 0) {
    const customer = { id: customerId, partnerId };
    await keepReadNumbers(tx, vault, { customer, version, numbers: numbersOf(a.finding), now });
    await openDuplicateCase(tx, vault, customerId, now);
  }
  // If an operator accepts an expired document, the job does not request a new one at once.
  const accepted = {
    ...rest,
    ...(expiresOn !== undefined && expiresOn >= dayOf(now) && { expiresOn }),
    ...(country !== undefined && isCountry(country) && { country }),
  };
  const finding = isOther ? ({ outcome: 'in_review', level: 0 } as const) : accepted;
  const isTaken = await recordFinding(tx, { customerId, version, verifier, finding, now });
  const { outcome } = found;
  if (isTaken && (outcome === 'failed' || outcome === 'refused')) {
    // Encrypted like what an operator types: the words may name the customer, and an erasure takes them out.
    const words = reason === undefined ? null : encryptTyped(vault, reason.slice(0, MOST_REASON));
    const inputs = { customerId, version, code: codeOf(code), reason: words };
    await record(tx, { partnerId, about: 'verification', outcome, rules: verifier, inputs, now });
  }
  return isOther;
}

const MOST_REASON = 200;
/** One of `VERIFICATION_REASONS`, or a word of the provider's. It is stored as it is, so anything else is left out: it may name a person. */
const codeOf = (code: unknown): string | null =>
  typeof code === 'string' && /^[\w.:-]{1,60}$/.test(code) ? code : null;

/** The code that the partner gets as the reason. The verifier's own words stay in our decision. */
function toldOf({ outcome, code, fields = {} }: Finding): { reason?: string } {
  if (outcome !== 'failed' && outcome !== 'refused') return {};
  const hasItems = outcome === 'failed' && Object.keys(fields).length > 0;
  return { reason: hasItems ? 'items_rejected' : toldReason(outcome, code) };
}

/** Asks an operator about a name that differs. Neither name is in the case: `customer review` shows both. */
async function askAboutName(tx: Tx, a: { check: Check; verifier: string; finding: Finding; now: Date }): Promise<void> {
  const { level, expiresOn } = a.finding;
  await askReview(tx, {
    ...{ customerId: a.check.customerId, level, now: a.now },
    why: 'the document shows another name than the customer typed',
    facts: { verifier: a.verifier, ...(expiresOn !== undefined && { expiresOn }) },
  });
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
        const about = { subject: subjectOf(customerId), outcome: 'answered', now: clock.now() };
        await db.asSystem(async (tx) => {
          for (const kind of [OVERDUE, REVIEW_CASE] as const) await closeCases(tx, { ...about, kind });
        });
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
      const isOther = await db.asSystem(async (tx) => {
        const answer = { check, verifier: verifier.code, finding, now };
        const isOtherName = await recordAnswer(tx, vault, { ...answer, polls: 1 });
        if (isOtherName) await askAboutName(tx, answer);
        else if (finding.outcome === 'in_review') await openOverdueCase(tx, { ...answer, overdueAt });
        return isOtherName;
      });
      // The operator's decision wakes this job.
      if (isOther) return { againInMs: pauseOf({ pending: { callsBack: true } }, check.polls) };
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
