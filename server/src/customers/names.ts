/**
 * Names: the similarity of two spellings of a customer's name, as a score with its threshold. Pure.
 *
 * Used to compare a customer's name with the payer of a deposit or the holder of a paid account. Banks drop accents, change
 * case and order, omit middle names and shorten them to initials; so the shorter name has to be found in the longer one.
 *
 * Each word of the shorter name is matched with the most similar word of the longer one: an equal word counts 1, one letter
 * changed in a word of six letters or more 0.8, an initial 0.7. The score is their average, less 0.02 for each further word of
 * the longer name, at most 0.1. Two words must be equal, or the score is at most 0.5; one is enough if neither name has more.
 *
 * Source: docs/decisions/0077-one-person-one-name.md, with the pairs that it was measured on. Not here: names on sanctions
 * lists (compliance/sanctions/match.ts), whose matching must also find names that someone disguises.
 */

/** In ten-thousandths, so that a stored score compares exactly. At or above this it is the same name. */
export const SAME_NAME = 8_500;

const SAME = 1;
const NEAR = 0.8;
const INITIAL = 0.7;
/** In shorter words one changed letter makes another name: Rao and Ray, Maria and Mario. */
const SHORTEST_NEAR = 6;
const EXTRA_WORD = 0.02;
const MOST_EXTRA = 0.1;
const TOO_FEW = 0.5;
/** Longer names are compared by their beginning. */
const MOST_WORDS = 24;
const LONGEST_NAME = 500;

/** @returns in ten-thousandths; undefined when one of them has no word */
export function nameScore(own: string, other: string): number | undefined {
  const [a, b] = [wordsOf(own), wordsOf(other)];
  if (a.length === 0 || b.length === 0) return undefined;
  const [short, long] = a.length <= b.length ? [a, [...b]] : [b, [...a]];
  const extra = long.length - short.length;
  let sum = 0;
  let whole = 0;
  // Equal words are paired first, so that an initial does not take a word from them.
  const left = short.filter((word) => {
    const at = long.indexOf(word);
    if (at < 0) return true;
    long.splice(at, 1);
    sum += SAME;
    whole += 1;
    return false;
  });
  for (const word of left) {
    const [best, at] = bestOf(word, long);
    if (at < 0) continue;
    long.splice(at, 1);
    sum += best;
  }
  const score = sum / short.length - Math.min(MOST_EXTRA, EXTRA_WORD * extra);
  const isEnough = whole >= (a.length === 1 && b.length === 1 ? 1 : 2);
  return Math.round(Math.max(0, isEnough ? score : Math.min(score, TOO_FEW)) * 10_000);
}

function bestOf(word: string, among: readonly string[]): [number, number] {
  let best: [number, number] = [0, -1];
  for (const [at, other] of among.entries()) {
    const like = isInitial(word, other) || isInitial(other, word) ? INITIAL : isNear(word, other) ? NEAR : 0;
    if (like > best[0]) best = [like, at];
  }
  return best;
}

const wordsOf = (name: string): string[] =>
  name
    // Also invisible characters: joiners of a script, and those that only divide or reorder what is shown.
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{DI}]/gu, '')
    .slice(0, LONGEST_NAME)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, MOST_WORDS);

const isInitial = (letter: string, word: string): boolean => letter.length === 1 && word.startsWith(letter);

/** One letter changed, added, left out or swapped with its neighbour. */
function isNear(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < SHORTEST_NEAR || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  const isSwapped = short[at] === long[at + 1] && short[at + 1] === long[at];
  return short.slice(at + 1) === long.slice(at + 1) || (isSwapped && short.slice(at + 2) === long.slice(at + 2));
}
