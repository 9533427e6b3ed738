/**
 * What both readers of statements bring out of a file, before anything is known of what we have: plain lines, as the bank
 * said them, and the checks that any statement must pass on its own.
 */
import { refuseFile } from './decode.ts';

export interface ReadStatement {
  /** The bank's own id of it; '' where the file has none. */
  id: string;
  /** The bank's counting of statements, where it counts. */
  sequence: bigint | null;
  /** Days of the first and last line, or as the file says, `YYYY-MM-DD`. */
  from: string;
  to: string;
  /** Smallest units, below zero for an overdrawn account; both null where the file carries none. */
  opening: bigint | null;
  closing: bigint | null;
  lines: ReadLine[];
}

export interface ReadLine {
  bookedOn: string;
  /** 'valued' where the bank names the value date and no other: then nobody knows when it was booked. */
  dayIs?: 'booked' | 'valued';
  direction: 'credit' | 'debit';
  units: bigint;
  /** Taken by the bank on top of a debit's units. */
  chargeUnits: bigint;
  /** The bank's own reference of the line, the same in every statement; '' where it gives none. */
  bankRef: string;
  /** What the payer gave the payment to carry to its end; '' where nothing was given. */
  endToEnd: string;
  /** The bank's id of the payment (not of the line). */
  paymentId: string;
  /** The file of ours that it was booked for, as the bank repeats its name; '' where it does not. */
  batch: string;
  text: string;
  name: string;
  account: string;
  /** The bank undoes an earlier line with this one. */
  reversal: boolean;
  /** Why a payment comes back: the bank's code, or '' where it only says that it does. */
  returned?: string;
}

export const MOST_LINES = 50_000;
export const LONGEST_TEXT = 1_000;

export const total = (lines: readonly Pick<ReadLine, 'direction' | 'units' | 'chargeUnits'>[]): bigint =>
  lines.reduce(
    (sum, { direction, units, chargeUnits }) => sum + (direction === 'credit' ? units : -units - chargeUnits),
    0n,
  );

/** @throws Refusal 'file_refused' where lines and balances contradict each other: the file is cut, or not what it seems */
export function addsUp({ opening, closing, lines }: ReadStatement, which: string): void {
  if (opening === null || closing === null) return;
  if (opening + total(lines) !== closing)
    throw refuseFile(`The opening balance of ${which} and its lines do not come to its closing balance.`);
}

/** Placeholders that banks write where there is no reference. */
export const meant = (reference: string): string =>
  /^(|0+|NONREF|NOTPROVIDED|NOT PROVIDED|NONE|N\/?A|-+)$/i.test(reference.trim()) ? '' : reference.trim();
