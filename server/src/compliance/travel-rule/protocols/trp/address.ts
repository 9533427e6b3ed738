/**
 * Travel addresses of TRP: `ta`, then a URL without its scheme in Base58Check. The URL has the query `t=i`, for an inquiry.
 *
 * The scheme is https. In a sandbox, an address of this machine is called without TLS.
 */
import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';

const PREFIX = 'ta';
const MAX_CHARS = 1_000;
const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());
const NEAR = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?$/;

export function travelAddressOf(url: string): string {
  const { host, pathname } = new URL(url);
  return PREFIX + base58check.encode(Buffer.from(`${host}${pathname}?t=i`));
}

/** @returns undefined for any text that is not a travel address */
export function urlOfTravelAddress(text: string, { plain }: { plain: boolean }): string | undefined {
  if (!text.startsWith(PREFIX) || text.length > MAX_CHARS) return undefined;
  let bare: string;
  try {
    bare = new TextDecoder('utf-8', { fatal: true }).decode(base58check.decode(text.slice(PREFIX.length)));
  } catch {
    return undefined;
  }
  // The URL must not contain a scheme, a login or spaces.
  if (!/^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?\/[\x21-\x7e]*$/i.test(bare)) return undefined;
  const url = webUrl(`https://${bare}`, { plain });
  return url?.searchParams.get('t') === 'i' && url.hash === '' ? url.href : undefined;
}

/** A URL that the server may call: https, or in a sandbox one of this machine. */
export function webUrl(text: string, { plain }: { plain: boolean }): URL | undefined {
  if (text.length > MAX_CHARS || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return undefined;
  const isNear = plain && NEAR.test(url.host);
  if (url.protocol === 'http:') return isNear ? url : undefined;
  if (url.protocol !== 'https:') return undefined;
  return isNear ? new URL(url.href.replace(/^https:/, 'http:')) : url;
}
