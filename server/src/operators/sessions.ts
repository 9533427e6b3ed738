/**
 * Sessions of operators in a browser. A session begins with a passkey, or by an account at the provider of single sign-on
 * (identities.ts): a token enrols a passkey and never becomes a session.
 * How passkeys are checked, and when sessions end, is the same for all people who sign in (base/signin.ts).
 *
 * Not here: cookies, origins and which requests need a fresh login (protocols/browser.ts, protocols/operator/session.ts).
 */
import type { Database, Tx } from '../base/db.ts';
import { type BegunBy, type LoginAt, openSignIn, type Session, type Site } from '../base/signin.ts';
import type { Operator, OperatorRow } from './store.ts';

export type { Session, Site } from '../base/signin.ts';

const signIn = openSignIn<OperatorRow>({
  prefix: 'operator',
  people: 'operators',
  columns: 'o.id, o.name, o.role, o.created_at, o.disabled_at',
  identities: 'operator_identities',
});

/** @param s.by for a login by single sign-on: the account, and the time of the fresh login */
export const beginSession = (
  tx: Tx,
  { operatorId, ...s }: LoginAt & { operatorId: bigint; by: BegunBy; now: Date },
): Promise<Session & { secret: string }> => signIn.begin(tx, { ...s, personId: operatorId });
export const endSessionsOfIdentity = async (tx: Tx, identity: bigint, now: Date): Promise<void> =>
  void (await signIn.endOfIdentity(tx, identity, now));

export const { loginOptions, enrolOptions, endSessions, passkeysOf, sessionsOf, revokeAccess } = signIn;
/** Deletes expired sessions and challenges. */
export const purgeSessions = signIn.purge;

const personOf = ({ id, name, role, createdAt, disabledAt }: OperatorRow): Operator => ({
  ...{ id, name, role },
  createdAt,
  disabledAt,
});

/** As `SignIn.checkEnrolment`. */
export const checkEnrolment = (
  db: Database,
  { operatorId, ...given }: { credential: unknown; operatorId: bigint; site: Site; now: Date },
): Promise<(tx: Tx) => Promise<bigint>> => signIn.checkEnrolment(db, { ...given, personId: operatorId });

/** As `SignIn.checkLogin`. */
export async function checkLogin(
  db: Database,
  given: { credential: unknown; site: Site; now: Date },
): Promise<{ operator: Operator; begin(tx: Tx, at: LoginAt): Promise<Session & { secret: string }> }> {
  const { person, begin } = await signIn.checkLogin(db, given);
  return { operator: personOf(person), begin };
}

/**
 * The operator of a session; undefined when the session is unknown, ended or expired, its passkey is revoked, or its operator
 * disabled.
 */
export async function operatorOfSession(
  tx: Tx,
  secret: string,
  now: Date,
): Promise<{ operator: Operator; session: Session } | undefined> {
  const found = await signIn.personOfSession(tx, secret, now);
  return found === undefined ? undefined : { operator: personOf(found.person), session: found.session };
}

/** @throws Refusal 'unknown_session' */
export const endSession = (tx: Tx, s: { operatorId: bigint; session: bigint; now: Date }): Promise<void> =>
  signIn.endSession(tx, { personId: s.operatorId, session: s.session, now: s.now });

/** Revokes a passkey and ends its sessions. @throws Refusal 'unknown_passkey' */
export const revokePasskey = (tx: Tx, p: { operatorId: bigint; passkey: bigint; now: Date }): Promise<void> =>
  signIn.revokePasskey(tx, { personId: p.operatorId, passkey: p.passkey, now: p.now });
