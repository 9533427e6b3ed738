/**
 * Checks: the newest details of a customer, while their verifier has no result.
 *
 * A check is a row of customer_details without a result, and a job that was enqueued in the transaction that stored it. The job
 * (compliance/checks.ts) asks the verifier until there is one, so the result does not depend on the customer's browser. A
 * provider's callback or an operator's decision wakes the job earlier; it changes only the time of the next request.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { enqueue, enqueueAt } from '../base/jobs.ts';
import { findPartner } from '../partners/index.ts';
import { type CheckRow, customerById, sql } from './store.ts';

/** The job; its subject is the customer. */
export const CHECK_VERIFICATION = 'check_verification';

/** The page that takes the details asks the verifier at once; the job continues if the page got no result. */
const FIRST_MS = 5_000;

export interface Check {
  /** Identifies the verification at the verifier: the same details are the same verification. */
  readonly key: string;
  readonly customerId: string;
  readonly partnerId: bigint;
  readonly kind: 'INDIVIDUAL' | 'BUSINESS';
  readonly version: number;
  /**
   * The level to ask for: that of the submission, by default the one from which the partner lets its customers trade, at least 1.
   * While a new document is asked for, no less than the customer has: it is to keep that level.
   */
  readonly level: number;
  /** Code of the verifier at which it has begun; null before. */
  readonly begunWith: string | null;
  /** How often the job has asked without getting a result. */
  readonly polls: number;
  readonly givenAt: Date;
}

/** Enqueues the job for a customer's details, due after FIRST_MS. */
export function followCheck(tx: Tx, customerId: string, now: Date): void {
  enqueueAt(tx, { kind: CHECK_VERIFICATION, subject: customerId, dueAt: later(now, FIRST_MS) });
}

/** Makes the job due now, because a result exists or is expected. */
export function lookNow(tx: Tx, customerId: string, now: Date): void {
  enqueue(tx, { kind: CHECK_VERIFICATION, subject: customerId, dueAt: now });
}

/** The check of a customer's newest details; undefined when there is a result, or no details were submitted. */
export async function checkUnderWay(tx: Tx, customerId: string): Promise<Check | undefined> {
  const row = await tx.row<CheckRow>(sql.checkUnderWay, [customerId]);
  const customer = row && (await customerById(tx, customerId));
  if (row === undefined || customer === undefined) return undefined;
  const { partnerId, kind } = customer;
  const partner = await findPartner(tx, { id: partnerId });
  return {
    key: keyOf(customerId, row.version),
    ...{ customerId, partnerId, kind },
    version: row.version,
    level: Math.max(row.level ?? Math.max(1, partner?.tradeLevel ?? 1), row.isRenewal ? customer.level : 0),
    begunWith: row.begunWith,
    polls: row.polls,
    givenAt: row.givenAt,
  };
}

/** Records that a verifier was asked. @param a.polls how many requests count towards the back-off: 1 for the job's, else 0 */
export async function recordAsked(
  tx: Tx,
  a: { check: Pick<Check, 'customerId' | 'version'>; verifier: string; polls: 0 | 1 },
): Promise<void> {
  await tx.run(sql.detailsAsked, [a.check.customerId, a.check.version, a.verifier, a.polls]);
}

/**
 * Wakes the job of the check with this key: there may be a result. The call is only a hint and no result is taken from it, so
 * an unknown, old or repeated key is harmless.
 */
export async function wakeCheck(tx: Tx, key: string, now: Date): Promise<void> {
  const [, customerId = '', version = ''] = /^details:([0-9A-Za-z]{10}_[0-9]{1,19}):([1-9][0-9]{0,8})$/.exec(key) ?? [];
  if (customerId === '') return;
  const check = await checkUnderWay(tx, customerId);
  if (check?.version === Number(version)) lookNow(tx, customerId, now);
}

const keyOf = (customerId: string, version: number): string => `details:${customerId}:${version}`;
