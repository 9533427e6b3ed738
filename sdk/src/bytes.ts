/** Bytes and text with functions that every runtime has: no Buffer, no node:crypto. */

export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

export const utf8 = (text: string): Bytes => encoder.encode(text) as Bytes;

/** @throws TypeError for bytes that are not UTF-8 */
export const textOf = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // A call accepts only some ten thousand arguments.
  for (let at = 0; at < bytes.length; at += 8_192) binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(binary);
}

/** @returns undefined for text that is not base64 */
export function fromBase64(text: string): Bytes | undefined {
  try {
    const binary = atob(text);
    return Uint8Array.from(binary, (char) => char.charCodeAt(0)) as Bytes;
  } catch {
    return undefined;
  }
}

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @returns undefined for text that is not hex */
export function fromHex(text: string): Bytes | undefined {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(at * 2, at * 2 + 2), 16),
  ) as Bytes;
}

type Hash = 'SHA-256' | 'SHA-512';

const hmacKey = (hash: Hash, secret: Bytes) =>
  crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash }, false, ['sign', 'verify']);

export async function hmac(hash: Hash, secret: Bytes, message: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(hash, secret), message));
}

/** Verifies an HMAC in constant time. */
export async function hmacMatches(hash: Hash, secret: Bytes, message: Bytes, signature: Bytes): Promise<boolean> {
  return await crypto.subtle.verify('HMAC', await hmacKey(hash, secret), signature, message);
}
