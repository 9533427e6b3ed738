/**
 * A partner's program as partners write it: it signs, sends and reads. It knows only the address of the server.
 *
 * The options are the differences between such programs; each default is the most common variant.
 */
import { createHmac } from 'node:crypto';
import { SANDBOX_DEAD_PHONE } from '../../src/protocols/checkout/sender.ts';
import { assertDeclared } from './declared.ts';

export interface Signing {
  /** `plain` is apiKey, payload, signature; `prefixed` is X-ONRAMP-…. */
  spelling?: 'plain' | 'prefixed';
  /** How the request is sent. */
  format?: 'json' | 'form' | 'multipart';
  /** How the signed JSON is written: Python puts spaces after colons and commas. */
  spacing?: 'compact' | 'spaced';
  /** The value of `body` in the payload: the object, its JSON text, or nothing. */
  signs?: 'object' | 'text' | 'nothing';
  /** `numbers` sends numeric texts, such as amounts, as JSON numbers. */
  sends?: 'strings' | 'numbers';
  /** How the payload is written: programs strip the padding, or take the URL alphabet. */
  base64?: 'padded' | 'bare' | 'url';
  timestamp?: number | string;
  /** Signs another body than the one that is sent. */
  signedBody?: unknown;
  headers?: Record<string, string>;
}

/** JSON from the server: tests read its fields and assert their values. */
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where that is said
export type Came = any;

export interface Answer {
  status: number;
  body: Came;
  text: string;
  headers: Headers;
}

export type Fields = Record<string, unknown>;

export interface Keys {
  apiKey: string;
  apiSecret: string;
}

let phones = 0;
/** A phone number that is unique in this run, because each phone belongs to one customer of a partner. */
export function newPhone(): string {
  phones += 1;
  const ending = String(phones).padStart(6, '0');
  // The sandbox cannot reach it: the login of the four hundred and fourth customer of a process would fail.
  if (ending === SANDBOX_DEAD_PHONE) return newPhone();
  return `+91-9${String(process.pid % 1000).padStart(3, '0')}${ending}`;
}

export const hmac = (text: string, secret: string): string => createHmac('sha512', secret).update(text).digest('hex');

/** Headers and body text of one request. */
export function sign(
  keys: Keys,
  body: Fields,
  signing: Signing = {},
): { headers: Record<string, string>; text: string } {
  const sent = signing.sends === 'numbers' ? withNumbers(body) : body;
  const signed = signing.signedBody ?? body;
  const inner = { object: signed, text: JSON.stringify(signed), nothing: undefined }[signing.signs ?? 'object'];
  const json = stringify({ body: inner, timestamp: signing.timestamp ?? Date.now() }, signing.spacing ?? 'compact');
  const padded = Buffer.from(json).toString('base64');
  const payload = { padded, bare: padded.replace(/=+$/, ''), url: Buffer.from(json).toString('base64url') }[
    signing.base64 ?? 'padded'
  ];
  const [key, load, signature] =
    signing.spelling === 'prefixed'
      ? ['X-ONRAMP-APIKEY', 'X-ONRAMP-PAYLOAD', 'X-ONRAMP-SIGNATURE']
      : ['apiKey', 'payload', 'signature'];
  const { type, text } = WRITERS[signing.format ?? 'json'](sent);
  return {
    text,
    headers: {
      'content-type': type,
      [key as string]: keys.apiKey,
      [load as string]: payload,
      [signature as string]: hmac(payload, keys.apiSecret),
      ...signing.headers,
    },
  };
}

const BOUNDARY = '----a-program-made-this-up';

const WRITERS: Record<NonNullable<Signing['format']>, (sent: Fields) => { type: string; text: string }> = {
  json: (sent) => ({ type: 'application/json', text: JSON.stringify(sent) }),
  form: (sent) => ({
    type: 'application/x-www-form-urlencoded',
    text: new URLSearchParams(texts(sent)).toString(),
  }),
  multipart: (sent) => ({
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    text: [
      ...Object.entries(texts(sent)).map(
        ([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      ),
      `--${BOUNDARY}--\r\n`,
    ].join(''),
  }),
};

/** Python's json.dumps puts a space after every colon and comma. */
function stringify(value: unknown, spacing: 'compact' | 'spaced'): string {
  if (spacing === 'compact') return JSON.stringify(value);
  return JSON.stringify(value, null, 1)?.replace(/\n\s*/g, ' ') ?? '';
}

const texts = (body: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  );

const withNumbers = (body: Fields): Fields =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      /^(0|[1-9]\d{0,8})(\.\d{1,5})?$/.test(String(value)) ? Number(value) : value,
    ]),
  );

export interface Client extends Keys {
  post(path: string, body?: Fields, signing?: Signing): Promise<Answer>;
  put(path: string, body?: Fields, signing?: Signing): Promise<Answer>;
  remove(path: string, body?: Fields, signing?: Signing): Promise<Answer>;
  get(path: string, signing?: Signing | 'unsigned'): Promise<Answer>;
  /** Sends files by the names of the form. The fields are signed, the files are not. */
  upload(path: string, fields: Record<string, string>, files: Record<string, Buffer>): Promise<Answer>;
}

/** Files by the names of the form. */
export function filesOf(files: Record<string, Buffer>): FormData {
  const form = new FormData();
  for (const [name, content] of Object.entries(files)) form.set(name, new Blob([Uint8Array.from(content)]), 'scan');
  return form;
}

const WL = '/onramp/api/v2/whiteLabel';
const absolute = (path: string) => (path.startsWith('/') ? path : `${WL}/${path}`);

export async function ask(baseUrl: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${baseUrl}${absolute(path)}`, { redirect: 'error', ...init });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const body = isJson && text !== '' ? JSON.parse(text) : undefined;
  assertDeclared({ method: init.method ?? 'GET', path: absolute(path) }, response.status, body);
  return {
    status: response.status,
    text,
    body,
    headers: response.headers,
  };
}

export function openClient(baseUrl: string, keys: Keys): Client {
  const send = async (method: string, path: string, body: Fields = {}, signing: Signing = {}): Promise<Answer> => {
    const { headers, text } = sign(keys, body, signing);
    return await ask(baseUrl, path, { method, headers, body: text });
  };
  return {
    ...keys,
    post: (path, body, signing) => send('POST', path, body, signing),
    put: (path, body, signing) => send('PUT', path, body, signing),
    remove: (path, body, signing) => send('DELETE', path, body, signing),
    async get(path, signing = {}) {
      if (signing === 'unsigned') return await ask(baseUrl, path);
      const { headers } = sign(keys, {}, signing);
      return await ask(baseUrl, path, { headers });
    },
    async upload(path, fields, files) {
      const body = filesOf(files);
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      // The type with its boundary is set with the body.
      const { 'content-type': _, ...headers } = sign(keys, fields).headers;
      return await ask(baseUrl, path, { method: 'POST', headers, body });
    },
  };
}
