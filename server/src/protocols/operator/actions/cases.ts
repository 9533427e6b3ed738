/**
 * Actions on cases: assigning, noting, closing, and files attached to them.
 *
 * Attaching takes its file from a request of its own (../attachments.ts).
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../../../base/db.ts';
import { Refusal, Unavailable } from '../../../base/errors.ts';
import {
  assignCase,
  attachFile,
  attachmentsOf,
  closeCase,
  findAttachment,
  findCase,
  noteCase,
  readAttachment,
  removeAttachment,
  requireUnclaimed,
  type StoredAttachment,
} from '../../../compliance/index.ts';
import { isCaseHeld } from '../../../erasure/index.ts';
import { findOperator, findProposal, installation } from '../../../operators/index.ts';
import { suspenseAbout } from '../../../orders/index.ts';
import { type Action, action, actionOfRequest } from '../action.ts';
import { CASES } from '../declared/cases.ts';
import type { OperatorDeps } from '../deps.ts';
import { amountsIn } from '../read.ts';

const subject = (input: { case: bigint }): string => `case:${input.case}`;

async function look(_deps: OperatorDeps, tx: Tx, input: { case: bigint }): Promise<unknown> {
  const there = await findCase(tx, input.case);
  if (there === undefined) throw new Refusal('unknown_case');
  const { kind, subject: about, assignee, outcome, closedAt } = there.found;
  return { kind, about, assignee, outcome, open: closedAt === null };
}

/** The money in suspense of the deposits that a case is about, in words. */
async function leftInSuspense(tx: Tx, id: bigint): Promise<string | undefined> {
  const there = await findCase(tx, id);
  if (there === undefined) throw new Refusal('unknown_case');
  const { subject: about, orderId } = there.found;
  const named = /^deposit:([1-9][0-9]{0,17})$/.exec(about)?.[1];
  const lying = await suspenseAbout(tx, { depositId: named === undefined ? undefined : BigInt(named), orderId });
  const amount = await amountsIn(tx);
  if (lying.length === 0) return undefined;
  return lying
    .map(({ id: deposit, units, asset }) => `${amount(units, asset)} ${asset} of deposit ${deposit}`)
    .join(', ');
}

/**
 * A thief of a recovery code can sign in as its operator, so another operator must close that case, if there is one.
 *
 * @throws Refusal 'own_recovery'
 */
async function requireNotOwnRecovery(tx: Tx, id: bigint, name: string): Promise<void> {
  const there = await findCase(tx, id);
  if (there?.found.kind !== 'recovery_code_used' || there.found.facts.operator !== name) return;
  if ((await installation(tx)).operators !== 'one') throw new Refusal('own_recovery');
}

/**
 * The case is the notice of an action that waits out its delay: a thief of the only operator's token must not end it before alerts
 * report it. It closes when its proposal ends.
 *
 * @throws Refusal 'notice_needed'
 */
async function requireNoDelayedAction(tx: Tx, id: bigint): Promise<void> {
  const there = await findCase(tx, id);
  if (there?.found.kind !== 'action_delayed') return;
  const proposal = await findProposal(tx, BigInt(String(there.found.facts.proposal)));
  if (proposal?.state !== 'open') return;
  throw new Refusal('notice_needed', { proposal: String(proposal.id) });
}

/** @param file undefined only in the list of actions: without a file nothing is attached */
export const attachTo = (file: StoredAttachment | undefined): Action =>
  (file === undefined ? action : actionOfRequest)({
    ...CASES.attach,
    subject,
    async look(deps, tx, input) {
      return { ...((await look(deps, tx, input)) as object), attachments: await attachmentsOf(tx, input.case) };
    },
    async perform(_deps, tx, { case: caseId, label }, { operator, now }) {
      if (file === undefined) throw new Refusal('file_needed', { how: 'the request has no file' });
      await attachFile(tx, { caseId, file, label, by: operator.name, now });
      return { attachment: file.id };
    },
  });

const ENDINGS = {
  ...{ 'image/jpeg': 'jpg', 'image/png': 'png', 'image/webp': 'webp' },
  ...{ 'application/pdf': 'pdf', 'text/plain': 'txt' },
} as const;

/** Refuses to remove evidence of a case while its customer is under a legal hold. @throws Refusal 'erasure_refused' */
async function requireNoHold(tx: Tx, caseId: bigint): Promise<void> {
  if (await isCaseHeld(tx, caseId))
    throw new Refusal('erasure_refused', { why: 'The customer of this case is under a legal hold.' });
}

export const CASE_ACTIONS: readonly Action[] = [
  attachTo(undefined),
  action({
    ...CASES.attachment,
    subject,
    async look(_deps, tx, { case: caseId, attachment: id }) {
      const { type, bytes } = await findAttachment(tx, { caseId, id });
      return { attachment: id, type, bytes };
    },
    async perform(_deps, tx, { case: caseId, attachment: id }) {
      if ((await findAttachment(tx, { caseId, id })).removedAt !== null) throw new Refusal('unknown_attachment');
    },
    // Runs after the audit row is committed.
    async shows({ db, vault, blobs }, { case: caseId, attachment: id }) {
      const found = blobs && (await readAttachment({ db, vault, blobs }, { caseId, id }));
      if (found === undefined) throw new Unavailable('documents', 'the file is not in the folder');
      const sha256 = createHash('sha256').update(found.content).digest('hex');
      const name = `case-${caseId}-${id.slice(0, 8)}.${ENDINGS[found.type]}`;
      return { file: { name, type: found.type, bytes: found.content, sha256 } };
    },
  }),
  action({
    ...CASES.detach,
    subject,
    look: async (_deps, tx, { case: caseId, attachment: id }) => await findAttachment(tx, { caseId, id }),
    async needs(_deps, tx, { case: caseId, attachment: id }) {
      if ((await findAttachment(tx, { caseId, id })).removedAt !== null) throw new Refusal('unknown_attachment');
      await requireNoHold(tx, caseId);
      return 'always';
    },
    async perform(_deps, tx, { case: caseId, attachment: id }, { people, now }) {
      await requireNoHold(tx, caseId);
      await removeAttachment(tx, { caseId, id, by: people.join(', '), now });
    },
  }),
  action({
    ...CASES.assign,
    subject,
    look,
    async perform(_deps, tx, input, { operator, reason, now }) {
      const to = input.to === 'none' ? null : (await findOperator(tx, input.to)).name;
      await assignCase(tx, { id: input.case, to, by: operator.name, why: reason, takeOver: input.takeOver, now });
    },
  }),
  // The action's reason is the note.
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
      await requireUnclaimed(tx, { id: input.case, by: operator.name });
      await requireNotOwnRecovery(tx, input.case, operator.name);
      await requireNoDelayedAction(tx, input.case);
      const left = await leftInSuspense(tx, input.case);
      if (left !== undefined && input.leaveInSuspense !== true) throw new Refusal('money_in_suspense', { what: left });
      if (left !== undefined)
        await noteCase(tx, {
          id: input.case,
          what: 'acted',
          note: `left in suspense: ${left}`,
          by: operator.name,
          now,
        });
      await closeCase(tx, { id: input.case, outcome: input.outcome, by: operator.name, now });
    },
  }),
];
