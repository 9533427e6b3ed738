/** What happens at the deadline of an order whose rail was not read up to it for too long: which ends are told by a case. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Order, orderHandlers } from '../../src/orders/index.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';

const DAY_MS = 86_400_000;

let fixture: Fixture;
let sale: Awaited<ReturnType<typeof openSaleEnvironment>>;
before(async () => {
  fixture = await freshFixture();
  sale = await openSaleEnvironment(fixture);
});
after(() => fixture?.stop());

const openCases = async () =>
  await fixture.db.asSystem((tx) =>
    tx.rows<{ facts: { order: string } }>(
      "select facts from cases where kind = 'rail_unread' and subject = 'evm.test' and closed_at is null",
      [],
    ),
  );
const closesCases = () =>
  fixture.db.asSystem((tx) =>
    tx.run("update cases set closed_at = now(), outcome = 'read' where kind = 'rail_unread' and closed_at is null"),
  );

/** Its deadline is past by a day and nobody knows what the chain has until then. */
async function meetsItsDeadline(order: Order): Promise<void> {
  const rails = new Map(sale.context.rails);
  rails.set('evm.test', { ...rails.get('evm.test'), readTo: async () => undefined } as Rail);
  fixture.clock.advance(order.expiresAt.getTime() + DAY_MS - fixture.clock.now().getTime());
  await orderHandlers({ ...sale.context, rails }).expire_order?.(String(order.id));
}

test('an order that ends without a deposit, and one that ends with a part of it, open a case that names the order', async () => {
  const empty = await sale.sells();
  await meetsItsDeadline(empty);
  assert.equal(await sale.stateOf(empty), 'expired');
  assert.deepEqual(
    (await openCases()).map(({ facts }) => facts.order),
    [String(empty.id)],
  );
  await closesCases();

  const part = await sale.sells();
  await sale.pays(part, part.depositUnits / 2n);
  await meetsItsDeadline(part);
  assert.equal(await sale.stateOf(part), 'deposit_confirmed');
  assert.deepEqual(
    (await openCases()).map(({ facts }) => facts.order),
    [String(part.id)],
  );
  await closesCases();
});

test('an order that goes on opens none: paid in time, or with a deposit that is not confirmed yet', async () => {
  const paid = await sale.sells();
  await sale.pays(paid);
  await meetsItsDeadline(paid);
  assert.notEqual(await sale.stateOf(paid), 'expired');

  const waiting = await sale.sells();
  const { depositTarget: target, depositUnits: units } = waiting;
  const fact = { rail: 'evm.test', externalId: 'hash:unconfirmed', target, asset: 'usdc.test', units };
  await fixture.db.asSystem((tx) => sale.report(tx, { type: 'deposit_seen', ...fact, reference: '0x1', facts: {} }));
  await meetsItsDeadline(waiting);
  assert.equal(await sale.stateOf(waiting), 'deposit_seen');
  assert.deepEqual(await openCases(), []);
});
