/**
 * Sessions: an encrypted cookie, with nothing stored on the server.
 *
 * A session belongs to one customer (or, before a customer is known, to none: '') and lasts half an hour from its start or login.
 * Every form repeats its `csrf` text, which a page of another origin can neither read nor guess. It is a login as long as its
 * customer still has the phone used to log in. Login starts a new session, so a session that an attacker planted before is
 * worthless afterwards.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Vault } from '../../base/crypto.ts';
import { randomHex } from '../../base/ids.ts';

export interface Session {
  readonly customerId: string;
  readonly csrf: string;
  readonly loggedIn: boolean;
  /**
   * The customer's login epoch at login: a higher epoch now means that the login has ended. Absent in sessions of an older
   * server.
   */
  readonly epoch?: number;
  /** The number is proved and no more: its customer is not logged in (proof.ts). */
  readonly hasNumber?: boolean;
  /** Milliseconds since 1970. */
  readonly until: number;
}

const SESSION_FOR_MS = 30 * 60_000;
const CONTEXT = 'checkout.session';
/** With this prefix browsers reject it from a subdomain or without TLS. */
const nameOf = (secure: boolean): string => (secure ? '__Host-cloverleaf' : 'cloverleaf');

/** @param login set for a customer who has logged in */
export const beginSession = (customerId: string, now: Date, login?: { epoch: number }): Session => ({
  customerId,
  csrf: randomHex(),
  loggedIn: login !== undefined,
  ...login,
  until: now.getTime() + SESSION_FOR_MS,
});

/** The code was right, but the number was idle for so long that it may be another person's. */
export const sessionOfNumber = (customerId: string, now: Date, { epoch }: { epoch: number }): Session => ({
  ...beginSession(customerId, now),
  ...{ epoch, hasNumber: true },
});

/** @returns the login epoch at which the code was right; undefined if the session has proved no number, or the number has changed */
export const epochOfNumber = (
  { customerId, hasNumber, epoch }: Session,
  customer: { id: string; loginEpoch: number },
): number | undefined =>
  hasNumber === true && customerId === customer.id && epoch === customer.loginEpoch ? epoch : undefined;

/**
 * @param who.customerId the required customer; null: any
 * @returns undefined when there is none, or it is expired, not ours, or another customer's
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

/** The Set-Cookie header. The cookie has no expiry: the encrypted one inside counts. */
export function sessionCookie(vault: Vault, session: Session, secure: boolean): string {
  const encrypted = vault.encrypt(JSON.stringify(session), CONTEXT).toString('base64url');
  return `${nameOf(secure)}=${encrypted}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

export function isOwnForm(session: Session | undefined, csrf: string | null): session is Session {
  if (session === undefined || csrf === null) return false;
  const [own, sent] = [Buffer.from(session.csrf), Buffer.from(csrf)];
  return own.length === sent.length && timingSafeEqual(own, sent);
}
