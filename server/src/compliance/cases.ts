/**
 * Cases: questions that a program cannot decide, kept until an operator has decided.
 *
 * There is at most one open case of a kind about a subject, however often its cause recurs. Every action of an operator on a case
 * is a line that never changes. Through the system role only.
 *
 * Not here: what a kind means (kinds.ts), the actions that remove a case's cause (orders, treasury).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { dueAt } from './due.ts';
import { type CaseKind, type CaseMeaning, meaningOf } from './kinds.ts';
import { type CaseRow, casesBy, sql } from './store.ts';

/**
 * Opens a case, unless one of this kind about this subject is open.
 *
 * @param c.facts ids and amounts only
 */
export async function openCase(
  tx: Tx,
  c: {
    kind: CaseKind;
    subject: string;
    orderId?: bigint | undefined;
    partnerId?: bigint | undefined;
    reason: string;
    facts?: Readonly<Record<string, unknown>> | undefined;
    now: Date;
  },
): Promise<void> {
  const { kind, subject, orderId = null, partnerId = null, reason, facts = {}, now } = c;
  await tx.run(sql.openCase, [kind, subject, orderId, partnerId, reason, json(facts), now]);
}

/**
 * Opens a case about a cause that many subjects share, or updates the facts of the open one.
 *
 * @param c.facts ids and amounts only
 */
export async function upsertCase(
  tx: Tx,
  c: { kind: CaseKind; subject: string; reason: string; facts: Readonly<Record<string, unknown>>; now: Date },
): Promise<void> {
  await tx.run(sql.upsertCase, [c.kind, c.subject, c.reason, json(c.facts), c.now]);
}

/** Closes open cases of a subject or several: of one kind, or of every kind if none is given. */
export async function closeCases(
  tx: Tx,
  c: { kind?: CaseKind | undefined; subject: string | readonly string[]; outcome: string; now: Date },
): Promise<void> {
  await tx.run(sql.closeCases, [c.kind ?? null, [c.subject].flat(), c.outcome, c.now]);
}

/** Open cases by kind, with the oldest of each. */
export const openCaseCounts = (tx: Tx) => tx.rows<{ kind: string; count: bigint; oldest: Date }>(sql.openCaseCounts);

/** A case as shown to an operator. */
export interface Case extends CaseMeaning {
  id: bigint;
  kind: string;
  subject: string;
  orderId: bigint | null;
  partnerId: bigint | null;
  reason: string;
  facts: Readonly<Record<string, unknown>>;
  assignee: string | null;
  openedAt: Date;
  /** Due time of the case (due.ts). */
  dueAt: Date;
  closedAt: Date | null;
  outcome: string | null;
}

/** One action on a case. */
export interface CaseAction {
  at: Date;
  by: string;
  what: 'assigned' | 'noted' | 'acted' | 'closed';
  note: string;
}

/** Maximum page size. */
export const MAX_CASES = 200;

/**
 * Cases, oldest first.
 *
 * @param input.after id and time of the last one of the previous page
 */
export async function listCases(
  tx: Tx,
  input: {
    open: boolean;
    kind?: string | undefined;
    assignee?: string | undefined;
    /** Only open cases whose due time is at or before this. */
    dueBy?: Date | undefined;
    after?: { openedAt: Date; id: bigint } | undefined;
    limit: number;
  },
): Promise<Case[]> {
  const { open, kind, assignee, after, dueBy } = input;
  const limit = Math.min(input.limit, MAX_CASES + 1);
  return (await casesBy(tx, { open, kind, assignee, after, dueBy: open ? dueBy : undefined, limit })).map(caseOf);
}

export async function findCase(tx: Tx, id: bigint): Promise<{ found: Case; actions: CaseAction[] } | undefined> {
  const row = await tx.row<CaseRow>(sql.caseById, [id]);
  return row === undefined
    ? undefined
    : { found: caseOf(row), actions: await tx.rows<CaseAction>(sql.caseActions, [id]) };
}

/** Every case about an order, its deposits and its payouts, oldest first. */
export const casesOfOrder = async (tx: Tx, orderId: bigint): Promise<Case[]> =>
  (await tx.rows<CaseRow>(sql.casesOfOrder, [orderId])).map(caseOf);

/** Locks an open case until `tx` ends. */
export const lockCase = (tx: Tx, id: bigint): Promise<{ assignee: string | null } | undefined> =>
  tx.row<{ assignee: string | null }>(sql.lockCase, [id]);

/**
 * Refuses a case that another operator has claimed: two operators working on one case could pay twice. Locked until `tx` ends.
 *
 * @throws Refusal 'unknown_case' also when it is closed; 'case_claimed' when another operator has claimed it
 */
export async function requireUnclaimed(tx: Tx, c: { id: bigint; by: string }): Promise<void> {
  const row = await lockCase(tx, c.id);
  if (row === undefined) throw new Refusal('unknown_case');
  if (row.assignee !== null && row.assignee !== c.by) throw new Refusal('case_claimed', { by: row.assignee });
}

/**
 * Assigns a case to an operator, or to no one with null.
 *
 * @param c.takeOver assigns it even if another operator has claimed it
 * @throws Refusal as `requireUnclaimed`
 */
export async function assignCase(
  tx: Tx,
  c: { id: bigint; to: string | null; by: string; why: string; takeOver?: boolean | undefined; now: Date },
): Promise<void> {
  if (c.takeOver !== true) await requireUnclaimed(tx, c);
  if ((await tx.run(sql.assignCase, [c.id, c.to])) === 0) throw new Refusal('unknown_case');
  await tx.run(sql.insertCaseAction, [c.id, c.now, c.by, 'assigned', `${c.to ?? 'nobody'}: ${c.why}`]);
}

/** @throws Refusal 'unknown_case' */
export async function noteCase(
  tx: Tx,
  c: { id: bigint; what: 'noted' | 'acted'; note: string; by: string; now: Date },
): Promise<void> {
  if ((await tx.row(sql.caseById, [c.id])) === undefined) throw new Refusal('unknown_case');
  await tx.run(sql.insertCaseAction, [c.id, c.now, c.by, c.what, c.note]);
}

/** Closes a case that no action of ours would close. @throws Refusal as `requireUnclaimed` */
export async function closeCase(tx: Tx, c: { id: bigint; outcome: string; by: string; now: Date }): Promise<void> {
  await requireUnclaimed(tx, c);
  if ((await tx.run(sql.closeCase, [c.id, c.outcome, c.now])) === 0) throw new Refusal('unknown_case');
  await tx.run(sql.insertCaseAction, [c.id, c.now, c.by, 'closed', c.outcome]);
}

const caseOf = ({ orderId, partnerId, openedAt, closedAt, ...row }: CaseRow): Case => ({
  ...row,
  ...meaningOf(row.kind),
  orderId,
  partnerId,
  openedAt,
  dueAt: dueAt(row.kind, openedAt),
  closedAt,
});

/** JSON has no bigint: amounts are written as exact text. */
const json = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part));

/** Overwrites operators' texts in closed cases about these subjects and orders. @returns number of changed rows */
export async function eraseCaseTexts(
  tx: Tx,
  about: { subjects: readonly string[]; orders: readonly bigint[] },
): Promise<number> {
  const notes = await tx.run(sql.eraseNotes, [about.subjects, about.orders]);
  return notes + (await tx.run(sql.eraseOutcomes, [about.subjects, about.orders]));
}
