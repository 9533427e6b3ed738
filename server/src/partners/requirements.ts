/**
 * A partner's own requirements: the data that its business customers must supply, if not the default.
 *
 * Stored exactly as the partner gave it. Customers submit their data by it (customers/identity/).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { patternProblem } from '../base/patterns.ts';
import { remember } from './remember.ts';
import { sql } from './store.ts';

export type OwnRequirements = Readonly<Record<string, unknown>>;

const remembered = remember<OwnRequirements | null>({ forMs: 2_000, most: 1_000 });

/** null: the default applies. */
export async function kybRequirementsOf(tx: Tx, partnerId: bigint): Promise<OwnRequirements | null> {
  return await remembered.get(tx, String(partnerId), async () => {
    const row = await tx.row<{ requirements: OwnRequirements }>(sql.kybRequirements, [partnerId]);
    return row?.requirements ?? null;
  });
}

/**
 * Sets the data that a partner's businesses must supply, or (null) restores the default.
 *
 * @throws Refusal 'malformed_field' for a pattern that backtracks badly
 */
export async function setKybRequirements(
  tx: Tx,
  r: { partnerId: bigint; requirements: OwnRequirements | null; now: Date },
): Promise<void> {
  const slow = patternsOf(r.requirements ?? {}).find(([, pattern]) => patternProblem(pattern) !== undefined);
  if (slow !== undefined) throw new Refusal('malformed_field', { fields: { [slow[0]]: patternProblem(slow[1]) } });
  if (r.requirements === null) await tx.run(sql.removeKybRequirements, [r.partnerId]);
  else await tx.run(sql.upsertKybRequirements, [r.partnerId, JSON.stringify(r.requirements), r.now]);
  remembered.forget(tx);
}

/** Every pattern of a form, with its path. */
const patternsOf = (part: object, path: readonly string[] = []): [path: string, pattern: string][] =>
  Object.entries(part).flatMap(([name, value]): [string, string][] => {
    if (name === 'regex' && typeof value === 'string') return [[[...path, name].join('.'), value]];
    return typeof value === 'object' && value !== null && path.length < 4 ? patternsOf(value, [...path, name]) : [];
  });
