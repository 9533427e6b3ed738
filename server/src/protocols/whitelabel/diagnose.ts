/**
 * Diagnose: explains why a signed request is refused, part by part, to the author of the calling program.
 *
 * It uses the server's own functions (auth.ts, body.ts), so it accepts exactly what the server accepts. If a signature does not
 * match, it tries common programming mistakes, alone and in pairs, until one gives the received signature. The result contains
 * no part of a secret. It contains field values, because they are the caller's own.
 *
 * Not here: whether a key may do what is requested (scopes, networks, rate limit), and all checks after the signature.
 */
import { createHash, createHmac } from 'node:crypto';
import { Refusal } from '../../base/errors.ts';
import { type ClockWindow, isBase64, readPayload, SPELLINGS, signatureMatches, signingHeader } from './auth.ts';
import { type Body, type BodyValue, bodyKind, canonical, isAbsent, JsonNumber, readBody, sameMeaning } from './body.ts';
import { readMultipart } from './multipart.ts';

export interface Suspect {
  method: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

export interface KnownKey {
  name: string;
  apiKey: string;
  secrets: readonly string[];
}

export interface Finding {
  part: 'headers' | 'key' | 'payload' | 'signature' | 'body' | 'clock';
  ok: boolean;
  says: string;
}

/** @param known.nowMs when the server received, or would receive, the request */
export async function diagnose(
  { method, headers, body }: Suspect,
  known: { keys: readonly KnownKey[]; nowMs: number; window: ClockWindow },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const note = (part: Finding['part'], ok: boolean, says: string): void => void findings.push({ part, ok, says });

  const apiKey = signingHeader(headers, 'key');
  const payload = signingHeader(headers, 'payload');
  const signature = signingHeader(headers, 'signature');
  const missing = (['key', 'payload', 'signature'] as const).filter((one) => signingHeader(headers, one) === undefined);
  for (const which of missing) note('headers', false, missingHeader(which, headers));
  if (missing.length === 0) note('headers', true, 'key, payload and signature are there');

  const key = known.keys.find((one) => one.apiKey === apiKey);
  if (apiKey !== undefined)
    note('key', key !== undefined, key ? `it is ${key.name}'s` : unknownKey(apiKey, known.keys));

  const read = payload === undefined ? undefined : payloadOf(payload);
  if (read !== undefined)
    note('payload', read.why === undefined, read.why ?? 'base64 of a JSON object with a body and a timestamp');

  if (payload !== undefined && signature !== undefined) {
    const why = signatureWrong({ payload, signature, body: body.toString('utf8'), json: read?.json }, key, known.keys);
    note(
      'signature',
      why === undefined,
      why ?? "HMAC-SHA512 of the payload's text under the key's secret, in lower-case hex",
    );
  }
  if (read?.body !== undefined) await compareBodies(method, headers, body, read.body, note);
  if (read?.timestampMs !== undefined) note('clock', ...clockOf(read.timestampMs, known));
  return findings;
}

const USUAL = { key: 'apiKey', payload: 'payload', signature: 'signature' } as const;
const ALIKE = { key: /api.?key|app.?key|^key$/, payload: /payload/, signature: /sign/ } as const;

function missingHeader(which: keyof typeof USUAL, headers: Suspect['headers']): string {
  const [plain, prefixed] = SPELLINGS[which];
  const must = `header ${USUAL[which]} (or ${prefixed.toUpperCase()}) is missing`;
  if (plain in headers || prefixed in headers) return `${must}: it is there and empty`;
  const alike = Object.keys(headers).find((name) => ALIKE[which].test(name));
  return alike === undefined ? must : `${must}: there is one called ${alike}, which is another name`;
}

function unknownKey(apiKey: string, keys: readonly KnownKey[]): string {
  if (keys.some(({ secrets }) => secrets.includes(apiKey)))
    return 'the header carries a secret, not a key: take that secret out of use';
  const plain = apiKey.trim().replace(/^["']|["']$/g, '');
  const near = keys.find((one) => one.apiKey.toLowerCase() === plain.toLowerCase());
  if (near !== undefined) return `it is not known, but would be without quotes, spaces or another case: ${near.name}'s`;
  return `it is not known here; known are those of ${keys.map(({ name }) => name).join(', ') || 'nobody'}`;
}

interface Read {
  json?: string;
  body?: Body;
  timestampMs?: number;
  why?: string;
}

function payloadOf(payload: string): Read {
  if (!isBase64(payload)) {
    if (payload.trimStart().startsWith('{'))
      return { why: 'it is JSON as it stands: it must be base64 of that text', json: payload };
    const mended = payload.replaceAll(/\s/g, '').replace(/=+$/, '');
    if (!isBase64(mended)) return { why: 'it is not base64' };
    const says = /\s/.test(payload)
      ? 'it is base64 with line breaks or spaces in it: it must be one line'
      : 'it is base64 with too few or too many = at the end: it must have all of them or none';
    return { ...payloadOf(mended), why: says };
  }
  const json = Buffer.from(payload, 'base64').toString('utf8');
  try {
    return { json, ...checkUnit(readPayload(payload)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { json, why: stampHint(json) ?? String(error.facts.why) };
  }
}

/** A plausible time in milliseconds. The same number in seconds is far away, so a program that confuses the two is detected. */
const EARLIEST_MS = 1e12;

function checkUnit(read: { body: Body; timestampMs: number }): Read {
  if (read.timestampMs >= EARLIEST_MS) return read;
  const why = 'its timestamp must be Unix milliseconds and looks like seconds: multiply it by 1000';
  return { body: read.body, timestampMs: read.timestampMs * 1000, why };
}

function stampHint(json: string): string | undefined {
  const [, stamp = ''] = /"timestamp"\s*:\s*"?([^",}]*)/.exec(json) ?? [];
  if (/^\d{16,19}$/.test(stamp.trim()))
    return 'its timestamp must be Unix milliseconds and looks like microseconds or finer';
  if (/^[\d.]*$/.test(stamp) || Number.isNaN(Date.parse(stamp))) return undefined;
  return 'its timestamp must be Unix milliseconds, as digits, and is a date in words';
}

// Signatures.

interface Signed {
  payload: string;
  signature: string;
  body: string;
  json: string | undefined;
}

/** One variant of a step, and its result. The first variant of each list is the correct one and has no message. */
type Choice<T> = readonly [says: string, value: T];

const HASHES: readonly Choice<string>[] = [
  ['', 'sha512'],
  ['it is made with SHA-256: it must be SHA-512', 'sha256'],
  ['it is made with SHA-1: it must be SHA-512', 'sha1'],
];

const WRITTEN: readonly Choice<(digest: Buffer) => string>[] = [
  ['', (digest) => digest.toString('hex')],
  ['it is in upper case: hex must be in lower case', (digest) => digest.toString('hex').toUpperCase()],
  ['it is in base64: it must be hex', (digest) => digest.toString('base64')],
  ['it is in base64url: it must be hex', (digest) => digest.toString('base64url')],
  [
    'it is base64 of the hex: it must be the hex itself',
    (digest) => Buffer.from(digest.toString('hex')).toString('base64'),
  ],
  ['it has 0x in front', (digest) => `0x${digest.toString('hex')}`],
  ['it has the name of the hash in front', (digest) => `sha512=${digest.toString('hex')}`],
];

function messagesOf({ payload, body, json }: Signed): Choice<string>[] {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const all: Choice<string>[] = [
    ['', payload],
    ['a newline at the end of the payload was signed with it', `${payload}\n`],
  ];
  const forms = json === undefined ? [] : [json, ...spacings(json)];
  for (const text of new Set(forms)) {
    all.push(['the JSON was signed: it must be its base64, the text of the payload header', text]);
    all.push([
      'the JSON was signed, with a newline: it must be its base64, the text of the payload header',
      `${text}\n`,
    ]);
    all.push(['another payload was signed than is sent: its JSON is spaced differently', base64(text)]);
    all.push(['another payload was signed than is sent: its JSON ends with a newline', base64(`${text}\n`)]);
  }
  for (const text of new Set([body, ...spacings(body)])) {
    all.push(['the body was signed: it must be the text of the payload header', text]);
    all.push(["the body's base64 was signed: it must be the text of the payload header", base64(text)]);
  }
  return all;
}

/** JSON as most languages write it, and as Python writes it. */
function spacings(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json);
    return [
      JSON.stringify(value),
      JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ').replaceAll('{ ', '{').replaceAll(' }', '}'),
    ];
  } catch {
    return [];
  }
}

