/**
 * Wakeup: the signal that a loop waits for between two rounds.
 *
 * A signal during a round starts another round at once, because the round may have looked before the new work existed. Without a
 * signal the loop looks again after a while, because signals may be lost.
 */
export interface Wakeup {
  signal(): void;
  /** Begins a round, which covers all signals received before it. */
  begin(): void;
  /**
   * Waits until a signal or until `ms` have passed; returns at once if there was a signal since the round began.
   *
   * @returns whether there was a signal
   */
  wait(ms: number): Promise<boolean>;
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
      if (signalled) return true;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      return signalled;
    },
  };
}
