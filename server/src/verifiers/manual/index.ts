/**
 * The manual verifier: a person checks a customer's details and decides. Until then they are in review.
 *
 * It reads no names: who verifies the details confirms that the typed name is the document's, and nothing more is stored.
 *
 * It requests a review once per version of the details, and returns the review's result. The review functions are passed in
 * (compliance/reviews.ts): a verifier stores nothing.
 */
import { adapter } from '../../base/adapter.ts';
import type { Verifier, VerifierContext } from '../verifier.ts';

export function manualVerifier(deps: VerifierContext['reviews']): Verifier {
  return {
    code: 'manual',
    // An operator may decide for any level.
    highestLevel: 5,
    async begin(asked) {
      await deps.ask(asked);
      return { pageUrl: undefined };
    },
    // A decision is recorded with the operator's action, which wakes the job.
    finding: async (asked) =>
      (await deps.found(asked)) ?? { outcome: 'in_review', level: 0, pending: { callsBack: true } },
  };
}

export const manualReviews = adapter({
  code: 'manual',
  about: 'An operator reviews the submission and decides',
  settings: {},
  create: (_values, { reviews }: VerifierContext) => manualVerifier(reviews),
});
