/**
 * Continuity: whether a statement connects to those already taken in. Pure.
 *
 * One number decides: the newest closing balance minus the first opening balance minus all lines taken in since. While it is
 * zero, no line is missing and none was taken in twice, in whatever order the files came and however they overlap. If a file
 * would move it away from zero, there are two cases. Either a statement before the file is missing (a gap: the file is taken in,
 * and an operator is notified), or the file repeats known lines in other words (it is rejected). While something is missing, the
 * number proves nothing; until the gap is filled, known statements are recognised by their days and balances.
 *
 * The first statement is the beginning: its opening balance is booked as the account's. So no earlier line is taken in later.
 */
export interface Ends {
  from: string;
  /** For a statement already taken in: the last of its days that it covers, if it was dated ahead (import.ts). */
  to: string;
  sequence: bigint | null;
  opening: bigint;
  closing: bigint;
}

export interface Taken {
  first: Ends;
  newest: Ends;
  /** Signed sum of all lines taken in. */
  sum: bigint;
}

export type Fit =
  | { fit: 'joins' }
  /** It has lines from before the first statement. */
  | { fit: 'too_early' }
  /** This net amount is missing; null if only the statement numbers show a gap. */
  | { fit: 'gap'; missing: bigint | null }
  | { fit: 'contradicts' };

/** Net amount missing between the first and the newest statement. */
export const missing = ({ first, newest, sum }: Taken): bigint => newest.closing - first.opening - sum;

/**
 * @param before undefined if nothing was taken in yet
 * @param lines  of the statement: how many are new, how many are known, the sum of the new ones, and their first day; and
 *   `shownBefore`, needed while something is missing: the new ones are known ones in other words
 */
export function fit(
  before: Taken | undefined,
  statement: Ends,
  lines: { known: number; freshSum: bigint; freshFrom: string | undefined; shownBefore: boolean },
): Fit {
  if (before === undefined) return { fit: 'joins' };
  if (lines.freshFrom !== undefined && lines.freshFrom < before.first.from) return { fit: 'too_early' };
  if (lines.freshFrom !== undefined && lines.shownBefore) return { fit: 'contradicts' };
  const after = extended(before, statement, lines.freshSum);
  if (missing(after) === 0n)
    return skips(before.newest, statement, lines) ? { fit: 'gap', missing: null } : { fit: 'joins' };
  // A gap is already open: until it is filled, the sum proves nothing.
  if (missing(before) !== 0n) return { fit: 'joins' };
  return after.newest === statement && lines.known === 0
    ? { fit: 'gap', missing: missing(after) }
    : { fit: 'contradicts' };
}

export function extended(before: Taken, statement: Ends, freshSum: bigint): Taken {
  const sum = before.sum + freshSum;
  const after = order(statement.to, statement.sequence, before.newest.to, before.newest.sequence);
  const later = after > 0 || (after === 0 && leadsTo(statement, before.first, sum));
  return { first: before.first, newest: later ? statement : before.newest, sum };
}

/**
 * Of statements with the same end, the one whose closing balance matches all lines taken in, or else the one taken in last: a day
 * that is not over is shown again later, with the same days and another balance.
 *
 * @param ties the newest statements, the one taken in last first
 */
export const newestOf = (ties: readonly Ends[], first: Ends, sum: bigint): Ends | undefined =>
  ties.find((one) => leadsTo(one, first, sum)) ?? ties[0];

const leadsTo = (statement: Ends, first: Ends, sum: bigint): boolean => first.opening + sum === statement.closing;

function order(day: string, sequence: bigint | null, otherDay: string, otherSequence: bigint | null): number {
  if (day !== otherDay) return day < otherDay ? -1 : 1;
  if (sequence === null || otherSequence === null || sequence === otherSequence)
    return sequence === otherSequence ? 0 : 1;
  return sequence < otherSequence ? -1 : 1;
}

/**
 * Whether the bank numbers its statements and skipped a number although the balances match: then the missing lines sum to zero.
 */
const skips = (newest: Ends, statement: Ends, { known }: { known: number }): boolean =>
  known === 0 &&
  newest.sequence !== null &&
  statement.sequence !== null &&
  statement.sequence > newest.sequence + 1n &&
  statement.to.slice(0, 4) === newest.to.slice(0, 4);
