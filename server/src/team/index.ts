/**
 * The team of a partner: the people who sign in to the partners' console.
 *
 * A member belongs to one partner and has one role (roles.ts). An invited person gets a link with a code that lets them enrol a
 * passkey, once, within three days; a session always begins with a passkey (base/signin.ts). Ten recovery codes are shown when
 * the first passkey is enrolled: one of them lets the member enrol another passkey, and revokes the earlier ones.
 *
 * A team always keeps an owner who has joined. All writes use the system role, so the caller must have checked that the team is
 * the partner's own.
 *
 * Not here: cookies and requests (protocols/team), the right that each endpoint needs (protocols/v1/declared).
 */
import { createHash, randomBytes } from 'node:crypto';
import { later } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { hashOfRecoveryCode, makeRecoveryCodes } from '../base/recovery.ts';
import { openSignIn, type Session } from '../base/signin.ts';
import { closeActivity } from '../partners/index.ts';
import { removeHeld } from './held.ts';
import type { MemberRight, MemberRole } from './roles.ts';
import { RIGHTS_OF } from './roles.ts';
import { type CodeKind, MEMBER, type MemberRow, teamStore as store } from './store.ts';

export { freeTeam, holdTeam, TEAM_KINDS, teamSince } from './held.ts';
export {
  MEMBER_RIGHTS,
  MEMBER_ROLES,
  type MemberRight,
  type MemberRole,
  mayMember,
  RIGHTS_OF,
  takesFreshLogin,
} from './roles.ts';

const INVITED_FOR_MS = 3 * 24 * 3_600_000;
/** How long an operator has time to collect a link, as for the secret of a key. */
const COLLECTED_WITHIN_MS = 24 * 3_600_000;
const MOST_MEMBERS = 100n;

export interface Member {
  readonly id: bigint;
  readonly partnerId: bigint;
  readonly name: string;
  readonly role: MemberRole;
  readonly invitedBy: string;
  readonly createdAt: Date;
  /** When the first passkey was enrolled; null for a member who has not accepted the invitation. */
  readonly joinedAt: Date | null;
  readonly disabledAt: Date | null;
  /** The operator who may collect the link of an invitation that another one confirmed, and until when. */
  readonly linkFor: string | null;
  readonly linkUntil: Date | null;
  /** When a containment began to hold the member, who signs in by nothing meanwhile (held.ts). */
  readonly heldAt: Date | null;
}

const signIn = openSignIn<MemberRow>({
  ...{ prefix: 'member', people: 'partner_members', columns: MEMBER },
  ...{ lives: 'o.held_at is null', areHeld: true },
});
export const teamSignIn = {
  ...{ loginOptions: signIn.loginOptions, enrolOptions: signIn.enrolOptions, checkEnrolment: signIn.checkEnrolment },
  ...{ checkLogin: signIn.checkLogin, begin: signIn.begin, personOfSession: signIn.personOfSession },
  ...{ sessionsOf: signIn.sessionsOf, passkeysOf: signIn.passkeysOf, endSession: signIn.endSession },
  revokePasskey: signIn.revokePasskey,
};

/** A signed-in member, with the session. */
export interface AtWork {
  readonly member: Member;
  readonly session: Session;
}

export const rightsOf = ({ role }: Pick<Member, 'role'>): readonly MemberRight[] => RIGHTS_OF[role];

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Members of a team, removed ones last. */
export const membersOf = (tx: Tx, partnerId: bigint): Promise<Member[]> => store.list(tx, partnerId);

/** @throws Refusal 'unknown_member', also for a member of another partner */
export async function memberOf(tx: Tx, partnerId: bigint, id: bigint): Promise<Member> {
  const found = await store.byId(tx, partnerId, id);
  if (found === undefined) throw new Refusal('unknown_member');
  return found;
}

/** Expiry of open invitations, by member. */
export const invitationsOf = async (tx: Tx, partnerId: bigint, now: Date): Promise<ReadonlyMap<bigint, Date>> =>
  new Map((await store.invited(tx, partnerId, now)).map(({ memberId, until }) => [memberId, until]));

