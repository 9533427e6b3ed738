/**
 * References: the short text that a customer writes on a bank transfer, which identifies the order.
 *
 *   CL 0000AB7 K3Q      prefix · number, seven symbols of base 32 · three check symbols
 *
 * People copy it from one screen to another, so the alphabet omits I, L, O and U (Crockford); reading ignores case, spaces and
 * punctuation, and accepts O for 0 and I or L for 1. The check symbols are a Reed-Solomon code over GF(32) with distance four:
 * any three wrong symbols, and any two swapped ones, are detected instead of read as another customer's reference. Ten random
 * symbols pass as a reference once in 32,768.
 */
import { assert } from '../base/errors.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const PREFIX = 'CL';
/** The prefix after normalisation: L is read as 1. */
const PREFIX_READ = 'C1';
const NUMBER_SYMBOLS = 7;
const CHECK_SYMBOLS = 3;
const SYMBOLS = NUMBER_SYMBOLS + CHECK_SYMBOLS;
/** Longest text that is searched. Bank references have at most 140 characters. */
const LONGEST_TEXT = 512;
/** Added to the check symbols, so that a run of zeros is no reference. */
const SALT = [7, 19, 29] as const;

// GF(32) with x^5 + x^2 + 1: powers of the generator, and their logarithms.
const POWER: number[] = [];
for (let i = 0, value = 1; i < 31; i += 1) {
  POWER.push(value);
  value <<= 1;
  if (value & 32) value ^= 0b100101;
}
const times = (a: number, b: number): number =>
  a === 0 || b === 0 ? 0 : (POWER[(POWER.indexOf(a) + POWER.indexOf(b)) % 31] as number);

/** Coefficients from the highest power down: (x − α)(x − α²)(x − α³). */
const GENERATOR = [1, 2, 3].reduce<number[]>(
  (product, root) => {
    const next = [...product, 0];
    product.forEach((coefficient, i) => {
      next[i + 1] = (next[i + 1] as number) ^ times(coefficient, POWER[root] as number);
    });
    return next;
  },
  [1],
);

function check(number: readonly number[]): number[] {
  const rest = [...number, ...Array<number>(CHECK_SYMBOLS).fill(0)];
  for (let i = 0; i < number.length; i += 1) {
    const lead = rest[i] as number;
    GENERATOR.forEach((coefficient, j) => {
      rest[i + j] = (rest[i + j] as number) ^ times(coefficient, lead);
    });
  }
  return rest.slice(number.length).map((symbol, i) => symbol ^ (SALT[i] as number));
}

/** @param index from 0 to 32⁷ − 1 (about 34 billion) */
export function makeReference(index: bigint): string {
  assert(index >= 0n && index < 32n ** BigInt(NUMBER_SYMBOLS), `there is no reference for index ${index}`);
  const number: number[] = [];
  for (let i = NUMBER_SYMBOLS - 1; i >= 0; i -= 1) number.push(Number((index >> BigInt(5 * i)) & 31n));
  return PREFIX + [...number, ...check(number)].map((symbol) => ALPHABET[symbol]).join('');
}

/** @returns the reference in a free text, as `makeReference` writes it; '' if there is none, or more than one */
export function findReference(text: string): string {
  const plain = text
    .slice(0, LONGEST_TEXT)
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
    .replaceAll(/[\s\p{P}]/gu, '');
  const found = new Set<string>();
  for (let at = plain.indexOf(PREFIX_READ); at >= 0; at = plain.indexOf(PREFIX_READ, at + 1)) {
    const typed = plain.slice(at + PREFIX_READ.length, at + PREFIX_READ.length + SYMBOLS);
    const symbols = Array.from(typed, (symbol) => ALPHABET.indexOf(symbol));
    if (symbols.length < SYMBOLS || symbols.includes(-1)) continue;
    const wanted = check(symbols.slice(0, NUMBER_SYMBOLS));
    if (wanted.every((symbol, i) => symbol === symbols[NUMBER_SYMBOLS + i])) {
      found.add(PREFIX + symbols.map((symbol) => ALPHABET[symbol]).join(''));
    }
  }
  return found.size === 1 ? ([...found][0] as string) : '';
}
