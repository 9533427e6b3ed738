/**
 * Faults: everything that may go wrong, and its probability per opportunity. One table; a run counts the faults that occurred.
 *
 * Rates are per opportunity: a statement, a commit, a call, a payment. They are high, because a run is short.
 *
 * Seeds differ in them: each action of customers, operators, bank and chain is rare in some and frequent in others,
 * independently. So the combination of two rare events occurs in a few seeds, and not in one of a thousand.
 */
import type { Chance } from './chance.ts';

export const FAULTS = {
  // Our processes.
  crash_at_statement: 0.0006,
  crash_before_commit: 0.001,
  crash_after_commit: 0.0015,
  crash_before_call: 0.03,
  crash_after_call: 0.05,
  crash_before_look: 0.002,
  crash_after_look: 0.0015,
  /** Stands still for up to two minutes: past every lease and deadline. */
  frozen: 0.0003,
  /** The same while a call is under way: its answer is recorded by a process that wakes up late. */
  frozen_at_call: 0.008,
  /** The connection that proves that a worker lives is lost: two workers process the same. */
  presence_lost: 0.001,
  clock_jump: 0.02,

  // PostgreSQL.
  connection_lost_at_statement: 0.0004,
  connection_lost_before_commit: 0.0008,
  connection_lost_after_commit: 0.0012,
  serialization_failure: 0.002,

  // Calls to chain and bank.
  /** It never gets there, and the caller does not know. */
  call_lost: 0.03,
  /** It has its effect, and the answer does not come back. */
  answer_lost: 0.05,
  answer_late: 0.02,
  /** Bytes on their way to the bank for some seconds after the caller has timed out. */
  call_late: 0.15,

  // The bank.
  bank_refuses: 0.08,
  bank_rejects_later: 0.1,
  bank_returns: 0.24,
  /** The same of a refund: there are few of them while faults occur. */
  bank_returns_refund: 0.4,
  /** Banks on the way keep a part of a returned payment. */
  bank_returns_less: 0.9,
  bank_charges: 0.1,
  bank_cannot_say: 0.2,
  line_twice: 0.15,
  line_late: 0.1,
  lines_swapped: 0.3,
  page_again: 0.05,

  // The chain.
  reorg: 0.08,
  /** Of the transactions that a reorg removes, this share is never mined again. */
  double_spent: 0.4,
  mempool_forgets: 0.12,
  /** The offered fee is too low for a while and has to be raised. */
  fee_too_low: 0.12,
  reverted: 0.1,
  /** Mined again after a reorg, a successful transaction reverts, or the other way round. */
  turns_out_otherwise: 0.9,
  node_behind: 0.05,

  // Customers.
  pays_nothing: 0.06,
  pays_less: 0.06,
  pays_in_parts: 0.12,
  /** Parts that each need fewer confirmations than their sum, of a sale that is large enough. */
  splits_below_threshold: 0.15,
  pays_more: 0.06,
  pays_twice: 0.06,
  pays_late: 0.06,
  pays_wrong_asset: 0.04,
  recalls: 0.1,
  /** Of a second payment: its refund may have left by then. */
  recalls_second: 0.6,
  held_by_screening: 0.1,
  /** The customer takes so long that the quote has expired. */
  quote_expired: 0.08,
  /** Two operators decide about the same case at once. */
  two_operators: 0.2,
  /** One operator alone decides an action that needs two. */
  one_operator: 0.2,
  /** An account in another currency is named. */
  misnamed: 0.6,
  /** An operator names an address that the customer never named. */
  named_elsewhere: 0.25,

  // Operators, some time after an order was made: the worst moment is as likely as any other.
  customer_blocked: 0.08,
  level_lowered: 0.06,
  /** After an order was paid in parts, and before it is paid out. */
  level_lowered_in_parts: 0.3,
  switched_off: 0.08,
  /** While it is not known whether something was submitted, so it may be submitted again. */
  switched_off_when_unanswered: 0.3,
  cancelled: 0.05,
  held_by_operator: 0.06,
  requoted: 0.08,
  refunded_by_operator: 0.06,
  blocked_by_law: 0.08,
  /** Money blocked by law is recalled, too. */
  recalled_when_blocked: 0.5,
  released_by_law: 0.8,
  /** An approved order is repriced before it has left. */
  requoted_after: 0.3,

  // Prices.
  price_gap: 0.05,
  /** The operator's funds do not suffice at first. */
  short_of_funds: 0.2,
} as const;

export type Fault = keyof typeof FAULTS;

export interface Faults {
  occurs(fault: Fault): boolean;
  /** From now on no faults. */
  end(): void;
  readonly counts: Map<Fault, number>;
  readonly ended: boolean;
}

/** Its frequency in one seed, as a multiple of the rate in the table. Its mean is about one. */
const WEIGHTS = [0.2, 0.2, 1, 1, 1, 3] as const;
/** Above this nothing else would happen. */
const MOST = 0.6;
/** Faults of our own processes and connections at every step have the same rates in all seeds. */
const STEADY = /^(?:crash|frozen|presence|clock|connection|serialization|call|answer|price|node)_?/;

export function openFaults(chance: Chance, scale: number): Faults {
  const counts = new Map<Fault, number>();
  const rates = Object.fromEntries(
    Object.entries(FAULTS).map(([fault, rate]) => {
      const weight = STEADY.test(fault) ? 1 : chance.pick(WEIGHTS);
      return [fault, Math.min(rate * scale * weight, Math.max(rate, MOST))];
    }),
  ) as Record<Fault, number>;
  let ended = false;
  return {
    occurs(fault) {
      if (ended || !chance.happens(rates[fault])) return false;
      counts.set(fault, (counts.get(fault) ?? 0) + 1);
      return true;
    },
    end() {
      ended = true;
    },
    counts,
    get ended() {
      return ended;
    },
  };
}
