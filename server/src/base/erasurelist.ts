/**
 * The erasure list: ids of customers who were erased, in a file outside the database.
 *
 * A restored database is older than the erasures since its backup, so the list of erased customers is kept outside the database:
 * in the folder of customers' files, which all servers of an installation share. A backup contains that folder, and a restore
 * never replaces the present list, but adds to it. Lines are appended and on disk before an erasure continues; no code removes
 * one.
 *
 * A line is an id only: no names, no times. A line that was cut off by a crash is ended by the next one's line break.
 */
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const ERASED_LIST = 'erased.list';

export const CUSTOMER_ID = /^[0-9A-Za-z]{10}_[0-9]{1,19}$/;

export interface ErasureList {
  /** Resolves when it is on disk. */
  add(customerId: string): Promise<void>;
  /** Every id once. */
  all(): Promise<string[]>;
}

/** @param folder the one of customers' files */
export function openErasureList(folder: string): ErasureList {
  const path = join(folder, ERASED_LIST);
  return {
    async add(customerId) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(path, 'a', 0o600);
      try {
        // One write: two servers' lines do not mix. The break before it ends a line that a crash has cut off.
        await file.write(`\n${customerId}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      // The name is on disk once its folder is.
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
