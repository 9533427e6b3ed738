/** Rows of passkeys, sessions and challenges. */
import type { Tx } from '../base/db.ts';
import type { OperatorRow } from './store.ts';

export interface PasskeyRow {
  id: bigint;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export interface SessionRow {
  id: bigint;
  passkeyId: bigint;
  address: string;
  begunAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

export interface KnownPasskey extends OperatorRow {
  passkey: bigint;
  publicKey: Buffer;
  counter: bigint;
}

const PERSON = 'o.id, o.name, o.role, o.created_at, o.disabled_at';
const SESSION = 's.passkey_id, s.address, s.begun_at, s.last_seen_at, s.expires_at';
const LIVES = 's.ended_at is null and s.expires_at > $2 and s.last_seen_at > $3';

const sql = {
  insertChallenge: 'insert into operator_challenges (hash, operator_id, expires_at) values ($1, $2, $3)',
  takeChallenge: `delete from operator_challenges where hash = $1 returning operator_id, expires_at`,

  insertPasskey: `insert into operator_passkeys (operator_id, credential_id, public_key, counter, created_at)
    values ($1, $2, $3, $4, $5) on conflict (credential_id) do nothing returning id`,
  passkey: `select ${PERSON}, p.id as passkey, p.public_key, p.counter
    from operator_passkeys p join operators o on o.id = p.operator_id where p.credential_id = $1 and p.revoked_at is null`,
  passkeysOf: `select id, created_at, last_used_at from operator_passkeys
    where operator_id = $1 and revoked_at is null order by id limit 100`,
  // Two logins with one count: the second finds a counter that is not higher any more.
  countUse: `update operator_passkeys set counter = $2, last_used_at = $3
    where id = $1 and revoked_at is null and (counter < $2 or (counter = 0 and $2 = 0))`,
  revokePasskey:
    'update operator_passkeys set revoked_at = $3 where id = $2 and operator_id = $1 and revoked_at is null',
  revokePasskeys: 'update operator_passkeys set revoked_at = $2 where operator_id = $1 and revoked_at is null',

  insertSession: `insert into operator_sessions (operator_id, passkey_id, hash, address, begun_at, last_seen_at, expires_at)
    values ($1, $2, $3, $4, $5, $5, $6) returning id`,
  session: `select ${PERSON}, s.id as session, ${SESSION} from operator_sessions s
    join operators o on o.id = s.operator_id join operator_passkeys p on p.id = s.passkey_id
    where s.hash = $1 and ${LIVES} and o.disabled_at is null and p.revoked_at is null`,
  see: 'update operator_sessions set last_seen_at = $2 where id = $1 and last_seen_at < $2',
  sessionsOf: `select s.id, ${SESSION} from operator_sessions s where s.operator_id = $1 and ${LIVES}
    order by s.id desc limit 100`,
  end: 'update operator_sessions set ended_at = $3 where id = $2 and operator_id = $1 and ended_at is null',
  endAll: 'update operator_sessions set ended_at = $2 where operator_id = $1 and ended_at is null',
  endOf: 'update operator_sessions set ended_at = $2 where passkey_id = $1 and ended_at is null',
  endByHash: 'update operator_sessions set ended_at = $2 where hash = $1 and ended_at is null',
  purgeChallenges: 'delete from operator_challenges where expires_at <= $1',
  purgeSessions: 'delete from operator_sessions where expires_at <= $1',
} as const;

export interface KnownSession extends OperatorRow, Omit<SessionRow, 'id'> {
  session: bigint;
}

export const sessionStore = {
  insertChallenge: (tx: Tx, c: { hash: Buffer; operatorId: bigint | null; expiresAt: Date }) =>
    tx.run(sql.insertChallenge, [c.hash, c.operatorId, c.expiresAt]),
  takeChallenge: (tx: Tx, hash: Buffer) =>
    tx.row<{ operatorId: bigint | null; expiresAt: Date }>(sql.takeChallenge, [hash]),

  insertPasskey: (
    tx: Tx,
    p: { operatorId: bigint; credentialId: Buffer; publicKey: Buffer; counter: bigint; now: Date },
  ) => tx.row<{ id: bigint }>(sql.insertPasskey, [p.operatorId, p.credentialId, p.publicKey, p.counter, p.now]),
  passkey: (tx: Tx, credentialId: Buffer) => tx.row<KnownPasskey>(sql.passkey, [credentialId]),
  passkeysOf: (tx: Tx, operatorId: bigint) => tx.rows<PasskeyRow>(sql.passkeysOf, [operatorId]),
  countUse: (tx: Tx, id: bigint, counter: bigint, now: Date) => tx.run(sql.countUse, [id, counter, now]),
  revokePasskey: (tx: Tx, operatorId: bigint, id: bigint, now: Date) =>
    tx.run(sql.revokePasskey, [operatorId, id, now]),
  revokePasskeys: (tx: Tx, operatorId: bigint, now: Date) => tx.run(sql.revokePasskeys, [operatorId, now]),

  insertSession: (
    tx: Tx,
    s: { operatorId: bigint; passkeyId: bigint; hash: Buffer; address: string; now: Date; expiresAt: Date },
  ) => tx.row<{ id: bigint }>(sql.insertSession, [s.operatorId, s.passkeyId, s.hash, s.address, s.now, s.expiresAt]),
  session: (tx: Tx, hash: Buffer, now: Date, seenAfter: Date) =>
    tx.row<KnownSession>(sql.session, [hash, now, seenAfter]),
  see: (tx: Tx, id: bigint, now: Date) => tx.run(sql.see, [id, now]),
  sessionsOf: (tx: Tx, operatorId: bigint, now: Date, seenAfter: Date) =>
    tx.rows<SessionRow>(sql.sessionsOf, [operatorId, now, seenAfter]),
  end: (tx: Tx, operatorId: bigint, id: bigint, now: Date) => tx.run(sql.end, [operatorId, id, now]),
  endAll: (tx: Tx, operatorId: bigint, now: Date) => tx.run(sql.endAll, [operatorId, now]),
  endOf: (tx: Tx, passkeyId: bigint, now: Date) => tx.run(sql.endOf, [passkeyId, now]),
  endByHash: (tx: Tx, hash: Buffer, now: Date) => tx.run(sql.endByHash, [hash, now]),
  purge: async (tx: Tx, now: Date) => {
    await tx.run(sql.purgeChallenges, [now]);
    await tx.run(sql.purgeSessions, [now]);
  },
};
