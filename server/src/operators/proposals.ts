/**
 * Proposals: actions that wait for other people's confirmation.
 *
 * A proposal stores its subject's state at the time, how many people it takes, and which roles must be among them. At each
 * confirmation the subject is read again; if it has changed, or the proposer has lost the right, the proposal is superseded and
 * the action is not carried out. Confirmations by people who have lost the right do not count. If the action throws a Refusal when
 * carried out, the proposal ends with that reason. It expires after a day.
 *
 * An operator cannot confirm their own proposal: the table rejects it, too. In an installation declared to have one operator, a
 * delay replaces the second person: the proposal waits, is announced, may be declined meanwhile, and its proposer confirms it
 * after the delay. The delay must have passed on the server's clock and on the database's.
 *
 * Not here: how many people (rules.ts), the actions (protocols/operator), which read their subject under its lock.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { canonical, type Doing, recordAction } from './audit.ts';
import { may, RIGHTS, type Right } from './people.ts';
import { installation } from './rules.ts';
import { type ProposalFilter, type ProposalRow, type Role, store } from './store.ts';
import type { Takes } from './takes.ts';

const OPEN_FOR_MS = 24 * 3_600_000;
export const MAX_PROPOSALS = 200;

/**
 * Whether two operators have roles that confirm actions. The first operators are created by one person alone; from the second
 * one on, that person could otherwise create somebody to confirm what the others are there to confirm.
 *
 * @param roles that confirm any action, not only actions on money
 */
export const hasTwoConfirmers = async (tx: Tx, roles: readonly Role[]): Promise<boolean> =>
  (await store.everOfRoles(tx, roles)) >= 2n;

/** How many operators have roles that confirm money actions and lift kill switches, including disabled ones. */
export const confirmers = async (tx: Tx): Promise<number> => Number(await store.everOfRoles(tx, RIGHTS.money));

export interface Proposed {
  id: bigint;
  expiresAt: Date;
  /** Number of people required, including the proposer. */
  people: number;
  /** In an installation with one operator: time from which the proposer may confirm it. */
  readyAt: Date | null;
}

/**
 * @param p.people  number of people required, including the proposer
 * @param p.roles   the roles that must be among them
 * @param p.delayS  the waiting time in an installation with one operator, in seconds; null elsewhere
 * @throws Refusal 'proposal_exists' when the same action about the same subject is waiting already
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
    roles: readonly Role[];
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
    roles: p.roles,
    readyAt,
    delayS: p.delayS,
  });
  if (row === undefined) throw new Refusal('proposal_exists');
  await recordAction(tx, doing, { ...p, outcome: 'proposed', proposal: row.id, before: p.seen, after: p.input });
  return { id: row.id, expiresAt, people: p.people, readyAt };
}

/** @returns ids of the proposals that expire now, because they were not decided in time */
export const expireProposals = async (tx: Tx, now: Date): Promise<bigint[]> =>
  (await store.expireProposals(tx, now)).map(({ id }) => id);

/** Newest first. */
export const proposals = (tx: Tx, input: ProposalFilter): Promise<ProposalRow[]> =>
  store.proposals(tx, { ...input, limit: Math.min(input.limit, MAX_PROPOSALS + 1) });

export const findProposal = (tx: Tx, id: bigint): Promise<ProposalRow | undefined> => store.proposal(tx, id);
export const openProposal = (tx: Tx, action: string, subject: string): Promise<ProposalRow | undefined> =>
  store.openProposal(tx, action, subject);

/**
 * Locks a proposal until `tx` ends: only one person decides.
 *
 * @throws Refusal 'unknown_proposal' | 'proposal_over'
 */
export async function lockProposal(tx: Tx, id: bigint, now: Date): Promise<ProposalRow> {
  const row = await store.lockProposal(tx, id);
  if (row === undefined) throw new Refusal('unknown_proposal');
  if (row.state !== 'open') throw new Refusal('proposal_over', { state: row.state });
  if (row.expiresAt <= now) throw new Refusal('proposal_over', { state: 'expired' });
  return row;
}

/** Whether its subject is unchanged since the proposal. */
export const isAsSeen = (row: ProposalRow, now: unknown): boolean => canonical(row.seen) === canonical(now);

/**
 * Checks that this person may confirm it.
 *
 * @throws Refusal 'own_proposal' | 'agreed_already' | 'proposal_waits' when the delay of one's own proposal is not over
 */
export async function requireOther(tx: Tx, row: ProposalRow, operator: { id: bigint; name: string }, now: Date) {
  if (row.agreed.includes(operator.name)) throw new Refusal('agreed_already');
  if (row.proposedBy !== operator.id) return;
  if (row.readyAt === null || (await installation(tx)).operators !== 'one') throw new Refusal('own_proposal');
  if (row.readyAt > now || !(await store.isDelayOver(tx, row.id)))
    throw new Refusal('proposal_waits', { readyAt: row.readyAt.toISOString() });
}

/**
 * Locks everybody who approves a proposal, this person included, until `tx` ends: their rights do not change, and what each of
 * them approves at the same moment is counted one after the other. Called before the proposal is locked; somebody who confirms
 * meanwhile is locked by `validAgreers`.
 *
 * @throws Refusal 'unknown_proposal'
 */
export async function lockApprovers(tx: Tx, id: bigint, operator: bigint): Promise<void> {
  const row = await store.proposal(tx, id);
  if (row === undefined) throw new Refusal('unknown_proposal');
  await store.lockOperators(tx, [operator, row.proposedBy, ...(await store.approvers(tx, id))]);
}

/**
 * The approvers who still have the right, the proposer first, locked until `tx` ends.
 *
 * @param named roles that may confirm it without the right; its proposer needs the right
 * @returns undefined when the proposer has lost the right
 */
export async function validAgreers(
  tx: Tx,
  row: ProposalRow,
  right: Right,
  named: readonly Role[],
): Promise<{ id: bigint; name: string; role: Role }[] | undefined> {
  const people = await store.lockOperators(tx, [row.proposedBy, ...(await store.approvers(tx, row.id))]);
  const left = new Map(
    people
      .filter((person) => person.disabledAt === null && (may(person, right) || named.includes(person.role)))
      .map((person) => [person.name, person]),
  );
  const proposer = left.get(row.proposer);
  if (proposer === undefined || !may(proposer, right)) return undefined;
  return [row.proposer, ...row.agreed].flatMap((name) => left.get(name) ?? []);
}

/**
 * Records a confirmation that is not yet the last one.
 *
 * @param takes how many people it takes now, and of which roles: more than when it was proposed, if a rule has risen or amounts have
 *   added up
 */
export async function agree(tx: Tx, doing: Doing, row: ProposalRow, takes: Takes): Promise<void> {
  await store.raiseTakes(tx, row.id, takes.people, takes.roles);
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
 * Ends a confirmed proposal whose action threw a Refusal, with that reason. No effect when another person decided meanwhile.
 *
 * @param f.from `confirmed` when the action made an outside call and was refused there
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