async function newInvitation(tx: Tx, memberId: bigint, now: Date): Promise<{ code: string; expiresAt: Date }> {
  const code = randomBytes(32).toString('base64url');
  const expiresAt = later(now, INVITED_FOR_MS);
  await store.dropCodes(tx, memberId, 'invitation');
  await store.reserveLink(tx, memberId, null, null);
  await store.insertCode(tx, { hash: hashOf(code), memberId, kind: 'invitation', now, expiresAt });
  return { code, expiresAt };
}

interface NewMember {
  partnerId: bigint;
  name: string;
  role: MemberRole;
  /** `operator ada` or `member bob`. */
  by: string;
  now: Date;
}

/** Adds a member without a link. @throws Refusal 'member_exists' | 'too_many_members' */
export async function addMember(tx: Tx, m: NewMember): Promise<Member> {
  if ((await store.count(tx, m.partnerId)) >= MOST_MEMBERS)
    throw new Refusal('too_many_members', { most: Number(MOST_MEMBERS) });
  const member = await store.insert(tx, m);
  if (member === undefined) throw new Refusal('member_exists');
  return member;
}

/**
 * Adds a member. @returns also the invitation's code, which cannot be read again later
 *
 * @throws Refusal 'member_exists' | 'too_many_members'
 */
export async function inviteMember(tx: Tx, m: NewMember): Promise<{ member: Member; code: string; expiresAt: Date }> {
  const member = await addMember(tx, m);
  return { member, ...(await newInvitation(tx, member.id, m.now)) };
}

/**
 * Lets one operator collect a link for this member within a day (`collectLink`). Earlier invitations end now.
 *
 * @throws Refusal 'unknown_member'
 */
export async function reserveLink(
  tx: Tx,
  m: { partnerId: bigint; id: bigint; linkFor: string; now: Date },
): Promise<{ linkFor: string; linkUntil: Date }> {
  await active(tx, m);
  const linkUntil = later(m.now, COLLECTED_WITHIN_MS);
  await store.dropCodes(tx, m.id, 'invitation');
  await store.reserveLink(tx, m.id, m.linkFor, linkUntil);
  return { linkFor: m.linkFor, linkUntil };
}

/**
 * Creates the code that waits for this operator, once.
 *
 * @throws Refusal 'unknown_member' | 'no_link_waits' when it was collected, is for another operator, or a day has passed
 */
export async function collectLink(
  tx: Tx,
  m: { partnerId: bigint; id: bigint; by: string; now: Date },
): Promise<{ code: string; expiresAt: Date }> {
  await active(tx, m);
  if ((await store.takeLink(tx, m.id, m.by, m.now)) === undefined) throw new Refusal('no_link_waits');
  return await newInvitation(tx, m.id, m.now);
}

/** Until `tx` ends, no member of the team joins, changes or is removed. */
export const lockTeam = async (tx: Tx, partnerId: bigint): Promise<void> => void (await store.lockTeam(tx, partnerId));

/**
 * Creates a new code for a member who lost the link, or every passkey and recovery code. Earlier invitations end.
 *
 * @param m.evenJoined allows it for a member who has joined. The holder of the code becomes that member, so only an operator
 * may do
 *   this, and not a colleague
 * @throws Refusal 'unknown_member' | 'member_joined'
 */
export async function inviteAgain(
  tx: Tx,
  m: { partnerId: bigint; id: bigint; now: Date; evenJoined?: boolean },
): Promise<{ member: Member; code: string; expiresAt: Date }> {
  const member = await active(tx, m);
  if (member.joinedAt !== null && m.evenJoined !== true) throw new Refusal('member_joined');
  return { member, ...(await newInvitation(tx, member.id, m.now)) };
}

async function active(tx: Tx, { partnerId, id }: { partnerId: bigint; id: bigint }): Promise<Member> {
  await store.lockTeam(tx, partnerId);
  const member = await memberOf(tx, partnerId, id);
  if (member.disabledAt !== null) throw new Refusal('unknown_member');
  return member;
}

async function requireAnotherOwner(tx: Tx, member: Member): Promise<void> {
  if (member.role !== 'owner') return;
  if ((await store.otherOwners(tx, member.partnerId, member.id)) === 0n) throw new Refusal('last_owner');
}

