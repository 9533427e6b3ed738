/**
 * Processes that belong to a folder: its name is in their command or environment, or they work below it. Code that starts
 * processes gives each of them its folder in one of these ways, and finds them again by it. Linux only.
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

/** The process may have ended meanwhile, or belong to another user. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
