/**
 * CORS: which pages may call this API from a browser.
 *
 * A preflight contains no key, so it is answered for every origin. The actual reply, including a refusal, names the origin only
 * if the key's partner allows it (in the sandbox: any origin), or if the data is public.
 */
import { SIGNING_HEADERS } from './auth.ts';

const ALLOWED = [...SIGNING_HEADERS, 'content-type', 'timestamp', 'app-id', 'Idempotency-Key'].join(', ');
export const EXPOSED = [
  'Quote-Id',
  'Quote-Expires-At',
  'X-Total-Count',
  'X-Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

export const preflightHeaders = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers': ALLOWED,
  'access-control-max-age': '86400',
  vary: 'Origin',
});

export const allowedOrigin = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': EXPOSED.join(', '),
});

export const originAllowed = (origin: string, allowed: readonly string[]): boolean =>
  allowed.includes('*') || allowed.includes(origin);
