/**
 * Sessions: a sealed cookie, and nothing kept here for it.
 *
 * It belongs to one customer (or, before anybody has said who it is, to nobody: '') and lasts half an hour from when it began or logged in. Every form repeats its `csrf` text,
 * which a page of another origin can neither read nor guess. It is a login for as long as its customer's phone is the one that it logged in with. Logging in begins a new session, so one that somebody planted
 * before is worth nothing after.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Vault } from '../../base/crypto.ts';
import { randomHex } from '../../base/ids.ts';

export interface Session {
  readonly customerId: string;
  readonly csrf: string;
  readonly loggedIn: boolean;
  /** Of the customer, when it logged in: counted up since, this is a login no more. None in sessions of an older server. */
  readonly epoch?: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

const SESSION_FOR_MS = 30 * 60_000;
const CONTEXT = 'checkout.session';
/** The prefix makes browsers refuse it from a subdomain or without TLS. */
const nameOf = (secure: boolean): string => (secure ? '__Host-cloverleaf' : 'cloverleaf');

/** @param login of a customer who has logged in */
export const beginSession = (customerId: string, now: Date, login?: { epoch: number }): Session => ({
  customerId,
  csrf: randomHex(),
  loggedIn: login !== undefined,
  ...login,
  until: now.getTime() + SESSION_FOR_MS,
});

/**
 * @param who.customerId whose it must be; null: anybody's
 * @returns undefined where there is none, or it is too old, not ours, or another customer's
 */
export function readSession(
  vault: Vault,
  cookies: string | undefined,
  { customerId, now, secure }: { customerId: string | null; now: Date; secure: boolean },
): Session | undefined {
  const ahead = `${nameOf(secure)}=`;
  const encrypted = cookies
    ?.split(';')
    .map((cookie) => cookie.trim())
    .find((cookie) => cookie.startsWith(ahead));
  if (encrypted === undefined) return undefined;
  try {
    const bytes = Buffer.from(encrypted.slice(ahead.length), 'base64url');
    const session = JSON.parse(vault.decrypt(bytes, CONTEXT)) as Session;
    const isTheirs = customerId === null || session.customerId === customerId;
    return isTheirs && now.getTime() < session.until ? session : undefined;
  } catch {
    return undefined;
  }
}

/** The Set-Cookie header. It has no end of its own: the one sealed inside counts. */
export function sessionCookie(vault: Vault, session: Session, secure: boolean): string {
  const encrypted = vault.encrypt(JSON.stringify(session), CONTEXT).toString('base64url');
  return `${nameOf(secure)}=${encrypted}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

export function isOwnForm(session: Session | undefined, csrf: string | null): session is Session {
  if (session === undefined || csrf === null) return false;
  const [own, sent] = [Buffer.from(session.csrf), Buffer.from(csrf)];
  return own.length === sent.length && timingSafeEqual(own, sent);
}
