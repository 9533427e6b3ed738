/**
 * Types shared by the simulated bank and the code that drives it.
 */

export interface Settings {
  /**
   * For how long two payment orders under one key are one payment, in milliseconds of real time; 0 for never. Afterwards it
   * has forgotten the key: it pays again, and finds nothing under it.
   */
  deduplicatesForMs: number;
  /** Whether "no such payment" is proof. */
  provesAbsence: boolean;
  /** From accepting a payment to its line on the statement, in milliseconds of the sandbox's clock. */
  settleMs: number;
  /** Charged in addition to every payment. */
  chargeUnits: bigint;
}

export type FaultKind =
  | 'lose_answer_before_effect'
  | 'lose_answer_after_effect'
  /** Takes effect, and answers only after `delayMs`. */
  | 'delay_answer'
  | 'refuse_next'
  /** Settles, and is then returned. */
  | 'return_next'
  | 'status_unavailable'
  /** Every line twice, and the statement from its beginning. */
  | 'statement_twice'
  | 'statement_reordered';

export interface Fault {
  kind: FaultKind;
  /** How many calls it hits; one by default. */
  times?: number;
  delayMs?: number;
}

export interface Payment {
  id: bigint;
  key: string;
  currency: string;
  units: bigint;
  account: string;
  name: string;
  state: 'accepted' | 'settled' | 'returned' | 'rejected';
  why: string | null;
  returns: boolean;
  reference: string;
}

/** A line as the bank shows it over HTTP. */
export interface ShownLine {
  id: string;
  direction: 'credit' | 'debit';
  currency: string;
  /** Smallest units, decimal digits. */
  units: string;
  charge: string;
  reference: string;
  key: string | null;
  returnOf: string | null;
  why: string | null;
  text: string;
  name: string;
  account: string;
  bookedAt: string;
}
