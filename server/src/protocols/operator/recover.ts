/**
 * Recovery codes over HTTP: a code enrols a passkey without a token and without a session, and begins no session. Each use is
 * in the audit and opens a case, about which alerts notify people.
 *
 * Creating new codes needs a session with a fresh login: a token, which programs hold, must not be enough to gain lasting
 * access.
 */
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../base/errors.ts';
import { openCase } from '../../compliance/index.ts';
import {
  checkEnrolment,
  enrolOptions,
  newRecoveryCodes,
  operatorOfCode,
  recordAction,
  spendCode,
} from '../../operators/index.ts';
import { siteOf } from '../browser.ts';
import type { Caller } from './action.ts';
import { SESSIONS } from './declared/session.ts';
import type { OperatorDeps } from './deps.ts';
import { requireFresh } from './fresh.ts';
import { type Route, record } from './signin.ts';

/** @param callerOf the caller of an authenticated request */
export function recoveryRoutes(deps: OperatorDeps, route: Route, callerOf: (request: FastifyRequest) => Caller): void {
  const { db, clock } = deps;

  route(SESSIONS.recoverOptions, async ({ code }) => ({
    options: await db.asSystem(async (tx) =>
      enrolOptions(tx, await operatorOfCode(tx, code), siteOf(deps), clock.now()),
    ),
  }));

  route(SESSIONS.recover, async ({ code, credential }, request) => {
    const now = clock.now();
    const operator = await db.asSystem((tx) => operatorOfCode(tx, code));
    const keep = await checkEnrolment(db, { credential, operatorId: operator.id, site: siteOf(deps), now });
    return await db.asSystem(async (tx) => {
      const left = await spendCode(tx, { typed: code, operatorId: operator.id, now });
      const passkey = await keep(tx);
      const by = { operator, people: [operator.name], address: request.ip, now, via: 'recovery' };
      const did = { action: 'passkey.recover', subject: `operator:${operator.name}`, outcome: 'done' } as const;
      await recordAction(tx, { ...by, reason: 'a recovery code' }, { ...did, after: { passkey, left } });
      await openCase(tx, {
        kind: 'recovery_code_used',
        subject: `passkey:${passkey}`,
        reason: `${operator.name} enrolled a passkey with a recovery code, from ${request.ip}`,
        facts: { operator: operator.name, passkey, left },
        now,
      });
      return { passkey, recoveryCodes: left };
    });
  });

  route(SESSIONS.newCodes, async (_input, request) => {
    const caller = callerOf(request);
    const now = clock.now();
    if (caller.session === undefined) throw new Refusal('session_required');
    requireFresh(caller, now);
    return await db.asSystem(async (tx) => {
      const codes = await newRecoveryCodes(tx, caller.operator.id, now);
      await record(tx, caller, {
        action: 'recovery.codes',
        reason: 'new recovery codes',
        now,
        after: { codes: codes.length },
      });
      return { codes };
    });
  });
}
