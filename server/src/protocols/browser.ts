/**
 * Separates a browser's session from pages of other sites: the cookie, and the check of a request's origin. The same for the
 * operators' and the partners' console, each with a cookie of its own name.
 *
 * A request by session that changes something needs the header `x-console: 1` and one of our origins, and so does a login: a page
 * of another site can send neither.
 */
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../base/errors.ts';
import type { Site } from '../base/signin.ts';

/** How long a login counts as fresh. */
export const STEP_UP_MS = 10 * 60_000;

export interface SiteDeps {
  publicUrl: () => string;
  /** Production by default. */
  profile?: 'sandbox' | 'production';
}

/** An address is no name that a passkey can belong to: a sandbox on this machine is `localhost`. */
export function siteOf({ publicUrl }: Pick<SiteDeps, 'publicUrl'>): Site {
  const url = new URL(publicUrl());
  if (['127.0.0.1', '[::1]'].includes(url.hostname)) url.hostname = 'localhost';
  return { origin: url.origin, host: url.hostname };
}

/** Without TLS only a sandbox on this machine keeps a session: `Secure` is left out there, and nowhere else. */
const isSecure = (deps: SiteDeps): boolean => {
  const { origin, host } = siteOf(deps);
  return !(deps.profile === 'sandbox' && host === 'localhost' && origin.startsWith('http://'));
};

export interface Cookie {
  /** `Set-Cookie` of this session. */
  of(deps: SiteDeps, secret: string): string;
  /** `Set-Cookie` that ends it. */
  ended(deps: SiteDeps): string;
  /** The session of a request. */
  in(deps: SiteDeps, request: Pick<FastifyRequest, 'headers'>): string | undefined;
}

export function cookieNamed(name: string): Cookie {
  const nameOf = (deps: SiteDeps): string => (isSecure(deps) ? `__Host-${name}` : name);
  const written = (deps: SiteDeps, secret: string, more: readonly string[]): string =>
    [
      `${nameOf(deps)}=${secret}`,
      ...['Path=/', 'HttpOnly', 'SameSite=Strict'],
      ...(isSecure(deps) ? ['Secure'] : []),
      ...more,
    ].join('; ');
  return {
    of: (deps, secret) => written(deps, secret, []),
    ended: (deps) => written(deps, '', ['Max-Age=0']),
    in(deps, { headers }) {
      const ahead = `${nameOf(deps)}=`;
      const found = (headers.cookie ?? '')
        .split(';')
        .map((one) => one.trim())
        .find((one) => one.startsWith(ahead));
      const secret = found?.slice(ahead.length);
      return secret !== undefined && /^[\w-]{43}$/.test(secret) ? secret : undefined;
    },
  };
}

/** @throws Refusal 'cross_site' */
export function requireOwnSite(deps: SiteDeps, { headers }: Pick<FastifyRequest, 'headers'>): void {
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined ? headers.origin === siteOf(deps).origin : site === 'same-origin';
  if (headers['x-console'] !== '1' || !isOwn) throw new Refusal('cross_site');
}
