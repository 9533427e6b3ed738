/**
 * Continuity: whether a statement fits to what was taken before. Pure.
 *
 * One number tells: what the newest closing balance is above the first opening balance and all lines taken since. While it is
 * nought, nothing is missing and nothing is taken twice, in whatever order and overlap the files came. A file that would move
 * it away from nought either has a statement missing before it (a gap: it is taken, and a person is told), or shows lines
 * that were taken under other words (it is refused). Once something is missing the number tells nothing until that is there;
 * until then what was taken is known by its days and balances.
 *
 * The first statement is the beginning: what was on the account before it is its opening balance, and is booked as that. So
 * nothing from before it is taken later.
 */
export interface Ends {
  from: string;
  /** Of one that was taken before: the last of its days that it can say anything of, where it was dated ahead (import.ts). */
  to: string;
  sequence: bigint | null;
  opening: bigint;
  closing: bigint;
}

export interface Taken {
  first: Ends;
  newest: Ends;
  /** What all lines taken come to, signed. */
  sum: bigint;
}

export type Fit =
  | { fit: 'joins' }
  /** It has lines from before the beginning. */
  | { fit: 'too_early' }
  /** Something of this net amount is missing; null where only the numbering says so. */
  | { fit: 'gap'; missing: bigint | null }
  | { fit: 'contradicts' };

/** What is missing between the first and the newest statement, net. */
export const missing = ({ first, newest, sum }: Taken): bigint => newest.closing - first.opening - sum;

/**
 * @param before undefined where nothing was taken yet
 * @param lines  of the statement: how many are new here, how many were there, what the new ones come to, and the first day of
 *               them; `shownBefore`, asked while something is missing: they are old ones in other words
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
  // A gap is open already: nothing can be proved by the sum until it is filled.
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
 * Of statements that end alike the one which all lines taken lead to, else the one taken last: a day that is not over is
 * shown once more when it is, under the same days and with another balance.
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

/** The bank counts its statements and left one out, although the balances meet: what is missing came to nought. */
const skips = (newest: Ends, statement: Ends, { known }: { known: number }): boolean =>
  known === 0 &&
  newest.sequence !== null &&
  statement.sequence !== null &&
  statement.sequence > newest.sequence + 1n &&
  statement.to.slice(0, 4) === newest.to.slice(0, 4);
