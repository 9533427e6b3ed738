/**
 * Texts: free-text fields of partners and their customers, encrypted in the same column.
 *
 * Partners' references of customers and orders are looked up by equality and are unique, so equal texts of one partner encrypt to
 * equal values: the nonce is a keyed hash of partner and text (AES-256-GCM, as in SIV mode). A column keeps its type, its
 * uniqueness and its indexes; a dump shows which values are equal, not what they say. A text is bound to its partner, not to its
 * row.
 */
import type { Vault } from './crypto.ts';

const PREFIX = 'enc:v1:';

/** Encrypts a text for a column. The same text of the same partner gives the same result. */
export const encryptText = (vault: Vault, partnerId: bigint, text: string): string =>
  `${PREFIX}${vault.encryptSame(text, contextOf(partnerId)).toString('base64url')}`;

/** All values that the same text may have in a column, also those under an old master key. For look-ups. */
export const textsLike = (vault: Vault, partnerId: bigint, text: string): string[] =>
  vault.sames(text, contextOf(partnerId)).map((one) => `${PREFIX}${one.toString('base64url')}`);

/** The decrypted text. A text that was not encrypted for this partner is returned as stored. */
export function openText(vault: Vault, partnerId: bigint, stored: string): string {
  if (!stored.startsWith(PREFIX)) return stored;
  try {
    return vault.decrypt(Buffer.from(stored.slice(PREFIX.length), 'base64url'), contextOf(partnerId));
  } catch {
    return stored;
  }
}

export const openTextOrNull = (vault: Vault, partnerId: bigint, stored: string | null): string | null =>
  stored === null ? null : openText(vault, partnerId, stored);

/** Decrypts the texts among an object's values, for bodies of events. */
export const openTexts = <T extends Readonly<Record<string, unknown>>>(vault: Vault, partnerId: bigint, body: T): T =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' ? openText(vault, partnerId, value) : value,
    ]),
  ) as T;

const contextOf = (partnerId: bigint): string => `partner_text:${partnerId}`;
