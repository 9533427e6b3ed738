/** Base: the common parts of every process, and the order in which they are stopped. */
import type { Blobs } from '../base/blobs.ts';
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database } from '../base/db.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config.ts';
import type { Erasing } from '../erasure/index.ts';

export interface Base {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  /** Opens further pools on the same database. */
  readonly openPools: (options?: { partnerConnections?: number; systemConnections?: number }) => Database;
  readonly vault: Vault;
  /** Files of customers, encrypted. */
  readonly blobs: Blobs;
  /** Erases customers; its list is stored beside their files. */
  readonly erasing: Erasing;
  readonly clock: Clock;
  readonly ending: Endings;
}

export type Endings = ReturnType<typeof endings>;

/** Stops in reverse order of starting; a failure does not prevent the others. */
export function endings() {
  const steps: (() => unknown)[] = [];
  return {
    add(step: () => unknown): void {
      steps.push(step);
    },
    async run(): Promise<void> {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step();
        } catch {
          // Whichever part failed, its rows are unchanged.
        }
      }
    },
  };
}
