/**
 * The sandbox's verifier: verifies every customer to the requested level, at once.
 *
 * Two identity numbers make it wait, like a provider whose people look at pictures (MAGIC_IDENTITIES). It keeps no state: when
 * it answers follows from when the details were given. A test that needs another outcome records it directly, instead of a
 * flag here. Production refuses to start with it.
 */
import { adapter } from '../../base/adapter.ts';
import type { Verifier, VerifierContext } from '../verifier.ts';

/** Ends of identity numbers for which it does not answer at once. */
export const MAGIC_IDENTITIES = [
  { ending: 'LATER', afterMs: 10_000, says: 'in review for ten seconds, then verified' },
  {
    ending: 'NEVER',
    afterMs: Number.POSITIVE_INFINITY,
    says: 'in review for good; after VERIFICATION_OVERDUE_S a case opens',
  },
] as const;

export function simulated(context?: Pick<VerifierContext, 'details' | 'now'>): Verifier {
  async function isWaiting(customerId: string): Promise<boolean> {
    const given = await context?.details(customerId);
    if (context === undefined || given === undefined) return false;
    const { identityNumber = '' } = given.fields;
    const magic = MAGIC_IDENTITIES.find(({ ending }) => identityNumber.endsWith(ending));
    return magic !== undefined && context.now().getTime() - given.givenAt.getTime() < magic.afterMs;
  }
  const highestLevel = 5;
  return {
    code: 'simulated',
    highestLevel,
    begin: async () => ({ pageUrl: undefined }),
    finding: async ({ customerId, level }) =>
      (await isWaiting(customerId))
        ? { outcome: 'in_review', level: 0, pending: { pollAfterMs: 1_000 } }
        : { outcome: 'verified', level: Math.min(level, highestLevel) },
  };
}

/** Without the magic values. */
export const simulatedVerifier: Verifier = simulated();

export const simulatedFindings = adapter({
  code: 'simulated',
  about: 'Believes everybody at once',
  sandboxOnly: 'it verifies everybody',
  settings: {},
  create: (_values, context: VerifierContext) => simulated(context),
});
