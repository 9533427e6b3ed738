/**
 * Reviews: an operator decides about a customer's details when no program verifies them.
 *
 * `askReview` opens a case and `decideReview` closes it: the finding is recorded like any verifier's, on the version of the
 * details that was reviewed, with a reason and who decided. Details submitted again meanwhile are reviewed again.
 *
 * The reason is stored, and shown to the partner, so it must contain no personal data.
 */
import type { Vault } from '../base/crypto.ts';
import { awaitAll, type Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { Refusal } from '../base/errors.ts';
import {
  documentMatch,
  type FieldReasons,
  findCustomer,
  givenDetails,
  HIGHEST_LEVEL,
  knownNames,
  lockGivenDetails,
  recordFinding,
} from '../customers/index.ts';
import { closeCases, openCase } from './cases.ts';
import { record } from './decisions.ts';
import { hasHit } from './sanctions/decisions.ts';
import { sql } from './store.ts';

export const MANUAL_VERIFIER = 'manual';
export const REVIEW_CASE = 'verification_review';
const subjectOf = (customerId: string): string => `customer:${customerId}`;

/**
 * Opens the case, once per customer.
 *
 * @param asked.why   what to decide about, without personal data; that the level was asked for, by default
 * @param asked.facts what a verifier found, for the operator who decides
 */
export async function askReview(
  tx: Tx,
  asked: { customerId: string; level: number; why?: string; facts?: Readonly<Record<string, string>>; now: Date },
): Promise<void> {
  const customer = await findCustomer(tx, asked.customerId);
  await openCase(tx, {
    kind: REVIEW_CASE,
    subject: subjectOf(customer.id),
    partnerId: customer.partnerId,
    reason: asked.why ?? `asked for level ${asked.level}`,
    facts: { level: asked.level, ...asked.facts },
    now: asked.now,
  });
}

/** An operator's finding about the newest details, in a verifier's terms; undefined while there is none. */
export async function reviewed(tx: Tx, customerId: string) {
  const outcome = (await givenDetails(tx, customerId))?.outcome;
  if (outcome !== 'verified' && outcome !== 'failed' && outcome !== 'refused') return undefined;
  const { level, failedReason } = await findCustomer(tx, customerId);
  return { outcome, level, ...defined({ reason: failedReason ?? undefined }) };
}

/**
 * The details to decide on, and the names that a verifier read from the document, decrypted: for the operator who decides, never for
 * a log.
 */
export async function openReview(tx: Tx, vault: Vault, customerId: string) {
  const customer = await findCustomer(tx, customerId);
  const given = await givenDetails(tx, customerId);
  const { typed, read, verified } = await knownNames(tx, vault, customerId);
  return { customer, given, details: typed, readNames: read, verifiedNames: verified };
}

/** What is known against verifying a customer, besides its document and its level. Words, without personal data. */
export type ReviewRisk = 'sanctions_hit' | 'monitoring' | 'document_name';

/** Empty when nothing is. */
export async function reviewRisks(tx: Tx, vault: Vault, customerId: string): Promise<ReviewRisk[]> {
  const [isListed, watched, { typed, read }] = await awaitAll(
    hasHit(tx, customerId),
    tx.row(sql.isCaseOpen, ['monitoring', subjectOf(customerId)]),
    knownNames(tx, vault, customerId),
  );
  return [
    ...(isListed ? (['sanctions_hit'] as const) : []),
    ...(watched === undefined ? [] : (['monitoring'] as const)),
    ...(documentMatch(typed, read) === 'other' ? (['document_name'] as const) : []),
  ];
}

/**
 * Records the decision.
 *
 * @param d.outcome after `failed` the customer may give other details; after `refused` they may not
 * @param d.version of the details that were reviewed
 * @param d.told    the reason as stored for the partner
 * @throws Refusal 'unknown_customer'; 'malformed_field' when there is nothing to decide, or no reason
 */
export async function decideReview(
  tx: Tx,
  d: {
    customerId: string;
    version: number;
    outcome: 'verified' | 'failed' | 'refused';
    level: number;
    reason: string;
    told: string;
    /** With `failed`: the fields to submit again, with reasons. */
    fields?: FieldReasons;
    /** With `verified`: the last day on which the document is valid. */
    expiresOn?: string | undefined;
    by: string;
    now: Date;
  },
): Promise<void> {
  const bad = (field: string, why: string) => new Refusal('malformed_field', { fields: { [field]: why } });
  if (d.reason.trim() === '') throw bad('reason', 'must not be empty');
  if (d.outcome === 'verified' && !(Number.isInteger(d.level) && d.level >= 1 && d.level <= HIGHEST_LEVEL))
    throw bad('level', `must be a level from 1 to ${HIGHEST_LEVEL}`);
  const { customerId, version, outcome, by, now } = d;
  const customer = await findCustomer(tx, customerId);
  // Two concurrent decisions are serialized: the second one gets the Refusal.
  const given = await lockGivenDetails(tx, customerId);
  if (given?.version !== version) throw bad('version', 'must be that of the newest details');
  if (given.outcome !== null && given.outcome !== 'in_review') throw bad('version', 'was decided on before');
  await recordFinding(tx, {
    customerId,
    version,
    verifier: MANUAL_VERIFIER,
    finding:
      outcome === 'verified'
        ? { outcome, level: d.level, ...defined({ expiresOn: d.expiresOn }) }
        : { outcome, level: 0, reason: d.told, fields: d.fields ?? {} },
    byPerson: true,
    now,
  });
  await record(tx, {
    partnerId: customer.partnerId,
    about: 'verification',
    outcome,
    rules: MANUAL_VERIFIER,
    inputs: { customerId, version, level: d.level, by, reason: d.reason, fields: d.fields ?? {} },
    now,
  });
  await closeCases(tx, { kind: REVIEW_CASE, subject: subjectOf(customerId), outcome, now });
}
