/**
 * The caller of a request to the operator API, identified by a token or by the session of a browser. `identify` handles both.
 *
 * Actions by session that move money or grant rights need a login of the last ten minutes.
 *
 * Cookies and origins are browser.ts; sessions and passkeys themselves are operators/sessions.ts.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../base/errors.ts';
import {
  checkEnrolment,
  checkLogin,
  endSession,
  enrolOptions,
  loginOptions,
  operatorOf,
  operatorOfSession,
  passkeysOf,
  revokePasskey,
  sessionsOf,
  viewsOf,
} from '../../operators/index.ts';
import { addressAllowed } from '../authorize.ts';
import { requireOwnSite, siteOf } from '../browser.ts';
import type { Caller } from './action.ts';
import { SESSIONS } from './declared/session.ts';
import type { OperatorDeps } from './deps.ts';
import { requireFresh } from './fresh.ts';
import { type Read, read } from './read.ts';
import { recoveryRoutes } from './recover.ts';
import { COOKIE, type Inside, record, routeIn, shownSession } from './signin.ts';
import { ssoRoutes } from './sso.ts';
import { viewRoutes } from './views.ts';

/** @throws Refusal 'unauthenticated' | 'cross_site' */
export async function identify(deps: OperatorDeps, request: FastifyRequest): Promise<Caller> {
  const now = deps.clock.now();
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const token = /^Bearer ([\x21-\x7e]{20,200})$/.exec(authorization)?.[1];
    const operator = token === undefined ? undefined : await deps.db.asSystem((tx) => operatorOf(tx, token, now));
    if (operator === undefined) throw new Refusal('unauthenticated');
    return { operator, address: request.ip };
  }
  const secret = COOKIE.in(deps, request);
  const found = secret === undefined ? undefined : await deps.db.asSystem((tx) => operatorOfSession(tx, secret, now));
  if (found === undefined) throw new Refusal('unauthenticated');
  if (request.method !== 'GET' && request.method !== 'HEAD') requireOwnSite(deps, request);
  return { ...found, address: request.ip };
}

export const SESSION_READS: readonly Read[] = [
  read({
    ...SESSIONS.self,
    answer: (deps, tx, _input, { operator, session }) => shownSession(deps, tx, operator, session),
  }),
  read({
    ...SESSIONS.list,
    answer: async ({ clock }, tx, _input, { operator, session }) => ({
      sessions: (await sessionsOf(tx, operator.id, clock.now())).map((one) => ({
        ...{ id: one.id, address: one.address, passkey: one.passkeyId },
        ...{ since: one.begunAt, seen: one.lastSeenAt, expires: one.expiresAt },
        current: one.id === session?.id,
      })),
    }),
  }),
  read({
    ...SESSIONS.passkeys,
    answer: async (_deps, tx, _input, { operator }) => ({
      passkeys: (await passkeysOf(tx, operator.id)).map((one) => ({
        ...{ id: one.id, since: one.createdAt, used: one.lastUsedAt },
      })),
    }),
  }),
  read({
    ...SESSIONS.network,
    answer: async ({ networks = [] }, _tx, _input, { address }) => ({
      ...{ address, networks, setting: 'OPERATOR_NETWORKS' },
      within: networks.filter((one) => addressAllowed([one], address)),
    }),
  }),
  read({
    ...SESSIONS.views,
    answer: async (_deps, tx, _input, { operator }) => ({ views: await viewsOf(tx, operator.id) }),
  }),
];

/** Mounts the endpoints of logins, passkeys and sessions. */
export function sessionRoutes(deps: OperatorDeps, inside: FastifyInstance, o: Inside): void {
  const { db } = deps;
  const route = routeIn(deps, inside, o);
  recoveryRoutes(deps, route, o.callerOf);
  ssoRoutes(deps, route);
  viewRoutes(deps, route, o.callerOf);

  route(SESSIONS.loginOptions, async () => ({
    options: await db.asSystem((tx) => loginOptions(tx, siteOf(deps), deps.clock.now())),
  }));
  route(SESSIONS.login, async ({ credential }, request, reply) => {
    const now = deps.clock.now();
    const { operator, begin } = await checkLogin(db, { credential, site: siteOf(deps), now });
    return await db.asSystem(async (tx) => {
      const { secret, ...session } = await begin(tx, { address: request.ip, replaces: COOKIE.in(deps, request) });
      const caller = { operator, address: request.ip, session };
      await record(tx, caller, { action: 'session.begin', reason: 'a passkey', now, after: { session: session.id } });
      const shown = await shownSession(deps, tx, operator, session);
      reply.header('set-cookie', COOKIE.of(deps, secret));
      return shown;
    });
  });
  const end = async (request: FastifyRequest, session: bigint | undefined): Promise<object> => {
    const caller = o.callerOf(request);
    if (session === undefined) throw new Refusal('unknown_session');
    const now = deps.clock.now();
    await db.asSystem(async (tx) => {
      await endSession(tx, { operatorId: caller.operator.id, session, now });
      await record(tx, caller, { action: 'session.end', reason: 'logout', now, after: { session } });
    });
    return { ended: true };
  };
  route(SESSIONS.logout, async (_input, request, reply) => {
    const ended = await end(request, o.callerOf(request).session?.id);
    reply.header('set-cookie', COOKIE.ended(deps));
    return ended;
  });
  route(SESSIONS.end, (input, request) => end(request, input.session));

  route(SESSIONS.enrolOptions, async (_input, request) => {
    const caller = o.callerOf(request);
    const now = deps.clock.now();
    requireFresh(caller, now);
    return { options: await db.asSystem((tx) => enrolOptions(tx, caller.operator, siteOf(deps), now)) };
  });
  route(SESSIONS.enrol, async ({ credential }, request) => {
    const caller = o.callerOf(request);
    const now = deps.clock.now();
    requireFresh(caller, now);
    const operatorId = caller.operator.id;
    const keep = await checkEnrolment(db, { credential, operatorId, site: siteOf(deps), now });
    return await db.asSystem(async (tx) => {
      const passkey = await keep(tx);
      await record(tx, caller, { action: 'passkey.enrol', reason: 'a new passkey', now, after: { passkey } });
      return { passkey };
    });
  });
  route(SESSIONS.revoke, async ({ passkey }, request) => {
    const caller = o.callerOf(request);
    const now = deps.clock.now();
    await db.asSystem(async (tx) => {
      await revokePasskey(tx, { operatorId: caller.operator.id, passkey, now });
      await record(tx, caller, { action: 'passkey.revoke', reason: 'revoked by its owner', now, after: { passkey } });
    });
    return { ended: true };
  });
}
