/**
 * Recovery codes: kept on paper by a person, for the case that every passkey is lost. A code enrols one passkey, once, and does
 * nothing else. Used for operators and partners' teams alike; each module stores the hashes of its own codes.
 *
 * Twenty symbols are 100 random bits, so SHA-256 without a salt is enough: a code cannot be found from its hash by trying.
 */
import { createHash, randomInt } from 'node:crypto';

const CODES = 10;
/** Without letters that look like digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SYMBOLS = 20;

export interface RecoveryCode {
  /** In groups of five symbols. Shown once and not stored. */
  readonly shown: string;
  readonly hash: Buffer;
}

export const makeRecoveryCodes = (): RecoveryCode[] =>
  Array.from({ length: CODES }, () => {
    const code = Array.from({ length: SYMBOLS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    return { shown: (code.match(/.{5}/g) ?? []).join('-'), hash: hashOf(code) };
  });

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Hash of a code as a person types it: with capitals, spaces or no hyphens, `O` for 0, `I` or `l` for 1. */
export const hashOfRecoveryCode = (typed: string): Buffer =>
  hashOf(typed.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1'));
