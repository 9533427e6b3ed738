/**
 * Bell: what a loop waits on between two rounds.
 *
 * A ring while a round is under way means another round at once, because the round may have looked before there was anything
 * to see. Without a ring the loop looks again after a while, because one may be lost.
 */
export interface Bell {
  ring(): void;
  /** A round begins: what was rung for before, it will see. */
  begin(): void;
  /** Until somebody rings, or `ms` have passed; not at all where somebody has rung since the round began. */
  wait(ms: number): Promise<void>;
}

export function openBell(): Bell {
  let rung = false;
  let wake: () => void = () => {};
  return {
    ring() {
      rung = true;
      wake();
    },
    begin() {
      rung = false;
    },
    async wait(ms) {
      if (rung) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
