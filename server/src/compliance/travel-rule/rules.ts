/**
 * Travel rules, by the country of the customer and the fiat of the order. A change inserts a new version. A rule that is
 * switched off for a country requires nothing there, even if the rule for all other countries does.
 *
 * A customer of an unknown country may be under any of them, so each part of the strictest one applies (`strictest`).
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { sql, type TravelRuleRow } from './store.ts';

export const TRAVEL_POLICIES = ['hold', 'send', 'return', 'refuse'] as const;
export const TRAVEL_EXCHANGES = ['none', 'required'] as const;
export const MAX_TRAVEL_RULES = 200;
/** From the least strict to the strictest: what leaves without data, what people decide, what goes back, what stays. */
const BY_STRICTNESS: readonly TravelRuleRow['policy'][] = ['send', 'hold', 'return', 'refuse'];

type Terms = Pick<TravelRuleRow, 'isOn' | 'thresholdUnits' | 'proofUnits' | 'deadlineS' | 'policy' | 'exchange'>;

/**
 * What all these rules together require of an order. Pure.
 *
 * @param worthUnits of the order, in the fiat of the rules
 * @returns the rule whose policy is the strictest, then the one with the shortest deadline, with the strictest of each other part;
 *   undefined when none applies
 */
export function strictest<R extends Terms>(rules: readonly R[], worthUnits: bigint): R | undefined {
  const applying = rules.filter(({ isOn, thresholdUnits }) => isOn && worthUnits >= thresholdUnits);
  const rank = ({ policy }: Terms) => BY_STRICTNESS.indexOf(policy);
  const [first] = applying.toSorted((a, b) => rank(b) - rank(a) || a.deadlineS - b.deadlineS);
  if (first === undefined) return undefined;
  const proofs = applying.flatMap(({ proofUnits }) => (proofUnits === null ? [] : [proofUnits]));
  return {
    ...first,
    proofUnits: proofs.length === 0 ? null : proofs.reduce((least, one) => (one < least ? one : least)),
    deadlineS: Math.min(...applying.map(({ deadlineS }) => deadlineS)),
    exchange: applying.some(({ exchange }) => exchange === 'required') ? 'required' : 'none',
  };
}

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
