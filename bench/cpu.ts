/**
 * CPU time of processes, from the kernel's own accounts: what a noisy machine cannot fake.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ: a tick is 10 ms on every Linux that Node runs on. */
const US_PER_TICK = 10_000;

/** The sandbox's chains are children of the server, and no cost of it. */
const NOT_COUNTED = 'anvil';

/** User and system time, in microseconds, of these processes, all that descend from them, and those of these that ended. */
export function cpuOf(roots: readonly number[]): number {
  const all = readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [statOf(Number(name))] : [];
    } catch {
      return []; // it ended while we looked
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
  return all.filter(({ pid }) => isOurs(pid)).reduce((sum, { ticks }) => sum + ticks, 0) * US_PER_TICK;
}

function statOf(pid: number): { pid: number; name: string; parent: number; ticks: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  // utime, stime, and those of children that ended: fields 14 to 17 of proc(5).
  const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  return { pid, name, parent: fields[1] ?? 0, ticks: [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0) };
}
