/**
 * Identifiers: numeric, safe as a JSON number, and useless for estimating another partner's volume.
 *
 * With a plain database sequence a partner could count the other partners' orders between two of its own. So an id is its
 * creation time in milliseconds times 8192 plus thirteen random bits. It grows with time and stays below 2^53 until the year
 * 2058. Two ids created in the same millisecond collide once in 8192; the primary key then rejects the second, and the
 * transaction runs again with a new id (`db.ts` retries collisions of generated columns).
 */
import { randomBytes, randomInt } from 'node:crypto';

const EPOCH_MS = Date.UTC(2024, 0, 1);

export function numericId(now: Date): bigint {
  return BigInt(now.getTime() - EPOCH_MS) * 8192n + BigInt(randomInt(8192));
}

/** The lowest id that can be created at or after this time. */
export const firstIdAt = (at: Date): bigint => BigInt(Math.max(0, at.getTime() - EPOCH_MS)) * 8192n;

/** Creation time of an id, to the millisecond. */
export const timeOfId = (id: bigint): Date => new Date(Number(id / 8192n) + EPOCH_MS);

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` letters and digits, each uniformly random (62 symbols, about 5.95 bits each). */
export function randomText(length: number): string {
  let text = '';
  for (let i = 0; i < length; i += 1) text += ALPHABET[randomInt(ALPHABET.length)];
  return text;
}

/** 128 random bits by default, as hex: for keys and tokens that must not be guessable. */
export const randomHex = (bytes = 16): string => randomBytes(bytes).toString('hex');
