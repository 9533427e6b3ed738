/**
 * Folders of runs: named by the process that owns them, in memory where there is enough of it. A killed process leaves its folder,
 * which the next one removes.
 */
import { spawnSync } from 'node:child_process';
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
  for (const name of readdirSync(folders)) if (!isAlive(Number(name))) removeFolder(join(folders, name));
  const path = join(folders, String(process.pid));
  mkdirSync(path, { recursive: true });
  return path;
}

/**
 * Removes it with all it holds. A test that was killed, or whose disk was in use, may have left a disk mounted below it, which no
 * removal passes: that one is detached.
 */
export function removeFolder(path: string): void {
  for (const point of mountsBelow(path)) spawnSync('/bin/umount', ['--lazy', point]);
  rmSync(path, { recursive: true, force: true });
}

/** @returns the innermost first; none where the system does not say */
function mountsBelow(path: string): string[] {
  if (!existsSync('/proc/mounts')) return [];
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '));
  return points.filter((point) => point.startsWith(`${path}/`)).toReversed();
}

const freeBytes = (path: string): number => {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
};
