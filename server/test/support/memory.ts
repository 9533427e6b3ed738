/**
 * Folders of runs: named by the process that owns them, in memory where there is enough of it. A killed process leaves its folder,
 * which the next one removes.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../src/base/processes.ts';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 32;

/** @returns a folder in memory; undefined where that is small, or does not let a program run from it */
export function memoryFolder(name: string): string | undefined {
  if (!existsSync(MEMORY) || freeBytes(MEMORY) < ENOUGH_BYTES) return undefined;
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const [, , , options = ''] = mounts.find((line) => line.split(' ')[1] === MEMORY)?.split(' ') ?? [];
  return options.split(',').includes('noexec') ? undefined : join(MEMORY, name);
}

/** An empty one for this process. */
export function folderOfRun(folders: string): string {
  mkdirSync(folders, { recursive: true });
  for (const name of readdirSync(folders))
    if (!isAlive(Number(name))) rmSync(join(folders, name), { recursive: true, force: true });
  const path = join(folders, String(process.pid));
  mkdirSync(path, { recursive: true });
  return path;
}

const freeBytes = (path: string): number => {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
};
