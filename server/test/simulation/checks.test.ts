/** A check that never fails proves nothing: each check of the simulation gets a violation that it has to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Order } from '../../src/orders/index.ts';
import { freshFixture } from '../support/fixture.ts';
import { openPayoutSide } from '../support/payoutside.ts';
import { openRows } from '../support/rows.ts';
import type { Noted } from './actors.ts';
import { unproven } from './checks.ts';
import { openPromises } from './promises.ts';
import { openWild } from './wild.ts';

test('an attempt after one that has not provably failed is reported, and no other', async (t) => {
  const fixture = await freshFixture();
  const rows = await openRows(fixture.adminUrl);
  t.after(async () => {
    await rows.close();
    await fixture.stop();
  });
  const side = await openPayoutSide(fixture, rows, { rail: 'bank.test', asset: 'inr' });
  const [first, second] = [await side.writes(5n, {}), await side.writes(5n, {})];
  const told = async (last: string, next: string) => {
    const states = { [first]: last, [second]: next };
    for (const [id, state] of Object.entries(states))
      await rows.query('update payouts set state = $2 where id = $1', [id, state]);
    return await fixture.db.asSystem(unproven);
  };
  for (const [last, next] of [
    ['rejected', 'created'],
    ['returned', 'settled'],
    ['settled', 'rejected'],
  ] as const)
    assert.deepEqual(await told(last, next), [], `${last}, then ${next}`);
  for (const [last, next] of [
    ['created', 'created'],
    ['unknown', 'settled'],
    ['submitted', 'rejected'],
    ['settled', 'settled'],
  ] as const)
    assert.deepEqual(await told(last, next), [
      `payout ${first}, attempt 1, is ${last}, and the attempt after it is ${next}`,
    ]);
});

const sold = (id: bigint, terms: Partial<Order> = {}): Order =>
  ({
    ...{ id, depositAsset: 'inr', depositUnits: 2_000_000n, grossUnits: 23_000_000n },
    ...{ expiresAt: new Date(80_000), rate: { num: 86n, den: 1n } },
    ...terms,
  }) as Order;

test('promises of unpaid orders above the cap are reported, and those that may have ended do not count', () => {
  let [now, spreadMs] = [0, 0];
  const cap = openPromises({ seed: 22, now: () => now, spreadMs: () => spreadMs });
  const made = (order: Order) => cap.made({ order } as Noted);
  assert.ok(cap.capUnits >= 2_000_000n && cap.capUnits < 4_000_000n, 'one order fits, and two do not');
  assert.equal(made(sold(1n)), undefined);
  assert.match(made(sold(2n)) ?? '', /^order 2: 4000000 is promised in 2 unpaid orders, and \d+ is the cap$/);
  const isInCrypto = { depositAsset: 'usdc.chain', depositUnits: 1n, grossUnits: 2_000_000n };
  cap.handled({ order: sold(2n) } as Noted);
  assert.match(made(sold(3n, isInCrypto)) ?? '', /^order 3: 4000000 /);
  cap.handled({ order: sold(1n) } as Noted);
  cap.handled({ order: sold(3n) } as Noted);
  assert.equal(made(sold(4n)), undefined);
  // The clock of a process may be ten seconds ahead, and takes the fourth for expired.
  [now, spreadMs] = [70_000, 10_000];
  assert.equal(made(sold(5n, { expiresAt: new Date(150_000) })), undefined);
});

test('an order at a wild price, and a payout at one, are reported', () => {
  const due: (() => void)[] = [];
  const wild = openWild({ seed: 28, after: (_, body) => due.push(body), hasOrders: () => true, ended: () => false });
  const said = () => {
    const price = { base: 'usdc', quote: 'inr', rate: { num: 86n, den: 1n }, pricedAt: new Date(0) };
    const [fed] = wild.fed([price]);
    return fed?.rate ?? price.rate;
  };
  assert.deepEqual(said(), { num: 86n, den: 1n });
  due.shift()?.();
  const rate = said();
  assert.deepEqual(rate, { num: 86n, den: 100n });
  assert.match(wild.made(sold(1n, { rate })) ?? '', /^order 1 is made at 0\.86, /);
  assert.equal(wild.made(sold(2n)), undefined);
  // A coin is a million units, and 86 rupees are 8,600.
  assert.equal(wild.paysOut('inr', { depositUnits: 1_000_000n, payoutUnits: 8_600n }), undefined);
  assert.match(wild.paysOut('inr', { depositUnits: 1_000_000n, payoutUnits: 860_000n }) ?? '', /^pays 860000 for /);
  assert.equal(wild.paysOut('usdc.chain', { depositUnits: 8_600n, payoutUnits: 1_000_000n }), undefined);
  assert.match(wild.paysOut('usdc.chain', { depositUnits: 8_600n, payoutUnits: 100_000_000n }) ?? '', /^pays /);
  assert.equal(wild.done.get('a hundredth of the price said'), 1);
});
