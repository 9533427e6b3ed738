/**
 * The native API under /v1, generated from the table of its endpoints: `client.orders.create(…)` sends `POST /v1/orders`.
 *
 * Values of the path come first, then the fields as one object, then options. A write carries an Idempotency-Key, the same for
 * all of its attempts, and is signed if the client has a secret.
 */
import type { Bytes } from './bytes.ts';
import { UsageError } from './errors.ts';
import { API_VERSION, OPERATIONS, type Operation, type V1 } from './generated/v1.ts';
import type { CallOptions, Files, Http } from './http.ts';
import { type Page, Pages } from './pages.ts';
import { signRequest, type WhitelabelKey } from './sign.ts';

const BASE = '/v1';

export interface V1Access {
  /** @throws UsageError when no token is known */
  token(): Promise<string>;
  /** Signs writes; undefined if only a token is known. */
  readonly key: WhitelabelKey | undefined;
}

export function v1Client(http: Http, access: V1Access): V1 {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const [group = '', verb = ''] = name.split('.');
    (groups[group] ??= {})[verb] = methodOf(name, operation);
  }
  return groups as unknown as V1;

  function methodOf(name: string, [method, template, input, paged]: Operation) {
    const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field);
    return (...given: unknown[]): unknown => {
      const path = `${BASE}${template.replace(/\{(\w+)\}/g, (_, field: string) => {
        const value = given[inPath.indexOf(field)];
        if (typeof value !== 'string' || value === '') throw new UsageError(`${name}: ${field} must be a text`);
        return encodeURIComponent(value);
      })}`;
      const fields = (input === 'none' ? {} : (given[inPath.length] ?? {})) as Record<string, unknown>;
      const options = (given[inPath.length + (input === 'none' ? 0 : 1)] ?? {}) as CallOptions;
      if (!paged) return send(method, path, input, fields, options);
      const page = async (cursor: string | undefined): Promise<Page<unknown>> =>
        (await send(method, path, input, { ...fields, cursor }, options)) as Page<unknown>;
      return new Pages(page, fields.cursor as string | undefined);
    };
  }

  async function send(
    method: string,
    path: string,
    input: Operation[2],
    fields: Record<string, unknown>,
    options: CallOptions,
  ): Promise<unknown> {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    const target = input === 'query' && given.length > 0 ? `${path}?${query}` : path;
    const isWrite = method !== 'GET';
    const upload = input === 'files' ? await multipart(fields as Files) : undefined;
    const body =
      upload?.body ?? (isWrite && method !== 'DELETE' ? JSON.stringify(Object.fromEntries(given)) : undefined);
    const idempotencyKey = isWrite ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const token = await access.token();
    const { json } = await http.send(
      {
        ...{ method, path: target, body, idempotencyKey },
        // The server recognises every write by its Idempotency-Key.
        repeatable: true,
        async headers() {
          const headers: Record<string, string> = {
            accept: 'application/json',
            authorization: `Bearer ${token}`,
            'cloverleaf-version': API_VERSION,
          };
          if (body !== undefined) headers['content-type'] = upload?.type ?? 'application/json';
          if (idempotencyKey === undefined) return headers;
          headers['idempotency-key'] = idempotencyKey;
          if (access.key === undefined) return headers;
          return { ...headers, ...(await signRequest({ method, path: target, body, idempotencyKey }, access.key)) };
        },
      },
      options,
    );
    return json;
  }
}

/**
 * The files as one multipart body. Its bytes are the same for all attempts, so that every attempt is signed and recognised as
 * the same request.
 */
async function multipart(files: Files): Promise<{ body: Uint8Array; type: string }> {
  const form = new FormData();
  for (const [name, file] of Object.entries(files))
    form.set(name, file instanceof Blob ? file : new Blob([file as Bytes]), name);
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? '';
  return { body: new Uint8Array(await encoded.arrayBuffer()), type };
}
