/**
 * A partner's own requirements: the data that its business customers must supply, if not the default.
 *
 * Stored exactly as the partner gave it. Customers submit their data by it (customers/identity/).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { judge, patternProblem } from '../base/patterns.ts';
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
 * @throws Refusal 'malformed_field' for a pattern that backtracks badly, and for an example that its pattern does not accept
 */
export async function setKybRequirements(
  tx: Tx,
  r: { partnerId: bigint; requirements: OwnRequirements | null; now: Date },
): Promise<void> {
  const patterns = patternsOf(r.requirements ?? {});
  const fields = await tx.outside(JSON.stringify(['requirements', patterns]), () => wrongIn(patterns));
  if (fields !== undefined) throw new Refusal('malformed_field', { fields });
  if (r.requirements === null) await tx.run(sql.removeKybRequirements, [r.partnerId]);
  else await tx.run(sql.upsertKybRequirements, [r.partnerId, JSON.stringify(r.requirements), r.now]);
  remembered.forget(tx);
}

/** What is wrong with the patterns, by path; undefined if nothing is. */
async function wrongIn(patterns: readonly Pattern[]): Promise<Record<string, string> | undefined> {
  for (const { path, source } of patterns) {
    const why = await patternProblem(source);
    if (why !== undefined) return { [`${path}.regex`]: why };
  }
  const shown = patterns.flatMap(({ path, source, example }) =>
    example === undefined ? [] : [{ path, source, example }],
  );
  const found = await judge(shown.map(({ source, example }) => ({ source, text: example })));
  const wrong = shown.filter((_one, at) => found[at] !== true);
  const why = 'must be accepted by the regex beside it';
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong.map(({ path }) => [`${path}.example`, why]));
}

interface Pattern {
  readonly path: string;
  readonly source: string;
  readonly example: string | undefined;
}

/** Every pattern of a form, with the path of its field, and the example beside it. */
function patternsOf(part: object, path: readonly string[] = []): Pattern[] {
  const { regex, example } = part as { regex?: unknown; example?: unknown };
  const own =
    typeof regex === 'string'
      ? [{ path: path.join('.'), source: regex, example: typeof example === 'string' ? example : undefined }]
      : [];
  const inner = path.length < 4 ? Object.entries(part) : [];
  return [
    ...own,
    ...inner.flatMap(([name, value]) =>
      typeof value === 'object' && value !== null ? patternsOf(value, [...path, name]) : [],
    ),
  ];
}
