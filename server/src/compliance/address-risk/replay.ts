/** Replaying our use of a provider's answer: whether it was a hit. The answer itself cannot be obtained again. */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { isAtLeast } from './provider.ts';
import { type AnswerRow, sql } from './store.ts';

async function answerOf(tx: Tx, id: bigint): Promise<AnswerRow & { hits: number }> {
  const row = await tx.row<AnswerRow & { hits: number }>(sql.answerById, [id]);
  if (row === undefined) throw new Refusal('unknown_screening');
  return row;
}

/** @throws Refusal 'unknown_screening' */
export async function riskDecision(tx: Tx, id: bigint) {
  const { rail, address, provider, rules, threshold, hits } = await answerOf(tx, id);
  return {
    ...{ subject: `${rail} ${address}`, customerId: null, screenedTo: null, found: hits, isErased: false },
    rules: `${provider} ${rules}, hit from ${threshold}`,
  };
}

/** @returns whether the answer made a hit, and whether it makes one by its kept level and threshold */
export async function replayRisk(tx: Tx, id: bigint) {
  const { level, threshold, score, hits } = await answerOf(tx, id);
  const kept = { level, score, threshold };
  return { stored: { ...kept, isHit: hits > 0 }, found: { ...kept, isHit: isAtLeast(level, threshold) } };
}
