/**
 * Shares: each customer or partner may have a few tasks under way or waiting, so that none of them keeps all others waiting.
 *
 * Not here: how many tasks there may be per minute (protocols/limit.ts).
 */
import { Unavailable } from './errors.ts';

export interface Shares {
  /** @throws Unavailable when `whose` has as many under way as it may */
  run<T>(whose: string, work: () => Promise<T>): Promise<T>;
}

/** @param name the source of `Unavailable` */
export function openShares(name: string, mostEach: number): Shares {
  const underWay = new Map<string, number>();
  return {
    async run(whose, work) {
      const others = underWay.get(whose) ?? 0;
      if (others >= mostEach) throw new Unavailable(name, 'too many at once', { retryAfterMs: 2_000 });
      underWay.set(whose, others + 1);
      try {
        return await work();
      } finally {
        const left = (underWay.get(whose) ?? 1) - 1;
        if (left > 0) underWay.set(whose, left);
        else underWay.delete(whose);
      }
    },
  };
}