function keysFor(key: KnownKey | undefined, keys: readonly KnownKey[]): Choice<Buffer>[] {
  const own = key?.secrets ?? [];
  const forms = (secret: string): Choice<Buffer>[] => [
    ['', Buffer.from(secret)],
    ['the secret was decoded from hex: it must be used as the text it is', Buffer.from(secret, 'hex')],
    ['the secret was decoded from base64: it must be used as the text it is', Buffer.from(secret, 'base64')],
    ['the secret has a newline at its end', Buffer.from(`${secret}\n`)],
    ['the secret was put in upper case', Buffer.from(secret.toUpperCase())],
    ['the secret has quotes around it', Buffer.from(`"${secret}"`)],
    ['the secret was hashed first', createHash('sha512').update(secret).digest()],
  ];
  const others = keys
    .filter((one) => one !== key)
    .flatMap(({ name, secrets }): Choice<Buffer>[] =>
      secrets.map((secret) => [
        `the secret is that of ${name}'s key ${key === undefined ? '' : 'and not of the one in the header'}`.trim(),
        Buffer.from(secret),
      ]),
    );
  const itself: Choice<Buffer>[] =
    key === undefined ? [] : [['the key was used as the secret', Buffer.from(key.apiKey)]];
  return [...own.flatMap(forms), ...others, ...itself];
}

