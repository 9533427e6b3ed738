/**
 * Signatures of requests on the white-label wire.
 *
 * `payload` is the base64 of `{"body": …, "timestamp": "…"}`; `signature` is HMAC-SHA512 in hex of that text, under the key's secret.
 */
import { hmac, toBase64, toHex, utf8 } from './bytes.ts';

export interface WhitelabelKey {
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** @returns the headers that sign a body; `{}` stands for the body of a GET */
export async function signWhitelabel(
  body: unknown,
  key: WhitelabelKey,
  nowMs = Date.now(),
): Promise<Record<string, string>> {
  const payload = toBase64(utf8(JSON.stringify({ body, timestamp: String(nowMs) })));
  const signature = toHex(await hmac('SHA-512', utf8(key.apiSecret), utf8(payload)));
  return { 'x-onramp-apikey': key.apiKey, 'x-onramp-payload': payload, 'x-onramp-signature': signature };
}
