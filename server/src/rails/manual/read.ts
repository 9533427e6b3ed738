/**
 * The common result of both statement readers, before it is compared with stored data: plain lines as the bank wrote them, and
 * the checks that any statement must pass on its own.
 */
import { refuseFile } from './decode.ts';

export interface ReadStatement {
  /** The bank's own id of it; '' when the file has none. */
  id: string;
  /** The bank's number of the statement, if it has one. */
  sequence: bigint | null;
  /** Days of the first and last line, or as stated in the file, `YYYY-MM-DD`. */
  from: string;
  to: string;
  /** Smallest units, negative for an overdrawn account; both null when the file carries none. */
  opening: bigint | null;
  closing: bigint | null;
  lines: ReadLine[];
}

export interface ReadLine {
  bookedOn: string;
  /** 'valued' when the bank gives the value date only: then the booking date is unknown. */
  dayIs?: 'booked' | 'valued';
  direction: 'credit' | 'debit';
  units: bigint;
  /** Charged by the bank in addition to a debit's units. */
  chargeUnits: bigint;
  /** The bank's own reference of the line, the same in every statement; '' when there is none. */
  bankRef: string;
  /** The payer's end-to-end id; '' when there is none. */
  endToEnd: string;
  /** The bank's id of the payment (not of the line). */
  paymentId: string;
  /** The file of ours that it was booked for, as the bank repeats its name; '' when it does not. */
  batch: string;
  text: string;
  name: string;
  account: string;
  /** The bank reverses an earlier line with this one. */
  reversal: boolean;
  /** Why a payment is returned: the bank's code, or '' without one. */
  returned?: string;
}

export const MOST_LINES = 50_000;
export const LONGEST_TEXT = 1_000;

export const total = (lines: readonly Pick<ReadLine, 'direction' | 'units' | 'chargeUnits'>[]): bigint =>
  lines.reduce(
    (sum, { direction, units, chargeUnits }) => sum + (direction === 'credit' ? units : -units - chargeUnits),
    0n,
  );

/** @throws Refusal 'file_refused' when lines and balances contradict each other: the file is truncated, or not a statement */
export function addsUp({ opening, closing, lines }: ReadStatement, which: string): void {
  if (opening === null || closing === null) return;
  if (opening + total(lines) !== closing)
    throw refuseFile(`The opening balance of ${which} plus its lines is not its closing balance.`);
}

/** Removes the placeholders that banks write when there is no reference. */
export const meant = (reference: string): string =>
  /^(|0+|NONREF|NOTPROVIDED|NOT PROVIDED|NONE|N\/?A|-+)$/i.test(reference.trim()) ? '' : reference.trim();
