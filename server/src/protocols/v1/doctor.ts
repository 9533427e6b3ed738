/**
 * The doctor: explains to a program's authors, part by part, why a request was not accepted. It uses the functions that check
 * requests (signature.ts), so it accepts exactly what the server accepts. If a signature does not match, it tries common
 * mistakes until one of them gives the received signature.
 *
 * Its answer contains no part of a secret. Its input is not stored: the fields are marked as personal (declared/catalogue.ts).
 */
import { createHash, createHmac } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { Refusal } from '../../base/errors.ts';
import { bearerToken, type Credential } from '../../partners/index.ts';
import { claimedKey, isSigned, type SignedMessage, verifySignature } from './signature.ts';

export interface Finding {
  part: 'headers' | 'key' | 'token' | 'signature' | 'digest' | 'idempotency';
  ok: boolean;
  says: string;
}

const whyOf = (error: unknown): string => {
  if (!(error instanceof Refusal)) throw error;
  return String(error.facts.why ?? error.code);
};

/**
 * @param mine      a valid key of the partner that asks, by its name; undefined for all others
 * @param m.isWrite whether the endpoint changes something
 */
export async function diagnose(
  m: SignedMessage & { isWrite: boolean; mustSign: boolean },
  known: { mine: (key: string) => Promise<Credential | undefined>; nowMs: number },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const note = (part: Finding['part'], ok: boolean, says: string): void => void findings.push({ part, ok, says });
  const { headers } = m;
  if (m.isWrite && !/^[\x21-\x7e]{1,255}$/.test(headers['idempotency-key'] ?? ''))
    note('idempotency', false, 'a write needs the header Idempotency-Key: 1 to 255 visible characters');
  if (isSigned(m)) await signed(m, known, note);
  else await bearing(m, known, note);
  return findings;
}

type Note = (part: Finding['part'], ok: boolean, says: string) => void;
type Known = Parameters<typeof diagnose>[1];

async function bearing(
  m: SignedMessage & { isWrite: boolean; mustSign: boolean },
  known: Known,
  note: Note,
): Promise<void> {
  const given = m.headers.authorization;
  if (given === undefined) return note('headers', false, 'neither Authorization nor Signature was sent');
  const said = /^bearer +(.*)$/i.exec(given)?.[1];
  if (said === undefined) return note('headers', false, 'Authorization must begin with Bearer and a space');
  const [, key = '', token = ''] = /^([\x21-\x7e]{1,128})\.([0-9a-f]{64})$/.exec(said.trim()) ?? [];
  if (key === '') {
    const why = said.includes('.')
      ? 'the part after the dot must be 64 lower-case hex digits'
      : 'it is not the bearer token: the token is the key, a dot and 64 hex digits, and was shown when the key was created';
    return note('token', false, why);
  }
  const credential = await known.mine(key);
  if (credential === undefined)
    return note('key', false, 'no valid key of yours has this name: it may be revoked, expired or mistyped');
  note('key', true, `it is one of your keys (${credential.scopes.join(', ')})`);
  const isRight = credential.secrets.some((secret) => bearerToken(key, secret) === `${key}.${token}`);
  note(
    'token',
    isRight,
    isRight ? 'it is the token of the key' : 'it is not the token of the key: a rotated secret has another token',
  );
  if (m.isWrite && m.mustSign && !credential.unsignedWrites)
    note('signature', false, 'in production a write must be signed (RFC 9421); a token is not enough');
}

