/**
 * The sandbox's verifier: verifies every customer to the requested level, at once, unless the identity number is a magic value
 * (magic.ts). For one first name the document shows another name (MAGIC_DOCUMENT).
 *
 * It keeps no state: its answer is computed from the time at which the details were given. Production does not start with it.
 */
import { adapter } from '../../base/adapter.ts';
import { dayOf, later } from '../../base/clock.ts';
import { Unavailable } from '../../base/errors.ts';
import type { Finding, Verifier, VerifierContext } from '../verifier.ts';
import { MAGIC_IDENTITIES, type MagicIdentity } from './magic.ts';

export { MAGIC_IDENTITIES } from './magic.ts';

/** A first name for which the document shows another person. */
export const MAGIC_DOCUMENT = {
  firstName: 'Pseudonym',
  shows: { firstName: 'Meera', lastName: 'Iyer', dob: '1988-04-05' },
  says: 'the document shows Meera Iyer: in review until an operator decides (case `verification_review`)',
} as const;

const DAY_MS = 86_400_000;
const IN_REVIEW: Finding = { outcome: 'in_review', level: 0, pending: { pollAfterMs: 1_000 } };

export function simulated(context?: Pick<VerifierContext, 'details' | 'now'>): Verifier {
  const highestLevel = 5;

  /** @throws Unavailable */
  function magicFinding(magic: MagicIdentity, ageMs: number, verified: Finding, now: Date): Finding {
    const { finding, afterMs = 0, thenMs = Number.POSITIVE_INFINITY, downMs = 0, expiresInDays } = magic;
    if (ageMs < downMs) throw new Unavailable('simulated', 'a magic value makes it unreachable');
    if (ageMs < afterMs) return IN_REVIEW;
    if (ageMs >= thenMs) return { outcome: 'refused', level: 0 };
    if (finding !== undefined) return { level: 0, ...finding };
    return expiresInDays === undefined
      ? verified
      : { ...verified, expiresOn: dayOf(later(now, expiresInDays * DAY_MS)) };
  }

  return {
    code: 'simulated',
    highestLevel,
    begin: async () => ({ pageUrl: undefined }),
    async finding({ customerId, level }) {
      const plain: Finding = { outcome: 'verified', level: Math.min(level, highestLevel) };
      const given = await context?.details(customerId);
      if (context === undefined || given === undefined) return plain;
      const { identityNumber = '', firstName } = given.fields;
      const verified = firstName === MAGIC_DOCUMENT.firstName ? { ...plain, names: MAGIC_DOCUMENT.shows } : plain;
      const magic = MAGIC_IDENTITIES.find(({ ending }) => identityNumber.endsWith(ending));
      const now = context.now();
      return magic === undefined
        ? verified
        : magicFinding(magic, now.getTime() - given.givenAt.getTime(), verified, now);
    },
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
