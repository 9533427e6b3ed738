/**
 * Blobs: stores bytes that are too large for a row, under ids of ours.
 *
 * The bytes are encrypted before they reach the store, and an id says nothing about its document. A write is done when the bytes
 * are on disk under their final name; each name is written only once. s3.ts implements the same contract with a bucket.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { assert } from './errors.ts';

export interface Blobs {
  /** Resolves when the bytes are on disk. */
  write(id: string, bytes: Buffer): Promise<void>;
  /** @returns undefined if there is no such blob */
  read(id: string): Promise<Buffer | undefined>;
  /** Ids of blobs written before `time`, and not before `notBefore`, in batches. Removes unfinished files of that age. */
  olderThan(time: Date, notBefore?: Date): AsyncIterable<string[]>;
  remove(id: string): Promise<void>;
}

export const BLOB_ID = /^[0-9a-f]{32}$/;
const UNFINISHED = /^[0-9a-f]{32}\.[0-9a-f]{8}\.part$/;

export const newBlobId = (): string => randomBytes(16).toString('hex');

/** Stores blobs in a folder, with a subfolder per first two digits of an id. */
export function openFolder(folder: string): Blobs {
  const root = resolve(folder);
  const pathOf = (id: string): string => {
    assert(BLOB_ID.test(id), 'the id of a blob is malformed');
    return join(root, id.slice(0, 2), id);
  };
  return {
    async write(id, bytes) {
      const path = pathOf(id);
      const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        const file = await open(unfinished, 'wx', 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      // A file's name is durable only once its folder is synced, and the folder's name once the root is.
      await syncFolder(dirname(path));
      await syncFolder(root);
    },
    read: async (id) => await unlessGone(readFile(pathOf(id))),
    async *olderThan(time, notBefore) {
      for (const part of (await unlessGone(readdir(root))) ?? []) {
        if (!/^[0-9a-f]{2}$/.test(part)) continue;
        const old: string[] = [];
        for (const name of (await unlessGone(readdir(join(root, part)))) ?? []) {
          const path = join(root, part, name);
          const found = await unlessGone(stat(path));
          if (found === undefined || found.mtime >= time) continue;
          if (notBefore !== undefined && found.mtime < notBefore) continue;
          if (BLOB_ID.test(name)) old.push(name);
          else if (UNFINISHED.test(name)) await rm(path, { force: true });
        }
        if (old.length > 0) yield old;
      }
    },
    remove: async (id) => await rm(pathOf(id), { force: true }),
  };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
