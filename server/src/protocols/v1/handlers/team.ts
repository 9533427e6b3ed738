/**
 * The team, its keys, its activity, and settings. Members and keys are rows of the system role, so each is first checked to
 * belong to the partner.
 */

import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { encryptTyped, openTyped } from '../../../base/typed.ts';
import {
  type Activity,
  activityOf,
  changeKey,
  createKey,
  findKey,
  keysOf,
  MAX_ACTIVITY,
  recordActivity,
  revokeKey,
  rotateKey,
  type Scope,
  type ShownKey,
  setOrigins,
} from '../../../partners/index.ts';
import {
  changeMemberRole,
  invitationsOf,
  inviteAgain,
  inviteMember,
  type Member,
  type MemberRole,
  memberOf,
  membersOf,
  removeMember,
  signOutMember,
} from '../../../team/index.ts';
import { KEYS, SETTINGS, TEAM } from '../declared/team.ts';
import type { V1Deps } from '../handler.ts';
import { type Asked, byOf, type Handled, reads, throughOf, writes } from '../handler.ts';
import { cursorOf, readCursor } from '../pages.ts';
import { type Is, iso, isoOrNull } from '../shapes.ts';

const PAGE = 50;
const MOST_KEYS = 100;
const DEFAULT_OVERLAP_S = 24 * 3_600;

const memberShape = (member: Member, invitedUntil: Date | undefined): Is<'Member'> => ({
  ...{ id: String(member.id), name: member.name, role: member.role },
  state: member.disabledAt !== null ? 'removed' : member.joinedAt === null ? 'invited' : 'active',
  invitedBy: member.invitedBy,
  invitedUntil: isoOrNull(invitedUntil ?? null),
  createdAt: iso(member.createdAt),
  joinedAt: isoOrNull(member.joinedAt),
  removedAt: isoOrNull(member.disabledAt),
});

const invitation = (
  deps: V1Deps,
  { member, code, expiresAt }: { member: Member; code: string; expiresAt: Date },
): Is<'Invitation'> => ({
  member: memberShape(member, expiresAt),
  // The code is in the fragment, which browsers send to no server, so it is in no log.
  url: `${deps.publicUrl()}/partner/join#${code}`,
  expiresAt: iso(expiresAt),
});

type AboutMember = Asked<(typeof TEAM.remove)['fields']>;
const ofTeam = {
  as: 'system',
  check: async (tx: Tx, { caller, values }: AboutMember): Promise<void> =>
    void (await memberOf(tx, caller.partner.id, values.member)),
} as const;

const noteMember = (
  tx: Tx,
  { caller, now }: Asked,
  action: 'member.invited' | 'member.role_changed' | 'member.signed_out' | 'member.removed',
  { id, name, role }: Member,
  more: { was?: MemberRole } = {},
): void =>
  recordActivity(tx, throughOf(caller), { action, subject: `member:${id}`, facts: { name, role, ...more }, now });

