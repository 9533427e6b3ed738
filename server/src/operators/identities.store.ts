/** Rows of operators' accounts at the provider of single sign-on, and of logins that are under way there. */
import type { Tx } from '../base/db.ts';
import type { OperatorRow } from './store.ts';

export type IdentityKind = 'subject' | 'email';

export interface IdentityRow {
  id: bigint;
  operatorId: bigint;
  issuer: string;
  kind: IdentityKind;
  /** Encrypted. */
  value: string;
  createdAt: Date;
}

const IDENTITY = 'id, operator_id, issuer, kind, value, created_at';

const sql = {
  insert: `insert into operator_identities (operator_id, issuer, kind, value, created_at) values ($1, $2, $3, $4, $5)
    on conflict (issuer, kind, value) where ended_at is null do nothing returning id`,
  taken: `select id from operator_identities
    where ended_at is null and issuer = $1 and kind = $2 and value = any($3::text[]) limit 1`,
  list: `select ${IDENTITY} from operator_identities where operator_id = $1 and ended_at is null order by id limit 100`,
  end: `update operator_identities set ended_at = $3 where id = $2 and operator_id = $1 and ended_at is null`,
  endAll: `update operator_identities set ended_at = $2 where operator_id = $1 and ended_at is null`,
  // A value may be encrypted under the old master key or the new one.
  find: `select o.id, o.name, o.role, o.created_at, o.disabled_at, i.id as identity
    from operator_identities i join operators o on o.id = i.operator_id
    where i.ended_at is null and o.disabled_at is null and i.issuer = $1
      and ((i.kind = 'subject' and i.value = any($2::text[])) or (i.kind = 'email' and i.value = any($3::text[])))
    order by i.kind = 'email', i.id limit 10`,
  owner: `select o.id, o.name, o.role, o.created_at, o.disabled_at from operator_identities i
    join operators o on o.id = i.operator_id where i.id = $1 and i.ended_at is null and o.disabled_at is null`,

  insertLogin: 'insert into operator_sso_logins (hash, identity_id, expires_at) values ($1, $2, $3)',
  takeLogin: 'delete from operator_sso_logins where hash = $1 returning identity_id, expires_at',
  purgeLogins: 'delete from operator_sso_logins where expires_at <= $1',
} as const;

export const identityStore = {
  insert: (tx: Tx, i: Omit<IdentityRow, 'id'>) =>
    tx.row<{ id: bigint }>(sql.insert, [i.operatorId, i.issuer, i.kind, i.value, i.createdAt]),
  taken: (tx: Tx, t: { issuer: string; kind: IdentityKind; values: readonly string[] }) =>
    tx.row<{ id: bigint }>(sql.taken, [t.issuer, t.kind, t.values]),
  list: (tx: Tx, operatorId: bigint) => tx.rows<IdentityRow>(sql.list, [operatorId]),
  end: (tx: Tx, operatorId: bigint, id: bigint, now: Date) => tx.run(sql.end, [operatorId, id, now]),
  endAll: (tx: Tx, operatorId: bigint, now: Date) => tx.run(sql.endAll, [operatorId, now]),
  find: (tx: Tx, f: { issuer: string; subjects: readonly string[]; emails: readonly string[] }) =>
    tx.rows<OperatorRow & { identity: bigint }>(sql.find, [f.issuer, f.subjects, f.emails]),
  owner: (tx: Tx, id: bigint) => tx.row<OperatorRow>(sql.owner, [id]),

  insertLogin: (tx: Tx, l: { hash: Buffer; identityId: bigint | null; expiresAt: Date }) =>
    tx.run(sql.insertLogin, [l.hash, l.identityId, l.expiresAt]),
  takeLogin: (tx: Tx, hash: Buffer) => tx.row<{ identityId: bigint | null; expiresAt: Date }>(sql.takeLogin, [hash]),
  purgeLogins: (tx: Tx, now: Date) => tx.run(sql.purgeLogins, [now]),
};
