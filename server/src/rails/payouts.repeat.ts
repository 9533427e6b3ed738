/**
 * Repeat: whether a payout that was submitted, and that its rail does not know, may be submitted again under its key.
 *
 * Under a key that the rail still recognises, a second submission has no second effect, whatever the outcome of the first. A bank
 * recognises keys only for a stated time; 24 or 48 hours are common. Afterwards it pays again, and no longer finds the first
 * payment by its key. So we rely on its promise only for half of that time, from the first submission on, by the database's
 * clock. The other half covers bytes in transit, differing clocks, and a bank that counts differently.
 *
 * The rejection of a second submission does not prove that the first one was not executed, unless the rail recognises keys
 * permanently: a bank may compare the balance, from which the first one has taken, before it looks for the key.
 *
 * See docs/decisions/0062-how-long-a-key-counts.md.
 */
import type { Payout } from './payouts.store.ts';
import type { Rail } from './rail.ts';

/**
 * - `safe`: submit it again under its key.
 * - `unpromised`: the rail promises nothing, so it never gets a key twice. Its answer that it has no such payout is proof.
 * - `may_be_forgotten`: neither applies. The payout may have been paid under a key that the rail no longer recognises, so the
 *   rail's answer proves nothing: the statement decides, or an operator who asks the bank.
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

/** How long after the end of a submission the answer "absent" proves nothing: bytes in a proxy or socket may arrive late. */
export const GRACE_MS = 60_000;

/** How long after the first submission we rely on the rail's promise to recognise the key, in milliseconds. */
export const countsForMs = (deduplicatesForMs: number): number => deduplicatesForMs / 2;

/** Whether a rejection ends the payout: no earlier submission of its key can have been executed. */
export const rejectionEnds = (
  { deduplicatesForMs }: Pick<Rail, 'deduplicatesForMs'>,
  { submissions }: Pick<Payout, 'submissions'>,
): boolean => submissions <= 1 || deduplicatesForMs === Number.POSITIVE_INFINITY;
