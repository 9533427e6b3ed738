/**
 * Magic values of the simulated verifier: an identity number ending with one of these words has that outcome. The customer may correct
 * the number after a failure that allows it. A test compares the list with the contract: each outcome, each reason that a partner may
 * be told, and each reason of a single item has a value.
 */
import { defined } from '../../base/defined.ts';
import type { Finding } from '../verifier.ts';

export interface MagicIdentity {
  ending: string;
  /** In review until then, since the details were given. */
  afterMs?: number;
  /** Without it: verified to the requested level. */
  finding?: Pick<Finding, 'outcome'> & Partial<Finding>;
  /** From then on the verifier gives another answer, which no longer counts. */
  thenMs?: number;
  /** Not reachable until then. */
  downMs?: number;
  /** Days until the document expires. */
  expiresInDays?: number;
  says: string;
}

const failed = (ending: string, code: string | undefined, says: string): MagicIdentity => ({
  ending,
  finding: { outcome: 'failed', ...defined({ code }), reason: ending.toLowerCase() },
  says: `failed: \`${code ?? 'not_verified'}\`, ${says}`,
});
const refused = (ending: string, code: string | undefined, says: string): MagicIdentity => ({
  ending,
  finding: { outcome: 'refused', ...defined({ code }), reason: ending.toLowerCase() },
  says: `refused: \`${code ?? 'not_accepted'}\`, ${says}`,
});
const item = (ending: string, reason: string, name = 'identityNumber'): MagicIdentity => ({
  ending,
  finding: {
    outcome: 'failed',
    fields: { identityNumber: reason === 'unreadable' ? 'not_accepted' : reason, [name]: reason },
  },
  says: `failed: \`items_rejected\`; \`${name}\` is \`${reason}\`${name === 'identityNumber' ? '' : ', and the number `not_accepted`'}`,
});

export const MAGIC_IDENTITIES: readonly MagicIdentity[] = [
  { ending: 'LATER', afterMs: 10_000, says: 'in review for ten seconds, then verified' },
  {
    ending: 'NEVER',
    afterMs: Number.POSITIVE_INFINITY,
    says: 'in review permanently; after VERIFICATION_OVERDUE_S a case opens',
  },
  {
    ending: 'TWICE',
    thenMs: 1_000,
    says: 'verified; a second later the verifier answers that it refuses the customer, and that answer does not count',
  },
  { ending: 'DOWN', downMs: 10_000, says: 'the verifier cannot be reached for ten seconds, then verified' },
  { ending: 'EXPIRING', expiresInDays: 1, says: 'verified, with a document that expires tomorrow' },
  failed('FAILED', undefined, 'the customer may try again'),
  failed('BLURRED', 'document_unreadable', 'the document cannot be read'),
  failed('HALF', 'document_incomplete', 'a page is missing'),
  failed('EXPIRED', 'document_expired', 'the document has expired'),
  failed('LIBRARY', 'document_not_accepted', 'the document is of another kind'),
  failed('DIFFERS', 'data_differs', 'the answers and the document differ'),
  failed('ABANDONED', 'not_completed', 'the customer did not finish'),
  item('ITEMWRONG', 'not_accepted'),
  item('ITEMOLD', 'expired'),
  item('ITEMUNLIKE', 'does_not_match'),
  item('ITEMPART', 'incomplete'),
  item('SELFIE', 'unreadable', 'selfie.jpg'),
  refused('REFUSED', undefined, 'for good'),
  refused('FORGERY', undefined, 'for good: the verifier names a suspicion, which only operators see'),
  refused('UNDERAGE', 'under_age', 'for good'),
  refused('ELSEWHERE', 'not_supported', 'for good: the country is not supported'),
];
