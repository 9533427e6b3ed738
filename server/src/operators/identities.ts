/**
 * Operators' accounts at the provider of single sign-on: bound to an operator by operators, one by one, by the provider's own
 * id of the account (`sub`) or by an e-mail address that the provider has verified. A login creates nothing and changes no
 * binding.
 *
 * This module decides how strong a login at the provider is, by the installation's SsoPolicy: a login that proves no more than
 * a password begins no session and must be followed by a passkey.
 *
 * A login under way is a row with the hash of the browser's secret, deleted by its first use. Values are encrypted; `typedLike`
 * finds them under an old master key, too.
 *
 * Not here: the protocol (base/oidc.ts), cookies (protocols/operator/sso.ts), sessions (sessions.ts).
 */
import { createHash, randomBytes } from 'node:crypto';
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { Claims } from '../base/oidc.ts';
import { openTyped, typedLike } from '../base/typed.ts';
import { type IdentityKind, type IdentityRow, identityStore as store } from './identities.store.ts';
import { endSessionsOfIdentity } from './sessions.ts';
import type { Operator } from './store.ts';

/** How long a person may take at the provider, and then for the passkey. */
const LOGIN_FOR_MS = 10 * 60_000;
const MOST_PER_OPERATOR = 5;

export interface SsoPolicy {
  /** Proofs (`acr=…`, `amr=…`) that are more than a password: with one of them a session begins without a passkey. */
  readonly strong: readonly string[];
  /**
   * Whether a strong proof of the last ten minutes also counts as a fresh login; otherwise actions over money require the
   * passkey.
   */
  readonly isFresh: boolean;
}

export interface Worth {
  /** Whether the login is strong enough to begin a session. */
  readonly isEnough: boolean;
  /** Time of the fresh login; null if it does not count as one. */
  readonly freshAt: Date | null;
}

/** How strong a login at the provider is, and whether it is fresh. */
export function worthOf(
  { proofs, provedMsAgo }: Pick<Claims, 'proofs' | 'provedMsAgo'>,
  { strong, isFresh }: SsoPolicy,
  now: Date,
): Worth {
  const isEnough = proofs.some((one) => strong.includes(one));
  return { isEnough, freshAt: isEnough && isFresh && provedMsAgo !== undefined ? later(now, -provedMsAgo) : null };
}

export interface Identity {
  readonly id: bigint;
  readonly issuer: string;
  readonly kind: IdentityKind;
  readonly value: string;
  readonly createdAt: Date;
}

export const identitiesOf = async (tx: Tx, operatorId: bigint): Promise<Identity[]> =>
  (await store.list(tx, operatorId)).map(({ id, issuer, kind, value, createdAt }: IdentityRow) => ({
    ...{ id, issuer, kind, value, createdAt },
  }));

/**
 * @param i.value encrypted with `encryptTypedSame`; an e-mail address in small letters
 * @throws Refusal 'identity_bound' when the account is bound already; 'too_many_identities'
 */
export async function bindIdentity(
  tx: Tx,
  vault: Vault,
  i: { operatorId: bigint; issuer: string; kind: IdentityKind; value: string; now: Date },
): Promise<void> {
  if ((await store.list(tx, i.operatorId)).length >= MOST_PER_OPERATOR)
    throw new Refusal('too_many_identities', { most: MOST_PER_OPERATOR });
  // During an exchange of the master key, an earlier binding may be encrypted under the old key, so the unique index sees
  // another value.
  const values = typedLike(vault, openTyped(vault, i.value));
  if ((await store.taken(tx, { ...i, values })) !== undefined) throw new Refusal('identity_bound');
  if ((await store.insert(tx, { ...i, createdAt: i.now })) === undefined) throw new Refusal('identity_bound');
}

/** Ends its sessions, too. @throws Refusal 'unknown_identity' */
export async function unbindIdentity(tx: Tx, i: { operatorId: bigint; identity: bigint; now: Date }): Promise<void> {
  if ((await store.end(tx, i.operatorId, i.identity, i.now)) === 0) throw new Refusal('unknown_identity');
  await endSessionsOfIdentity(tx, i.identity, i.now);
}

/**
 * The enabled operator of an account.
 *
 * @throws Refusal 'sso_unbound' when there is none, or when `sub` and e-mail address are bound to different operators
 */
export async function operatorOfAccount(
  tx: Tx,
  vault: Vault,
  { issuer, subject, email }: Pick<Claims, 'subject' | 'email'> & { issuer: string },
): Promise<{ operator: Operator; identity: bigint }> {
  const subjects = typedLike(vault, subject);
  const emails = email === undefined ? [] : typedLike(vault, email);
  const found = await store.find(tx, { issuer, subjects, emails });
  const [first] = found;
  if (first === undefined || found.some(({ id }) => id !== first.id)) throw new Refusal('sso_unbound');
  const { identity, ...operator } = first;
  return { operator, identity };
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * Stores a login that is under way. @param identity the binding, once the provider has answered and a passkey is required.
 * @returns the browser's secret
 */
export async function beginSsoLogin(tx: Tx, now: Date, identity: bigint | null = null): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await store.insertLogin(tx, { hash: hashOf(secret), identityId: identity, expiresAt: later(now, LOGIN_FOR_MS) });
  return secret;
}

/**
 * Uses up a login under way. Commits on its own, because a declined answer must use it up too.
 *
 * @throws Refusal 'sso_expired' when it is unknown, used, or older than ten minutes
 */
export async function takeSsoLogin(
  db: Database,
  secret: string | undefined,
  now: Date,
): Promise<{ secret: string; identity: bigint | null }> {
  const row = secret === undefined ? undefined : await db.asSystem((tx) => store.takeLogin(tx, hashOf(secret)));
  if (secret === undefined || row === undefined || row.expiresAt <= now) throw new Refusal('sso_expired');
  return { secret, identity: row.identityId };
}

/** The enabled operator of a binding that has not ended. @throws Refusal 'sso_unbound' */
export async function operatorOfIdentity(tx: Tx, identity: bigint): Promise<Operator> {
  const found = await store.owner(tx, identity);
  if (found === undefined) throw new Refusal('sso_unbound');
  return found;
}

/** Deletes expired logins. */
export const purgeSsoLogins = (db: Database, now: Date): Promise<void> =>
  db.asSystem(async (tx) => void (await store.purgeLogins(tx, now)));
