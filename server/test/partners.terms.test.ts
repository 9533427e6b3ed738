/** Terms as they are stored and read again, what a change of them records, and a market that is switched off. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '../src/base/errors.ts';
import * as partners from '../src/partners/index.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { fiat, marketTerms } from './support/terms.ts';

const TERMS = {
  ...marketTerms,
  ...{ crypto: 'usdc.test', fiat: 'inr', quoteTtlMs: 61_000, depositTtlMs: 3_602_000, priceMaxAgeMs: 33_000 },
  ...{ clearingMs: 7_204_000, resumeMs: 305_000 },
} as const;

let fixture: Fixture;
let marketId: bigint;
let partnerId: bigint;
before(async () => {
  fixture = await freshFixture();
  await fixture.db.asSystem(async (tx) => {
    const crypto = { kind: 'crypto', chain: 'test', decimals: 6, native: false } as const;
    await partners.upsertAsset(tx, { ...crypto, code: 'usdc.test', coin: 'usdc', contract: '0x1' });
    await partners.upsertAsset(tx, fiat('inr'));
    partnerId = (await partners.createPartner(tx, { name: 'One', now: fixture.clock.now() })).id;
    marketId = await partners.upsertMarket(tx, TERMS);
  });
});
after(() => fixture?.stop());

const asSystem: Fixture['db']['asSystem'] = (work) => fixture.db.asSystem(work);

test('the times of a market are read as they were given', async () => {
  const { quoteTtlMs, depositTtlMs, priceMaxAgeMs, clearingMs, resumeMs } = await asSystem((tx) =>
    partners.marketById(tx, marketId),
  );
  assert.deepEqual(
    { quoteTtlMs, depositTtlMs, priceMaxAgeMs, clearingMs, resumeMs },
    { quoteTtlMs: 61_000, depositTtlMs: 3_602_000, priceMaxAgeMs: 33_000, clearingMs: 7_204_000, resumeMs: 305_000 },
  );
});

test('a change of a limit records what it was and what it is', async () => {
  const sets = (maxUnits: bigint | null) =>
    asSystem((tx) => partners.setLimit(tx, { marketId, level: 2, maxUnits }, { by: 'ada', why: 'a review' }));
  await sets(500n);
  await sets(700n);
  await sets(null);
  const changes = await asSystem((tx) => partners.marketChanges(tx, { marketId, what: 'limit', limit: 10 }));
  const units = (row: string | null) => row && /"max_units"\s*:\s*(\d+)/.exec(row)?.[1];
  assert.deepEqual(
    changes.map(({ item, by, before, after }) => [item, by, units(before), units(after)]),
    [
      ['2', 'ada', '700', null],
      ['2', 'ada', '500', '700'],
      ['2', 'ada', null, '500'],
    ],
  );
});

test('a market that is switched off takes no order, and says when to ask again; others do', async () => {
  const requires = (id: bigint) =>
    asSystem((tx) => partners.requireOpen(tx, { partnerId, marketId: id, exactly: true }));
  await asSystem((tx) =>
    partners.setKillSwitch(tx, {
      ...{ kind: 'market', subject: String(marketId), by: 'ada', reason: 'a wrong price', at: fixture.clock.now() },
    }),
  );
  await assert.rejects(
    requires(marketId),
    (error) => error instanceof Refusal && error.code === 'market_switched_off' && Number(error.facts.retryAfterMs) > 0,
  );
  await requires(marketId + 1n);
  await asSystem((tx) => partners.liftKillSwitch(tx, 'market', String(marketId)));
  await requires(marketId);
});
