/** Claims of a contract: each is tried in an environment of its own, which ends with it. */
import { it } from 'node:test';

export const inEnvironmentOf =
  <Environment extends { stop(): Promise<void> }>(make: () => Promise<Environment>) =>
  (claim: string, body: (world: Environment) => Promise<void>) =>
    it(claim, async () => {
      const world = await make();
      try {
        await body(world);
      } finally {
        await world.stop();
      }
    });
