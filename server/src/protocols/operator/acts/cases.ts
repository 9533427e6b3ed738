/** Acts on cases: who looks after one, what is noted, and that it is over. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { assignCase, closeCase, findCase, noteCase } from '../../../compliance/index.ts';
import { findOperator } from '../../../operators/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { id, orNone, typed } from '../fields.ts';
import { operatorName } from './operators.ts';

const subject = (ask: { case: bigint }): string => `case:${ask.case}`;

async function look(_deps: OperatorDeps, tx: Tx, ask: { case: bigint }): Promise<unknown> {
  const there = await findCase(tx, ask.case);
  if (there === undefined) throw new Refusal('unknown_case');
  const { kind, subject: about, assignee, outcome, closedAt } = there.found;
  return { kind, about, assignee, outcome, open: closedAt === null };
}

export const CASE_ACTS: readonly Act[] = [
  act({
    name: 'case.assign',
    path: '/cases/:case/assign',
    right: 'cases',
    fields: { case: id, to: orNone(operatorName) },
    subject,
    look,
    async perform(_deps, tx, ask, { operator, reason, now }) {
      const to = ask.to === 'none' ? null : (await findOperator(tx, ask.to)).name;
      await assignCase(tx, { id: ask.case, to, by: operator.name, why: reason, now });
    },
  }),
  // The reason is the note.
  act({
    name: 'case.note',
    path: '/cases/:case/note',
    right: 'cases',
    fields: { case: id },
    subject,
    look,
    async perform(_deps, tx, ask, { operator, reason, now }) {
      await noteCase(tx, { id: ask.case, what: 'noted', note: reason, by: operator.name, now });
    },
  }),
  act({
    name: 'case.close',
    path: '/cases/:case/close',
    right: 'cases',
    fields: { case: id, outcome: typed(200) },
    subject,
    look,
    async perform(_deps, tx, ask, { operator, now }) {
      await closeCase(tx, { id: ask.case, outcome: ask.outcome, by: operator.name, now });
    },
  }),
];
