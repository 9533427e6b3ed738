/**
 * Shared by logins with passkey, recovery code and single sign-on: mounting and auditing their endpoints, and formatting a
 * session. These endpoints are not actions: no other person confirms them, and the server writes the reason in the audit.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import {
  may,
  type Operator,
  RIGHTS,
  type Right,
  recordAction,
  recoveryCodesOf,
  type Session,
} from '../../operators/index.ts';
import { cookieNamed, requireOwnSite, type SiteDeps, STEP_UP_MS } from '../browser.ts';
import { type Fields, givenBy, readFields, type Values } from '../declaration/fields.ts';
import { networkOf, openLimiter } from '../limit.ts';
import { type Caller, viaOf } from './action.ts';
import type { Declared } from './declare.ts';
import type { OperatorDeps } from './deps.ts';

const LOGINS_PER_MINUTE = 30;

/** Cookie of a session. */
export const COOKIE = cookieNamed('console');

export async function shownSession({ profile }: SiteDeps, tx: Tx, operator: Operator, session: Session | undefined) {
  return {
    name: operator.name,
    role: operator.role,
    rights: (Object.keys(RIGHTS) as Right[]).filter((right) => may(operator, right)),
    profile: profile ?? 'production',
    session: session?.id ?? null,
    since: session?.begunAt ?? null,
    expires: session?.expiresAt ?? null,
    stepUpUntil: session?.freshAt ? later(session.freshAt, STEP_UP_MS) : null,
    recoveryCodes: await recoveryCodesOf(tx, operator.id),
  };
}

export const record = (
  tx: Tx,
  { operator, address, session }: Caller,
  did: { action: string; reason: string; now: Date; after: unknown },
): Promise<void> =>
  recordAction(
    tx,
    { operator, people: [operator.name], address, reason: did.reason, now: did.now, via: viaOf({ session }) },
    { action: did.action, subject: `operator:${operator.name}`, outcome: 'done', after: did.after },
  );

/** Mounts a declared endpoint of a login, or of one's own passkeys. */
export type Route = <F extends Fields>(
  declared: Declared<F>,
  answer: (input: Values<F>, request: FastifyRequest, reply: FastifyReply) => Promise<object>,
) => void;
export interface Inside {
  /** The caller of an authenticated request. */
  callerOf: (request: FastifyRequest) => Caller;
  shown: (body: unknown) => Promise<unknown>;
}

/** Network and origin are checked for endpoints that need no session. */
export function routeIn(deps: OperatorDeps, inside: FastifyInstance, o: Inside): Route {
  const limiter = openLimiter();
  return (declared, answer) =>
    void inside.route({
      method: declared.method,
      url: declared.path,
      bodyLimit: 64 * 1024,
      config: { isOpen: declared.isOpen === true },
      handler: async (request, reply) => {
        if (declared.isOpen === true && declared.method !== 'GET') {
          requireOwnSite(deps, request);
          const { allowed, retryAfterMs } = limiter.take(
            networkOf(request.ip),
            deps.loginsPerMinute ?? LOGINS_PER_MINUTE,
          );
          if (!allowed) throw new Refusal('too_many_requests', { retryAfterMs });
        }
        const said = declared.method === 'DELETE' ? {} : (request.body ?? {});
        const body = await answer(readFields(declared.fields, givenBy(said, request.params)), request, reply);
        return await o.shown(body);
      },
    });
}
