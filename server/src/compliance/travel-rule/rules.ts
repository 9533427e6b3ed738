/**
 * Travel rules, by the country of the customer and the fiat of the order. A change inserts a new version. A rule that is
 * switched off for a country requires nothing there, even if the rule for all other countries does.
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { sql, type TravelRuleRow } from './store.ts';

export const TRAVEL_POLICIES = ['hold', 'send', 'return', 'refuse'] as const;
export const TRAVEL_EXCHANGES = ['none', 'required'] as const;
export const MAX_TRAVEL_RULES = 200;

export const travelRules = (tx: Tx) => tx.rows<TravelRuleRow>(sql.newest);

export const travelRule = (tx: Tx, of: { jurisdiction: string; fiatAsset: string }) =>
  tx.row<TravelRuleRow>(sql.newestOf, [of.jurisdiction, of.fiatAsset]);

/** All versions, newest first. */
export const travelRuleVersions = (tx: Tx, l: { below: bigint | undefined; limit: number }) =>
  tx.rows<TravelRuleRow>(sql.versions, [l.below ?? null, Math.min(l.limit, MAX_TRAVEL_RULES + 1)]);

/** Inserts a rule, or a new version of it, which applies at once. Two concurrent calls insert two versions. */
export async function setTravelRule(
  tx: Tx,
  r: Omit<TravelRuleRow, 'id' | 'version' | 'setBy' | 'setAt'> & { by: string; now: Date },
): Promise<TravelRuleRow> {
  await tx.run(sql.lockRules);
  const before = await travelRule(tx, r);
  const row = await tx.row<TravelRuleRow>(sql.insertRule, [
    ...[r.jurisdiction, r.fiatAsset, (before?.version ?? 0) + 1, r.isOn],
    ...[r.thresholdUnits, r.proofUnits, r.deadlineS, r.policy, r.exchange, r.by, r.why, r.now],
  ]);
  assert(row !== undefined, 'the inserted rule was not returned');
  return row;
}