const TEAM_OF: readonly Handled[] = [
  reads(TEAM.list, async ({ caller, deps, now }) => {
    const { id } = caller.partner;
    const [members, open] = await Promise.all([
      deps.db.readOnlyAsPartner(id, (tx) => membersOf(tx, id)),
      deps.db.asSystem((tx) => invitationsOf(tx, id, now)),
    ]);
    return { data: members.map((member) => memberShape(member, open.get(member.id))) };
  }),
  writes(
    TEAM.invite,
    async (tx, asked) => {
      const { caller, values, deps, now } = asked;
      const made = await inviteMember(tx, { ...values, partnerId: caller.partner.id, by: byOf(caller), now });
      noteMember(tx, asked, 'member.invited', made.member);
      return invitation(deps, made);
    },
    { as: 'system' },
  ),
  writes(
    TEAM.inviteAgain,
    async (tx, asked) => {
      const { caller, values, deps, now } = asked;
      const made = await inviteAgain(tx, { partnerId: caller.partner.id, id: values.member, now });
      noteMember(tx, asked, 'member.invited', made.member);
      return invitation(deps, made);
    },
    ofTeam,
  ),
  writes(
    TEAM.changeRole,
    async (tx, asked) => {
      const { caller, values } = asked;
      const asks = { partnerId: caller.partner.id, id: values.member, role: values.role };
      const { member, was } = await changeMemberRole(tx, asks);
      noteMember(tx, asked, 'member.role_changed', member, { was });
      return memberShape(member, undefined);
    },
    ofTeam as never,
  ),
  writes(
    TEAM.signOut,
    async (tx, asked) => {
      const { caller, values, now } = asked;
      const member = await signOutMember(tx, { partnerId: caller.partner.id, id: values.member, now });
      noteMember(tx, asked, 'member.signed_out', member);
      return memberShape(member, undefined);
    },
    ofTeam,
  ),
  writes(
    TEAM.remove,
    async (tx, asked) => {
      const { caller, values, now } = asked;
      // The activity below checks a member who removes another one. It cannot check a member who leaves.
      const isSelf = caller.member?.member.id === values.member;
      const member = await removeMember(tx, { partnerId: caller.partner.id, id: values.member, now });
      if (!isSelf) noteMember(tx, asked, 'member.removed', member);
      return memberShape(member, undefined);
    },
    ofTeam,
  ),
  reads(TEAM.activity, ({ caller, values, readOnly }) => {
    const { cursor, limit = PAGE, from, until } = values;
    return readOnly(async (tx) => {
      const partnerId = caller.partner.id;
      const most = Math.min(limit, MAX_ACTIVITY - 1);
      const input = { partnerId, since: from, until, below: readCursor(cursor), limit: most + 1 };
      const [rows, members] = [await activityOf(tx, input), await membersOf(tx, partnerId)];
      const names = new Map(members.map(({ id, name }) => [id, name]));
      const shown = rows.slice(0, most);
      return {
        data: shown.map((row) => ({
          ...{ id: String(row.id), at: iso(row.at), action: row.action, subject: row.subject },
          by: whoDid(row, names),
        })),
        nextCursor: rows.length > most ? cursorOf(shown.at(-1)?.id ?? null) : null,
      };
    });
  }),
];

function whoDid({ member, apiKey, link }: Activity, names: ReadonlyMap<bigint, string>): string {
  if (link !== null) return 'a customer, by link';
  return member === null ? `key ${apiKey}` : `member ${names.get(member) ?? member}`;
}

const keyShape = (one: ShownKey, { deps, now }: Pick<Asked, 'deps' | 'now'>): Is<'ApiKey'> => ({
  ...{ key: one.key, label: openTyped(deps.vault, one.label) },
  ...{ scopes: one.scopes as Scope[], networks: [...one.addresses] },
  state:
    one.revokedAt !== null
      ? 'revoked'
      : one.heldAt !== null
        ? 'held'
        : one.expiresAt !== null && one.expiresAt <= now
          ? 'expired'
          : 'active',
  mustSign: deps.profile === 'production' && !one.unsignedWrites,
  rotatingUntil: one.rotatingUntil !== null && one.rotatingUntil > now ? iso(one.rotatingUntil) : null,
  expiresAt: isoOrNull(one.expiresAt),
  lastUsedAt: isoOrNull(one.lastUsedAt),
  createdAt: iso(one.createdAt),
  revokedAt: isoOrNull(one.revokedAt),
});

/** @throws Refusal 'unknown_key', also for another partner's */
async function ownKey(
  tx: Tx,
  { caller, values }: { caller: Asked['caller']; values: { key: string } },
): Promise<ShownKey> {
  const found = await findKey(tx, values.key);
  if (found === undefined || found.partnerId !== caller.partner.id) throw new Refusal('unknown_key');
  return found;
}
async function liveKey(tx: Tx, asked: Parameters<typeof ownKey>[1]): Promise<ShownKey> {
  const found = await ownKey(tx, asked);
  if (found.revokedAt !== null || found.heldAt !== null) throw new Refusal('unknown_key');
  return found;
}
type AboutKey = Asked<(typeof KEYS.revoke)['fields']>;
const ofKeys = {
  as: 'system',
  check: async (tx: Tx, asked: AboutKey): Promise<void> => void (await ownKey(tx, asked)),
} as const;

