/**
 * Texts: what partners and their customers type into free fields, encrypted where it stands.
 *
 * A name of a customer or of an order is looked up by equality and is unique, so equal texts of one partner are encrypted to
 * equal texts: the nonce is a keyed hash of partner and text (AES-256-GCM, as in SIV mode). A column keeps its type, its
 * uniqueness and its indexes, and a dump shows which are equal and not what they say. A text is bound to its partner, not to its row.
 */
import type { Vault } from './crypto.ts';

const PREFIX = 'enc:v1:';

/** For a column. The same text of the same partner is the same again. */
export const encryptText = (vault: Vault, partnerId: bigint, text: string): string =>
  `${PREFIX}${vault.encryptSame(text, contextOf(partnerId)).toString('base64url')}`;

/** What was given. Texts that were not encrypted for this partner come back as they are stored. */
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

/** The texts among the values of an object, opened; for bodies of events. */
export const openTexts = <T extends Readonly<Record<string, unknown>>>(vault: Vault, partnerId: bigint, body: T): T =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' ? openText(vault, partnerId, value) : value,
    ]),
  ) as T;

const contextOf = (partnerId: bigint): string => `partner_text:${partnerId}`;
