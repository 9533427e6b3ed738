/** Rows of members and of the codes that let them enrol a passkey. Sessions and passkeys: base/signin.store.ts. */
import type { Tx } from '../base/db.ts';
import type { MemberRole } from './roles.ts';

export interface MemberRow {
  id: bigint;
  partnerId: bigint;
  name: string;
  role: MemberRole;
  invitedBy: string;
  createdAt: Date;
  joinedAt: Date | null;
  disabledAt: Date | null;
  linkFor: string | null;
  linkUntil: Date | null;
  heldAt: Date | null;
}

export type CodeKind = 'invitation' | 'recovery';

export const MEMBER = `o.id, o.partner_id, o.name, o.role, o.invited_by, o.created_at, o.joined_at, o.disabled_at,
  o.link_for, o.link_until, o.held_at`;

export const sql = {
  insert: `insert into partner_members as o (partner_id, name, role, invited_by, created_at) values ($1, $2, $3, $4, $5)
    on conflict (partner_id, name) do nothing returning ${MEMBER}`,
  byId: `select ${MEMBER} from partner_members o where o.id = $1 and o.partner_id = $2`,
  // Serializes changes of one team, so that the last two owners cannot remove each other concurrently.
  lockTeam: 'select id from partner_members where partner_id = $1 order by id for update',
  list: `select ${MEMBER} from partner_members o where o.partner_id = $1 order by o.disabled_at is not null, o.id limit 500`,
  count: 'select count(*)::bigint as count from partner_members where partner_id = $1 and disabled_at is null',
  otherOwners: `select count(*)::bigint as count from partner_members
    where partner_id = $1 and id <> $2 and role = 'owner' and disabled_at is null and held_at is null
      and joined_at is not null`,
  role: 'update partner_members set role = $2 where id = $1',
  join: 'update partner_members set joined_at = coalesce(joined_at, $2) where id = $1',
  disable: 'update partner_members set disabled_at = coalesce(disabled_at, $2) where id = $1',

  reserveLink: 'update partner_members set link_for = $2, link_until = $3 where id = $1',
  takeLink: `update partner_members o set link_for = null, link_until = null
    where o.id = $1 and o.link_for = $2 and o.link_until > $3 returning ${MEMBER}`,

  insertCode: `insert into member_codes (hash, member_id, kind, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
  code: `select c.kind, ${MEMBER} from member_codes c join partner_members o on o.id = c.member_id
    where c.hash = $1 and (c.expires_at is null or c.expires_at > $2) and c.held_at is null
      and o.disabled_at is null and o.held_at is null`,
  takeCode: `delete from member_codes where hash = $1 and member_id = $2 and (expires_at is null or expires_at > $3)
    and held_at is null returning kind`,
  dropCodes: `delete from member_codes where member_id = $1 and ($2::text is null or kind = $2)`,
  countCodes: `select count(*)::integer as count from member_codes where member_id = $1 and kind = 'recovery'`,
  invited: `select c.member_id, max(c.expires_at) as until from member_codes c join partner_members o on o.id = c.member_id
    where o.partner_id = $1 and c.kind = 'invitation' and c.expires_at > $2 group by c.member_id`,
  purgeCodes: 'delete from member_codes where expires_at <= $1',
} as const;

export const teamStore = {
  insert: (tx: Tx, m: { partnerId: bigint; name: string; role: MemberRole; by: string; now: Date }) =>
    tx.row<MemberRow>(sql.insert, [m.partnerId, m.name, m.role, m.by, m.now]),
  byId: (tx: Tx, partnerId: bigint, id: bigint) => tx.row<MemberRow>(sql.byId, [id, partnerId]),
  lockTeam: (tx: Tx, partnerId: bigint) => tx.rows<{ id: bigint }>(sql.lockTeam, [partnerId]),
  list: (tx: Tx, partnerId: bigint) => tx.rows<MemberRow>(sql.list, [partnerId]),
  count: async (tx: Tx, partnerId: bigint) => (await tx.row<{ count: bigint }>(sql.count, [partnerId]))?.count ?? 0n,
  otherOwners: async (tx: Tx, partnerId: bigint, id: bigint) =>
    (await tx.row<{ count: bigint }>(sql.otherOwners, [partnerId, id]))?.count ?? 0n,
  setRole: (tx: Tx, id: bigint, role: MemberRole) => tx.run(sql.role, [id, role]),
  join: (tx: Tx, id: bigint, now: Date) => tx.run(sql.join, [id, now]),
  disable: (tx: Tx, id: bigint, now: Date) => tx.run(sql.disable, [id, now]),

  reserveLink: (tx: Tx, id: bigint, by: string | null, until: Date | null) => tx.run(sql.reserveLink, [id, by, until]),
  takeLink: (tx: Tx, id: bigint, by: string, now: Date) => tx.row<MemberRow>(sql.takeLink, [id, by, now]),

  insertCode: (tx: Tx, c: { hash: Buffer; memberId: bigint; kind: CodeKind; now: Date; expiresAt: Date | null }) =>
    tx.run(sql.insertCode, [c.hash, c.memberId, c.kind, c.now, c.expiresAt]),
  code: (tx: Tx, hash: Buffer, now: Date) => tx.row<MemberRow & { kind: CodeKind }>(sql.code, [hash, now]),
  takeCode: (tx: Tx, hash: Buffer, memberId: bigint, now: Date) =>
    tx.row<{ kind: CodeKind }>(sql.takeCode, [hash, memberId, now]),
  dropCodes: (tx: Tx, memberId: bigint, kind: CodeKind | null) => tx.run(sql.dropCodes, [memberId, kind]),
  countRecovery: async (tx: Tx, memberId: bigint) =>
    (await tx.row<{ count: number }>(sql.countCodes, [memberId]))?.count ?? 0,
  /** Expiry of a team's open invitations, by member. Runs with the system role. */
  invited: (tx: Tx, partnerId: bigint, now: Date) =>
    tx.rows<{ memberId: bigint; until: Date }>(sql.invited, [partnerId, now]),
  purgeCodes: (tx: Tx, now: Date) => tx.run(sql.purgeCodes, [now]),
};
