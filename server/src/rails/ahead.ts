/**
 * Targets ahead: addresses and references that no order in these books has, but that a customer may have been given.
 *
 * After a restore from an older backup, the books lack the targets assigned since. Those targets follow directly after the last
 * one in the books. So a margin of them is watched, beyond the highest one at which money was seen: from the start of each
 * restore, and from the current numbers, because the database may have been restored without a report. A deposit to one of them
 * is stored with its number, and no order gets that number.
 *
 * For targets that are issued one by one (chain.targets.ts) these are the free ones, which the books list.
 *
 * An address is derived once per process, and the next order uses the same derivation, so looking ahead derives no address twice.
 */
import type { Tx } from '../base/db.ts';
import { frontiers, passOver } from './ahead.store.ts';
import * as issuedStore from './chain.targets.store.ts';

/**
 * Number of targets watched beyond the highest one seen. If more orders than this in a row stayed unpaid after the last commit
 * that was restored, only reconciliation finds money for a later one.
 */
export const MARGIN = 1_000n;

export interface TargetsAhead {
  /** The targets among these that are ahead → their numbers. */
  among(tx: Tx, targets: readonly string[]): Promise<Map<string, bigint>>;
  /** Ensures that no order gets this number. */
  passOver(tx: Tx, index: bigint): Promise<void>;
}

/** Free targets of an issuer. Money at one of them removes it from the pool and gives it a number. */
export const freeTargets = (rail: string, now: () => Date): TargetsAhead => ({
  async among(tx, targets) {
    const free = await issuedStore.takeOut(tx, rail, targets);
    if (free.length === 0) return new Map();
    await issuedStore.watchWithoutOrder(tx, rail, free, now());
    return new Map((await issuedStore.indexesOf(tx, rail, free)).map(({ address, index }) => [address, index]));
  },
  passOver: async () => {},
});

/** @param derive the address of a number; caches what it has derived */
export function targetsAhead(derive: (index: bigint) => string): TargetsAhead {
  /** Keyed by the first number of a range that a restore left. 'now' is the range that comes next. */
  const runs = new Map<bigint | 'now', { known: Map<string, bigint>; to: bigint }>();

  async function among(tx: Tx, targets: readonly string[]): Promise<Map<string, bigint>> {
    const found = new Map<string, bigint>();
    if (targets.length === 0) return found;
    for (const { first, highest, isNow } of await frontiers(tx)) {
      const run = runOf(isNow ? 'now' : first, first);
      extend(run, first, highest + MARGIN);
      // A target that is found extends the margin, and another target may then be within it.
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
    // Numbers that have been assigned since belong to orders.
    if (run.known.size > MOST_KNOWN)
      for (const [target, index] of run.known) if (index < first) run.known.delete(target);
    for (let index = run.to + 1n > first ? run.to + 1n : first; index <= to; index += 1n)
      run.known.set(derive(index), index);
    run.to = to;
    return true;
  }

  return { among, passOver };
}

/** If more are known, numbers that have been assigned since are dropped from the cache. */
const MOST_KNOWN = 20_000;
