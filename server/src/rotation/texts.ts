/**
 * Encrypted texts (base/texts.ts, base/typed.ts) wherever they occur: as a text column, inside a sentence, inside jsonb.
 *
 * Rows of the audit are sealed with their encrypted texts. A row that is encrypted again gets a proof by the master key that it
 * replaces the sealed one, and the seals stay unchanged (operators/seals.ts).
 */
import type { Vault } from '../base/crypto.ts';
import { textsLike } from '../base/texts.ts';
import { typedLike } from '../base/typed.ts';
import type { Keys } from './parts.ts';

const TOKEN = /enc:(?:op1:[A-Za-z0-9_-]{38,}\.|v1:[A-Za-z0-9_-]{38,})/g;
/** The same pattern for PostgreSQL. */
export const TOKEN_SQL = 'enc:(op1|v1):';

const bytesOf = (token: string): Buffer =>
  Buffer.from(token.replace(/^enc:(op1|v1):/, '').replace(/\.$/, ''), 'base64url');

function decrypted(vault: Vault, value: Buffer, context: string): string | undefined {
  try {
    return vault.decrypt(value, context);
  } catch {
    return undefined;
  }
}

/** @returns the token under the new key; undefined when the token is not under the old key */
function renewed(keys: Keys, token: string, partnerIds: readonly bigint[]): string | undefined {
  const { from, to } = keys;
  if (token.startsWith('enc:op1:')) {
    const text = decrypted(from, bytesOf(token), 'operator_text');
    if (text === undefined) return undefined;
    // A token that can be looked up by its value must stay searchable.
    if (typedLike(from, text)[0] === token) return typedLike(to, text)[0];
    return `enc:op1:${to.encrypt(text, 'operator_text').toString('base64url')}.`;
  }
  for (const partnerId of partnerIds) {
    const text = decrypted(from, bytesOf(token), `partner_text:${partnerId}`);
    if (text !== undefined) return textsLike(to, partnerId, text)[0];
  }
  return undefined;
}

/**
 * @param partnerIds the partners that an encrypted text may belong to, the most likely first
 * @returns the value with every token of the old key replaced, and the number of replacements
 */
export function renew(keys: Keys, value: string, partnerIds: readonly bigint[]): { value: string; renewed: number } {
  let count = 0;
  const result = value.replace(TOKEN, (token) => {
    const next = renewed(keys, token, partnerIds);
    if (next === undefined) return token;
    count += 1;
    return next;
  });
  return { value: result, renewed: count };
}
