/**
 * Magic account numbers and names of the simulated bank: a payout to an account number with such an ending, or to a holder with
 * such a name, has the outcome given here. Everything else is paid.
 */
export type MagicOutcome = 'rejected' | 'returned' | 'answer_lost_after_effect' | 'answer_lost_before_effect' | 'slow';

export const MAGIC_ACCOUNTS: readonly { ending: string; outcome: MagicOutcome; says: string }[] = [
  { ending: '9001', outcome: 'rejected', says: 'rejected at once: the account is closed' },
  { ending: '9002', outcome: 'returned', says: 'paid, and returned a moment later' },
  { ending: '9003', outcome: 'answer_lost_after_effect', says: 'paid, but the response to our call is lost' },
  {
    ending: '9004',
    outcome: 'answer_lost_before_effect',
    says: 'the first call is lost before it reaches the bank, and pays nothing',
  },
  { ending: '9005', outcome: 'slow', says: 'paid a minute later than usual' },
];

/** Compared case-insensitively. */
export const MAGIC_NAMES: readonly { name: string; outcome: MagicOutcome; says: string }[] = [
  { name: 'Reject Me', outcome: 'rejected', says: 'rejected at once: the account is closed' },
  { name: 'Return Me', outcome: 'returned', says: 'paid, and returned a moment later' },
];

export const magicOf = (account: string, holder: string): MagicOutcome | undefined =>
  MAGIC_ACCOUNTS.find(({ ending }) => account.endsWith(ending))?.outcome ??
  MAGIC_NAMES.find(({ name }) => name.toLowerCase() === holder.trim().toLowerCase())?.outcome;
