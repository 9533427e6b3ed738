/** Claims of a contract: each is tried in a world of its own, which ends with it. */
import { it } from 'node:test';

export const inWorldOf =
  <World extends { stop(): Promise<void> }>(make: () => Promise<World>) =>
  (claim: string, body: (world: World) => Promise<void>) =>
    it(claim, async () => {
      const world = await make();
      try {
        await body(world);
      } finally {
        await world.stop();
      }
    });
