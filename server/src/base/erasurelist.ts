/**
 * The erasure list: ids of customers who were erased, in a file outside the database.
 *
 * A restored database lacks the erasures since its backup, so the list is kept outside the database: in the folder of customers'
 * files, which all servers of an installation share. A backup contains that folder, and a restore adds to the present list and
 * never replaces it. A line is appended and on disk before an erasure continues; no code removes a line.
 *
 * A line is an id only: no names, no times. If a crash cuts off a line, the line break in front of the next one ends it.
 */
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const ERASED_LIST = 'erased.list';

export const CUSTOMER_ID = /^[0-9A-Za-z]{10}_[0-9]{1,19}$/;

export interface ErasureList {
  /** Resolves when the id is on disk. */
  add(customerId: string): Promise<void>;
  /** All ids, each once. */
  all(): Promise<string[]>;
}

/** @param folder the folder of customers' files */
export function openErasureList(folder: string): ErasureList {
  const path = join(folder, ERASED_LIST);
  return {
    async add(customerId) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(path, 'a', 0o600);
      try {
        // A single write, so that lines of two servers do not mix. The line break in front ends a line that a crash has cut off.
        await file.write(`\n${customerId}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      // The file's name is durable only once its folder is synced.
      const parent = await open(dirname(path), 'r');
      try {
        await parent.sync();
      } finally {
        await parent.close();
      }
    },
    async all() {
      return [...new Set(idsIn(await contentOf(path)))];
    },
  };
}

const idsIn = (content: string): string[] => content.split('\n').filter((line) => CUSTOMER_ID.test(line));

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
