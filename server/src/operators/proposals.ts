/**
 * The second operator: acts that wait until another one agrees.
 *
 * Which act needs two is a row per asset (from above how many units) and per gate. What has no row needs two. A proposal
 * keeps what it is about as it stood; at its confirmation that is looked at again, and where it has changed the proposal is
 * overtaken and nothing is done. Nobody confirms their own: the table refuses it, too. After a day it expires.
 *
 * Not here: the acts (protocols/operator), which read what they are about under its lock.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { canonical, type Doing, recordAct } from './audit.ts';
import { type ProposalRow, type ProposalState, store } from './store.ts';

/** Not money, and yet to be opened by two: changed terms, new keys, what was switched off. */
export const GATES = ['terms', 'keys', 'resume'] as const;

/** What has to be agreed on: an amount of an asset, a gate, or (`always`) something that no row makes less. */
export type Needs = { asset: string; units: bigint } | { gate: (typeof GATES)[number] } | 'always';

const OPEN_FOR_MS = 24 * 3_600_000;
export const MAX_PROPOSALS = 200;

export async function needsSecond(tx: Tx, needs: Needs): Promise<boolean> {
  if (needs === 'always') return true;
  const rule = await store.rule(tx, 'gate' in needs ? needs.gate : needs.asset);
  if (rule === undefined) return true;
  return 'gate' in needs ? rule.above_units === 0n : needs.units > rule.above_units;
}

/** Whether there are two who could agree on who else is an operator. The first ones are made by one. */
export const hasTwoConfirmers = async (tx: Tx): Promise<boolean> => (await store.everConfirmers(tx)) >= 2n;

export const secondOperatorRules = (tx: Tx) => store.rules(tx);
export const setSecondOperatorRule = async (tx: Tx, what: string, aboveUnits: bigint): Promise<void> =>
  void (await store.setRule(tx, what, aboveUnits));
/** Leaves what is there as it is. */
export const seedSecondOperatorRule = async (tx: Tx, what: string, aboveUnits: bigint): Promise<void> =>
  void (await store.seedRule(tx, what, aboveUnits));

/** @throws Refusal 'proposal_exists' where the same act about the same subject waits already */
export async function propose(
  tx: Tx,
  doing: Doing,
  p: { act: string; subject: string; ask: Readonly<Record<string, unknown>>; seen: unknown },
): Promise<{ id: bigint; expiresAt: Date }> {
  await store.expireProposals(tx, doing.now);
  const expiresAt = later(doing.now, OPEN_FOR_MS);
  const row = await store.insertProposal(tx, {
    act: p.act,
    subject: p.subject,
    ask: canonical(p.ask),
    seen: canonical(p.seen),
    reason: doing.reason,
    by: doing.operator.id,
    now: doing.now,
    expiresAt,
  });
  if (row === undefined) throw new Refusal('proposal_exists');
  await recordAct(tx, doing, { ...p, outcome: 'proposed', proposal: row.id, before: p.seen, after: p.ask });
  return { id: row.id, expiresAt };
}

export async function proposals(
  tx: Tx,
  ask: { state?: ProposalState | undefined; now: Date; limit: number },
): Promise<ProposalRow[]> {
  await store.expireProposals(tx, ask.now);
  return await store.proposals(tx, ask.state ?? null, Math.min(ask.limit, MAX_PROPOSALS));
}

export const findProposal = (tx: Tx, id: bigint): Promise<ProposalRow | undefined> => store.proposal(tx, id);

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

/** @throws Refusal 'own_proposal' where somebody would confirm their own */
export async function decideProposal(
  tx: Tx,
  doing: Doing,
  row: ProposalRow,
  state: 'confirmed' | 'declined' | 'overtaken',
  seen?: { before?: unknown; after?: unknown },
): Promise<void> {
  if (state === 'confirmed' && row.proposed_by === doing.operator.id) throw new Refusal('own_proposal');
  if ((await store.decide(tx, row.id, state, doing.operator.id, doing.now)) === 0)
    throw new Refusal('proposal_over', { state: 'decided' });
  await recordAct(tx, doing, { act: row.act, subject: row.subject, outcome: state, proposal: row.id, ...seen });
}
