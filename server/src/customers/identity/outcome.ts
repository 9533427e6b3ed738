/**
 * Outcomes: the effect of a verifier's result on a submission, and the reasons it may give per field. Reasons are codes: they are
 * stored unencrypted, and contain no personal data.
 */
import type { SubmissionRow } from './store.ts';

/** Why an answer or a file must be given, or given again. */
export const FIELD_REASONS = {
  missing: 'is missing',
  unreadable: 'cannot be read',
  expired: 'has expired',
  does_not_match: 'does not match the other answers',
  incomplete: 'is incomplete',
  not_accepted: 'is not accepted',
} as const;
/** What to do about each. */
export const REMEDIES: Readonly<Record<keyof typeof FIELD_REASONS, string>> = {
  missing: 'Send it.',
  unreadable: 'Send it again, complete, sharp and well lit.',
  expired: 'Send one that is still valid.',
  does_not_match: 'Correct it, so that it agrees with the other answers and the documents.',
  incomplete: 'Send all of it.',
  not_accepted: 'Send another one.',
};
export type FieldReason = keyof typeof FIELD_REASONS;
export type FieldReasons = Readonly<Record<string, FieldReason>>;

export type Outcome = 'in_review' | 'verified' | 'failed' | 'refused';

/** After a failure with reasons the submission is open again; without reasons it is over. */
export function stateAfter(outcome: Outcome, reasons: FieldReasons): SubmissionRow['state'] {
  if (outcome === 'verified') return 'completed';
  if (outcome === 'in_review') return 'in_review';
  return outcome === 'failed' && Object.keys(reasons).length > 0 ? 'open' : 'failed';
}

const MOST_REASONS = 40;

/** A verifier's reasons as our codes: they are stored unencrypted, so any other word is replaced by a code. */
export const reasonsOf = (given: Readonly<Record<string, string>>): FieldReasons =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => /^[A-Za-z0-9][\w.-]{0,63}$/.test(name))
      .slice(0, MOST_REASONS)
      .map(([name, code]) => [name, Object.hasOwn(FIELD_REASONS, code) ? (code as FieldReason) : 'not_accepted']),
  );
