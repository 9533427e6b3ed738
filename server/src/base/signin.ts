/**
 * Signing in with a passkey, and the sessions that this begins, for people of one kind: operators, or a partner's team. Each kind
 * has tables of its own (signin.store.ts), with the same columns.
 *
 * A session begins with a passkey; an operator's may also begin with an account at a provider (operators/identities.ts).
 *
 * The session's secret is 256 random bits, new at each login, and stored as its SHA-256. It is looked up at each request together
 * with its person and its passkey, so disabling a person, changing a role and revoking a passkey take effect at once. A session
 * ends after half an hour without a request, and at the latest twelve hours after login.
 *
 * A challenge is stored as its SHA-256 and deleted by its first use, before the signature is checked, so each can be used only
 * once.
 *
 * Not here: cookies, origins, and which requests need a fresh login (protocols/browser.ts).
 */
import { createHash, randomBytes } from 'node:crypto';
import { later } from './clock.ts';
import type { Database, Tx } from './db.ts';
import { Refusal } from './errors.ts';
import {
  authenticationOptions,
  challengeIn,
  checkAuthentication,
  checkRegistration,
  credentialIdIn,
  registrationOptions,
  type Site,
} from './passkeys.ts';
import { type BegunBy, type PeopleTables, type Person, signInStore } from './signin.store.ts';

export type { Site } from './passkeys.ts';
export type { BegunBy, PeopleTables, Person } from './signin.store.ts';

const CHALLENGE_FOR_MS = 5 * 60_000;
const IDLE_MS = 30 * 60_000;
const SESSION_FOR_MS = 12 * 3_600_000;
const NOTE_EVERY_MS = 60_000;

export interface Session {
  readonly id: bigint;
  readonly begunAt: Date;
  /** When the person last proved who they are in a way that suffices for actions over money; null if they did not. */
  readonly freshAt: Date | null;
  readonly expiresAt: Date;
}

