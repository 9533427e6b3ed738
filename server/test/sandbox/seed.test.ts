/** The messages of a sandbox start about markets and fees, if some exist already. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allMarkets, everyFee, feeKey, setFee, upsertMarket } from '../../src/partners/index.ts';
import { seedCatalogue, seedMarkets } from '../../src/sandbox/seed.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

const TOKENS = new Map([['matic20', [{ code: 'usdc', address: `0x${'1'.repeat(40)}` as const, decimals: 6 }]]]);
const ADA = { by: 'ada', why: 'a test' };

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
  await seedCatalogue(fixture.db, TOKENS);
  await seedMarkets(fixture.db, TOKENS);
});
after(async () => await fixture?.stop());

const rupees = async (direction: string) => {
  const all = await fixture.db.asSystem(allMarkets);
  const market = all.find((one) => one.direction === direction && one.fiat.code === 'inr');
  assert.ok(market !== undefined);
  return market;
};

test('a restart keeps an operator’s settings, and updates the program’s own', async () => {
  const { db } = fixture;
  const sale = await rupees('offramp');
  const purchase = await rupees('onramp');
  const fee = (marketId: bigint) => ({ marketId, partnerId: null, kind: 'operator' as const });
  const bpsOf = async (marketId: bigint) => (await db.asSystem(everyFee)).get(feeKey(fee(marketId)))?.bps;
  const terms = (market: typeof sale) => ({ ...market, crypto: market.crypto.code, fiat: market.fiat.code });
  const usual = await bpsOf(sale.id);
  await db.asSystem(async (tx) => {
    await setFee(tx, { ...fee(sale.id), bps: 300n }, ADA);
    await upsertMarket(tx, { ...terms(sale), taxBps: 100n }, ADA);
    await setFee(tx, { ...fee(purchase.id), bps: 300n });
    await upsertMarket(tx, { ...terms(purchase), taxBps: 100n });
  });
  await seedMarkets(db, TOKENS);
  assert.deepEqual(
    [await bpsOf(sale.id), (await rupees('offramp')).taxBps],
    [300n, 100n],
    'a start undid the operator’s change',
  );
  assert.deepEqual([await bpsOf(purchase.id), (await rupees('onramp')).taxBps], [usual, 0n]);
});
