/**
 * Reasons of a verification that ended without success, as its partner may be told them. Each has a remedy.
 *
 * A verifier's own words are for operators: they may name a suspicion, which neither a partner nor a customer may learn. Of a refusal a
 * partner learns only what the customer knows already.
 *
 * Not here: reasons of single fields and files (outcome.ts).
 */
import type { Customer } from '../customers.ts';

export const VERIFICATION_REASONS = {
  items_rejected: {
    means: 'single answers or files are not accepted',
    remedy: 'Send again what `needs` of the submission names.',
  },
  document_unreadable: {
    means: 'a document cannot be read',
    remedy: 'Let the customer try again, with pictures that are complete, sharp and well lit.',
  },
  document_incomplete: {
    means: 'a page or side of a document is missing',
    remedy: 'Let the customer try again, with all pages and sides.',
  },
  document_expired: {
    means: 'a document has expired',
    remedy: 'Let the customer try again, with a document that is still valid.',
  },
  document_not_accepted: {
    means: 'a document is of a kind that is not accepted',
    remedy: 'Let the customer try again, with a document of another kind.',
  },
  data_differs: {
    means: 'the answers and the document differ',
    remedy: 'Let the customer correct the answers so that they agree with the document, and try again.',
  },
  not_completed: {
    means: 'the verification was not completed',
    remedy: 'Create a new link: the customer may begin again.',
  },
  under_age: {
    means: 'the customer is too young',
    remedy: 'The customer cannot trade before reaching the required age.',
  },
  not_supported: {
    means: 'customers of this country or region are not accepted',
    remedy: 'The customer cannot trade here.',
  },
  not_verified: {
    means: 'the identity could not be verified',
    remedy: 'Let the customer try again: send again what `needs` of the submission names, or create a new link.',
  },
  not_accepted: {
    means: 'the customer is not accepted',
    remedy: 'None: the customer cannot trade. Do not tell the customer why.',
  },
} as const;
export type VerificationReason = keyof typeof VERIFICATION_REASONS;

/** What a customer who is refused knows already. */
const TOLD_OF_REFUSALS: readonly string[] = ['under_age', 'not_supported'];
const isKnown = (code: string): code is VerificationReason => Object.hasOwn(VERIFICATION_REASONS, code);

/** The code that the partner is told, for a verifier's code or none. Pure. */
export function toldReason(outcome: 'failed' | 'refused', given: string | null | undefined): VerificationReason {
  const isTold = given != null && isKnown(given) && given !== 'not_accepted';
  if (outcome === 'failed') return isTold ? given : 'not_verified';
  return isTold && TOLD_OF_REFUSALS.includes(given) ? given : 'not_accepted';
}

/** The reason of a customer's verification as the partner is told it; undefined unless it failed or was refused. */
export function verificationReason({
  verification,
  failedReason,
  documentLapsedAt,
}: Pick<Customer, 'verification' | 'failedReason' | 'documentLapsedAt'>): VerificationReason | undefined {
  if (verification !== 'failed' && verification !== 'refused') return undefined;
  if (verification === 'failed' && documentLapsedAt !== null) return 'document_expired';
  return toldReason(verification, failedReason);
}
