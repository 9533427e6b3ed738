/**
 * Authentication on this wire: a bearer token, or a signature (signature.ts).
 *
 * A token suffices for reads, and in the sandbox for everything, so that a first call is one line of curl. In production a
 * write is signed, unless the operator allows its key to write without. The token is derived from the secret but does not
 * reveal it: a thief of a token can read but not sign.
 */
import { timingSafeEqual } from 'node:crypto';
import { Refusal } from '../../base/errors.ts';
import { bearerToken, type Credential } from '../../partners/index.ts';
import type { Caller } from './handler.ts';
import { claimedKey, isSigned, type SignedMessage, verifySignature } from './signature.ts';

/** The scheme is case-insensitive (RFC 9110). */
const TOKEN = /^[Bb][Ee][Aa][Rr][Ee][Rr] +([\x21-\x7e]{1,128})\.([0-9a-f]{64})$/;

/**
 * @param message.isWrite whether it changes something
 * @throws Refusal 'unauthenticated' | 'signature_required'
 */
export async function authenticate(
  message: SignedMessage & { isWrite: boolean },
  options: {
    credential: (apiKey: string) => Promise<Credential | undefined>;
    profile: 'sandbox' | 'production';
    nowMs: number;
  },
): Promise<Caller> {
  const [, apiKey, token = ''] = TOKEN.exec(message.headers.authorization ?? '') ?? [];
  if (isSigned(message)) {
    const claimed = claimedKey(message);
    if (apiKey !== undefined && apiKey !== claimed)
      throw new Refusal('unauthenticated', { why: 'the header Authorization names another key than the signature' });
    const credential = await options.credential(claimed);
    if (credential === undefined) throw new Refusal('unauthenticated', { why: 'the key is not known' });
    const signed = await verifySignature(message, { secrets: credential.secrets, nowMs: options.nowMs });
    return { credential, partner: credential.partner, ...signed };
  }
  if (apiKey === undefined)
    throw new Refusal('unauthenticated', { why: 'the header Authorization must be Bearer and the token of a key' });
  const credential = await options.credential(apiKey);
  if (credential === undefined) throw new Refusal('unauthenticated', { why: 'the key is not known' });
  const secret = credential.secrets.find((one) => isToken(`${apiKey}.${token}`, bearerToken(apiKey, one)));
  if (secret === undefined) throw new Refusal('unauthenticated', { why: 'the token is not that of the key' });
  if (message.isWrite && options.profile === 'production' && !credential.unsignedWrites)
    throw new Refusal('signature_required');
  return { credential, partner: credential.partner, secret, signature: undefined };
}

function isToken(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
