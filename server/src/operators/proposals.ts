/**
 * Proposals: actions that wait until others agree.
 *
 * A proposal keeps what it is about as it stood, and how many people it takes. At each confirmation what it is about is looked
 * at again; where it has changed, or the proposer may no longer, the proposal is overtaken and nothing is done. Those who
 * agreed before and may no longer do not count. A proposal whose action is refused when it is done is over, with the reason.
 * After a day it expires.
 *
 * Nobody confirms their own: the table refuses it, too. In an installation declared to have one operator the delay stands in
 * for the other person: the proposal waits, is announced, may be declined meanwhile, and its proposer confirms it after the
 * delay. That has to be over by the server's clock and by the database's.
 *
 * Not here: how many people (rules.ts), the actions (protocols/operator), which read what they are about under its lock.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { canonical, type Doing, recordAction } from './audit.ts';
import { may, type Right } from './people.ts';
import { installation } from './rules.ts';
import { type ProposalRow, type ProposalState, store } from './store.ts';

const OPEN_FOR_MS = 24 * 3_600_000;
export const MAX_PROPOSALS = 200;

/** Whether there are two who could agree on who else is an operator. The first ones are made by one. */
export const hasTwoConfirmers = async (tx: Tx): Promise<boolean> => (await confirmers(tx)) >= 2;

/** How many could ever agree to what moves money, those who are disabled now included. */
export const confirmers = async (tx: Tx): Promise<number> => Number(await store.everConfirmers(tx));

export interface Proposed {
  id: bigint;
  expiresAt: Date;
  /** How many people it takes, the proposer included. */
  people: number;
  /** In an installation of one operator: from when on the proposer may confirm it. */
  readyAt: Date | null;
}

/**
 * @param p.people  how many it takes, the proposer included
 * @param p.delayS  in an installation of one operator, how long it waits; null elsewhere
 * @throws Refusal 'proposal_exists' where the same action about the same subject waits already
 */
export async function propose(
  tx: Tx,
  doing: Doing,
  p: {
    action: string;
    subject: string;
    input: Readonly<Record<string, unknown>>;
    seen: unknown;
    people: number;
    delayS: number | null;
  },
): Promise<Proposed> {
  const readyAt = p.delayS === null ? null : later(doing.now, p.delayS * 1000);
  const expiresAt = later(readyAt ?? doing.now, OPEN_FOR_MS);
  const row = await store.insertProposal(tx, {
    action: p.action,
    subject: p.subject,
    input: canonical(p.input),
    seen: canonical(p.seen),
    reason: doing.reason,
    by: doing.operator.id,
    now: doing.now,
    expiresAt,
    people: p.people,
    readyAt,
    delayS: p.delayS,
  });
  if (row === undefined) throw new Refusal('proposal_exists');
  await recordAction(tx, doing, { ...p, outcome: 'proposed', proposal: row.id, before: p.seen, after: p.input });
  return { id: row.id, expiresAt, people: p.people, readyAt };
}

/** @returns ids of those that are over by this, because nobody decided in time */
export const expireProposals = async (tx: Tx, now: Date): Promise<bigint[]> =>
  (await store.expireProposals(tx, now)).map(({ id }) => id);

/** The newest first. */
export const proposals = (
  tx: Tx,
  input: { state?: ProposalState | undefined; limit: number },
): Promise<ProposalRow[]> => store.proposals(tx, input.state ?? null, Math.min(input.limit, MAX_PROPOSALS));

export const findProposal = (tx: Tx, id: bigint): Promise<ProposalRow | undefined> => store.proposal(tx, id);
export const openProposal = (tx: Tx, action: string, subject: string): Promise<ProposalRow | undefined> =>
  store.openProposal(tx, action, subject);

/**
 * Takes a proposal, locked until `tx` ends: only one decides.
 *
 * @throws Refusal 'unknown_proposal' | 'proposal_over'
 */
export async function lockProposal(tx: Tx, id: bigint, now: Date): Promise<ProposalRow> {
  const row = await store.lockProposal(tx, id);
  if (row === undefined) throw new Refusal('unknown_proposal');
  if (row.state !== 'open') throw new Refusal('proposal_over', { state: row.state });
  if (row.expires_at <= now) throw new Refusal('proposal_over', { state: 'expired' });
  return row;
}

/** Whether what it is about is as it was when proposed. */
export const isAsSeen = (row: ProposalRow, now: unknown): boolean => canonical(row.seen) === canonical(now);

/**
 * Whether this person may agree to it.
 *
 * @throws Refusal 'own_proposal' | 'agreed_already' | 'proposal_waits' where the delay of an own one is not over
 */
export async function requireOther(tx: Tx, row: ProposalRow, operator: { id: bigint; name: string }, now: Date) {
  if (row.agreed.includes(operator.name)) throw new Refusal('agreed_already');
  if (row.proposed_by !== operator.id) return;
  if (row.ready_at === null || (await installation(tx)).operators !== 'one') throw new Refusal('own_proposal');
  if (row.ready_at > now || !(await store.isDelayOver(tx, row.id)))
    throw new Refusal('proposal_waits', { readyAt: row.ready_at.toISOString() });
}

/**
 * Names of those who stand behind it and still may: the proposer first. What they are stays so until `tx` ends.
 *
 * @returns undefined where the proposer is not among them
 */
export async function validAgreers(tx: Tx, row: ProposalRow, right: Right): Promise<string[] | undefined> {
  const ids = [row.proposed_by, ...(await store.approvers(tx, row.id))];
  const people = await store.shareOperators(tx, ids);
  const left = people.filter((person) => person.disabled_at === null && may(person, right)).map(({ name }) => name);
  return left.includes(row.proposer) ? [row.proposer, ...row.agreed.filter((name) => left.includes(name))] : undefined;
}

/** One more agrees, and it takes still more. */
export async function agree(tx: Tx, doing: Doing, row: ProposalRow): Promise<void> {
  await store.approve(tx, { id: row.id, by: doing.operator.id, now: doing.now, reason: doing.reason });
  await recordAction(tx, doing, { action: row.action, subject: row.subject, outcome: 'agreed', proposal: row.id });
}

export async function decideProposal(
  tx: Tx,
  doing: Doing,
  row: ProposalRow,
  state: 'confirmed' | 'declined' | 'overtaken',
  seen?: { before?: unknown; after?: unknown },
): Promise<void> {
  if ((await store.decide(tx, row.id, state, doing.operator.id, doing.now)) === 0)
    throw new Refusal('proposal_over', { state: 'decided' });
  await recordAction(tx, doing, {
    action: row.action,
    subject: row.subject,
    outcome: state,
    proposal: row.id,
    ...seen,
  });
}

/**
 * It was agreed to, and its action was refused: it is over, with the reason. Nothing where another decided meanwhile.
 *
 * @param f.from `confirmed` where the action asked somebody outside and was refused there
 */
export async function failProposal(
  tx: Tx,
  doing: Doing,
  f: { id: bigint; why: string; from: 'open' | 'confirmed' },
): Promise<void> {
  const row = await store.lockProposal(tx, f.id);
  if (row === undefined) return;
  if ((await store.fail(tx, { ...f, by: doing.operator.id, now: doing.now })) === 0) return;
  await recordAction(tx, doing, {
    action: row.action,
    subject: row.subject,
    outcome: 'failed',
    proposal: row.id,
    after: { why: f.why },
  });
}
