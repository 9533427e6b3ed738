/**
 * The white-label wire, for programs that were written for it: its paths and words, with types, signatures and retries.
 *
 *     const { rate, toAmount } = await client.whitelabel.post('offramp/quote', { fromCurrency: 'usdc', … });
 *     const sale = await client.whitelabel.post('offramp/createTransaction', { … });
 *
 * Paths are written without their prefix (`/onramp/api/v2/whiteLabel/`); names in braces are fields like the others. The result
 * is the envelope's `data`.
 *
 * Not here: the native API under /v1 (client.ts), verifying webhooks (webhooks.ts).
 */
import { UsageError } from './errors.ts';
import { type Nothing, type SandboxControls, WHITELABEL, type WhitelabelEndpoints } from './generated/whitelabel.ts';
import type { CallOptions, Http } from './http.ts';
import { signWhitelabel, type WhitelabelKey } from './sign.ts';

type Call<M> = <P extends keyof M & string>(
  path: P,
  ...rest: M[P] extends { takes: infer T; gives: unknown }
    ? Nothing extends T
      ? [takes?: T, options?: CallOptions]
      : [takes: T, options?: CallOptions]
    : never
) => Promise<M[P] extends { gives: infer G } ? G : never>;

export type Whitelabel = { readonly [M in keyof WhitelabelEndpoints]: Call<WhitelabelEndpoints[M]> };

/** Requests that are harmless to repeat: quotes promise nothing, and the others set the value they name. */
const HARMLESS = /^(?:(?:offramp|onramp)\/quote|common\/transaction\/quotes|kyc\/url|test\/change\w+)$/;

type Send = (method: string, path: string, takes?: object, options?: CallOptions) => Promise<unknown>;

function sender(http: Http, key: () => WhitelabelKey): Send {
  return async (method, name, takes = {}, options = {}) => {
    const known = WHITELABEL[method]?.[name];
    if (known === undefined) throw new UsageError(`there is no ${method.toUpperCase()} ${name}`);
    const [template, repeat] = known;
    const fields: Record<string, unknown> = { ...takes };
    const path = template.replace(/\{(\w+)\}/g, (_, field: string) => {
      const value = fields[field];
      delete fields[field];
      if (typeof value !== 'string' || value === '') throw new UsageError(`${field} must be given`);
      return encodeURIComponent(value);
    });
    const isGet = method === 'get';
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    const inQuery = new URLSearchParams(given.map(([field, value]): [string, string] => [field, String(value)]));
    const query = isGet && given.length > 0 ? `?${inQuery}` : '';
    const body = isGet ? {} : Object.fromEntries(given);
    const idempotencyKey = isGet ? undefined : (options.idempotencyKey ?? crypto.randomUUID());
    const signed = key();
    const { json } = await http.send(
      {
        method: method.toUpperCase(),
        path: path + query,
        body: isGet ? undefined : JSON.stringify(body),
        repeatable: repeat !== 'unsafe' || HARMLESS.test(name),
        idempotencyKey,
        async headers() {
          return {
            ...(await signWhitelabel(body, signed)),
            ...(isGet ? {} : { 'content-type': 'application/json' }),
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          };
        },
      },
      options,
    );
    return (json as { data?: unknown } | undefined)?.data;
  };
}

export function whitelabelClient(http: Http, key: () => WhitelabelKey): Whitelabel {
  const send = sender(http, key);
  return Object.fromEntries(
    Object.keys(WHITELABEL).map((method) => [
      method,
      (path: string, takes?: object, options?: CallOptions) => send(method, path, takes, options),
    ]),
  ) as unknown as Whitelabel;
}

/** The controls as functions: `client.sandbox.pay({ transactionId, how: 'UNDER' })`. */
export function sandboxControls(http: Http, key: () => WhitelabelKey): SandboxControls {
  const send = sender(http, key);
  const prefix = 'sandbox/v1/';
  return Object.fromEntries(
    Object.keys(WHITELABEL.post ?? {})
      .filter((path) => path.startsWith(prefix))
      .map((path) => [
        path.slice(prefix.length),
        (takes: object, options?: CallOptions) => send('post', path, takes, options),
      ]),
  ) as unknown as SandboxControls;
}
