/**
 * Typed texts: what operators type into free fields (reasons, notes, outcomes, evidence, labels). People type names and
 * account numbers into them, so they are encrypted.
 *
 * The operator API encrypts such a text when it reads it and decrypts it when it shows it. Everything in between stores and
 * passes on the encrypted text like any other: the audit, proposals, cases, histories, facts of entries, kill switches, and
 * tables added later. The labels of keys are of this form whoever types them, because operators and the partner's team share
 * the column. An encrypted text is one word with its own end marker, so a sentence may contain it, and `openTyped`
 * decrypts it there. It must not be cut: `cutTyped` cuts only texts without an encrypted part.
 *
 * Texts of the program itself are not encrypted and are returned as they are. Typed texts are not bound to their row, because
 * they move between rows; an edited audit row is detected by its seal, which covers the encrypted text.
 *
 * Not here: texts of partners and customers (texts.ts).
 */
import type { Vault } from './crypto.ts';

const BEGIN = 'enc:op1:';
const END = '.';
const ENCRYPTED = /enc:op1:([A-Za-z0-9_-]{38,})\./g;
const CONTEXT = 'operator_text';

/** Encrypting the same text twice gives different results. */
export const encryptTyped = (vault: Vault, text: string): string => wrapped(vault.encrypt(text, CONTEXT));

/** Equal texts give equal results, for texts that are looked up. */
export const encryptTypedSame = (vault: Vault, text: string): string => wrapped(vault.encryptSame(text, CONTEXT));

/** All values that such a text may have in a column, also those under an old master key. For look-ups. */
export const typedLike = (vault: Vault, text: string): string[] => vault.sames(text, CONTEXT).map(wrapped);

const wrapped = (encrypted: Buffer): string => `${BEGIN}${encrypted.toString('base64url')}${END}`;

/** Decrypts every encrypted part of a text. */
export function openTyped(vault: Vault, text: string): string {
  if (!text.includes(BEGIN)) return text;
  return text.replace(ENCRYPTED, (all, encrypted: string) => {
    try {
      return vault.decrypt(Buffer.from(encrypted, 'base64url'), CONTEXT);
    } catch {
      // The text has the markers, but this vault did not encrypt it.
      return all;
    }
  });
}

/** Decrypts every text in a value, at any depth. Dates, bytes and numbers are returned as they are. */
export function openTypedIn(vault: Vault, value: unknown): unknown {
  if (typeof value === 'string') return openTyped(vault, value);
  if (Array.isArray(value)) return value.map((one) => openTypedIn(vault, one));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, openTypedIn(vault, part)]));
}

/** Cuts a text to `most` characters, unless a part of it is encrypted: the API has already limited the length of those. */
export const cutTyped = (text: string, most: number): string => (text.includes(BEGIN) ? text : text.slice(0, most));
