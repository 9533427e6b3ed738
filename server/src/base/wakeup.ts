/**
 * Wakeup: what a loop waits on between two rounds.
 *
 * A signal while a round is under way means another round at once, because the round may have looked before there was anything
 * to see. Without a signal the loop looks again after a while, because one may be lost.
 */
export interface Wakeup {
  signal(): void;
  /** A round begins: what was signalled for before, it will see. */
  begin(): void;
  /** Until somebody signals, or `ms` have passed; not at all where somebody has signalled since the round began. */
  wait(ms: number): Promise<void>;
}

export function openWakeup(): Wakeup {
  let signalled = false;
  let wake: () => void = () => {};
  return {
    signal() {
      signalled = true;
      wake();
    },
    begin() {
      signalled = false;
    },
    async wait(ms) {
      if (signalled) return;
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
