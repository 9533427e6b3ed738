/** The server signs a quote with the secret of the requesting key, so a stored quote proves the promise. */
import { fromHex, hmacMatches, utf8 } from './bytes.ts';
import type { Quote } from './generated/v1.ts';

/**
 * Whether the server has promised exactly this: the signature is valid and its content matches the quote.
 *
 * @param secret secret of the key that `quote.signature.keyId` names
 */
export async function verifyQuote(quote: Quote, secret: string): Promise<boolean> {
  const { id, market, pay, receive, rate, expiresAt, signature } = quote;
  const says = `cloverleaf-quote ${id} ${market} ${pay.amount} ${pay.asset} ${receive.amount} ${receive.asset} ${rate} ${expiresAt}`;
  const value = fromHex(signature.value);
  if (signature.algorithm !== 'hmac-sha256' || signature.text !== says || value === undefined || secret === '')
    return false;
  return await hmacMatches('SHA-256', utf8(secret), utf8(says), value);
}
