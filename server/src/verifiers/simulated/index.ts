/**
 * The sandbox's verifier: verifies every customer to the requested level, at once.
 *
 * Some identity numbers delay its answer, as a provider with manual checks would (MAGIC_IDENTITIES). For one first name the document
 * shows another name (MAGIC_DOCUMENT). It keeps no state: the
 * time of its answer is computed from the time at which the details were given. A test that needs another outcome records it
 * directly, instead of a flag here. Production does not start with it.
 */
import { adapter } from '../../base/adapter.ts';
import type { Finding, Verifier, VerifierContext } from '../verifier.ts';

/** Suffixes of identity numbers for which the answer is delayed. */
export const MAGIC_IDENTITIES = [
  { ending: 'LATER', afterMs: 10_000, says: 'in review for ten seconds, then verified' },
  {
    ending: 'NEVER',
    afterMs: Number.POSITIVE_INFINITY,
    says: 'in review permanently; after VERIFICATION_OVERDUE_S a case opens',
  },
] as const;

/** A first name for which the document shows another person. */
export const MAGIC_DOCUMENT = {
  firstName: 'Pseudonym',
  shows: { firstName: 'Meera', lastName: 'Iyer', dob: '1988-04-05' },
  says: 'the document shows Meera Iyer: in review until an operator decides (case `verification_review`)',
} as const;

export function simulated(context?: Pick<VerifierContext, 'details' | 'now'>): Verifier {
  async function isWaiting(customerId: string): Promise<boolean> {
    const given = await context?.details(customerId);
    if (context === undefined || given === undefined) return false;
    const { identityNumber = '' } = given.fields;
    const magic = MAGIC_IDENTITIES.find(({ ending }) => identityNumber.endsWith(ending));
    return magic !== undefined && context.now().getTime() - given.givenAt.getTime() < magic.afterMs;
  }
  async function namesOf(customerId: string): Promise<Pick<Finding, 'names'>> {
    const given = await context?.details(customerId);
    return given?.fields.firstName === MAGIC_DOCUMENT.firstName ? { names: MAGIC_DOCUMENT.shows } : {};
  }
  const highestLevel = 5;
  return {
    code: 'simulated',
    highestLevel,
    begin: async () => ({ pageUrl: undefined }),
    finding: async ({ customerId, level }) =>
      (await isWaiting(customerId))
        ? { outcome: 'in_review', level: 0, pending: { pollAfterMs: 1_000 } }
        : { outcome: 'verified', level: Math.min(level, highestLevel), ...(await namesOf(customerId)) },
  };
}

/** The verifier without magic values. */
export const simulatedVerifier: Verifier = simulated();

export const simulatedFindings = adapter({
  code: 'simulated',
  about: 'Verifies every customer immediately',
  sandboxOnly: 'it verifies every customer',
  settings: {},
  create: (_values, context: VerifierContext) => simulated(context),
});
