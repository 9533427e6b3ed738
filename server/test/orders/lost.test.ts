/** Which parts of an order its rail has reversed: what a refund of the rest gives up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DepositRow } from '../../src/orders/deposits/store.ts';
import { isAllLost, lostOf } from '../../src/orders/refunds/lost.ts';
import type { Order } from '../../src/orders/store.ts';

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
