/**
 * Signatures of requests: RFC 9421 with Content-Digest (RFC 9530), HMAC-SHA256 under the secret of the key.
 *
 * A signature covers method, path, query if there is one, body and Idempotency-Key. The library builds the signature base and
 * verifies the signature. This module enforces further rules: exactly one signature, plain component names, each once, and a
 * time close to ours. Times are wall-clock time, not the movable clock's.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { Refusal } from '../../base/errors.ts';

export const ALGORITHM = 'hmac-sha256';
/** How far the time of a signature may differ from ours. */
const BEHIND_S = 300;
const AHEAD_S = 30;

/** Parts that a proxy may change before the server sees them. */
const REWRITTEN: readonly string[] = ['@authority', '@target-uri', '@scheme', '@request-target', 'host'];

const PART = '"[a-z@][a-z0-9@-]{0,63}"';
const PARAMETER = ';[a-z]{1,16}=(?:[0-9]{1,15}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]{0,256}")';
/** One signature; its parts have no parameters, so that none changes their meaning. */
const INPUT = new RegExp(`^([a-z][a-z0-9_-]{0,31})=\\((${PART}(?: ${PART}){0,15})\\)((?:${PARAMETER}){1,8})$`);

export interface SignedMessage {
  readonly method: string;
  /** Path with query, as sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** The body is read later, as a stream, and its reader compares the digest. */
  readonly isBodyLater?: boolean;
}

const wrong = (why: string): Refusal => new Refusal('unauthenticated', { why });

export const isSigned = ({ headers }: Pick<SignedMessage, 'headers'>): boolean =>
  headers.signature !== undefined || headers['signature-input'] !== undefined;

/**
 * The key that a request claims. This proves nothing yet.
 *
 * @throws Refusal 'unauthenticated'
 */
export function claimedKey({ headers }: Pick<SignedMessage, 'headers'>): string {
  const keyId = parametersOf(headers).get('keyid');
  if (keyId === undefined) throw wrong('the signature names no keyid');
  return keyId;
}

function parametersOf(headers: SignedMessage['headers']): Map<string, string> {
  const [, , , parameters = ''] = INPUT.exec(headers['signature-input'] ?? '') ?? [];
  const found = [...parameters.matchAll(/;([a-z]+)=(?:"([^"]*)"|([0-9]+))/g)];
  const names = found.map(([, name = '']) => name);
  if (found.length === 0 || new Set(names).size !== names.length)
    throw wrong('Signature-Input is not one signature of plain parts, with each parameter once');
  return new Map(found.map(([, name = '', text, digits]) => [name, text ?? digits ?? '']));
}

/**
 * @param secrets valid secrets of the key that the request claims
 * @param nowMs   wall-clock time
 * @returns the secret that signed, and an id of the signed content: the same for the same request, ever its headers aree
 * however its headers are spelled
 * @throws Refusal 'unauthenticated' with the fault
 */
export async function verifySignature(
  message: SignedMessage,
  { secrets, nowMs }: { secrets: readonly string[]; nowMs: number },
): Promise<{ secret: string; signature: Buffer }> {
  const { method, url, headers, body } = message;
  const parameters = parametersOf(headers);
  const [, , names = ''] = INPUT.exec(headers['signature-input'] ?? '') ?? [];
  const parts = names.split(' ').map((name) => name.slice(1, -1));
  const needed = [
    ...['@method', '@path', 'content-digest', 'idempotency-key'],
    ...(url.includes('?') ? ['@query'] : []),
  ];
  const lacking = needed.filter((name) => !parts.includes(name));
  if (lacking.length > 0) throw wrong(`the signature does not cover ${lacking.join(', ')}`);
  if (new Set(parts).size !== parts.length) throw wrong('the signature names a part twice');
  const elsewhere = parts.filter((name) => REWRITTEN.includes(name));
  if (elsewhere.length > 0) throw wrong(`the signature must not cover ${elsewhere.join(', ')}: a proxy may rewrite it`);
  if (parameters.get('alg') !== ALGORITHM) throw wrong(`the signature must have alg="${ALGORITHM}"`);
  const created = parameters.get('created');
  if (created === undefined || !/^[0-9]{1,12}$/.test(created)) throw wrong('the signature has no time (created)');
  const ageS = nowMs / 1_000 - Number(created);
  if (ageS > BEHIND_S) throw wrong('the signature is too old');
  if (ageS < -AHEAD_S) throw wrong('the time of the signature is ahead: check your clock');
  const expires = parameters.get('expires');
  if (expires !== undefined && !(Number(expires) * 1_000 > nowMs)) throw wrong('the signature has expired');
  if (message.isBodyLater !== true) requireDigest(headers, (hash) => createHash(hash).update(body).digest());

  const plain = Object.fromEntries(
    Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined),
  );
  for (const secret of secrets) {
    let made = Buffer.alloc(0);
    const verified = await httpbis
      .verifyMessage(
        {
          keyLookup: async () => ({
            algs: [ALGORITHM],
            async verify(data, signature) {
              made = createHmac('sha256', secret).update(data).digest();
              return made.length === signature.length && timingSafeEqual(made, signature);
            },
          }),
          requiredFields: needed,
          notAfter: Math.floor(nowMs / 1_000) + AHEAD_S,
        },
        // The host need not be covered.
        { method, url: `http://localhost${url}`, headers: plain },
      )
      .catch(() => false);
    if (verified === true) return { secret, signature: made };
  }
  throw wrong('the signature does not match');
}

const HASHES = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const;

/** @param of digest of the body @throws Refusal 'unauthenticated' */
export function requireDigest(headers: SignedMessage['headers'], of: DigestOf): void {
  if (!digestMatches(headers['content-digest'], of)) throw wrong('Content-Digest is not that of the body');
}

type DigestOf = (hash: 'sha256' | 'sha512') => Buffer;

/** Every named digest with a known algorithm must match the body, and there must be at least one. */
function digestMatches(header: string | undefined, digest: DigestOf): boolean {
  const known = (header ?? '').split(',').flatMap((part) => {
    const [, name = '', value = ''] = /^\s*([a-z0-9-]{1,16})=:([A-Za-z0-9+/]{1,128}={0,2}):\s*$/.exec(part) ?? [];
    return name in HASHES ? [{ hash: HASHES[name as keyof typeof HASHES], value }] : [];
  });
  return known.length > 0 && known.every(({ hash, value }) => digest(hash).equals(Buffer.from(value, 'base64')));
}

/** The `Content-Digest` header of a body. */
export const digestOf = (body: Buffer | string): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