const noteKey = (
  tx: Tx,
  { caller, now }: Asked,
  action: 'key.made' | 'key.changed' | 'key.rotated' | 'key.revoked',
  key: string,
): void => recordActivity(tx, throughOf(caller), { action, subject: `key:${key}`, now });

const KEYS_OF: readonly Handled[] = [
  reads(KEYS.list, (asked) =>
    asked.readOnly(async (tx) => ({
      data: (await keysOf(tx, asked.caller.partner.id)).map((one) => keyShape(one, asked)),
    })),
  ),
  writes(
    KEYS.create,
    async (tx, asked) => {
      const { caller, values, deps, now } = asked;
      const partnerId = caller.partner.id;
      if (values.expiresAt !== undefined && values.expiresAt <= now)
        throw new Refusal('malformed_field', { fields: { expiresAt: 'must be in the future' } });
      const { networks = [], expiresAt } = values;
      const label = encryptTyped(deps.vault, values.label);
      const live = (await keysOf(tx, partnerId)).filter(({ revokedAt }) => revokedAt === null);
      if (live.length >= MOST_KEYS) throw new Refusal('too_many_keys', { most: MOST_KEYS });
      const made = { partnerId, label, scopes: [...new Set(values.scopes)], addresses: networks, expiresAt, now };
      const { apiKey, apiSecret, bearerToken } = await createKey(tx, deps.vault, made);
      noteKey(tx, asked, 'key.made', apiKey);
      const shown = keyShape(await ownKey(tx, { caller, values: { key: apiKey } }), asked);
      return { ...shown, secret: apiSecret, bearerToken };
    },
    { as: 'system' },
  ),
  writes(
    KEYS.update,
    async (tx, asked) => {
      const { values, deps } = asked;
      const before = await liveKey(tx, asked);
      await changeKey(tx, {
        key: before.key,
        label: values.label === undefined ? before.label : encryptTyped(deps.vault, values.label),
        scopes: [...new Set(values.scopes ?? (before.scopes as Scope[]))],
        addresses: values.networks ?? before.addresses,
      });
      noteKey(tx, asked, 'key.changed', before.key);
      return keyShape(await ownKey(tx, asked), asked);
    },
    ofKeys as never,
  ),
  writes(
    KEYS.rotate,
    async (tx, asked) => {
      const { values, deps, now } = asked;
      const { key } = await liveKey(tx, asked);
      const overlapMs = (values.overlapSeconds ?? DEFAULT_OVERLAP_S) * 1_000;
      const { apiSecret, bearerToken } = await rotateKey(tx, deps.vault, { key, now, overlapMs });
      noteKey(tx, asked, 'key.rotated', key);
      const shown = keyShape(await ownKey(tx, asked), asked);
      return { ...shown, rotatingUntil: iso(later(now, overlapMs)), secret: apiSecret, bearerToken };
    },
    ofKeys as never,
  ),
  writes(
    KEYS.revoke,
    async (tx, asked) => {
      const { caller, values, now } = asked;
      await revokeKey(tx, values.key, now);
      // A key that revokes itself cannot record its activity any more.
      if (caller.credential.key !== values.key) noteKey(tx, asked, 'key.revoked', values.key);
      return keyShape(await ownKey(tx, asked), asked);
    },
    ofKeys,
  ),
];

const settingsShape = ({ name, corsOrigins }: { name: string; corsOrigins: readonly string[] }): Is<'Settings'> => ({
  name,
  origins: [...corsOrigins],
});

const SETTINGS_OF: readonly Handled[] = [
  reads(SETTINGS.get, async ({ caller }) => settingsShape(caller.partner)),
  writes(
    SETTINGS.update,
    async (tx, { caller, values, now }) => {
      const { id } = caller.partner;
      const corsOrigins = [...new Set(values.origins)];
      await setOrigins(tx, id, corsOrigins);
      const facts = { origins: corsOrigins };
      recordActivity(tx, throughOf(caller), { action: 'settings.changed', subject: `partner:${id}`, facts, now });
      return settingsShape({ ...caller.partner, corsOrigins });
    },
    { as: 'system' },
  ),
];

export const TEAM_HANDLERS: readonly Handled[] = [...TEAM_OF, ...KEYS_OF, ...SETTINGS_OF];
