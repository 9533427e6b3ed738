/**
 * Continuity: whether a statement connects to those already taken. Pure.
 *
 * One number decides: the newest closing balance minus the first opening balance minus all lines taken since. While it is zero,
 * no line is missing and none is taken twice, in whatever order and overlap the files came. A file that would move it away from
 * zero either has a statement missing before it (a gap: it is taken, and an operator is notified), or repeats lines already taken
 * in other words (it is rejected). While something is missing, the number proves nothing; until the gap is filled, taken
 * statements are recognised by their days and balances.
 *
 * The first statement is the beginning: the account's opening balance is booked as such. So no earlier line is taken later.
 */
export interface Ends {
  from: string;
  /** For a statement already taken: the last of its days that it covers, if it was dated ahead (import.ts). */
  to: string;
  sequence: bigint | null;
  opening: bigint;
  closing: bigint;
}

export interface Taken {
  first: Ends;
  newest: Ends;
  /** Signed sum of all lines taken. */
  sum: bigint;
}

export type Fit =
  | { fit: 'joins' }
  /** It has lines from before the first statement. */
  | { fit: 'too_early' }
  /** This net amount is missing; null when only the statement numbers show a gap. */
  | { fit: 'gap'; missing: bigint | null }
  | { fit: 'contradicts' };

/** Net amount missing between the first and the newest statement. */
export const missing = ({ first, newest, sum }: Taken): bigint => newest.closing - first.opening - sum;

/**
 * @param before undefined when nothing was taken yet
 * @param lines  of the statement: how many are new, how many known, the sum of the new ones, and their first day;
 *   `shownBefore`,
 *               needed while something is missing: they are known ones in other words
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
  // A gap is open already: the sum proves nothing until it is filled.
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
 * Of statements with the same end, the one whose closing balance matches all lines taken, else the one taken last: a day that
 * is not over is shown again later, with the same days and another balance.
 *
 * @param ties the newest statements, the last taken first
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

/** The bank numbers its statements and skipped one, although the balances match: the missing lines sum to zero. */
const skips = (newest: Ends, statement: Ends, { known }: { known: number }): boolean =>
  known === 0 &&
  newest.sequence !== null &&
  statement.sequence !== null &&
  statement.sequence > newest.sequence + 1n &&
  statement.to.slice(0, 4) === newest.to.slice(0, 4);
