/**
 * What a containment holds of a team (partners/containment.ts): a thief with a session of an owner leaves more than keys.
 *
 * Every credential that was made since the time is held as one item: a member who was invited; a passkey, a session
 * or the codes of an older member. A held member signs in by nothing, so of a member who was invited since nothing else is listed;
 * and a session is listed only if its passkey is not.
 *
 * A released item works as before. A rejected member is removed, a rejected passkey revoked, a session ended, codes are deleted.
 *
 * Not here: finding changed roles (partners keep the activity), deciding about items (partners/containment.ts).
 */
import type { Tx } from '../base/db.ts';

export const TEAM_KINDS = ['member', 'passkey', 'session', 'code'] as const;
export type TeamKind = (typeof TEAM_KINDS)[number];

/** `subject` is the number of the passkey or session; of the member otherwise. */
export interface TeamItem {
  kind: TeamKind;
  subject: string;
  /** Number of the member. */
  member: string;
  why: string;
  madeAt: Date;
}

export const sql = {
  since: `with team as (select id, name, created_at from partner_members where partner_id = $1 and disabled_at is null),
      older as (select id, name from team where created_at < $2)
    select 'member' as kind, id::text as subject, id::text as member, name || ' was invited since then' as why, created_at as made_at
      from team where created_at >= $2
    union all
    select 'passkey', p.id::text, o.id::text, 'enrolled since then, by ' || o.name, p.created_at
      from older o join member_passkeys p on p.member_id = o.id
      where p.created_at >= $2 and p.revoked_at is null
    union all
    select 'session', s.id::text, o.id::text, 'begun since then, by ' || o.name, s.begun_at
      from older o join member_sessions s on s.member_id = o.id join member_passkeys p on p.id = s.passkey_id
      where s.begun_at >= $2 and s.ended_at is null and s.expires_at > $3 and p.created_at < $2
    union all
    select 'code', o.id::text, o.id::text,
        case when count(distinct c.kind) > 1 then 'a link and recovery codes for ' || o.name || ' made since then'
          when bool_or(c.kind = 'invitation') then 'a link for ' || o.name || ' made since then'
          else 'recovery codes of ' || o.name || ' made since then' end, min(c.created_at)
      from older o join member_codes c on c.member_id = o.id
      where c.created_at >= $2 and (c.expires_at is null or c.expires_at > $3) group by o.id, o.name
    order by 5, 1, 2`,
  holdMembers: 'update partner_members set held_at = coalesce(held_at, $2) where id = any($1::bigint[])',
  holdPasskeys: 'update member_passkeys set held_at = coalesce(held_at, $2) where id = any($1::bigint[])',
  holdSessions: 'update member_sessions set held_at = coalesce(held_at, $2) where id = any($1::bigint[])',
  holdCodes:
    'update member_codes set held_at = coalesce(held_at, $2) where member_id = any($1::bigint[]) and created_at >= $3',
  freeMembers: 'update partner_members set held_at = null where id = any($1::bigint[])',
  freePasskeys: 'update member_passkeys set held_at = null where id = any($1::bigint[])',
  freeSessions: 'update member_sessions set held_at = null where id = any($1::bigint[])',
  freeCodes: 'update member_codes set held_at = null where member_id = any($1::bigint[])',
  revokePasskeys: 'update member_passkeys set revoked_at = coalesce(revoked_at, $2) where id = any($1::bigint[])',
  endSessions: 'update member_sessions set ended_at = coalesce(ended_at, $2) where id = any($1::bigint[])',
  dropCodes: 'delete from member_codes where member_id = any($1::bigint[]) and held_at is not null',
  alive: 'select id from partner_members where partner_id = $1 and id = any($2::bigint[]) and disabled_at is null',
} as const;

/** What was made since in the team of a partner, by any of its members or by operators. */
export const teamSince = (tx: Tx, input: { partnerId: bigint; since: Date; now: Date }): Promise<TeamItem[]> =>
  tx.rows<TeamItem>(sql.since, [input.partnerId, input.since, input.now]);

type Subjects = Readonly<Record<TeamKind, readonly string[]>>;
const subjectsOf = (items: readonly { kind: string; subject: string }[]): Subjects => {
  const of = (kind: TeamKind) => items.filter((one) => one.kind === kind).map(({ subject }) => subject);
  return { member: of('member'), passkey: of('passkey'), session: of('session'), code: of('code') };
};

/** Holds these items, until they are freed or removed. Items of other kinds are ignored. */
export async function holdTeam(
  tx: Tx,
  items: readonly { kind: string; subject: string }[],
  { since, now }: { since: Date; now: Date },
): Promise<void> {
  const { member, passkey, session, code } = subjectsOf(items);
  if (member.length > 0) await tx.run(sql.holdMembers, [member, now]);
  if (passkey.length > 0) await tx.run(sql.holdPasskeys, [passkey, now]);
  if (session.length > 0) await tx.run(sql.holdSessions, [session, now]);
  if (code.length > 0) await tx.run(sql.holdCodes, [code, now, since]);
}

export async function freeTeam(tx: Tx, items: readonly { kind: string; subject: string }[]): Promise<void> {
  const { member, passkey, session, code } = subjectsOf(items);
  if (member.length > 0) await tx.run(sql.freeMembers, [member]);
  if (passkey.length > 0) await tx.run(sql.freePasskeys, [passkey]);
  if (session.length > 0) await tx.run(sql.freeSessions, [session]);
  if (code.length > 0) await tx.run(sql.freeCodes, [code]);
}

/**
 * Removes rejected passkeys, sessions and codes for good.
 *
 * @returns the rejected members, whom the caller removes; those who were removed meanwhile are left out
 */
export async function removeHeld(
  tx: Tx,
  items: readonly { kind: string; subject: string }[],
  { partnerId, now }: { partnerId: bigint; now: Date },
): Promise<bigint[]> {
  const { member, passkey, session, code } = subjectsOf(items);
  if (passkey.length > 0) await tx.run(sql.revokePasskeys, [passkey, now]);
  if (session.length > 0) await tx.run(sql.endSessions, [session, now]);
  if (code.length > 0) await tx.run(sql.dropCodes, [code]);
  if (member.length === 0) return [];
  return (await tx.rows<{ id: bigint }>(sql.alive, [partnerId, member])).map(({ id }) => id);
}
