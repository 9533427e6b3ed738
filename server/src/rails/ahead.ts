/**
 * Targets ahead: addresses and references that no order in these books has, and that somebody may have been told all the same.
 *
 * After a restore from an older backup the books do not know what was given out since. Those targets come right after the last
 * that was given out, so a margin of them is looked at, beyond the highest that money was ever seen at: from where each restore
 * began, and from where the numbers stand now (the database may be older than anybody told it). What comes to one is kept with
 * its number, and that number is given to no order.
 *
 * An address is derived once for a process, and is the one that the next order gets: looking ahead derives nothing twice.
 */
import type { Tx } from '../base/db.ts';
import { frontiers, passOver } from './ahead.store.ts';

/**
 * How many beyond the highest seen. More orders than this in a row that nobody paid, after the last commit restored, and what
 * comes for a later one is found by reconciliation only.
 */
export const MARGIN = 1_000n;

/** @param derive the address of a number; remembers what it derived */
export function targetsAhead(derive: (index: bigint) => string) {
  /** By the first number of a run that a restore has left; 'now' is what comes next. */
  const runs = new Map<bigint | 'now', { known: Map<string, bigint>; to: bigint }>();

  /** Which of these targets are ahead, with their numbers. */
  async function among(tx: Tx, targets: readonly string[]): Promise<Map<string, bigint>> {
    const found = new Map<string, bigint>();
    if (targets.length === 0) return found;
    for (const { first, highest, isNow } of await frontiers(tx)) {
      const run = runOf(isNow ? 'now' : first, first);
      extend(run, first, highest + MARGIN);
      // One that is found moves the margin on, and another may be within it then.
      for (let grows = true; grows; ) {
        grows = false;
        for (const target of targets) {
          const index = run.known.get(target);
          if (index === undefined || index < first || found.has(target)) continue;
          found.set(target, index);
          grows = extend(run, first, index + MARGIN) || grows;
        }
      }
    }
    return found;
  }

  function runOf(name: bigint | 'now', first: bigint) {
    const run = runs.get(name) ?? { known: new Map<string, bigint>(), to: first - 1n };
    runs.set(name, run);
    return run;
  }

  function extend(run: { known: Map<string, bigint>; to: bigint }, first: bigint, to: bigint): boolean {
    if (to <= run.to) return false;
    // What was given out since is an order's.
    if (run.known.size > MOST_KNOWN)
      for (const [target, index] of run.known) if (index < first) run.known.delete(target);
    for (let index = run.to + 1n > first ? run.to + 1n : first; index <= to; index += 1n)
      run.known.set(derive(index), index);
    run.to = to;
    return true;
  }

  return { among, passOver };
}

/** Then those that were given out since are forgotten. */
const MOST_KNOWN = 20_000;
