/**
 * Types shared by the simulated bank and the code that drives it.
 */

export interface Settings {
  /**
   * How long two payment orders under one key are one payment, in milliseconds of real time; 0 for never. Afterwards the bank has
   * forgotten the key: it pays again, and finds no payment under it.
   */
  deduplicatesForMs: number;
  /** Whether its answer "no such payment" is proof. */
  provesAbsence: boolean;
  /** Time between accepting a payment and its line on the statement, in milliseconds of the sandbox's clock. */
  settleMs: number;
  /** Charged in addition to every payment. */
  chargeUnits: bigint;
}

export type FaultKind =
  | 'lose_answer_before_effect'
  | 'lose_answer_after_effect'
  /** The call takes effect, and is answered only after `delayMs`. */
  | 'delay_answer'
  | 'reject_next'
  /** The payment settles, and is then returned. */
  | 'return_next'
  | 'status_unavailable'
  /** Shows every line twice, and the statement from its beginning. */
  | 'statement_twice'
  | 'statement_reordered';

export interface Fault {
  kind: FaultKind;
  /** Number of calls that it affects; one by default. */
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
