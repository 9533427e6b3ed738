/**
 * Identifiers: numeric, safe as a JSON number, and telling a curious partner nothing about anybody else's volume.
 *
 * A plain database sequence would let one partner count the orders of all others between two of its own. So an id is the
 * millisecond of its making times 8192 plus thirteen random bits: it grows with time, stays below 2^53 until the year
 * 2058, and two made in the same millisecond collide once in 8192, where the primary key refuses the second and the
 * transaction is run again with a new one (`db.ts` retries a collision on a column so generated).
 */
import { randomBytes, randomInt } from 'node:crypto';

const EPOCH_MS = Date.UTC(2024, 0, 1);

export function numericId(now: Date): bigint {
  return BigInt(now.getTime() - EPOCH_MS) * 8192n + BigInt(randomInt(8192));
}

/** The lowest id that can be made from this time on. */
export const firstIdAt = (at: Date): bigint => BigInt(Math.max(0, at.getTime() - EPOCH_MS)) * 8192n;

/** When an id of this kind was made, to the millisecond. */
export const timeOfId = (id: bigint): Date => new Date(Number(id / 8192n) + EPOCH_MS);

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` letters and digits, each uniformly random (62 symbols, about 5.95 bits each). */
export function randomText(length: number): string {
  let text = '';
  for (let i = 0; i < length; i += 1) text += ALPHABET[randomInt(ALPHABET.length)];
  return text;
}

/** 128 random bits as hex: for keys and tokens that must not be guessed. */
export const randomHex = (bytes = 16): string => randomBytes(bytes).toString('hex');
