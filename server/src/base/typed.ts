/**
 * Typed texts: what operators type into free fields (reasons, notes, outcomes, evidence, labels). People type names and account
 * numbers into them, so they are encrypted.
 *
 * The operators' wire encrypts such a text as it reads it, and opens it as it shows it. Everything between keeps and passes on
 * the encrypted text like any other: the audit, proposals, cases, histories, facts of entries, kill switches, and tables that
 * are added later. An encrypted text is a word with an end of its own, so it may stand inside a sentence; `openTyped` opens it
 * there, once. It must not be cut: `cutTyped` cuts only what has none.
 *
 * A text of the machine itself is in clear, and is read as it is. Texts are not bound to their row, because
 * they move between rows; that a row of the audit was edited is found by its seal, which is over the encrypted text.
 *
 * Not here: what partners and customers type (texts.ts).
 */
import type { Vault } from './crypto.ts';

const BEGIN = 'enc:op1:';
const END = '.';
const ENCRYPTED = /enc:op1:([A-Za-z0-9_-]{38,})\./g;
const CONTEXT = 'operator_text';

/** Two equal texts look different. */
export const encryptTyped = (vault: Vault, text: string): string => wrapped(vault.encrypt(text, CONTEXT));

/** Equal texts look equal: for what is looked up. */
export const encryptTypedSame = (vault: Vault, text: string): string => wrapped(vault.encryptSame(text, CONTEXT));

const wrapped = (encrypted: Buffer): string => `${BEGIN}${encrypted.toString('base64url')}${END}`;

/** A text with what is encrypted in it opened. */
export function openTyped(vault: Vault, text: string): string {
  if (!text.includes(BEGIN)) return text;
  return text.replace(ENCRYPTED, (all, encrypted: string) => {
    try {
      return vault.decrypt(Buffer.from(encrypted, 'base64url'), CONTEXT);
    } catch {
      // It looks like one, and is none of ours.
      return all;
    }
  });
}

/** Every text of a value opened, however deep; dates, bytes and numbers as they are. */
export function openTypedIn(vault: Vault, value: unknown): unknown {
  if (typeof value === 'string') return openTyped(vault, value);
  if (Array.isArray(value)) return value.map((one) => openTypedIn(vault, one));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, openTypedIn(vault, part)]));
}

/** At most so long, unless something in it is encrypted: the wire has bounded that. */
export const cutTyped = (text: string, most: number): string => (text.includes(BEGIN) ? text : text.slice(0, most));
