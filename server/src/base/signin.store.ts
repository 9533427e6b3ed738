/**
 * Rows of passkeys, sessions and challenges, in the tables of one kind of people. The module that owns the tables names them; the
 * columns are the same in all.
 */
import type { Tx } from './db.ts';

/** The columns of every kind of people. */
export interface Person {
  id: bigint;
  name: string;
  disabledAt: Date | null;
}

export interface PeopleTables {
  /** Of its tables (`operator`: operator_passkeys, operator_sessions, operator_challenges) and columns (operator_id). */
  readonly prefix: string;
  /** The table of the people. */
  readonly people: string;
  /** Columns of a person, of the alias `o`. */
  readonly columns: string;
  /** A further condition for a person to sign in, on the alias `o`. */
  readonly lives?: string;
}

interface PasskeyRow {
  id: bigint;
  createdAt: Date;
  lastUsedAt: Date | null;
}

interface SessionRow {
  id: bigint;
  passkeyId: bigint;
  address: string;
  begunAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

type KnownPasskey<P> = P & { passkey: bigint; publicKey: Buffer; counter: bigint };
type KnownSession<P> = P & Omit<SessionRow, 'id'> & { session: bigint };

const SESSION = 's.passkey_id, s.address, s.begun_at, s.last_seen_at, s.expires_at';
const LIVES = 's.ended_at is null and s.expires_at > $2 and s.last_seen_at > $3';

function statements({ prefix, people, columns, lives = 'true' }: PeopleTables) {
  const [passkeys, sessions, challenges] = [`${prefix}_passkeys`, `${prefix}_sessions`, `${prefix}_challenges`];
  const person = `${prefix}_id`;
  return {
    insertChallenge: `insert into ${challenges} (hash, ${person}, expires_at) values ($1, $2, $3)`,
    takeChallenge: `delete from ${challenges} where hash = $1 returning ${person} as person_id, expires_at`,

    insertPasskey: `insert into ${passkeys} (${person}, credential_id, public_key, counter, created_at)
      values ($1, $2, $3, $4, $5) on conflict (credential_id) do nothing returning id`,
    passkey: `select ${columns}, p.id as passkey, p.public_key, p.counter
      from ${passkeys} p join ${people} o on o.id = p.${person}
      where p.credential_id = $1 and p.revoked_at is null and ${lives}`,
    passkeysOf: `select id, created_at, last_used_at from ${passkeys}
      where ${person} = $1 and revoked_at is null order by id limit 100`,
    // Two logins with one count: the second finds a counter that is not higher any more.
    countUse: `update ${passkeys} set counter = $2, last_used_at = $3
      where id = $1 and revoked_at is null and (counter < $2 or (counter = 0 and $2 = 0))`,
    revokePasskey: `update ${passkeys} set revoked_at = $3 where id = $2 and ${person} = $1 and revoked_at is null`,
    revokePasskeys: `update ${passkeys} set revoked_at = $2 where ${person} = $1 and revoked_at is null`,

    insertSession: `insert into ${sessions} (${person}, passkey_id, hash, address, begun_at, last_seen_at, expires_at)
      values ($1, $2, $3, $4, $5, $5, $6) returning id`,
    session: `select ${columns}, s.id as session, ${SESSION} from ${sessions} s
      join ${people} o on o.id = s.${person} join ${passkeys} p on p.id = s.passkey_id
      where s.hash = $1 and ${LIVES} and o.disabled_at is null and p.revoked_at is null and ${lives}`,
    see: `update ${sessions} set last_seen_at = $2 where id = $1 and last_seen_at < $2`,
    sessionsOf: `select s.id, ${SESSION} from ${sessions} s where s.${person} = $1 and ${LIVES}
      order by s.id desc limit 100`,
    end: `update ${sessions} set ended_at = $3 where id = $2 and ${person} = $1 and ended_at is null`,
    endAll: `update ${sessions} set ended_at = $2 where ${person} = $1 and ended_at is null`,
    endOf: `update ${sessions} set ended_at = $2 where passkey_id = $1 and ended_at is null`,
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

    insertSession: (
      tx: Tx,
      s: { personId: bigint; passkeyId: bigint; hash: Buffer; address: string; now: Date; expiresAt: Date },
    ) => tx.row<{ id: bigint }>(sql.insertSession, [s.personId, s.passkeyId, s.hash, s.address, s.now, s.expiresAt]),
    session: (tx: Tx, hash: Buffer, now: Date, seenAfter: Date) =>
      tx.row<KnownSession<P>>(sql.session, [hash, now, seenAfter]),
    see: (tx: Tx, id: bigint, now: Date) => tx.run(sql.see, [id, now]),
    sessionsOf: (tx: Tx, personId: bigint, now: Date, seenAfter: Date) =>
      tx.rows<SessionRow>(sql.sessionsOf, [personId, now, seenAfter]),
    end: (tx: Tx, personId: bigint, id: bigint, now: Date) => tx.run(sql.end, [personId, id, now]),
    endAll: (tx: Tx, personId: bigint, now: Date) => tx.run(sql.endAll, [personId, now]),
    endOf: (tx: Tx, passkeyId: bigint, now: Date) => tx.run(sql.endOf, [passkeyId, now]),
    endByHash: (tx: Tx, hash: Buffer, now: Date) => tx.run(sql.endByHash, [hash, now]),
    purge: async (tx: Tx, now: Date) => {
      await tx.run(sql.purgeChallenges, [now]);
      await tx.run(sql.purgeSessions, [now]);
    },
  };
}
