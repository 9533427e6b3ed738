/**
 * Words: matches lines of a file with lines that are known from a file of the other format. Pure.
 *
 * A bank words the same line differently in camt.053 and in CSV, and only one of them may carry its reference. So lines of the
 * same day, direction and amount are compared. If the file shows no more lines of a kind than are known, they may be the same
 * lines; otherwise the account or the text must distinguish them. In both cases the balances, if there are any, must confirm the
 * result (import.ts). If nothing confirms it, the file is rejected, because a guess would book money twice or not at all.
 */
export interface Worded {
  id: string;
  day: string;
  direction: 'credit' | 'debit';
  /** Includes charges. */
  units: bigint;
  account: string;
  text: string;
}

export type InOtherWords<T extends Worded> =
  | { known: Set<string> }
  /** It cannot be decided which of these are the same. */
  | { unclear: { fresh: Worded[]; taken: T[] } };

/**
 * @param fresh    lines of the file that are not known by their id
 * @param taken    lines of the same days that are known from the other format and that the file does not show by their id
 * @param isProved whether equal numbers suffice to take lines as the same; the caller then checks that the balances confirm it
 * @returns ids of the lines in `fresh` that are known
 */
export function inOtherWords<T extends Worded>(
  fresh: readonly Worded[],
  taken: readonly T[],
  isProved: boolean,
): InOtherWords<T> {
  const known = new Set<string>();
  const theirs = Map.groupBy(taken, kindOf);
  for (const [kind, ours] of Map.groupBy(fresh, kindOf)) {
    const others = theirs.get(kind) ?? [];
    if (others.length === 0) continue;
    if (isProved && ours.length <= others.length) {
      for (const { id } of ours) known.add(id);
      continue;
    }
    const pairs = ours.filter((one) => {
      const [other, ...more] = others.filter((candidate) => isAlike(one, candidate));
      return other !== undefined && more.length === 0 && ours.filter((same) => isAlike(same, other)).length === 1;
    });
    // A line from another account than all known lines is new, whatever its text is.
    const open = ours.filter((one) => others.some((other) => !isOfAnother(one, other)));
    if (pairs.length < Math.min(open.length, others.length)) return { unclear: { fresh: ours, taken: others } };
    for (const { id } of pairs) known.add(id);
  }
  return { known };
}

const kindOf = ({ day, direction, units }: Worded): string => `${day} ${direction} ${units}`;
const plain = (text: string): string => text.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();
/** Shorter texts occur in many other texts. */
const SHORTEST = 6;

function isOfAnother(a: Worded, b: Worded): boolean {
  const [account, other] = [plain(a.account), plain(b.account)];
  return account !== '' && other !== '' && account !== other;
}

function isAlike(a: Worded, b: Worded): boolean {
  const [account, other] = [plain(a.account), plain(b.account)];
  if (isOfAnother(a, b)) return false;
  const [text, longer] = [plain(a.text), plain(b.text)].toSorted((x, y) => x.length - y.length);
  if (text !== undefined && text.length >= SHORTEST) return longer?.includes(text) === true;
  return account !== '' && account === other;
}
