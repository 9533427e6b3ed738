/**
 * Decisions about addresses whose risk is too high. A confirmed hit holds money from that address and money to it. A dismissed
 * hit lets the money pass, for this owner and this finding. Another level or reason from the provider is a new hit.
 *
 * A later, milder answer does not end a hit: only operators decide it.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { closeCases, upsertCase } from '../cases.ts';
import { record } from '../decisions.ts';
import { type AnswerRow, type HitRow, sql } from './store.ts';

export const ADDRESS_HIT_STATES = ['open', 'true_hit', 'false_positive'] as const;
export const MAX_ADDRESS_HITS = 200;
export const MAX_ANSWERS = 200;

/** Subject of the case about an owner's undecided hits. */
export const addressCase = (owner: string): string => `address_risk:${owner}`;
const CASE = 'address_risk_hit';

/** Hits in a state, oldest first. */
export const listAddressHits = (
  tx: Tx,
  l: { state: HitRow['state']; after: bigint; limit: number },
): Promise<HitRow[]> => tx.rows<HitRow>(sql.hits, [l.state, l.after, Math.min(l.limit, MAX_ADDRESS_HITS + 1)]);

/** What the provider said about an address, on any rail, newest first. */
export const listAnswers = (tx: Tx, l: { address: string; limit: number }) =>
  tx.rows<AnswerRow & { digest: string }>(sql.answers, [l.address, Math.min(l.limit, MAX_ANSWERS)]);

/** A hit, locked. @throws Refusal 'unknown_hit' */
export async function findAddressHit(tx: Tx, id: bigint): Promise<HitRow> {
  const row = await tx.row<HitRow>(sql.hitById, [id]);
  if (row === undefined) throw new Refusal('unknown_hit');
  return row;
}

/**
 * Stores the operators' decision.
 *
 * @throws Refusal 'unknown_hit' | 'hit_over' when it was decided
 */
export async function decideAddressHit(
  tx: Tx,
  d: { id: bigint; outcome: 'true_hit' | 'false_positive'; people: readonly string[]; reason: string; now: Date },
): Promise<void> {
  const { id, outcome, people, reason, now } = d;
  const hit = await findAddressHit(tx, id);
  // A dismissed hit may later be confirmed; a confirmed hit is final.
  if (hit.state !== 'open' && !(hit.state === 'false_positive' && outcome === 'true_hit'))
    throw new Refusal('hit_over', { state: hit.state });
  await tx.run(sql.decide, [id, outcome, people, reason, now]);
  const { owner, subject, riskId, level } = hit;
  await record(tx, {
    partnerId: null,
    about: 'address_risk',
    outcome,
    rules: `answer ${riskId}`,
    inputs: { hit: String(id), owner, subject, level, answer: String(riskId), people },
    now,
  });
  await updateOwnerCase(tx, { owner, now });
}

/** One case for each owner with undecided hits; it closes with the last of them. */
export async function updateOwnerCase(tx: Tx, { owner, now }: { owner: string; now: Date }): Promise<void> {
  // The lock serializes with a concurrent insert of a hit for this owner: one of the two transactions counts both.
  await tx.run(sql.lockOwner, [owner]);
  const { count = 0n } = (await tx.row<{ count: bigint }>(sql.openOf, [owner])) ?? {};
  const about = { kind: CASE, subject: addressCase(owner) } as const;
  if (count === 0n) return await closeCases(tx, { ...about, outcome: 'decided', now });
  await upsertCase(tx, {
    ...about,
    reason: 'the risk of an address is too high',
    facts: { owner, open: count },
    now,
  });
}

/**
 * Erases the text that operators typed. Addresses and answers stay: they explain what happened to the money.
 *
 * @returns subjects of the audit and of cases about these owners
 */
export async function eraseAddressHits(tx: Tx, e: { owners: readonly string[]; now: Date }): Promise<string[]> {
  const hits = await tx.rows<{ id: bigint }>(sql.erase, [e.owners]);
  const cases = e.owners.map(addressCase);
  // Such a case is still open only if the customer was erased before and a restore brought it back.
  for (const subject of cases) await closeCases(tx, { subject, outcome: 'erased', now: e.now });
  return [...cases, ...hits.map(({ id }) => `address_hit:${id}`)];
}
