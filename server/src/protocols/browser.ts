/**
 * Protects browser sessions against pages of other sites: the cookie, and the check of a request's origin. Used by the
 * operators' and the partners' console, each with its own cookie name.
 *
 * A login, and a request by session that changes something, needs the header `x-console: 1` and one of our origins: a page of
 * another site can send neither.
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

/** A passkey cannot belong to an IP address, so a sandbox on this machine uses `localhost`. */
export function siteOf({ publicUrl }: Pick<SiteDeps, 'publicUrl'>): Site {
  const url = new URL(publicUrl());
  if (['127.0.0.1', '[::1]'].includes(url.hostname)) url.hostname = 'localhost';
  return { origin: url.origin, host: url.hostname };
}

/** Only a sandbox on this machine has sessions without TLS: there, and nowhere else, `Secure` is omitted. */
const isSecure = (deps: SiteDeps): boolean => {
  const { origin, host } = siteOf(deps);
  return !(deps.profile === 'sandbox' && host === 'localhost' && origin.startsWith('http://'));
};

export interface Cookie {
  /** The `Set-Cookie` header of this session. */
  of(deps: SiteDeps, secret: string): string;
  /** The `Set-Cookie` header that ends the session. */
  ended(deps: SiteDeps): string;
  /** The session's secret in a request. */
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
