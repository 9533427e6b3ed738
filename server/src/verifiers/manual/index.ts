/**
 * The manual verifier: a person looks at what a customer gave, and decides. Until then it is in review.
 *
 * It asks for a person once per version of the details, and answers with what that person found. Who that is, what they see
 * and where it is kept is passed in (compliance/reviews.ts): a verifier keeps nothing.
 */
import { adapter } from '../../base/adapter.ts';
import type { Verifier, VerifierContext } from '../verifier.ts';

export function manualVerifier(deps: VerifierContext['reviews']): Verifier {
  return {
    code: 'manual',
    highestLevel: 4,
    async begin(asked) {
      await deps.ask(asked);
      return { pageUrl: undefined };
    },
    finding: async (asked) => (await deps.found(asked)) ?? { outcome: 'in_review', level: 0 },
  };
}

export const manualReviews = adapter({
  code: 'manual',
  about: 'A person of the operator looks at what a customer gave, and decides',
  settings: {},
  create: (_values, { reviews }: VerifierContext) => manualVerifier(reviews),
});
