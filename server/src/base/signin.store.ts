/**
 * Rows of passkeys, sessions and challenges of one kind of people: operators, or a partner's team. The module that owns the
 * tables gives their names; the columns are the same in all. If these people may also sign in with an account at a provider, the
 * table of those accounts is named, and sessions have two more columns: the account with which they began, and since when that
 * login counts as fresh. If passkeys and sessions of these people may be held (team/held.ts), both tables have `held_at`.
 */
import type { Tx } from './db.ts';

/** The columns that every kind of people has. */
export interface Person {
  id: bigint;
  name: string;
  disabledAt: Date | null;
}

export interface PeopleTables {
  /**
   * Prefix of its tables (`operator`: operator_passkeys, operator_sessions, operator_challenges) and of its columns
   * (operator_id).
   */
  readonly prefix: string;
  /** The table of the people. */
  readonly people: string;
  /** Selected columns of a person, on the alias `o`. */
  readonly columns: string;
  /** The table of their accounts at a provider of single sign-on. */
  readonly identities?: string;
  /** A further condition under which a person may sign in, on the alias `o`. */
  readonly lives?: string;
  /** Their passkeys and sessions may be held: then they sign nobody in. */
  readonly areHeld?: true;
}

interface PasskeyRow {
  id: bigint;
  createdAt: Date;
  lastUsedAt: Date | null;
}

