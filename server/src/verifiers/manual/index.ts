/**
 * The manual verifier: a person looks at what a customer gave, and decides. Until then it is in review.
 *
 * It asks for a person once per version of the details, and answers with what that person found. Who that is, what they see
 * and where it is kept is handed in (compliance/reviews.ts): a verifier keeps nothing.
 */
import type { Finding, VerificationAsk, Verifier } from '../verifier.ts';

export function manualVerifier(deps: {
  /** Has a person look. Asking again for the same key changes nothing. */
  ask(asked: VerificationAsk): Promise<void>;
  /** What they found; undefined while nobody has. */
  found(asked: VerificationAsk): Promise<Finding | undefined>;
}): Verifier {
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