/** @returns the member, and the role before. @throws Refusal 'unknown_member' | 'last_owner' */
export async function changeMemberRole(
  tx: Tx,
  m: { partnerId: bigint; id: bigint; role: MemberRole },
): Promise<{ member: Member; was: MemberRole }> {
  const member = await active(tx, m);
  if (m.role !== 'owner') await requireAnotherOwner(tx, member);
  await store.setRole(tx, m.id, m.role);
  return { member: { ...member, role: m.role }, was: member.role };
}

/**
 * Removes a member for good: passkeys, sessions and codes end. Once `tx` has committed, no request of the member is still
 * running.
 *
 * @param m.evenLast for operators, who may remove the last owner and invite another one
 * @throws Refusal 'unknown_member' | 'last_owner'
 */
export async function removeMember(
  tx: Tx,
  m: { partnerId: bigint; id: bigint; now: Date; evenLast?: boolean },
): Promise<Member> {
  await closeActivity(tx, m.partnerId);
  const member = await active(tx, m);
  if (m.evenLast !== true) await requireAnotherOwner(tx, member);
  await store.disable(tx, m.id, m.now);
  await store.dropCodes(tx, m.id, null);
  await signIn.revokeAccess(tx, m.id, m.now);
  return { ...member, disabledAt: m.now };
}

/** Removes what a containment held of the team and operators rejected: a member with everything that is theirs. */
export async function removeFromTeam(
  tx: Tx,
  items: readonly { kind: string; subject: string }[],
  r: { partnerId: bigint; now: Date },
): Promise<void> {
  for (const id of await removeHeld(tx, items, r)) await removeMember(tx, { ...r, id, evenLast: true });
}

/** Ends the member's sessions, held ones included; passkeys stay. */
export async function signOutMember(tx: Tx, m: { partnerId: bigint; id: bigint; now: Date }): Promise<Member> {
  const member = await active(tx, m);
  await signIn.endSessions(tx, m.id, m.now);
  return member;
}

/** Invitation codes come in a link; recovery codes are typed by a person. */
const hashOfCode = (code: string): Buffer => (/^[\w-]{43}$/.test(code) ? hashOf(code) : hashOfRecoveryCode(code));

/** The member of a code, as a person typed it. Does not use the code up. @throws Refusal 'unauthenticated' */
export async function memberOfCode(tx: Tx, typed: string, now: Date): Promise<{ member: Member; kind: CodeKind }> {
  const found = await store.code(tx, hashOfCode(typed), now);
  if (found === undefined) throw new Refusal('unauthenticated');
  const { kind, ...member } = found;
  return { member, kind };
}

/**
 * Uses up a code, for a member who has enrolled a passkey with it. All earlier passkeys and sessions end, because the member
 * has none or has lost them.
 *
 * @throws Refusal 'unauthenticated' when another request used the code first
 */
export async function spendCode(tx: Tx, c: { typed: string; member: Member; now: Date }): Promise<void> {
  const taken = await store.takeCode(tx, hashOfCode(c.typed), c.member.id, c.now);
  if (taken === undefined) throw new Refusal('unauthenticated');
  await signIn.revokeAccess(tx, c.member.id, c.now);
  await store.join(tx, c.member.id, c.now);
}

/** Creates recovery codes and ends the earlier ones. @returns the codes, which cannot be read again later */
export async function newRecoveryCodes(tx: Tx, memberId: bigint, now: Date): Promise<string[]> {
  await store.dropCodes(tx, memberId, 'recovery');
  const codes = makeRecoveryCodes();
  for (const { hash } of codes) await store.insertCode(tx, { hash, memberId, kind: 'recovery', now, expiresAt: null });
  return codes.map(({ shown }) => shown);
}

export const recoveryCodesLeft = (tx: Tx, memberId: bigint): Promise<number> => store.countRecovery(tx, memberId);

/** Deletes expired sessions and codes. */
export async function purgeTeams(db: Database, now: Date): Promise<void> {
  await signIn.purge(db, now);
  await db.asSystem((tx) => store.purgeCodes(tx, now));
}