/** @returns undefined when the signature is right */
function signatureWrong(signed: Signed, key: KnownKey | undefined, keys: readonly KnownKey[]): string | undefined {
  const { payload, signature } = signed;
  if (key?.secrets.some((secret) => signatureMatches(payload, signature, secret)) === true) return undefined;
  let best: string[] | undefined;
  const given = signature.trim();
  for (const [what, message] of messagesOf(signed)) {
    for (const [whose, secret] of keysFor(key, keys)) {
      for (const [how, hash] of HASHES) {
        const digests: Choice<Buffer>[] = [
          ['', createHmac(hash, secret).update(message, 'utf8').digest()],
          ['secret and text have changed places in the HMAC', createHmac(hash, message).update(secret).digest()],
          [
            'it is a hash of text and secret: it must be an HMAC',
            createHash(hash).update(message).update(secret).digest(),
          ],
          [
            'it is a hash of secret and text: it must be an HMAC',
            createHash(hash).update(secret).update(message).digest(),
          ],
        ];
        for (const [made, digest] of digests) {
          for (const [written, write] of WRITTEN) {
            if (write(digest) !== given) continue;
            const wrong = [what, whose, how, made, written].filter((says) => says !== '');
            if (signature !== given) wrong.push('it has spaces or a newline around it');
            if (best === undefined || wrong.length < best.length) best = wrong;
          }
        }
      }
    }
  }
  // With an unknown key: a signature that is valid for a known key has no other mistake.
  if (best !== undefined) return best.length === 0 ? undefined : best.join('; ');
  const form = /^[0-9a-f]{128}$/.test(given) ? '' : ` It must be 128 hex digits and is ${given.length} characters.`;
  const secret = key === undefined ? 'any secret known here' : `the secret of ${key.name}'s key`;
  return `it was not made with ${secret} from this payload, in none of the ways that are known to go wrong.${form}`;
}

// Bodies and clocks.

async function compareBodies(
  method: string,
  headers: Suspect['headers'],
  bytes: Buffer,
  signed: Body,
  note: (part: Finding['part'], ok: boolean, says: string) => void,
): Promise<void> {
  if (method === 'GET') return note('body', true, 'a GET has none that is compared');
  const type = headers['content-type'];
  const kind = bodyKind(type);
  if (kind === undefined && bytes.length > 0)
    return note(
      'body',
      false,
      `content-type ${type ?? 'is missing: it'} must be application/json, a form or multipart/form-data`,
    );
  let sent: Body;
  try {
    sent = kind === 'multipart' ? await readMultipart(bytes, type ?? '') : readBody(bytes, kind ?? 'json');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return note('body', false, `it cannot be read: it ${error.facts.why ?? 'is malformed'}`);
  }
  if (sameMeaning(sent, signed)) return note('body', true, 'it means what was signed');
  const names = [...new Set([...signed.keys(), ...sent.keys()])].sort();
  const differing = names.flatMap((name) => {
    const [before, after] = [signed.get(name), sent.get(name)];
    if (isAbsent(before) && isAbsent(after)) return [];
    if (isAbsent(after)) return [`${name} was signed and is not sent`];
    if (isAbsent(before)) return [`${name} is sent and was not signed`];
    const same = canonical(new Map([['', before]])) === canonical(new Map([['', after]]));
    return same ? [] : [`${name} was signed as ${shown(before)} and is sent as ${shown(after)}`];
  });
  note('body', false, differing.join('; '));
}

function shown(value: BodyValue): string {
  const text =
    value instanceof JsonNumber
      ? value.text
      : typeof value === 'string'
        ? JSON.stringify(value)
        : canonical(new Map([['', value]]));
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function clockOf(timestampMs: number, known: { nowMs: number; window: ClockWindow }): [ok: boolean, says: string] {
  const aheadMs = timestampMs - known.nowMs;
  const by = (ms: number): string =>
    `${Math.abs(ms) < 10_000 ? (Math.abs(ms) / 1000).toFixed(1) : Math.round(Math.abs(ms) / 1000)} s`;
  const { aheadMs: mostAhead, behindMs: mostBehind } = known.window;
  if (aheadMs > mostAhead) return [false, `${by(aheadMs)} ahead; at most ${by(mostAhead)} are allowed`];
  if (-aheadMs > mostBehind) return [false, `${by(aheadMs)} behind; at most ${by(mostBehind)} are allowed`];
  return [true, `${by(aheadMs)} ${aheadMs > 0 ? 'ahead' : 'behind'}, which is allowed`];
}
