/**
 * Points of an extended public key's children, many at a time: the parent's point plus the generator times each child's tweak.
 *
 * All are sums of affine points, the same number of each, so they are added in step, and one inversion serves all of them
 * (Montgomery's trick). Multiples of the generator by each byte of a tweak are in a table that is made once. Of 64 at a time one
 * costs a quarter of what the library takes for one alone (docs/decisions/0025-bench-method.md); of a few it would cost more.
 *
 * Everything here is public, so the time taken may depend on the values. Not here: tweaks, and how accounts are numbered
 * (secp256k1.ts).
 */
import { secp256k1 } from '@noble/curves/secp256k1';
import { assert } from '../base/errors.ts';

const P = secp256k1.CURVE.Fp.ORDER;
const Point = secp256k1.ProjectivePoint;
const BYTES = 32;

interface Affine {
  readonly x: bigint;
  readonly y: bigint;
}

/** `table[byte's place][byte]`: the generator times that byte at that place. There is none for a byte of zero. */
let table: readonly (readonly (Affine | undefined)[])[] | undefined;

/**
 * @param tweaks 32 bytes each, above zero and below the curve's order
 * @returns the children's points, or undefined for one whose sum met a point with itself, which needs another formula: the caller
 *   adds that one alone
 */
export function childrenOf(parent: Affine, tweaks: readonly Uint8Array[]): (Affine | undefined)[] {
  table ??= makeTable();
  const sums: (Affine | undefined)[] = tweaks.map(() => parent);
  for (const [place, multiples] of table.entries()) {
    // The first byte is the highest.
    const addends = tweaks.map((tweak) => multiples[tweak[BYTES - 1 - place] ?? 0]);
    addInStep(sums, addends);
  }
  return sums;
}

/** Adds each addend to its sum. A sum that cannot be added to becomes undefined, and stays so. */
function addInStep(sums: (Affine | undefined)[], addends: readonly (Affine | undefined)[]): void {
  const at: number[] = [];
  /** The product of all differences before each. */
  const before: bigint[] = [];
  let product = 1n;
  for (let n = 0; n < sums.length; n += 1) {
    const [sum, addend] = [sums[n], addends[n]];
    if (sum === undefined || addend === undefined) continue;
    const difference = addend.x - sum.x;
    if (difference === 0n) {
      sums[n] = undefined;
      continue;
    }
    at.push(n);
    before.push(product);
    product = (product * difference) % P;
  }
  let inverse = inverseOf(product);
  for (let n = at.length - 1; n >= 0; n -= 1) {
    const place = at[n] as number;
    const [a, b] = [sums[place] as Affine, addends[place] as Affine];
    const slope = ((b.y - a.y) * ((inverse * (before[n] as bigint)) % P)) % P;
    inverse = (inverse * (b.x - a.x)) % P;
    const x = positive((slope * slope - a.x - b.x) % P);
    sums[place] = { x, y: positive((slope * (a.x - x) - a.y) % P) };
  }
}

const positive = (value: bigint): bigint => (value < 0n ? value + P : value);
const inverseOf = (value: bigint): bigint => secp256k1.CURVE.Fp.inv(positive(value));

function makeTable(): (Affine | undefined)[][] {
  const ones = [Point.BASE];
  while (ones.length < BYTES) {
    let next = ones.at(-1) ?? Point.BASE;
    for (let bit = 0; bit < 8; bit += 1) next = next.double();
    ones.push(next);
  }
  const affine = Point.normalizeZ([...ones, ...ones.map((one) => one.double())]).map(({ x, y }): Affine => ({ x, y }));
  const made = ones.map((_, place): (Affine | undefined)[] => [undefined, affine[place], affine[BYTES + place]]);
  const sums: (Affine | undefined)[] = affine.slice(BYTES);
  for (let byte = 3; byte < 256; byte += 1) {
    addInStep(sums, affine.slice(0, BYTES));
    for (const [place, sum] of sums.entries()) made[place]?.push(sum);
  }
  assert(
    made.every((multiples) => multiples.every((one, byte) => one !== undefined || byte === 0)),
    'the table has a gap',
  );
  return made;
}
