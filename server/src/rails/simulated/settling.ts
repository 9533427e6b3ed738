/**
 * The simulated bank's timer: settles accepted payments when they are due.
 *
 * It sleeps until the next payment is due, and wakes earlier for one that is accepted meanwhile and due before that.
 */
import type { Clock } from '../../base/clock.ts';
import { describeError, type Log } from '../../base/log.ts';

/**
 * Longest pause between checks for due payments while any are pending: the clock may have been moved, and another instance may
 * have accepted a payment.
 */
const LOOK_MS = 1_000;
const FAILED_MS = 1_000;

/**
 * Checks for due payments when the next one is due, and when an earlier one is expected. Pending payments are rows, so the first
 * check is at start.
 */
export function keepSettling(settle: () => Promise<Date | undefined>, { clock, log }: { clock: Clock; log: Log }) {
  const state = { stopped: false, wakeAt: Number.NEGATIVE_INFINITY, wake: (): void => undefined };

  /** @returns how long to wait, in milliseconds */
  async function look(): Promise<number> {
    try {
      const dueAt = await settle();
      if (dueAt === undefined) return Number.POSITIVE_INFINITY;
      return Math.min(Math.max(0, dueAt.getTime() - clock.now().getTime()), LOOK_MS);
    } catch (error) {
      if (!state.stopped) log.warn(describeError(error), 'simulated bank could not settle');
      return FAILED_MS;
    }
  }
  async function keep(): Promise<void> {
    while (!state.stopped) {
      state.wakeAt = Number.POSITIVE_INFINITY;
      const waitMs = await look();
      const lookAt = performance.now() + waitMs;
      // A payment that was accepted during the look may be due earlier.
      state.wakeAt = Math.min(state.wakeAt, lookAt);
      while (!state.stopped && performance.now() < state.wakeAt)
        await new Promise<void>((resolve) => {
          const leftMs = state.wakeAt - performance.now();
          const timer = Number.isFinite(leftMs) ? setTimeout(resolve, Math.ceil(leftMs)) : undefined;
          state.wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
    }
  }
  const running = keep();
  return {
    /** A payment is due then. */
    expect(dueAt: Date): void {
      const waitMs = Math.min(Math.max(0, dueAt.getTime() - clock.now().getTime()), LOOK_MS);
      const wakeAt = performance.now() + waitMs;
      if (wakeAt >= state.wakeAt) return;
      state.wakeAt = wakeAt;
      state.wake();
    },
    async stop() {
      state.stopped = true;
      state.wake();
      await running;
    },
  };
}
