/** Which parts of an order its rail has reversed, and an unexpected credit of a rail, which is nobody's deposit. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { DepositRow } from '../../src/orders/deposits/store.ts';
import { isAllLost, lostOf } from '../../src/orders/refunds/lost.ts';
import type { Order } from '../../src/orders/store.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';

const ORDER = { id: 7n } as Partial<Order> as Order;
const deposit = (state: DepositRow['state'], takenUnits: bigint, lostTo = 'loss:usdc.test') =>
  ({ state, takenUnits, lostTo, asset: 'usdc.test', origin: 'rail' }) as DepositRow;

test('of the reversed deposits of an order, those count of which it took something', () => {
  const nothing = deposit('lost', 0n);
  assert.deepEqual(lostOf(ORDER, [nothing]), []);
  assert.deepEqual(
    lostOf(ORDER, [nothing, deposit('lost', 5n), deposit('applied', 9n)]).map(({ units }) => units),
    [5n],
  );
  assert.deepEqual(
    [[nothing], [nothing, deposit('lost', 5n)], [deposit('lost', 5n), deposit('applied', 9n)]].map((all) =>
      isAllLost(ORDER, all),
    ),
    [false, true, false],
  );
});

let fixture: Fixture;
let sale: Awaited<ReturnType<typeof openSaleEnvironment>>;
before(async () => {
  fixture = await freshFixture();
  sale = await openSaleEnvironment(fixture);
});
after(() => fixture?.stop());

test('a credit to the wallet for payouts waits in suspense, once, at no target and in a case', async () => {
  const fact: RailFact = {
    type: 'credit_unexpected',
    ...{ rail: 'evm.test', externalId: 'hash:of-a-credit', asset: 'usdc.test' },
    ...{ units: 5_000_000n, reference: '0x5', payer: '0xpayer' },
  };
  for (const _ of [1, 2]) await fixture.db.asSystem((tx) => sale.report(tx, fact));
  const rows = await fixture.db.asSystem((tx) =>
    tx.rows<Partial<DepositRow>>(
      "select units, target, state, origin, payer, why from deposits where external_id = 'hash:of-a-credit'",
      [],
    ),
  );
  assert.deepEqual(rows, [
    {
      ...{ units: 5_000_000n, target: '', state: 'suspense', origin: 'credit' },
      ...{ payer: 'unknown', why: 'unexpected_credit' },
    },
  ]);
  const cases = await fixture.db.asSystem((tx) =>
    tx.rows<{ facts: unknown }>("select facts from cases where kind = 'unexpected_credit'", []),
  );
  assert.deepEqual(cases, [{ facts: { units: '5000000', asset: 'usdc.test', reference: '0x5', payer: '0xpayer' } }]);
});