/** Where a login came from, and the earlier session of that browser, which ends. */
export interface LoginAt {
  readonly address: string;
  readonly replaces: string | undefined;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const idleSince = (now: Date): Date => later(now, -IDLE_MS);

export type SignIn<P extends Person> = ReturnType<typeof openSignIn<P>>;

export function openSignIn<P extends Person>(tables: PeopleTables) {
  const store = signInStore<P>(tables);
  const { storeChallenge, takeChallenge } = openChallenges(store);
  const handleOf = (id: bigint): Buffer => Buffer.from(`${tables.prefix}:${id}`);

  async function begin(tx: Tx, s: LoginAt & { personId: bigint; by: BegunBy; now: Date }) {
    const { personId, by, address, replaces, now } = s;
    if (replaces !== undefined) await store.endByHash(tx, hashOf(replaces), now);
    const secret = randomBytes(32).toString('base64url');
    const expiresAt = later(now, SESSION_FOR_MS);
    const made = await store.insertSession(tx, { personId, by, hash: hashOf(secret), address, now, expiresAt });
    const freshAt = 'passkeyId' in by ? now : by.freshAt;
    return { id: made?.id ?? 0n, begunAt: now, freshAt, expiresAt, secret };
  }

  return {
    /** Input of `navigator.credentials.create`. */
    async enrolOptions(tx: Tx, person: { id: bigint; name: string }, site: Site, now: Date): Promise<object> {
      const options = await registrationOptions({ name: person.name, handle: handleOf(person.id) }, site);
      await storeChallenge(tx, options.challenge, person.id, now);
      return options;
    },

    /** Input of `navigator.credentials.get`: any passkey of this site. */
    async loginOptions(tx: Tx, site: Site, now: Date): Promise<object> {
      const options = await authenticationOptions(site);
      await storeChallenge(tx, options.challenge, null, now);
      return options;
    },

    /**
     * Checks the authenticator's answer to an enrolment.
     *
     * @returns a function that stores the passkey in a transaction of the caller
     * @throws Refusal 'malformed_field'
     */
    async checkEnrolment(
      db: Database,
      { credential, personId, site, now }: { credential: unknown; personId: bigint; site: Site; now: Date },
    ): Promise<(tx: Tx) => Promise<bigint>> {
      const refuse = (): never => {
        throw new Refusal('malformed_field', {
          fields: { credential: 'must be a new passkey, made for this site from options of the last five minutes' },
        });
      };
      const challenge = await takeChallenge(db, credential, personId, now);
      const found = challenge === undefined ? undefined : await checkRegistration(credential, { challenge, site });
      if (found === undefined) return refuse();
      return async (tx) => (await store.insertPasskey(tx, { personId, ...found, now }))?.id ?? refuse();
    },

    /**
     * Checks a passkey's answer to a login.
     *
     * @returns a function that begins the session in a transaction of the caller
     * @throws Refusal 'unauthenticated'
     */
    async checkLogin(db: Database, { credential, site, now }: { credential: unknown; site: Site; now: Date }) {
      const challenge = await takeChallenge(db, credential, null, now);
      const credentialId = credentialIdIn(credential);
      const known = await db.asSystem((tx) => store.passkey(tx, credentialId));
      const counter =
        challenge === undefined || known === undefined || known.disabledAt !== null
          ? undefined
          : await checkAuthentication(credential, {
              ...{ challenge, site, handle: handleOf(known.id) },
              known: { credentialId, publicKey: known.publicKey, counter: known.counter },
            });
      if (known === undefined || counter === undefined) throw new Refusal('unauthenticated');
      return {
        person: known as P,
        async begin(tx: Tx, at: LoginAt): Promise<Session & { secret: string }> {
          if ((await store.countUse(tx, known.passkey, counter, now)) === 0) throw new Refusal('unauthenticated');
          return await begin(tx, { ...at, personId: known.id, by: { passkeyId: known.passkey }, now });
        },
      };
    },

    /** Begins a session of a person who has just enrolled this passkey, or who has an account at a provider. */
    begin,

    /** Undefined if the session is unknown, has ended or expired, its passkey is revoked, or its person is disabled. */
    async personOfSession(tx: Tx, secret: string, now: Date): Promise<{ person: P; session: Session } | undefined> {
      const row = await store.session(tx, hashOf(secret), now, idleSince(now));
      if (row === undefined) return undefined;
      if (now.getTime() - row.lastSeenAt.getTime() >= NOTE_EVERY_MS) await store.see(tx, row.session, now);
      return { person: row, session: sessionOf(row) };
    },

    sessionsOf: (tx: Tx, personId: bigint, now: Date) => store.sessionsOf(tx, personId, now, idleSince(now)),
    passkeysOf: store.passkeysOf,

    /** @throws Refusal 'unknown_session' */
    async endSession(tx: Tx, s: { personId: bigint; session: bigint; now: Date }): Promise<void> {
      if ((await store.end(tx, s.personId, s.session, s.now)) === 0) throw new Refusal('unknown_session');
    },

    /** Revokes a passkey and ends its sessions. @throws Refusal 'unknown_passkey' */
    async revokePasskey(tx: Tx, p: { personId: bigint; passkey: bigint; now: Date }): Promise<void> {
      if ((await store.revokePasskey(tx, p.personId, p.passkey, p.now)) === 0) throw new Refusal('unknown_passkey');
      await store.endOf(tx, p.passkey, p.now);
    },

    endOfIdentity: store.endOfIdentity,

    /** Ends all sessions of a person; passkeys remain valid. */
    endSessions: async (tx: Tx, personId: bigint, now: Date): Promise<void> =>
      void (await store.endAll(tx, personId, now)),

    /** Revokes all passkeys of a person permanently, and ends all sessions. */
    async revokeAccess(tx: Tx, personId: bigint, now: Date): Promise<void> {
      await store.revokePasskeys(tx, personId, now);
      await store.endAll(tx, personId, now);
    },

    /** Deletes expired rows. */
    purge: (db: Database, now: Date): Promise<void> => db.asSystem((tx) => store.purge(tx, now)),
  };
}

const sessionOf = (row: { session: bigint; begunAt: Date; freshAt: Date | null; expiresAt: Date }): Session => ({
  ...{ id: row.session, begunAt: row.begunAt, freshAt: row.freshAt, expiresAt: row.expiresAt },
});

/** Challenges: each is valid for one answer. */
function openChallenges(store: Pick<ReturnType<typeof signInStore>, 'insertChallenge' | 'takeChallenge'>) {
  return {
    storeChallenge: (tx: Tx, challenge: string, personId: bigint | null, now: Date) =>
      store.insertChallenge(tx, { hash: hashOf(challenge), personId, expiresAt: later(now, CHALLENGE_FOR_MS) }),

    /**
     * Undefined if the challenge is unknown, used, expired, or another person's. A transaction of its own: a declined answer uses
     * the challenge up, too.
     */
    async takeChallenge(db: Database, credential: unknown, personId: bigint | null, now: Date) {
      const challenge = challengeIn(credential);
      if (challenge === undefined) return undefined;
      const kept = await db.asSystem((tx) => store.takeChallenge(tx, hashOf(challenge)));
      return kept !== undefined && kept.personId === personId && kept.expiresAt > now ? challenge : undefined;
    },
  };
}
