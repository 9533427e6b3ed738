/**
 * Magic account numbers and names of the simulated bank: a payout to an account number with such an ending, or to a holder with
 * such a name, has the outcome given here. Everything else is paid.
 */
export type MagicOutcome = 'rejected' | 'returned' | 'answer_lost_after_effect' | 'answer_lost_before_effect' | 'slow';

export const MAGIC_ACCOUNTS: readonly { ending: string; outcome: MagicOutcome; says: string }[] = [
  { ending: '9001', outcome: 'rejected', says: 'refused at once: the account is closed' },
  { ending: '9002', outcome: 'returned', says: 'paid, and comes back a moment later' },
  { ending: '9003', outcome: 'answer_lost_after_effect', says: 'paid, but our call for it gets no answer' },
  {
    ending: '9004',
    outcome: 'answer_lost_before_effect',
    says: 'the first call is lost on its way, and nothing is paid by it',
  },
  { ending: '9005', outcome: 'slow', says: 'paid a minute later than others' },
];

/** Compared case-insensitively. */
export const MAGIC_NAMES: readonly { name: string; outcome: MagicOutcome; says: string }[] = [
  { name: 'Refuse Me', outcome: 'rejected', says: 'refused at once: the account is closed' },
  { name: 'Return Me', outcome: 'returned', says: 'paid, and comes back a moment later' },
];

export const magicOf = (account: string, holder: string): MagicOutcome | undefined =>
  MAGIC_ACCOUNTS.find(({ ending }) => account.endsWith(ending))?.outcome ??
  MAGIC_NAMES.find(({ name }) => name.toLowerCase() === holder.trim().toLowerCase())?.outcome;
