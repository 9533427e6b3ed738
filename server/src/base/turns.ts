/**
 * Turns: work on what outsiders send, one at a time, so that nobody keeps all others waiting.
 *
 * A customer and a partner may each have a few works under way or waiting, and there is a bound on all of them. The next turn goes to the
 * partner whose last one is longest ago: another partner's work waits for the one under way and not for a whole line. What has waited
 * too long is dropped, because its client has timed out.
 *
 * Not here: shares without turns (shares.ts); the thread or process that works (threads.ts, pictures.ts).
 */
import { Unavailable } from './errors.ts';
import { openShares } from './shares.ts';

export interface Whose {
  /** A customer, a partner or an operator. */
  readonly one: string;
  /** The partner of a customer. */
  readonly partner?: string | undefined;
}

export interface Turns {
  /** @throws Unavailable when too many wait, of all or of these, or this one has waited too long */
  run<T>(whose: Whose, work: () => Promise<T>): Promise<T>;
}

/** Each counts works that wait and the one under way. */
export interface TurnsOf {
  /** The source of `Unavailable`. */
  readonly name: string;
  readonly mostEach: number;
  readonly mostOfPartner: number;
  readonly most: number;
  readonly waitMs: number;
}

/** Groups whose last turn is remembered. */
const MOST_REMEMBERED = 1_000;

export function openTurns({ name, mostEach, mostOfPartner, most, waitMs }: TurnsOf): Turns {
  const ofEach = openShares(name, mostEach);
  const ofPartner = openShares(name, mostOfPartner);
  const waiting: { group: string; enter: () => void }[] = [];
  /** Groups that have had a turn while others wait, the latest last. */
  const served: string[] = [];
  let count = 0;
  let isBusy = false;
  const busy = () => new Unavailable(name, 'too many at once', { retryAfterMs: 2_000 });

  function next(): void {
    const rank = ({ group }: { group: string }): number => served.indexOf(group);
    const [first] = waiting.toSorted((a, b) => rank(a) - rank(b));
    if (first === undefined) {
      isBusy = false;
      served.length = 0;
      return;
    }
    waiting.splice(waiting.indexOf(first), 1);
    first.enter();
  }

  const turn = (group: string): Promise<void> =>
    new Promise((done, failed) => {
      const enter = () => {
        clearTimeout(timer);
        done();
      };
      const mine = { group, enter };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(mine), 1);
        failed(busy());
      }, waitMs);
      waiting.push(mine);
    });

  async function inTurn<T>(group: string, work: () => Promise<T>): Promise<T> {
    if (count >= most) throw busy();
    count += 1;
    try {
      if (isBusy) await turn(group);
      isBusy = true;
      const at = served.indexOf(group);
      if (at >= 0) served.splice(at, 1);
      served.push(group);
      if (served.length > MOST_REMEMBERED) served.shift();
      try {
        return await work();
      } finally {
        next();
      }
    } finally {
      count -= 1;
    }
  }

  return {
    async run({ one, partner }, work) {
      const group = partner ?? one;
      return await ofEach.run(one, () => ofPartner.run(group, () => inTurn(group, work)));
    },
  };
}
