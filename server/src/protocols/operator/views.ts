/**
 * Saving and deleting one's own views of lists. Like logins they are no actions: they change what one person is shown, so no reason
 * is asked for, and the audit has the number of the view and its list, without its name and its filters.
 */
import type { FastifyRequest } from 'fastify';
import { deleteView, saveView } from '../../operators/index.ts';
import { encryptFields } from '../declaration/fields.ts';
import type { Caller } from './action.ts';
import { SESSIONS } from './declared/session.ts';
import type { OperatorDeps } from './deps.ts';
import { type Route, record } from './signin.ts';

export function viewRoutes(
  { db, vault, clock }: OperatorDeps,
  route: Route,
  callerOf: (request: FastifyRequest) => Caller,
): void {
  route(SESSIONS.saveView, async (input, request) => {
    const caller = callerOf(request);
    const now = clock.now();
    const given = encryptFields(vault, SESSIONS.saveView.fields, input);
    return await db.asSystem(async (tx) => {
      const view = await saveView(tx, vault, { ...given, operatorId: caller.operator.id, now });
      await record(tx, caller, {
        action: 'view.save',
        reason: 'a view of a list',
        now,
        after: { view, page: given.page },
      });
      return { view };
    });
  });
  route(SESSIONS.deleteView, async ({ view }, request) => {
    const caller = callerOf(request);
    const now = clock.now();
    return await db.asSystem(async (tx) => {
      const page = await deleteView(tx, { operatorId: caller.operator.id, view });
      await record(tx, caller, { action: 'view.delete', reason: 'deleted by its owner', now, after: { view, page } });
      return { deleted: true };
    });
  });
}
