/**
 * The common result of both statement readers, before it is compared with stored data: lines as the bank wrote them, and the
 * checks that any statement must pass on its own.
 */
import { refuseFile } from './decode.ts';

export interface ReadStatement {
  /** The bank's own id of the statement; '' if the file has none. */
  id: string;
  /** The bank's number of the statement, if it has one. */
  sequence: bigint | null;
  /** The number of its page, if the bank splits the statement: all of them have the same id. */
  page?: number;
  /** Days of the first and the last line, or the days that the file states, as `YYYY-MM-DD`. */
  from: string;
  to: string;
  /** The time up to which the file says that it shows lines; absent if it names none. */
  shownTo?: Date;
  /** Smallest units, negative for an overdrawn account; both are null if the file has none. */
  opening: bigint | null;
  closing: bigint | null;
  /** The balances if the lines are in the opposite order, where the file does not tell which it is. */
  reversed?: { opening: bigint; closing: bigint };
  lines: ReadLine[];
}

export interface ReadLine {
  bookedOn: string;
  /** The booking time as the bank wrote it, with or without an offset; absent if it gives only the day. */
  bookedTime?: string;
  /** 'valued' if the bank gives only the value date: then the booking date is unknown. */
  dayIs?: 'booked' | 'valued';
  direction: 'credit' | 'debit';
  units: bigint;
  /** Charged by the bank in addition to a debit's units. */
  chargeUnits: bigint;
  /** The bank's own reference of the line, which is the same in every statement; '' if there is none. */
  bankRef: string;
  /** The payer's end-to-end id; '' if there is none. */
  endToEnd: string;
  /** The bank's id of the payment (not of the line). */
  paymentId: string;
  /** The file of ours for which the line was booked, by the name that the bank repeats; '' if it repeats none. */
  batch: string;
  text: string;
  /** The names in details that do not add up to the line: they settle nothing, and show which files were uploaded. */
  mentions?: readonly string[];
  name: string;
  account: string;
  /** Whether the line reverses an earlier line. */
  reversal: boolean;
  /** Why a payment is returned: the bank's code, or '' if there is none. Absent if the line is no return. */
  returned?: string;
}

export const MOST_LINES = 50_000;
export const LONGEST_TEXT = 1_000;

export const total = (lines: readonly Pick<ReadLine, 'direction' | 'units' | 'chargeUnits'>[]): bigint =>
  lines.reduce(
    (sum, { direction, units, chargeUnits }) => sum + (direction === 'credit' ? units : -units - chargeUnits),
    0n,
  );

/** @throws Refusal 'file_refused' if lines and balances contradict each other: the file is truncated, or no statement */
export function addsUp({ opening, closing, lines }: ReadStatement, which: string): void {
  if (opening === null || closing === null) return;
  if (opening + total(lines) !== closing)
    throw refuseFile(`The opening balance of ${which} plus its lines is not its closing balance.`);
}

/** Removes the placeholders that banks write if there is no reference. */
export const meant = (reference: string): string =>
  /^(|0+|NONREF|NOTPROVIDED|NOT PROVIDED|NONE|N\/?A|-+)$/i.test(reference.trim()) ? '' : reference.trim();
