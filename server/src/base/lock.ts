/**
 * Lock of a data folder: one server at a time.
 *
 * The lock is a file with the holder's process id and start time, created atomically with a hard link. A process that finds the
 * file checks whether exactly that process is still alive. It takes over the lock of a dead holder, so a kill -9 needs no
 * cleanup. It does not wait: a living holder is an error, with the holder's process id.
 *
 * Surprise: process ids mean nothing across containers, so two containers that share a folder cannot see each other. PostgreSQL's
 * own lock on its cluster is then the last guard.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from './errors.ts';
import { isAlive, startOf } from './processes.ts';

interface Holder {
  pid: number;
  start: string | undefined;
}

/**
 * Takes the folder for this process, and creates it if it is missing.
 *
 * @param otherwise what to do if it is taken: the last sentence of the error
 * @returns a function that releases the lock; it may be called twice
 * @throws Unavailable with the process that holds it
 */
export function lockDataDir(
  dataDir: string,
  otherwise = 'Stop it, or start this one with another DATA_DIR and PORT.',
): () => void {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, 'server.lock');
  const own = `${path}.${randomUUID()}`;
  const text = JSON.stringify({ pid: process.pid, start: startOf(process.pid) } satisfies Holder);
  writeFileSync(own, text);
  try {
    for (;;) {
      if (link(own, path)) return () => release(path, text);
      const seen = readIfThere(path);
      if (seen === undefined) continue; // released between the two reads
      const holder = parse(seen);
      if (holder !== undefined && isAlive(holder.pid) && startOf(holder.pid) === holder.start) {
        throw new Unavailable(
          'data folder',
          `another server, process ${holder.pid}, is using ${dataDir}. ${otherwise}`,
        );
      }
      removeStale(path, seen);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

function release(path: string, text: string): void {
  if (readIfThere(path) === text) rmSync(path, { force: true });
}

/** Moves the file aside and reads it again, because another server may have written its lock since our first read. */
function removeStale(path: string, seen: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(aside) !== seen) link(aside, path);
  rmSync(aside, { force: true });
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A lock is written before it is linked, so no server has written a file that cannot be parsed: it is stale. */
function parse(text: string): Holder | undefined {
  try {
    const { pid, start } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === 'number' ? { pid, start } : undefined;
  } catch {
    return undefined;
  }
}
