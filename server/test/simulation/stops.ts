/**
 * Stops: blocks, holds and kill switches set by people, as those people know them, independently of our rows.
 *
 * A stop is in force from the commit of its transaction until a person begins to lift it. Setting a stop again makes a new stop:
 * an approval committed before the new stop was begun does not cover it. A proposal to lift covers the stops in force when it
 * was made, and lifts no later one.
 *
 * A stop whose state is uncertain, because a process was killed meanwhile, does not count as in force.
 */

/** A process pauses for less than this, and its transaction ends within it: a lift cannot take effect later. */
const LIFTS_WITHIN_MS = 180_000;

export const blockOfCustomer = (id: string): string => `customer ${id}`;
export const blockOfOrder = (id: bigint | string): string => `order ${id}`;
export const holdOfDeposit = (id: bigint | string): string => `deposit ${id}`;
export const killSwitch = (kind: string, subject: string): string => `kill switch ${kind} ${subject}`;

export interface Stops {
  /** Numbers every event here, in order. */
  next(): number;
  /** A person begins to set a stop. @returns to be called once that is committed */
  laying(what: string): () => void;
  /**
   * A person begins to lift it.
   *
   * @param proposed the number at which the lift was proposed: a stop begun after it stays
   * @returns to be called once the lift has succeeded or failed
   */
  lifting(what: string, proposed?: number): () => void;
  /** These approvals are committed. An approval that is already known keeps its number. */
  approved(ids: readonly string[]): void;
  /** The number at which the newest stop in force was begun; undefined if no stop is known to be in force. */
  since(what: string): number | undefined;
  /** Whether this approval was committed after the stop with that number was begun. */
  covers(approval: string, since: number): boolean;
}

interface Stop {
  begun: number;
  stands: boolean;
  /** A person has begun to lift it, or was lifting when it was set. */
  lifted: boolean;
}

export function openStops(now: () => number): Stops {
  let number = 0;
  const next = (): number => {
    number += 1;
    return number;
  };
  const laid = new Map<string, Stop[]>();
  /** The lifts under way and their beginnings: they also count for a stop that is set meanwhile. */
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

/** Reports the end of a promise, and returns the promise unchanged. */
export function whenDone<T>(body: Promise<T>, committed: () => void, failed: () => void = () => {}): Promise<T> {
  void body.then(committed, failed);
  return body;
}
