/**
 * Transaction monitoring: rules over a customer's orders, as versioned data. A finding of a rule is stored with its evidence,
 * and opens a case.
 *
 * rules.ts has the kinds of rules and evaluates them (pure). watch.ts checks orders when they receive money and when they are paid
 * out, and tests a new rule on past orders. facts.ts collects what the kinds read.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { faultsOf, type RuleText } from './rules.ts';
import { newestRule, newestRules, type RuleRow, sql } from './store.ts';

export { KINDS, type Kind, type RuleText } from './rules.ts';
export { type FindingRow, findingsBy as monitoringFindings, type RuleRow } from './store.ts';
export { MONITOR, MOST_TRIED, monitoringHandlers, tryRule } from './watch.ts';

/**
 * Adds a version of a rule; the newest of a name is in force.
 *
 * @throws Refusal 'malformed_field' when its kind does not accept a parameter, or requires another
 */
export async function setRule(
  tx: Tx,
  r: { name: string; isOn: boolean; rule: RuleText; by: string; why: string; now: Date },
): Promise<RuleRow> {
  requireRule(r.rule);
  await tx.run(sql.lock);
  const { kind, fiat, worthUnits, count, days, withinBps } = r.rule;
  const version = ((await newestRule(tx, r.name))?.version ?? 0) + 1;
  const values = [r.name, version, kind, r.isOn, fiat, worthUnits, count, days, withinBps, r.by, r.why, r.now];
  const row = await tx.row<RuleRow>(sql.insert, values);
  if (row === undefined) throw new Error('the inserted rule was not returned');
  return row;
}

/** @throws Refusal 'malformed_field' */
export function requireRule(rule: RuleText): void {
  const fields = faultsOf(rule);
  if (Object.keys(fields).length > 0) throw new Refusal('malformed_field', { fields });
}

/** The newest version of each rule, including rules that are off. */
export const monitoringRules = (tx: Tx): Promise<RuleRow[]> => newestRules(tx);

export const monitoringRule = (tx: Tx, name: string): Promise<RuleRow | undefined> => newestRule(tx, name);

/** Versions of rules, newest first. */
export const ruleVersions = (
  tx: Tx,
  of: { name?: string | undefined; below?: bigint | undefined; limit: number },
): Promise<RuleRow[]> => tx.rows<RuleRow>(sql.versions, [of.name ?? null, of.below ?? null, of.limit]);
