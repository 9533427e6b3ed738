/**
 * Actions on cases: assigning, noting, closing.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { assignCase, closeCase, findCase, noteCase } from '../../../compliance/index.ts';
import { findOperator } from '../../../operators/index.ts';
import { type Action, action, type OperatorDeps } from '../action.ts';
import { CASES } from '../declared/cases.ts';

const subject = (input: { case: bigint }): string => `case:${input.case}`;

async function look(_deps: OperatorDeps, tx: Tx, input: { case: bigint }): Promise<unknown> {
  const there = await findCase(tx, input.case);
  if (there === undefined) throw new Refusal('unknown_case');
  const { kind, subject: about, assignee, outcome, closedAt } = there.found;
  return { kind, about, assignee, outcome, open: closedAt === null };
}

export const CASE_ACTIONS: readonly Action[] = [
  action({
    ...CASES.assign,
    subject,
    look,
    async perform(_deps, tx, input, { operator, reason, now }) {
      const to = input.to === 'none' ? null : (await findOperator(tx, input.to)).name;
      await assignCase(tx, { id: input.case, to, by: operator.name, why: reason, now });
    },
  }),
  // The reason is the note.
  action({
    ...CASES.note,
    subject,
    look,
    async perform(_deps, tx, input, { operator, reason, now }) {
      await noteCase(tx, { id: input.case, what: 'noted', note: reason, by: operator.name, now });
    },
  }),
  action({
    ...CASES.close,
    subject,
    look,
    async perform(_deps, tx, input, { operator, now }) {
      await closeCase(tx, { id: input.case, outcome: input.outcome, by: operator.name, now });
    },
  }),
];
