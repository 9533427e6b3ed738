/**
 * Why no test has to notice a change of the code that mutation testing made (scripts/mutate.ts): survivors.json, written by
 * people who examined it. By file, and then by the original code and its replacement, as `code -> instead`: a reason outlives a
 * line that moves, and not one that changes. Adding one requires no rerun: `npm run prove -- --write` writes the page with it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Reasons = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const reasonsHere = (root: string): Reasons =>
  JSON.parse(readFileSync(join(root, 'server', 'test', 'prove', 'survivors.json'), 'utf8')) as Reasons;

export const reasonOf = (
  reasons: Reasons,
  file: string,
  { code, instead }: { code: string; instead: string },
): string | undefined => reasons[file]?.[`${code} -> ${instead}`];