interface SessionRow {
  id: bigint;
  /** Null if the session began with an account at a provider. */
  passkeyId: bigint | null;
  address: string;
  begunAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

type KnownPasskey<P> = P & { passkey: bigint; publicKey: Buffer; counter: bigint };
type KnownSession<P> = P & Omit<SessionRow, 'id'> & { session: bigint; freshAt: Date | null };

/** How a session began: with a passkey, or with an account at a provider. */
export type BegunBy = { readonly passkeyId: bigint } | { readonly identityId: bigint; readonly freshAt: Date | null };

interface NewSession {
  by: BegunBy;
  personId: bigint;
  hash: Buffer;
  address: string;
  now: Date;
  expiresAt: Date;
}

const SESSION = 's.passkey_id, s.address, s.begun_at, s.last_seen_at, s.expires_at';
const LIVES = 's.ended_at is null and s.expires_at > $2 and s.last_seen_at > $3';

/** How a session began: the join to that row, whether the row is still valid, and when the person proved who they are. */
const begunBy = (passkeys: string, identities: string | undefined) =>
  identities === undefined
    ? { join: `join ${passkeys} p on p.id = s.passkey_id`, stands: 'p.revoked_at is null', freshAt: 's.begun_at' }
    : {
        join: `left join ${passkeys} p on p.id = s.passkey_id left join ${identities} i on i.id = s.identity_id`,
        stands: '((p.id is not null and p.revoked_at is null) or (i.id is not null and i.ended_at is null))',
        freshAt: 'case when s.passkey_id is null then s.fresh_at else s.begun_at end',
      };

function statements({ prefix, people, columns, identities, lives = 'true', areHeld }: PeopleTables) {
  const [passkeys, sessions, challenges] = [`${prefix}_passkeys`, `${prefix}_sessions`, `${prefix}_challenges`];
  const person = `${prefix}_id`;
  const by = begunBy(passkeys, identities);
  /** That the passkey or session on this alias is not held. */
  const isFree = (alias: string) => (areHeld === true ? ` and ${alias}held_at is null` : '');
  return {
    insertChallenge: `insert into ${challenges} (hash, ${person}, expires_at) values ($1, $2, $3)`,
    takeChallenge: `delete from ${challenges} where hash = $1 returning ${person} as person_id, expires_at`,

    insertPasskey: `insert into ${passkeys} (${person}, credential_id, public_key, counter, created_at)
      values ($1, $2, $3, $4, $5) on conflict (credential_id) do nothing returning id`,
    passkey: `select ${columns}, p.id as passkey, p.public_key, p.counter
      from ${passkeys} p join ${people} o on o.id = p.${person}
      where p.credential_id = $1 and p.revoked_at is null${isFree('p.')} and ${lives}`,
    passkeysOf: `select id, created_at, last_used_at from ${passkeys}
      where ${person} = $1 and revoked_at is null${isFree('')} order by id limit 100`,
    // Of two logins with the same counter, the second one fails, because its counter is no longer higher.
    countUse: `update ${passkeys} set counter = $2, last_used_at = $3
      where id = $1 and revoked_at is null${isFree('')} and (counter < $2 or (counter = 0 and $2 = 0))`,
    revokePasskey: `update ${passkeys} set revoked_at = $3 where id = $2 and ${person} = $1 and revoked_at is null`,
    revokePasskeys: `update ${passkeys} set revoked_at = $2 where ${person} = $1 and revoked_at is null`,

    insertSession: `insert into ${sessions} (${person}, passkey_id, hash, address, begun_at, last_seen_at, expires_at)
      values ($1, $2, $3, $4, $5, $5, $6) returning id`,
    insertSsoSession: `insert into ${sessions} (${person}, identity_id, fresh_at, hash, address, begun_at, last_seen_at, expires_at)
      values ($1, $2, $7, $3, $4, $5, $5, $6) returning id`,
    session: `select ${columns}, s.id as session, ${SESSION}, ${by.freshAt} as fresh_at from ${sessions} s
      join ${people} o on o.id = s.${person} ${by.join}
      where s.hash = $1 and ${LIVES}${isFree('s.')}${isFree('p.')} and o.disabled_at is null and ${by.stands} and ${lives}`,
    see: `update ${sessions} set last_seen_at = $2 where id = $1 and last_seen_at < $2`,
    sessionsOf: `select s.id, ${SESSION} from ${sessions} s where s.${person} = $1 and ${LIVES}${isFree('s.')}
      order by s.id desc limit 100`,
    end: `update ${sessions} set ended_at = $3 where id = $2 and ${person} = $1 and ended_at is null`,
    endAll: `update ${sessions} set ended_at = $2 where ${person} = $1 and ended_at is null`,
    endOf: `update ${sessions} set ended_at = $2 where passkey_id = $1 and ended_at is null`,
    endOfIdentity: `update ${sessions} set ended_at = $2 where identity_id = $1 and ended_at is null`,
    endByHash: `update ${sessions} set ended_at = $2 where hash = $1 and ended_at is null`,
    purgeChallenges: `delete from ${challenges} where expires_at <= $1`,
    purgeSessions: `delete from ${sessions} where expires_at <= $1`,
  };
}

export function signInStore<P extends Person>(tables: PeopleTables) {
  const sql = statements(tables);
  return {
    insertChallenge: (tx: Tx, c: { hash: Buffer; personId: bigint | null; expiresAt: Date }) =>
      tx.run(sql.insertChallenge, [c.hash, c.personId, c.expiresAt]),
    takeChallenge: (tx: Tx, hash: Buffer) =>
      tx.row<{ personId: bigint | null; expiresAt: Date }>(sql.takeChallenge, [hash]),

    insertPasskey: (
      tx: Tx,
      p: { personId: bigint; credentialId: Buffer; publicKey: Buffer; counter: bigint; now: Date },
    ) => tx.row<{ id: bigint }>(sql.insertPasskey, [p.personId, p.credentialId, p.publicKey, p.counter, p.now]),
    passkey: (tx: Tx, credentialId: Buffer) => tx.row<KnownPasskey<P>>(sql.passkey, [credentialId]),
    passkeysOf: (tx: Tx, personId: bigint) => tx.rows<PasskeyRow>(sql.passkeysOf, [personId]),
    countUse: (tx: Tx, id: bigint, counter: bigint, now: Date) => tx.run(sql.countUse, [id, counter, now]),
    revokePasskey: (tx: Tx, personId: bigint, id: bigint, now: Date) => tx.run(sql.revokePasskey, [personId, id, now]),
    revokePasskeys: (tx: Tx, personId: bigint, now: Date) => tx.run(sql.revokePasskeys, [personId, now]),

    /** @param s.by how the session began; an account only if `identities` is named */
    insertSession: (tx: Tx, s: NewSession) => {
      const { by, personId, hash, address, now, expiresAt } = s;
      return 'passkeyId' in by
        ? tx.row<{ id: bigint }>(sql.insertSession, [personId, by.passkeyId, hash, address, now, expiresAt])
        : tx.row<{ id: bigint }>(sql.insertSsoSession, [
            ...[personId, by.identityId, hash, address, now, expiresAt],
            by.freshAt,
          ]);
    },
    session: (tx: Tx, hash: Buffer, now: Date, seenAfter: Date) =>
      tx.row<KnownSession<P>>(sql.session, [hash, now, seenAfter]),
    see: (tx: Tx, id: bigint, now: Date) => tx.run(sql.see, [id, now]),
    sessionsOf: (tx: Tx, personId: bigint, now: Date, seenAfter: Date) =>
      tx.rows<SessionRow>(sql.sessionsOf, [personId, now, seenAfter]),
    end: (tx: Tx, personId: bigint, id: bigint, now: Date) => tx.run(sql.end, [personId, id, now]),
    endAll: (tx: Tx, personId: bigint, now: Date) => tx.run(sql.endAll, [personId, now]),
    endOfIdentity: (tx: Tx, identityId: bigint, now: Date) => tx.run(sql.endOfIdentity, [identityId, now]),
    endOf: (tx: Tx, passkeyId: bigint, now: Date) => tx.run(sql.endOf, [passkeyId, now]),
    endByHash: (tx: Tx, hash: Buffer, now: Date) => tx.run(sql.endByHash, [hash, now]),
    purge: async (tx: Tx, now: Date) => {
      await tx.run(sql.purgeChallenges, [now]);
      await tx.run(sql.purgeSessions, [now]);
    },
  };
}
