/**
 * Faults: all that may go wrong, and how likely it is each time it could. One table; a run counts what struck.
 *
 * Rates are per opportunity: a statement, a commit, a call, a payment. They are high, because a run is short.
 */
import type { Chance } from './chance.ts';

export const FAULTS = {
  // Our processes.
  crash_at_statement: 0.0006,
  crash_before_commit: 0.001,
  crash_after_commit: 0.0015,
  crash_before_call: 0.03,
  crash_after_call: 0.05,
  crash_before_look: 0.001,
  crash_after_look: 0.001,
  /** Stands still for up to two minutes: past every lease and deadline. */
  frozen: 0.0003,
  /** The same while a call is under way: its answer is recorded by whoever wakes up late. */
  frozen_at_call: 0.008,
  /** The connection by which a worker says that it lives is lost: two work on the same. */
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
  /** Bytes on their way to the bank for some seconds after the caller has given up. */
  call_late: 0.15,

  // The bank.
  bank_refuses: 0.08,
  bank_rejects_later: 0.1,
  bank_returns: 0.18,
  bank_charges: 0.1,
  bank_cannot_say: 0.2,
  line_twice: 0.15,
  line_late: 0.1,
  lines_swapped: 0.3,
  page_again: 0.05,

  // The chain.
  reorg: 0.06,
  /** Of what a reorg takes back, this share is never mined again. */
  double_spent: 0.4,
  mempool_forgets: 0.12,
  /** What was offered does not suffice for a while: a higher fee has to be. */
  fee_too_low: 0.12,
  reverted: 0.1,
  /** Mined again after a reorg, what succeeded reverts, or the other way round. */
  turns_out_otherwise: 0.5,
  node_behind: 0.05,

  // Customers.
  pays_nothing: 0.06,
  pays_less: 0.06,
  pays_in_parts: 0.08,
  pays_more: 0.06,
  pays_twice: 0.06,
  pays_late: 0.06,
  pays_wrong_asset: 0.04,
  recalls: 0.08,
  held_by_screening: 0.1,
  /** The customer takes so long that the quote has expired. */
  quote_expired: 0.08,
  /** Two operators decide about the same at once. */
  two_operators: 0.2,

  // Prices.
  price_gap: 0.05,
  /** The operator's funds do not suffice at first. */
  short_of_funds: 0.2,
} as const;

export type Fault = keyof typeof FAULTS;

export interface Faults {
  strikes(fault: Fault): boolean;
  /** From now on all is well. */
  end(): void;
  readonly counts: Map<Fault, number>;
  readonly ended: boolean;
}

export function openFaults(chance: Chance, scale: number): Faults {
  const counts = new Map<Fault, number>();
  let ended = false;
  return {
    strikes(fault) {
      if (ended || !chance.happens(FAULTS[fault] * scale)) return false;
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
