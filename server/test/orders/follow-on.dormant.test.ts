/** A second deposit that was announced as dormant and becomes a follow-on order is woken first, by the machine. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dormantStore } from '../../src/orders/deposits/dormant.store.ts';
import { trace } from '../../src/orders/index.ts';
import { setPolicy } from '../../src/partners/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';

let fixture: Fixture;
let sale: Awaited<ReturnType<typeof openSaleEnvironment>>;
before(async () => {
  fixture = await freshFixture();
  sale = await openSaleEnvironment(fixture);
});
after(() => fixture?.stop());

const asSystem: Fixture['db']['asSystem'] = (work) => fixture.db.asSystem(work);

test('a dormant deposit that becomes an order is woken first, and its dormancy says when, by whom and why it ended', async () => {
  const first = await sale.sells();
  const policy = {
    marketId: first.marketId,
    partnerId: null,
    question: 'second',
    answer: { then: 'new_order' },
  } as const;
  await asSystem((tx) => setPolicy(tx, policy));
  const order = await sale.sells();
  await sale.pays(order);
  await sale.pays(order);
  const second = (await asSystem((tx) => trace(tx, order.id))).deposits.at(-1);
  assert(second?.state === 'suspense');
  const now = fixture.clock.now();
  await asSystem(async (tx) => {
    const { id: depositId, orderId, partnerId, rail, asset, units } = second;
    const about = { depositId, orderId, partnerId, rail, asset, units };
    await dormantStore.insert(tx, { ...about, since: now, noticedAt: now, dormantFrom: now });
    await dormantStore.mark(tx, { depositId }, { from: now, units: 0n });
  });

  fixture.clock.advance(60_000);
  const [from, job] = [fixture.clock.now(), sale.handlers().create_follow_on_order];
  await job?.(String(second.id));
  assert.equal((await asSystem((tx) => trace(tx, order.id))).followedBy.length, 1);
  const [ended, ...others] = await asSystem((tx) =>
    tx.rows<{ endedAt: Date | null; endedBy: string; endedWhy: string }>(
      'select ended_at, ended_by, ended_why from dormancies where deposit_id = $1',
      [second.id],
    ),
  );
  assert(ended !== undefined && others.length === 0);
  const { endedAt, ...said } = ended;
  assert(endedAt !== null && endedAt >= from, `it ended ${String(endedAt)}`);
  assert.deepEqual(said, { endedBy: 'the machine', endedWhy: 'a new order is created from it' });
});