async function signed(m: SignedMessage, known: Known, note: Note): Promise<void> {
  let key: string;
  try {
    key = claimedKey(m);
  } catch (error) {
    return note('headers', false, whyOf(error));
  }
  const credential = await known.mine(key);
  if (credential === undefined)
    return note('key', false, 'no valid key of yours has the name in keyid: it may be revoked, expired or mistyped');
  note('key', true, `it is one of your keys (${credential.scopes.join(', ')})`);
  try {
    await verifySignature(m, { secrets: credential.secrets, nowMs: known.nowMs });
    note('signature', true, 'it is correct');
  } catch (error) {
    const why = whyOf(error);
    if (why.startsWith('Content-Digest')) return note('digest', false, `${why}${digestHint(m)}`);
    const mistake = why === 'the signature does not match' ? mistakeIn(m, credential) : undefined;
    note('signature', false, mistake === undefined ? why : `${why}: ${mistake}`);
  }
}

function digestHint({ headers, body }: SignedMessage): string {
  const given = headers['content-digest'];
  if (given === undefined) return ': the header is missing; it is required even without a body';
  const variants: [string, Buffer][] = [
    ['the body with a newline at its end was hashed', Buffer.concat([body, Buffer.from('\n')])],
    ['an empty body was hashed', Buffer.alloc(0)],
    ['the body was changed after it was hashed: a newline was added', Buffer.from(body.toString('utf8').trimEnd())],
  ];
  const hit = variants.find(([, bytes]) => given.includes(createHash('sha256').update(bytes).digest('base64')));
  return hit === undefined ? '' : `: ${hit[0]}`;
}

/** The first common mistake that gives the received signature. */
function mistakeIn(m: SignedMessage, { key, secrets }: Credential): string | undefined {
  const { headers, method, url } = m;
  const [, label = ''] = /^([a-z][a-z0-9_-]*)=/.exec(headers['signature-input'] ?? '') ?? [];
  const given = /=:([A-Za-z0-9+/]+={0,2}):/.exec(headers.signature ?? '')?.[1];
  const parts = /=\(([^)]*)\)/.exec(headers['signature-input'] ?? '')?.[1]?.split(' ') ?? [];
  const parameters = (headers['signature-input'] ?? '').slice(label.length + 1);
  const plain = Object.fromEntries(
    Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined),
  );
  const baseOf = (of: { method: string; url: string }): string => {
    const fields = parts.map((name) => name.replaceAll('"', ''));
    const lines = httpbis.createSignatureBase({ fields }, { ...of, headers: plain });
    return httpbis.formatSignatureBase([...lines, ['"@signature-params"', [parameters]]]);
  };
  const path = url.split('?', 1)[0] ?? url;
  const right = { method, url: `http://localhost${url}` };
  const texts: [string, () => string][] = [
    ['', () => baseOf(right)],
    ['a newline at the end of the signature base was signed with it', () => `${baseOf(right)}\n`],
    ['the method was signed in lower case', () => baseOf({ ...right, method: method.toLowerCase() })],
    [
      'the path was signed without /v1',
      () => baseOf({ ...right, url: `http://localhost${path.replace(/^\/v1/, '')}` }),
    ],
    ['the body was signed instead of the signature base', () => m.body.toString('utf8')],
  ];
  const keys: [string, (secret: string) => Buffer | string][] = [
    ['', (secret) => secret],
    ['the secret was decoded from hex: use its text as it is', (secret) => Buffer.from(secret, 'hex')],
    ['the secret was decoded from base64: use its text as it is', (secret) => Buffer.from(secret, 'base64')],
    ['the secret was used with a newline at its end', (secret) => `${secret}\n`],
    ['the bearer token was used as the secret', (secret) => bearerToken(key, secret)],
    ['the key was used as the secret', () => key],
  ];
  for (const [what, text] of texts)
    for (const [whose, secretFrom] of keys)
      for (const hash of ['sha256', 'sha512'])
        for (const secret of secrets) {
          const made = createHmac(hash, secretFrom(secret)).update(text());
          if (made.digest('base64') !== given) continue;
          const hashed = hash === 'sha512' ? 'it was made with SHA-512: use SHA-256' : '';
          return [what, whose, hashed].filter((says) => says !== '').join('; ') || undefined;
        }
  return undefined;
}
