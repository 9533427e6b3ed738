/**
 * A partner's program for the API under /v1: it sends its token or signs, and reads. Every reply has to match the declaration of
 * its endpoint: a success its schema, a failure one of its reasons.
 */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { Compile, type Validator } from 'typebox/compile';
import { bearerToken } from '../../src/partners/index.ts';
import type { Declared } from '../../src/protocols/v1/declare.ts';
import { ENDPOINTS } from '../../src/protocols/v1/declared/index.ts';
import { type Reason, reasonsOf, SESSION_REASONS, statusOf } from '../../src/protocols/v1/reasons.ts';
import { Problem } from '../../src/protocols/v1/schemas/requests.ts';
import { digestOf } from '../../src/protocols/v1/signature.ts';
import { type Came, filesOf, type Keys } from './client.ts';

export interface Asked {
  method: string;
  path: string;
  status: number;
  /** Each field with its rule. */
  body: Came;
  text: string;
  headers: Headers;
}

const forms = ENDPOINTS.map((declared) => ({
  declared,
  form: new RegExp(`^${declared.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))
  // A path without parameters comes before one with them.
  .toSorted((a, b) => Number(a.declared.path.includes(':')) - Number(b.declared.path.includes(':')));
const validators = new Map<unknown, Validator>();

function assertSchema(schema: Declared['gives'], body: unknown, where: string): void {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(body)) return;
  const wrong = validator.Errors(body).slice(0, 3);
  assert.fail(
    `${where} answers what it does not declare: ${JSON.stringify(wrong)} in ${JSON.stringify(body).slice(0, 900)}`,
  );
}

/** Reasons outside of endpoints: an unknown path, a method that is not served. */
const OF_NO_ENDPOINT = new Set(['unknown_path', 'method_not_allowed']);

/** @param asked.path below /v1, with or without a query. @throws AssertionError */
export function assertDeclaredV1({ method, path, status, body, headers }: Omit<Asked, 'text'>): void {
  const plain = path.split('?')[0] ?? '';
  const found = forms.find(({ declared, form }) => declared.method === method && form.test(plain))?.declared;
  const where = `${method} ${found?.path ?? path}`;
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f]+$/, `${where} names no request`);
  assert.match(headers.get('cloverleaf-version') ?? '', /^\d{4}-\d\d-\d\d$/, `${where} names no version`);
  if (status >= 400) {
    assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/, where);
    assertSchema(Problem, body, where);
    assert.equal(body.status, status, where);
    assert.equal(statusOf(body.reason as Reason), status, where);
    assert.equal(body.requestId, headers.get('x-request-id'), where);
    assert.ok(body.type.endsWith(`/docs/errors/${body.reason}`), body.type);
    const reasons: readonly string[] = found === undefined ? [] : reasonsOf(found);
    assert.ok(
      reasons.includes(body.reason) || OF_NO_ENDPOINT.has(body.reason) || SESSION_REASONS.has(body.reason),
      `${where} declines for ${body.reason}, which it does not declare`,
    );
    return;
  }
  assert.ok(found !== undefined, `${where} is served and not declared`);
  assert.equal(status, found.status ?? 200, where);
  assertSchema(found.gives, body, where);
}

export interface Sending {
  headers?: Record<string, string>;
  /** Used in place of a new one. */
  key?: string;
  /** Endpoints beside the declared ones. */
  isUndeclared?: boolean;
}

export type V1Client = ReturnType<typeof openV1>;

/** @param how.signs every write is signed; reads carry the token */
export function openV1(baseUrl: string, { apiKey, apiSecret }: Keys, how: { signs?: boolean } = {}) {
  const token = { authorization: `Bearer ${bearerToken(apiKey, apiSecret)}` };

  async function send(method: string, path: string, body: unknown, sending: Sending = {}): Promise<Asked> {
    const isWrite = method !== 'GET';
    const form = body instanceof FormData ? new Response(body) : undefined;
    const text =
      form === undefined
        ? body === undefined
          ? ''
          : typeof body === 'string'
            ? body
            : JSON.stringify(body)
        : Buffer.from(await form.arrayBuffer());
    const plain: Record<string, string> = {
      ...(text === '' ? {} : { 'content-type': form?.headers.get('content-type') ?? 'application/json' }),
      ...(isWrite ? { 'idempotency-key': sending.key ?? randomUUID() } : {}),
    };
    const headers =
      isWrite && how.signs === true
        ? await signed({ method, url: `${baseUrl}/v1${path}`, headers: plain, text }, { apiKey, apiSecret })
        : { ...plain, ...token };
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { ...headers, ...sending.headers },
      redirect: 'error',
      ...(text === '' ? {} : { body: text }),
    });
    const said = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const answer = {
      ...{ method, path, status: response.status, text: said, headers: response.headers },
      body: isJson && said !== '' ? JSON.parse(said) : undefined,
    };
    if (sending.isUndeclared !== true) assertDeclaredV1(answer);
    return answer;
  }

  return {
    apiKey,
    send,
    get: (path: string, sending?: Sending) => send('GET', path, undefined, sending),
    post: (path: string, body?: unknown, sending?: Sending) => send('POST', path, body, sending),
    /** Files by the names of the form. */
    upload: (path: string, files: Record<string, Buffer>, sending?: Sending) =>
      send('POST', path, filesOf(files), sending),
    patch: (path: string, body?: unknown, sending?: Sending) => send('PATCH', path, body, sending),
    remove: (path: string, sending?: Sending) => send('DELETE', path, undefined, sending),
    /** The body of a success. */
    async does(method: string, path: string, body?: unknown, sending?: Sending): Promise<Came> {
      const answer = await send(method, path, body, sending);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
  };
}

const COVERED = ['@method', '@path', 'content-digest', 'idempotency-key'];

/** Signs as a partner's program does: with a library and the secret of its key. */
export async function signed(
  {
    method,
    url,
    headers,
    text,
  }: { method: string; url: string; headers: Record<string, string>; text: string | Buffer },
  { apiKey, apiSecret }: Keys,
  over: { created?: Date; expires?: Date; fields?: string[]; keyid?: string; alg?: string } = {},
): Promise<Record<string, string>> {
  const message = await httpbis.signMessage(
    {
      key: {
        id: over.keyid ?? apiKey,
        alg: over.alg ?? 'hmac-sha256',
        sign: async (data) => createHmac('sha256', apiSecret).update(data).digest(),
      },
      name: 'sig',
      fields: over.fields ?? [...COVERED, ...(url.includes('?') ? ['@query'] : [])],
      params: ['created', 'keyid', 'alg', ...(over.expires === undefined ? [] : ['expires'])],
      paramValues: {
        created: over.created ?? new Date(),
        ...(over.expires === undefined ? {} : { expires: over.expires }),
      },
    },
    { method, url, headers: { ...headers, 'content-digest': digestOf(text) } },
  );
  return Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}
