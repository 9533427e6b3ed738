/**
 * Repeat: whether a payout that was submitted, and that its rail does not know, may be submitted again under its key.
 *
 * Under a key that the rail still recognises, a second submission has no second effect, whatever the outcome of the first. A bank
 * recognises keys for a stated time only: 24 or 48 hours is common. Afterwards it pays again, and does not find the first payment
 * by its key any more. So its promise counts for half of its time only, from the first submission on, by the database's clock:
 * the other half covers bytes in transit, differing clocks, and a bank that counts otherwise.
 *
 * See docs/decisions/0062-how-long-a-key-counts.md.
 */
import type { Payout } from './payouts.store.ts';
import type { Rail } from './rail.ts';

/**
 * - `safe`: submit it again under its key.
 * - `unpromised`: the rail promises nothing, and never gets a key twice. Its answer that it has no such payout is proof.
 * - `may_be_forgotten`: neither. It may have been paid under a key that the rail does not recognise any more, so its answer
 *   proves nothing: the statement decides, or an operator who asks the bank.
 */
export type Repeat = 'safe' | 'unpromised' | 'may_be_forgotten';

export function repeatOf(
  { deduplicatesForMs }: Pick<Rail, 'deduplicatesForMs'>,
  { firstSubmissionAgeMs: ageMs }: Pick<Payout, 'firstSubmissionAgeMs'>,
): Repeat {
  if (deduplicatesForMs === 0) return 'unpromised';
  if (deduplicatesForMs === Number.POSITIVE_INFINITY) return 'safe';
  return ageMs !== null && ageMs < countsForMs(deduplicatesForMs) ? 'safe' : 'may_be_forgotten';
}

/** How long after the end of a submission "absent" proves nothing: bytes in a proxy or socket may arrive late. */
export const GRACE_MS = 60_000;

/** For how long after the first submission a promise to recognise its key is relied on, in milliseconds. */
export const countsForMs = (deduplicatesForMs: number): number => deduplicatesForMs / 2;
