/**
 * Single sign-on over HTTP. The browser goes to the provider and returns to a page of the console, which sends the query of its
 * URL here. So the answer comes from our own page with the cookie of the browser that began the login, which a page of another
 * site cannot send (SameSite=Strict). No parameter names a page to open after the login.
 *
 * Not here: the protocol (base/oidc.ts), bindings of accounts and the strength of a login (operators/identities.ts).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal, Unavailable } from '../../base/errors.ts';
import type { Attempt } from '../../base/oidc.ts';
import {
  beginSession,
  beginSsoLogin,
  checkLogin,
  loginOptions,
  operatorOfAccount,
  operatorOfIdentity,
  takeSsoLogin,
  worthOf,
} from '../../operators/index.ts';
import { cookieNamed, STEP_UP_MS, siteOf } from '../browser.ts';
import { SSO } from './declared/sso.ts';
import type { OperatorDeps, SingleSignOn } from './deps.ts';
import { COOKIE, type Route, record, shownSession } from './signin.ts';

/** Cookie of a login under way. */
const LOGIN = cookieNamed('console-sso');
/** Page of the console to which the provider redirects; it must be registered there. */
const ANSWER_PAGE = '/console/sso';

const attemptOf = (deps: OperatorDeps, sso: SingleSignOn, secret: string): Attempt => ({
  secret,
  redirectUri: `${siteOf(deps).origin}${ANSWER_PAGE}`,
  maxAgeS: sso.policy.isFresh ? STEP_UP_MS / 1_000 : undefined,
});

/** @throws Refusal 'sso_off' */
function setUp({ sso }: OperatorDeps): SingleSignOn {
  if (sso === undefined) throw new Refusal('sso_off');
  return sso;
}

/** @throws Refusal 'sso_unavailable' */
async function askedOf<T>({ orders }: OperatorDeps, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refusal)
      orders.log.warn({ reason: error.code, why: error.facts.why }, 'a login at the provider was declined');
    if (!(error instanceof Unavailable)) throw error;
    orders.log.warn({ why: error.message }, 'the provider of single sign-on is unavailable');
    throw new Refusal('sso_unavailable');
  }
}

export function ssoRoutes(deps: OperatorDeps, route: Route): void {
  const { db, vault, clock } = deps;

  /** The request's address, and the session that the new one replaces. */
  const cameFrom = (request: FastifyRequest) => ({ address: request.ip, replaces: COOKIE.in(deps, request) });
  const signsIn = (reply: FastifyReply, secret: string) =>
    reply.header('set-cookie', [COOKIE.of(deps, secret), LOGIN.ended(deps)]);

  route(SSO.provider, async () => ({ provider: deps.sso?.name ?? null, stepUp: deps.sso?.policy.isFresh === true }));

  route(SSO.begin, async ({ again: isAgain = false }, _request, reply) => {
    const sso = setUp(deps);
    const secret = await db.asSystem((tx) => beginSsoLogin(tx, clock.now()));
    const url = await askedOf(deps, () =>
      sso.client.begin(attemptOf(deps, sso, secret), { proofs: sso.policy.strong, isAgain }),
    );
    reply.header('set-cookie', LOGIN.of(deps, secret));
    return { url };
  });

  route(SSO.finish, async ({ answer }, request, reply) => {
    const sso = setUp(deps);
    const now = clock.now();
    const { secret: begun, identity: proved } = await takeSsoLogin(db, LOGIN.in(deps, request), now);
    if (proved !== null) throw new Refusal('sso_expired');
    const claims = await askedOf(deps, () => sso.client.finish(attemptOf(deps, sso, begun), answer));
    const { isEnough, freshAt } = worthOf(claims, sso.policy, now);
    return await db.asSystem(async (tx) => {
      const { issuer } = sso.client;
      const { operator, identity } = await operatorOfAccount(tx, vault, { ...claims, issuer });
      if (!isEnough) {
        const options = await loginOptions(tx, siteOf(deps), now);
        reply.header('set-cookie', LOGIN.of(deps, await beginSsoLogin(tx, now, identity)));
        return { signedIn: null, options };
      }
      const by = { identityId: identity, freshAt };
      const { secret, ...session } = await beginSession(tx, {
        ...{ ...cameFrom(request), operatorId: operator.id, by, now },
      });
      const proof = claims.proofs.find((one) => sso.policy.strong.includes(one));
      await record(
        tx,
        { operator, address: request.ip, session },
        { action: 'session.begin', reason: 'single sign-on', now, after: { session: session.id, identity, proof } },
      );
      const signedIn = await shownSession(deps, tx, operator, session);
      signsIn(reply, secret);
      return { signedIn, options: null };
    });
  });

  route(SSO.passkey, async ({ credential }, request, reply) => {
    setUp(deps);
    const now = clock.now();
    const { identity } = await takeSsoLogin(db, LOGIN.in(deps, request), now);
    if (identity === null) throw new Refusal('sso_expired');
    const { operator, begin } = await checkLogin(db, { credential, site: siteOf(deps), now });
    return await db.asSystem(async (tx) => {
      if ((await operatorOfIdentity(tx, identity)).id !== operator.id) throw new Refusal('sso_other_operator');
      const { secret, ...session } = await begin(tx, cameFrom(request));
      await record(
        tx,
        { operator, address: request.ip, session },
        {
          ...{ action: 'session.begin', reason: 'single sign-on and a passkey', now },
          after: { session: session.id, identity },
        },
      );
      const shown = await shownSession(deps, tx, operator, session);
      signsIn(reply, secret);
      return shown;
    });
  });
}
