/**
 * Signatures of requests, for both APIs.
 */
import { type Bytes, hmac, toBase64, toHex, utf8 } from './bytes.ts';

export interface WhitelabelKey {
  readonly apiKey: string;
  readonly apiSecret: string;
}

/**
 * On the white-label wire: `payload` is the base64 of `{"body": …, "timestamp": "…"}`; `signature` is HMAC-SHA512 in hex of that text,
 * under the key's secret.
 *
 * @returns the headers that sign a body; a GET is signed over `{}`
 */
export async function signWhitelabel(
  body: unknown,
  key: WhitelabelKey,
  nowMs = Date.now(),
): Promise<Record<string, string>> {
  const payload = toBase64(utf8(JSON.stringify({ body, timestamp: String(nowMs) })));
  const signature = toHex(await hmac('SHA-512', utf8(key.apiSecret), utf8(payload)));
  return { 'x-onramp-apikey': key.apiKey, 'x-onramp-payload': payload, 'x-onramp-signature': signature };
}

/**
 * HTTP Message Signatures (RFC 9421) of a write under /v1: `hmac-sha256` over method, path, query, digest of the body and
 * Idempotency-Key.
 *
 * @param request.path with the query, as it is sent
 * @returns Content-Digest, Signature-Input and Signature
 */
export async function signRequest(
  request: { method: string; path: string; body: string | Uint8Array | undefined; idempotencyKey: string },
  key: WhitelabelKey,
  nowMs = Date.now(),
): Promise<Record<string, string>> {
  const { body = '' } = request;
  const digest = await crypto.subtle.digest('SHA-256', typeof body === 'string' ? utf8(body) : (body as Bytes));
  const contentDigest = `sha-256=:${toBase64(new Uint8Array(digest))}:`;
  const [path = '', query] = request.path.split('?');
  const covered: [string, string][] = [
    ['@method', request.method],
    ['@path', path],
    ...(query === undefined ? [] : [['@query', `?${query}`] as [string, string]]),
    ['content-digest', contentDigest],
    ['idempotency-key', request.idempotencyKey],
  ];
  const names = covered.map(([name]) => `"${name}"`).join(' ');
  const params = `(${names});created=${Math.floor(nowMs / 1000)};keyid="${key.apiKey}";alg="hmac-sha256"`;
  const base = [...covered.map(([name, value]) => `"${name}": ${value}`), `"@signature-params": ${params}`].join('\n');
  const signature = toBase64(await hmac('SHA-256', utf8(key.apiSecret), utf8(base)));
  return {
    'content-digest': contentDigest,
    'signature-input': `sig=${params}`,
    signature: `sig=:${signature}:`,
  };
}

/** The bearer token of a key. It is derived from the secret, and cannot be used to sign. */
export async function bearerToken({ apiKey, apiSecret }: WhitelabelKey): Promise<string> {
  const mac = await hmac('SHA-256', utf8(apiSecret), utf8(`cloverleaf bearer ${apiKey}`));
  return `${apiKey}.${toHex(mac)}`;
}
