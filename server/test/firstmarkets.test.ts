/** The very first markets, made while the server is already running: they take effect at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markets, upsertAsset, upsertMarket } from '../src/partners/index.ts';
import { freshFixture } from './support/fixture.ts';
import { fiat, marketTerms } from './support/terms.ts';

test('a reader of markets sees the first ones as soon as they are created', async () => {
  const fixture = await freshFixture();
  try {
    const look = () => fixture.db.asSystem(markets);
    await fixture.db.asSystem(async (tx) => {
      for (const code of ['inr', 'eur']) await upsertAsset(tx, fiat(code));
      await upsertMarket(tx, { ...marketTerms, crypto: 'eur', fiat: 'inr' });
      assert.deepEqual(await look(), []);
    });
    assert.equal((await look()).length, 1);
  } finally {
    await fixture.stop();
  }
});
