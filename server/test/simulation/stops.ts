/**
 * Stops: blocks, holds and kill switches that people have laid, as those people know it and not as our rows have it.
 *
 * A stop stands from when its transaction was committed until somebody begins to lift it. Each that is laid is a new one, also
 * where one stood already: an approval that was committed before it was begun covers another. A proposal to lift is about
 * what stood when it was proposed, and lifts nothing that was laid since.
 *
 * Whatever nobody can say for certain, because a process was ended in between, does not count as standing.
 */

/** A process stands still for so long at most, and its transaction ends within this: nobody lifts anything later than that. */
const LIFTS_WITHIN_MS = 180_000;

export const blockOfCustomer = (id: string): string => `customer ${id}`;
export const blockOfOrder = (id: bigint | string): string => `order ${id}`;
export const holdOfDeposit = (id: bigint | string): string => `deposit ${id}`;
export const killSwitch = (kind: string, subject: string): string => `kill switch ${kind} ${subject}`;

export interface Stops {
  /** Everything that happens here has a number of its own, in order. */
  next(): number;
  /** Somebody begins to lay one. @returns to be called once that is committed */
  laying(what: string): () => void;
  /**
   * Somebody begins to lift it.
   *
   * @param proposed the number of when that was proposed: what was begun after it stays
   * @returns to be called once that has ended, in whatever way
   */
  lifting(what: string, proposed?: number): () => void;
  /** These approvals are committed. Those that are known already stay as they were. */
  approved(ids: readonly string[]): void;
  /** The number of when the newest one that stands was begun; undefined where none is known to stand. */
  since(what: string): number | undefined;
  /** Whether this approval was committed after the stop with that number was begun. */
  covers(approval: string, since: number): boolean;
}

interface Stop {
  begun: number;
  stands: boolean;
  /** Somebody has begun to lift it, or was about to when it was laid. */
  lifted: boolean;
}

export function openStops(now: () => number): Stops {
  let number = 0;
  const next = (): number => {
    number += 1;
    return number;
  };
  const laid = new Map<string, Stop[]>();
  /** By whom it is being lifted, since when, whatever is laid meanwhile. */
  const lifts = new Map<string, Set<{ at: number }>>();
  const approvals = new Map<string, number>();
  const of = (what: string): Stop[] => {
    const all = laid.get(what) ?? [];
    laid.set(what, all);
    return all;
  };
  const isBeingLifted = (what: string): boolean =>
    [...(lifts.get(what) ?? [])].some(({ at }) => now() - at < LIFTS_WITHIN_MS);

  return {
    next,
    laying(what) {
      const stop = { begun: next(), stands: false, lifted: isBeingLifted(what) };
      of(what).push(stop);
      return () => {
        stop.stands = true;
      };
    },
    lifting(what, proposed) {
      const before = proposed ?? next();
      for (const stop of of(what)) if (stop.begun < before) stop.lifted = true;
      if (proposed !== undefined) return () => {};
      const one = { at: now() };
      const all = lifts.get(what) ?? new Set();
      lifts.set(what, all.add(one));
      return () => void all.delete(one);
    },
    approved(ids) {
      for (const id of ids) if (!approvals.has(id)) approvals.set(id, next());
    },
    since: (what) => of(what).findLast(({ stands, lifted }) => stands && !lifted)?.begun,
    covers: (approval, since) => (approvals.get(approval) ?? 0) > since,
  };
}

/** What was begun is told how it ended, and goes on as if nobody had asked. */
export function whenDone<T>(body: Promise<T>, committed: () => void, failed: () => void = () => {}): Promise<T> {
  void body.then(committed, failed);
  return body;
}
