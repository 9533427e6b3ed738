/** CPU time of processes, from the kernel's accounting: unaffected by a noisy machine. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** USER_HZ: a tick is 10 ms on every Linux that Node runs on. For processes that have ended no finer value is available. */
const US_PER_TICK = 10_000;

/** The sandbox's chains are children of the server, and not part of its cost. */
const NOT_COUNTED = 'anvil';

/** User and system time, in microseconds, of these processes and of all their descendants, including ended ones. */
export function cpuOf(roots: readonly number[]): number {
  const all = readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [statOf(Number(name))] : [];
    } catch {
      return []; // It ended while we looked.
    }
  });
  const isOurs = (pid: number): boolean => {
    for (let at = all.find((one) => one.pid === pid); at !== undefined; ) {
      if (at.name === NOT_COUNTED) return false;
      if (roots.includes(at.pid)) return true;
      const { parent } = at;
      at = all.find((one) => one.pid === parent);
    }
    return false;
  };
  return all.filter(({ pid }) => isOurs(pid)).reduce((sum, one) => sum + one.endedUs + usOf(one.pid), 0);
}

/** Pid of the embedded PostgreSQL of a data folder. */
export const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** CPU time of one process, to the microsecond: a tick of 10 ms is a fifth of the shortest round. */
export function usOf(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ns = threads.map((one) => Number(readFileSync(`/proc/${pid}/task/${one}/schedstat`, 'utf8').split(' ')[0]));
    return ns.reduce((sum, one) => sum + one, 0) / 1_000;
  } catch {
    return 0; // It ended while we looked.
  }
}

function statOf(pid: number): { pid: number; name: string; parent: number; endedUs: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  // Time of children that have ended: fields 16 and 17 of proc(5).
  const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  return { pid, name, parent: fields[1] ?? 0, endedUs: ((fields[13] ?? 0) + (fields[14] ?? 0)) * US_PER_TICK };
}
