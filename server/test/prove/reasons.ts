/**
 * Why no test has to notice a change of the code that mutation testing made (scripts/mutate.ts): survivors.json, written by
 * people who examined it. By file, kind and the text of the line (`lineTexts`), and then by the original code and its replacement,
 * as `code -> instead`: a reason outlives a line that moves, and not one that changes, and the same change in another line needs a
 * reason of its own. Adding one requires no rerun: `npm run prove -- --write` writes the page with it.
 */
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

/**
 * - `equivalent`: no input exists for which the changed code does anything else, except at one instant of a measured time, at which both
 *   answers are right.
 * - `words`: only a text for people changes. Only a literal can be that.
 * - `speed`: the same result, later or with more work.
 * - `accepted`: the code does something else, and the sentence says why no test has to notice.
 */
export const KINDS = ['equivalent', 'words', 'speed', 'accepted'] as const;
type Kind = (typeof KINDS)[number];

type ByChange = Readonly<Record<string, string>>;
type ByLine = Readonly<Record<string, ByChange>>;
export type Reasons = Readonly<Record<string, Readonly<Partial<Record<Kind, ByLine>>>>>;

/** A change that no test noticed. */
export interface Survivor {
  mutator: string;
  /** Of `lineTexts`: the line in which the change begins. */
  lineText: string;
  code: string;
  instead: string;
}

export interface Explanation {
  kind: Kind;
  why: string;
}

export const reasonsHere = (root: string): Reasons =>
  JSON.parse(readFileSync(join(root, 'server', 'test', 'prove', 'survivors.json'), 'utf8')) as Reasons;

/** The lines of a source without their indentation. Of equal ones, each after the first has its number: `return; (2)`. */
export function lineTexts(source: string): string[] {
  const times = new Map<string, number>();
  return source.split('\n').map((line) => {
    const text = line.trim();
    const n = (times.get(text) ?? 0) + 1;
    times.set(text, n);
    return n === 1 ? text : `${text} (${n})`;
  });
}

export function explanationOf(
  reasons: Reasons,
  file: string,
  { lineText, code, instead }: Pick<Survivor, 'lineText' | 'code' | 'instead'>,
): Explanation | undefined {
  for (const kind of KINDS) {
    const why = reasons[file]?.[kind]?.[lineText]?.[`${code} -> ${instead}`];
    if (why !== undefined) return { kind, why };
  }
  return undefined;
}

/** What a mistake in these files of server/src can do. The first line that matches a file counts. */
const TOUCHES: readonly (readonly [what: 'money' | 'isolation' | 'neither', patterns: readonly string[]])[] = [
  [
    'isolation',
    [
      'base/db.ts',
      'team/*.ts',
      'partners/{activity,containment,credentials,lookups}.ts',
      'operators/{identities,sessions}.ts',
    ],
  ],
  [
    'neither',
    [
      // What people read of money, and texts.
      'orders/read/*.ts',
      'ledger/{daily,earned,erase,history,reports,totals}.ts',
      'operators/{audit,erase,recovery,seals,views}.ts',
      'partners/{branding,changes,colours,remember,requirements}.ts',
      'treasury/levels.ts',
      'rails/bank.texts.ts',
      'compliance/{attachments,duplicates,due,expiries,information,kinds,replay}.ts',
      'compliance/**/{erase,replay}.ts',
    ],
  ],
  ['money', ['**/*.ts']],
];

/** Money: its amounts, its owners, and whether it may leave. Isolation: who sees and changes which rows. */
export const touchedBy = (file: string): 'money' | 'isolation' | 'neither' =>
  TOUCHES.find(([, patterns]) => patterns.some((pattern) => matchesGlob(file, pattern)))?.[0] ?? 'money';

/** Mutators of Stryker's that change a literal: a text, or the object of what a text is made. */
const OF_LITERALS = ['StringLiteral', 'ObjectLiteral'];

/**
 * What is wrong with the explanation of a survivor: it has none, or one that does not suffice for what its file touches. A test
 * has to notice such a change, or the reason has to be that nothing can.
 */
export function wrongWith(reasons: Reasons, file: string, survivor: Survivor): string | undefined {
  const explanation = explanationOf(reasons, file, survivor);
  if (explanation === undefined || explanation.why.trim() === '') return 'not explained';
  const { kind } = explanation;
  const isText = OF_LITERALS.includes(survivor.mutator);
  if (kind === 'words' && !isText) return 'not a literal, so not only words';
  const touched = touchedBy(file);
  if (touched === 'neither' || kind === 'equivalent' || kind === 'words') return undefined;
  return `touches ${touched}, and is only ${kind}`;
}
