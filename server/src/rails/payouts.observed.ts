/**
 * A rail's observations of a payout: settled, returned, rejected. Each is applied once. A rejection that contradicts an earlier
 * fact leaves the row unchanged. A settlement or return that contradicts one still moves it, because the row must show where the
 * money is.
 */

import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { cutTyped } from '../base/typed.ts';
import { cancelUnsubmitted, lockPayout, type Payout, type PayoutState, recordEnd } from './payouts.store.ts';

export const LONGEST_WHY = 200;
export const brief = (why: string): string => cutTyped(why, LONGEST_WHY);

/**
 * The meaning of each observation in each state: `takes` moves the payout on; `known` is a duplicate; `contradicts` cannot be
 * true together with an earlier report, so an operator has to see it.
 */
const MEANING: Record<'settled' | 'returned' | 'rejected', Record<PayoutState, 'takes' | 'known' | 'contradicts'>> = {
  // A statement may arrive before the answer to our call, so a payout may settle from every open state.
  settled: {
    created: 'takes',
    submitting: 'takes',
    submitted: 'takes',
    unknown: 'takes',
    settled: 'known',
    returned: 'known',
    rejected: 'contradicts',
  },
  returned: {
    created: 'contradicts',
    submitting: 'takes',
    submitted: 'takes',
    unknown: 'takes',
    settled: 'takes',
    returned: 'known',
    rejected: 'contradicts',
  },
  rejected: {
    created: 'takes',
    submitting: 'takes',
    submitted: 'takes',
    unknown: 'takes',
    settled: 'contradicts',
    returned: 'known',
    rejected: 'known',
  },
};

export interface Observed {
  payout: Payout;
  /** Its previous state. */
  before: PayoutState;
  /** Whether the observation contradicts the books: then a case is opened. */
  contradiction: boolean;
}

/**
 * Records that money has left for this payout, finally as far as the rail knows.
 *
 * After a rejection this is a contradiction, and the row becomes `settled`, because that is where the money is.
 * @returns undefined if it was known, or if this rail has no such payout
 */
export const settled = (
  tx: Tx,
  fact: { rail: string; key: string; reference: string; now: Date },
): Promise<Observed | undefined> => observed(tx, 'settled', fact);

/** Records that a payout's money was returned. `before` is `settled`, unless the rail had not shown that the money left. */
export const returned = (
  tx: Tx,
  fact: { rail: string; key: string; reference: string; why?: string; now: Date },
): Promise<Observed | undefined> => observed(tx, 'returned', fact);

/** Records that the rail will not pay it. After settlement this is a contradiction, and the row stays as it is. */
export const recordRejected = (
  tx: Tx,
  fact: { rail: string; key: string; why: string; now: Date },
): Promise<Observed | undefined> => observed(tx, 'rejected', fact);

async function observed(
  tx: Tx,
  what: 'settled' | 'returned' | 'rejected',
  fact: { rail: string; key: string; reference?: string; why?: string; now: Date },
): Promise<Observed | undefined> {
  const there = await lockPayout(tx, fact.key);
  if (there === undefined || there.rail !== fact.rail) return undefined;
  const meaning = MEANING[what][there.state];
  if (meaning === 'known') return undefined;
  const contradiction = meaning === 'contradicts';
  if (contradiction && what === 'rejected') return { payout: there, before: there.state, contradiction };
  const payout = await recordEnd(tx, there.id, {
    state: what,
    // A return has its own reference; the payout keeps the one under which it was paid.
    ...(what === 'settled' && fact.reference !== undefined ? { reference: fact.reference } : {}),
    why: contradiction ? `${what} after ${there.state}` : fact.why === undefined ? undefined : brief(fact.why),
    now: fact.now,
  });
  assert(payout, `payout ${there.id} has disappeared`);
  return { payout, before: there.state, contradiction };
}

/** Cancels a payout whose submission has not begun. @returns whether it was cancelled */
export const cancelUnlessSubmitted = async (tx: Tx, id: string, why: string, now: Date): Promise<boolean> =>
  (await cancelUnsubmitted(tx, id, { why, now })) > 0;
