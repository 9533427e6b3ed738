/**
 * Processes that belong to a folder: it stands in their command, in their environment, or they work below it. Whatever
 * starts processes for a while gives each of them its folder in one of these ways, and finds them again by it. Linux only.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { commandOf, isAlive } from '../../src/base/processes.ts';

export function processesOf(folder: string): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && isAlive(pid))
    .map((pid) => ({ pid, command: commandOf(pid) }))
    .filter(({ pid, command }) =>
      [command, environmentOf(pid), workingFolderOf(pid)].some((text) => text.includes(folder)),
    );
}

const environmentOf = (pid: number): string => orNothing(() => readFileSync(`/proc/${pid}/environ`, 'utf8'));
const workingFolderOf = (pid: number): string => orNothing(() => readlinkSync(`/proc/${pid}/cwd`));

/** Gone between two looks, or another user's. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
