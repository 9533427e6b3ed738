/**
 * Sessions of operators in a browser. A session begins with a passkey, always: a token enrols one and never becomes a session.
 *
 * The session's id is 256 random bits, a new one at each login, and stored as its SHA-256. It is looked up at each request with
 * its operator and its passkey, so disabling, another role and a revoked passkey act at once. It ends after half an hour without
 * a request, and twelve hours after login.
 *
 * A challenge is stored as its SHA-256 and deleted by whoever uses it, before the signature is looked at: each counts once.
 *
 * Not here: cookies, origins and which requests need a fresh login (protocols/operator/session.ts).
 */
import { createHash, randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { later } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { Operator } from './people.ts';
import { sessionStore as store } from './sessions.store.ts';
import type { OperatorRow } from './store.ts';

/** Loaded by the first login: it is a tenth of what every start of a program here loads. */
const webauthn = () => import('@simplewebauthn/server');

const CHALLENGE_FOR_MS = 5 * 60_000;
const IDLE_MS = 30 * 60_000;
const SESSION_FOR_MS = 12 * 3_600_000;
const NOTE_EVERY_MS = 60_000;
/** EdDSA, ES256, RS256: every authenticator has one of them. */
const ALGORITHMS = [-8, -7, -257];

/** The site that passkeys belong to. */
export interface Site {
  readonly origin: string;
  readonly host: string;
}

export interface Session {
  readonly id: bigint;
  /** When its operator proved a passkey. */
  readonly begunAt: Date;
  readonly expiresAt: Date;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const idleSince = (now: Date): Date => later(now, -IDLE_MS);
const handleOf = (operatorId: bigint): Buffer => Buffer.from(`operator:${operatorId}`);

async function storeChallenge(tx: Tx, challenge: string, operatorId: bigint | null, now: Date): Promise<void> {
  await store.insertChallenge(tx, { hash: hashOf(challenge), operatorId, expiresAt: later(now, CHALLENGE_FOR_MS) });
}

/** What `navigator.credentials.create` takes. */
export async function enrolOptions(tx: Tx, operator: Operator, site: Site, now: Date): Promise<object> {
  const options = await (await webauthn()).generateRegistrationOptions({
    rpName: 'Cloverleaf',
    rpID: site.host,
    userName: operator.name,
    userID: new Uint8Array(handleOf(operator.id)),
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  await storeChallenge(tx, options.challenge, operator.id, now);
  return options;
}

/** What `navigator.credentials.get` takes: any passkey of this site. */
export async function loginOptions(tx: Tx, site: Site, now: Date): Promise<object> {
  const options = await (await webauthn()).generateAuthenticationOptions({
    rpID: site.host,
    userVerification: 'required',
  });
  await storeChallenge(tx, options.challenge, null, now);
  return options;
}

/** Undefined where it is unknown, used, expired, or another operator's. Committed alone: a refused answer uses it up, too. */
async function takeChallenge(
  db: Database,
  credential: unknown,
  operatorId: bigint | null,
  now: Date,
): Promise<string | undefined> {
  const { response } = credential as { response?: { clientDataJSON?: unknown } };
  const challenge = challengeIn(response?.clientDataJSON);
  if (challenge === undefined) return undefined;
  const kept = await db.asSystem((tx) => store.takeChallenge(tx, hashOf(challenge)));
  return kept !== undefined && kept.operatorId === operatorId && kept.expiresAt > now ? challenge : undefined;
}

function challengeIn(clientData: unknown): string | undefined {
  try {
    const { challenge } = JSON.parse(Buffer.from(String(clientData), 'base64url').toString('utf8')) as {
      challenge?: unknown;
    };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** An attestation with certificates would be checked against lists of other servers; none was asked for. */
async function hasNoCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}

/** The library throws whatever it finds wrong in what a browser sent. */
const orUndefined = async <T>(check: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await check();
  } catch {
    return undefined;
  }
};

/**
 * Checks what the authenticator answered. @returns what stores the passkey, in a transaction of the caller's
 * @throws Refusal 'malformed_field'
 */
export async function checkEnrolment(
  db: Database,
  given: { credential: unknown; operatorId: bigint; site: Site; now: Date },
): Promise<(tx: Tx) => Promise<bigint>> {
  const { credential, operatorId, site, now } = given;
  const response = credential as RegistrationResponseJSON;
  const expectedChallenge = await takeChallenge(db, credential, operatorId, now);
  const found = await orUndefined(async () => {
    if (expectedChallenge === undefined) return undefined;
    if (!(await hasNoCertificates(response.response.attestationObject))) return undefined;
    const { origin: expectedOrigin, host: expectedRPID } = site;
    const { verified, registrationInfo } = await (await webauthn()).verifyRegistrationResponse({
      ...{ response, expectedChallenge, expectedOrigin, expectedRPID },
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    return verified ? registrationInfo?.credential : undefined;
  });
  const refuse = (): never => {
    throw new Refusal('malformed_field', {
      fields: { credential: 'must be a new passkey, made for this site from options of the last five minutes' },
    });
  };
  if (found === undefined) return refuse();
  return async (tx) => {
    const made = await store.insertPasskey(tx, {
      operatorId,
      credentialId: Buffer.from(found.id, 'base64url'),
      publicKey: Buffer.from(found.publicKey),
      counter: BigInt(found.counter),
      now,
    });
    return made === undefined ? refuse() : made.id;
  };
}

/**
 * Checks the answer of a passkey. @returns what begins the session, in a transaction of the caller's
 * @throws Refusal 'unauthenticated'
 */
export async function checkLogin(
  db: Database,
  given: { credential: unknown; site: Site; now: Date },
): Promise<{
  operator: Operator;
  begin(tx: Tx, at: { address: string; replaces: string | undefined }): Promise<Session & { secret: string }>;
}> {
  const { credential, site, now } = given;
  const response = credential as AuthenticationResponseJSON;
  const expectedChallenge = await takeChallenge(db, credential, null, now);
  const credentialId = Buffer.from(String(response.id), 'base64url');
  const known = await db.asSystem((tx) => store.passkey(tx, credentialId));
  const checked = await orUndefined(async () => {
    if (expectedChallenge === undefined || known === undefined || known.disabledAt !== null) return undefined;
    const { userHandle } = response.response;
    if (userHandle !== undefined && userHandle !== handleOf(known.id).toString('base64url')) return undefined;
    const { origin: expectedOrigin, host: expectedRPID } = site;
    return await (await webauthn()).verifyAuthenticationResponse({
      ...{ response, expectedChallenge, expectedOrigin, expectedRPID },
      requireUserVerification: true,
      credential: {
        id: credentialId.toString('base64url'),
        publicKey: new Uint8Array(known.publicKey),
        counter: Number(known.counter),
      },
    });
  });
  if (known === undefined || checked === undefined || !checked.verified) throw new Refusal('unauthenticated');
  const counter = BigInt(checked.authenticationInfo.newCounter);
  return {
    operator: personOf(known),
    async begin(tx, { address, replaces }) {
      if ((await store.countUse(tx, known.passkey, counter, now)) === 0) throw new Refusal('unauthenticated');
      if (replaces !== undefined) await store.endByHash(tx, hashOf(replaces), now);
      const secret = randomBytes(32).toString('base64url');
      const expiresAt = later(now, SESSION_FOR_MS);
      const made = await store.insertSession(tx, {
        ...{ operatorId: known.id, passkeyId: known.passkey, hash: hashOf(secret), address, now, expiresAt },
      });
      return { id: made?.id ?? 0n, begunAt: now, expiresAt, secret };
    },
  };
}

/** Undefined when it is unknown, has ended or expired, its passkey is revoked, or its operator disabled. */
export async function operatorOfSession(
  tx: Tx,
  secret: string,
  now: Date,
): Promise<{ operator: Operator; session: Session } | undefined> {
  const row = await store.session(tx, hashOf(secret), now, idleSince(now));
  if (row === undefined) return undefined;
  if (now.getTime() - row.lastSeenAt.getTime() >= NOTE_EVERY_MS) await store.see(tx, row.session, now);
  const session = { id: row.session, begunAt: row.begunAt, expiresAt: row.expiresAt };
  return { operator: personOf(row), session };
}

export const sessionsOf = (tx: Tx, operatorId: bigint, now: Date) =>
  store.sessionsOf(tx, operatorId, now, idleSince(now));
export const passkeysOf = (tx: Tx, operatorId: bigint) => store.passkeysOf(tx, operatorId);

/** @throws Refusal 'unknown_session' */
export async function endSession(tx: Tx, s: { operatorId: bigint; session: bigint; now: Date }): Promise<void> {
  if ((await store.end(tx, s.operatorId, s.session, s.now)) === 0) throw new Refusal('unknown_session');
}

/** Ends its sessions, too. @throws Refusal 'unknown_passkey' */
export async function revokePasskey(tx: Tx, p: { operatorId: bigint; passkey: bigint; now: Date }): Promise<void> {
  if ((await store.revokePasskey(tx, p.operatorId, p.passkey, p.now)) === 0) throw new Refusal('unknown_passkey');
  await store.endOf(tx, p.passkey, p.now);
}

/** Of a disabled operator: whoever enables it again has it enrol with a new token. */
export async function revokeAccess(tx: Tx, operatorId: bigint, now: Date): Promise<void> {
  await store.revokePasskeys(tx, operatorId, now);
  await store.endAll(tx, operatorId, now);
}

/** Deletes what has expired. */
export const purgeSessions = (db: Database, now: Date): Promise<void> => db.asSystem((tx) => store.purge(tx, now));

const personOf = ({ id, name, role, createdAt, disabledAt }: OperatorRow): Operator => ({
  ...{ id, name, role },
  createdAt,
  disabledAt,
});
