/**
 * A partner's program, in several styles: the common part and the differences. It knows only the wire and sandbox.json: no import
 * of the server, no database. The server is a separate process, started as the README says. Only its replies are compared with
 * the declarations of the endpoints.
 */
import assert from 'node:assert/strict';
import { createHmac, randomInt } from 'node:crypto';
import { after, before } from 'node:test';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { makeDataDir, removeDataDir, type Sandbox, type ServerProcess, startProcess } from '../support/process.ts';

export const WL = '/onramp/api/v2/whiteLabel';
export const BANK_WL = '/onramp-bank/api/v2/whiteLabel';
export const COMMON = '/onramp/api/v2/common/transaction';

export type Body = Record<string, string | number>;
export type Data = Record<string, string>;

export interface Style {
  name: string;
  spelling: readonly [key: string, payload: string, signature: string];
  format:
    | 'application/json'
    | 'application/json;charset=UTF-8'
    | 'application/x-www-form-urlencoded'
    | 'multipart/form-data';
  /** JSON with a space after every colon and comma, as Python writes it. */
  spaced: boolean;
  bodyAsText: boolean;
  timestampAsNumber: boolean;
  /** Sends numbers in place of numeric texts. */
  numbers: boolean;
}

const PLAIN = ['apiKey', 'payload', 'signature'] as const;
const PREFIXED = ['X-ONRAMP-APIKEY', 'X-ONRAMP-PAYLOAD', 'X-ONRAMP-SIGNATURE'] as const;

export const JSON_STYLE: Style = {
  name: 'compact JSON',
  spelling: PREFIXED,
  format: 'application/json;charset=UTF-8',
  spaced: false,
  bodyAsText: false,
  timestampAsNumber: true,
  numbers: true,
};
const strings = { numbers: false, timestampAsNumber: false };
const FORM = 'application/x-www-form-urlencoded';
export const STYLES: readonly Style[] = [
  JSON_STYLE,
  { ...strings, name: 'spaced JSON', spelling: PLAIN, format: 'application/json', spaced: true, bodyAsText: true },
  { ...strings, name: 'forms', spelling: PLAIN, format: FORM, spaced: false, bodyAsText: false },
  { ...strings, name: 'multipart', spelling: PREFIXED, format: 'multipart/form-data', spaced: true, bodyAsText: true },
];

export interface Reply {
  http: number;
  headers: Headers;
  json: {
    status: number;
    code: number;
    data: unknown;
    error?: string;
    message?: string;
    customerId?: string;
    kycRequirementData?: unknown;
  };
}

/** A server for the tests of a file; it has to end in good order. */
export function serverForThisFile(): () => Sandbox {
  let server: ServerProcess | undefined;
  let sandbox: Sandbox | undefined;
  const dataDir = makeDataDir();
  before(async () => {
    server = await startProcess({ dataDir, port: 0 });
    sandbox = server.sandbox();
  });
  after(async () => {
    const code = await server?.interrupt();
    removeDataDir(dataDir);
    if (process.env.SHOW_SERVER === '1') process.stderr.write(server?.output() ?? '');
    assert.equal(code, 0, 'the server did not exit cleanly on Ctrl-C');
  });
  return () => {
    assert.ok(sandbox !== undefined, 'the server was not started');
    return sandbox;
  };
}

const write = (value: unknown, spaced: boolean): string =>
  spaced ? JSON.stringify(value, null, 1).replace(/\n */g, ' ') : JSON.stringify(value);

function sent(style: Style, body: Body): string | URLSearchParams | FormData {
  const texts = Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]);
  if (style.format === FORM) return new URLSearchParams(texts);
  if (style.format !== 'multipart/form-data') return write(body, style.spaced);
  const form = new FormData();
  for (const [name, text] of texts) form.append(name, text);
  return form;
}

export interface Change {
  method?: 'POST' | 'PUT';
  timestamp?: number;
  headers?: Record<string, string>;
}

/** A program of one of the sandbox's partners. */
export function caller(sandbox: () => Sandbox, style: Style, partner = 0) {
  return async (path: string, body: Body = {}, change: Change = {}): Promise<Reply> => {
    const { baseUrl, partners } = sandbox();
    const { apiKey = '', apiSecret = '' } = partners[partner] ?? {};
    const at = change.timestamp ?? Date.now();
    const signed = {
      body: style.bodyAsText ? write(body, style.spaced) : body,
      timestamp: style.timestampAsNumber ? at : String(at),
    };
    const payload = Buffer.from(write(signed, style.spaced)).toString('base64');
    const [key, load, sign] = style.spelling;
    const response = await fetchDeclared(baseUrl + path, {
      method: change.method ?? 'POST',
      headers: {
        // The writer of a multipart body names its boundary.
        ...(style.format === 'multipart/form-data' ? {} : { 'content-type': style.format }),
        [key]: apiKey,
        [load]: payload,
        [sign]: createHmac('sha512', apiSecret).update(payload).digest('hex'),
        ...change.headers,
      },
      body: sent(style, body),
    });
    return { http: response.status, headers: response.headers, json: (await response.json()) as Reply['json'] };
  };
}
export type Call = ReturnType<typeof caller>;

export async function told(reply: Promise<Reply>): Promise<Data> {
  const { http, json } = await reply;
  assert.equal(http, 200, JSON.stringify(json));
  assert.deepEqual([json.status, json.code], [1, 200]);
  return json.data as Data;
}

/** A customer who has logged in and may trade. */
export async function verified(call: Call, name: string): Promise<string> {
  const enrolled = call(`${WL}/kyc/url`, {
    clientCustomerId: name,
    phoneNumber: `+9100${randomInt(10 ** 8, 10 ** 9)}`,
    type: 'INDIVIDUAL',
  });
  const { customerId = '' } = await told(enrolled);
  await told(call(`${WL}/test/changeKycStatus`, { customerId, status: 'ADVANCE_KYC_COMPLETED' }));
  return customerId;
}

export async function until<T>(what: string, input: () => Promise<T>, reached: (answer: T) => boolean): Promise<T> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const answer = await input();
    if (reached(answer)) return answer;
    if (Date.now() > giveUpAt) throw new Error(`${what}: ${JSON.stringify(answer)}`);
    await new Promise((wake) => setTimeout(wake, 200));
  }
}
