/**
 * Words of verification: a customer's level and state on the wire.
 *
 * Programs disagree on which words mean "may trade", so a partner may replace our words (its setting `kycWords`). The levels
 * behind the words are always ours.
 */
import type { Customer } from '../../customers/index.ts';
import type { Partner } from '../../partners/index.ts';

const OF_LEVEL = [
  'OTP_COMPLETED',
  'BASIC_KYC_COMPLETED',
  'INTERMEDIATE_KYC_COMPLETED',
  'ADVANCE_KYC_COMPLETED',
  'EDD_COMPLETED',
  'COMPLETED',
] as const;

const OF_OUTCOME: Record<Customer['verification'], string | undefined> = {
  none: undefined,
  verified: undefined,
  in_review: 'IN_REVIEW',
  failed: 'TEMPORARY_FAILED',
  refused: 'PERMANENT_FAILED',
};

type Facts = Pick<Customer, 'verification' | 'level' | 'previousLevel' | 'loggedInAt'>;

/** @returns the customer's status, the current step, and the last step passed */
export function verificationWords(customer: Facts, partner: Pick<Partner, 'kycWords'>) {
  const reached = (level: number): string =>
    level === 0 && customer.loggedInAt === null ? 'LOGIN_REQUIRED' : (OF_LEVEL[level] ?? 'COMPLETED');
  const word = OF_OUTCOME[customer.verification] ?? reached(customer.level);
  const passed = OF_OUTCOME[customer.verification] === undefined ? customer.previousLevel : customer.level;
  const theirs = (ours: string): string => partner.kycWords[ours] ?? ours;
  return { status: theirs(word), current: theirs(reached(customer.level)), previous: theirs(reached(passed)) };
}

export interface Change {
  outcome: Customer['verification'];
  /** undefined: unchanged. */
  level: number | undefined;
  /** true: logged in; false: not logged in; undefined: unchanged. */
  login?: boolean;
}

/** The meaning of each word. */
export const VERIFICATION: Readonly<Record<string, Change>> = {
  LOGIN_REQUIRED: { outcome: 'none', level: 0, login: false },
  OTP_COMPLETED: { outcome: 'none', level: 0, login: true },
  BASIC_KYC_COMPLETED: { outcome: 'verified', level: 1, login: true },
  INTERMEDIATE_KYC_COMPLETED: { outcome: 'verified', level: 2, login: true },
  ADVANCE_KYC_COMPLETED: { outcome: 'verified', level: 3, login: true },
  EDD_COMPLETED: { outcome: 'verified', level: 4, login: true },
  COMPLETED: { outcome: 'verified', level: 5, login: true },
  IN_REVIEW: { outcome: 'in_review', level: undefined },
  TEMPORARY_FAILED: { outcome: 'failed', level: undefined },
  PERMANENT_FAILED: { outcome: 'refused', level: undefined },
};

export const VERIFICATION_WORDS = Object.keys(VERIFICATION);

/** The effect of a word in the sandbox: one of ours, or the partner's own for it. */
export function changeFor(word: string, partner: Pick<Partner, 'kycWords'>): Change | undefined {
  const ours = Object.entries(partner.kycWords).find(([, theirs]) => theirs === word)?.[0] ?? word;
  return Object.hasOwn(VERIFICATION, ours) ? VERIFICATION[ours] : undefined;
}

/** The effect of a word about a business in the sandbox, with the stored reason of a failure. */
const BUSINESS_CHANGES: Readonly<Record<string, Change & { reason?: string }>> = {
  COMPLETED: { outcome: 'verified', level: 3, login: true },
  IN_REVIEW: { outcome: 'in_review', level: undefined },
  UPDATE_REQUIRED: { outcome: 'failed', level: undefined, reason: 'Update required' },
  FAILED: { outcome: 'failed', level: undefined, reason: 'Set in the sandbox' },
};

export const BUSINESS_WORDS = Object.keys(BUSINESS_CHANGES);

export const businessChangeFor = (word: string): (Change & { reason?: string }) | undefined =>
  Object.hasOwn(BUSINESS_CHANGES, word) ? BUSINESS_CHANGES[word] : undefined;
