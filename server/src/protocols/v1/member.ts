/**
 * Requests of the team: a member in a browser, by the session of a passkey, beside the keys of programs. A session belongs to
 * one partner and sees the same data as a key of that partner. The member's role determines which endpoints it may call
 * (`member` in a declaration).
 *
 * A write by session must come from a page of this server (browser.ts), and needs a login of the last ten minutes if it moves
 * money, creates secrets or admits people.
 *
 * Not here: how a session begins (protocols/team).
 */
import type { FastifyRequest } from 'fastify';
import { later } from '../../base/clock.ts';
import { Refusal } from '../../base/errors.ts';
import { findPartner } from '../../partners/index.ts';
import { type AtWork, type MemberRight, mayMember, takesFreshLogin, teamSignIn } from '../../team/index.ts';
import { cookieNamed, requireOwnSite, STEP_UP_MS } from '../browser.ts';
import { type Declared, isWrite } from './declare.ts';
import type { Caller, V1Deps } from './handler.ts';
import { isSigned } from './signature.ts';
import { NEWEST } from './version.ts';

export const TEAM_COOKIE = cookieNamed('partner');

/** The right that a member needs if the declaration names none. */
const RIGHT_OF_SCOPE = { read: 'read', trade: 'orders', customers: 'customers', admin: 'develop' } as const;

export const memberRightOf = ({ scope, member }: Pick<Declared, 'scope' | 'member'>): MemberRight | 'none' =>
  member ?? RIGHT_OF_SCOPE[scope];

/** Undefined when the request has a key. @throws Refusal 'unauthenticated' | 'cross_site' */
export async function memberOfRequest(deps: V1Deps, request: FastifyRequest): Promise<Caller | undefined> {
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  if (headers.authorization !== undefined || isSigned({ headers })) return undefined;
  const secret = TEAM_COOKIE.in(deps, request);
  if (secret === undefined) return undefined;
  const now = deps.clock.now();
  const found = await deps.db.asSystem(async (tx) => {
    const known = await teamSignIn.personOfSession(tx, secret, now);
    if (known === undefined) return undefined;
    const partner = await findPartner(tx, { id: known.person.partnerId });
    return partner === undefined ? undefined : { partner, member: known.person, session: known.session };
  });
  if (found === undefined) throw new Refusal('unauthenticated', { why: 'the session has ended: sign in again' });
  if (request.method !== 'GET' && request.method !== 'HEAD') requireOwnSite(deps, request);
  const { partner, member, session } = found;
  return {
    partner,
    credential: {
      ...{ key: `member:${member.name}`, partner, scopes: [], secrets: [], addresses: [] },
      ...{ apiVersion: NEWEST, unsignedWrites: true },
    },
    ...{ secret: '', signature: undefined },
    member: { member, session },
  };
}

/** @throws Refusal 'partner_suspended' | 'key_required' | 'role_missing' | 'step_up_required' */
export function authorizeMember(
  { member, session }: AtWork,
  asked: { declared: Declared; suspended: boolean; now: Date },
): void {
  const { declared, suspended, now } = asked;
  if (suspended) throw new Refusal('partner_suspended');
  const right = memberRightOf(declared);
  if (right === 'none') throw new Refusal('key_required');
  if (!mayMember(member, right)) throw new Refusal('role_missing', { role: member.role, right });
  if (isWrite(declared) && takesFreshLogin(right) && now > later(session.begunAt, STEP_UP_MS))
    throw new Refusal('step_up_required');
}
