/** Pages of the operators' handbook, from docs/operating: the runbook beside a case. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../base/errors.ts';
import { CASES } from './declared/cases.ts';
import { type Read, read } from './read.ts';

/** A page's name, from which no path outside the folder can be made. */
export const PAGE = /^(?:runbooks\/|troubles\/)?[a-z0-9]+(?:-[a-z0-9]+)*\.md$/;

/** @param docs the docs folder */
export async function readHandbook(docs: string, page: string): Promise<string | undefined> {
  if (!PAGE.test(page)) return undefined;
  try {
    return await readFile(join(docs, 'operating', page), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export const HANDBOOK_READS: readonly Read[] = [
  read({
    ...CASES.handbook,
    async answer({ handbook }, _tx, { page }) {
      const text = await handbook?.(page);
      if (text === undefined) throw new Refusal('unknown_path');
      return { page, text };
    },
  }),
];
