/** A kill switch that people set before a restore stays theirs: the restore adds its own and removes none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markRestored } from '../../src/backup/index.ts';
import { killSwitches, layersOf, setKillSwitch } from '../../src/partners/index.ts';
import { freshFixture } from '../support/fixture.ts';

test('payouts that two people stopped before a restore are stopped by these two and the restore, also after a second restore', async () => {
  const { adminUrl, db, clock, stop } = await freshFixture();
  try {
    const at = clock.now();
    for (const by of ['ada', 'bea'])
      await db.asSystem((tx) => setKillSwitch(tx, { kind: 'payouts', subject: 'all', by, reason: 'a key leaked', at }));
    for (let time = 1; time <= 2; time += 1) {
      await markRestored(adminUrl, { now: clock.now() });
      const [found, layers] = await db.asSystem(async (tx) => [
        await killSwitches(tx),
        await layersOf(tx, 'payouts', 'all'),
      ]);
      assert.deepEqual(
        found.map(({ by }) => by),
        ['the machine'],
      );
      assert.match(found[0]?.reason ?? '', /^restored.*switched off before by/);
      assert.deepEqual(layers.map(({ by }) => by).toSorted(), ['ada', 'bea', 'the machine']);
    }
  } finally {
    await stop();
  }
});
