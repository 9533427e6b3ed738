/** Holds in an order's history whose step has no facts, as steps of older versions have none: an operator did not make them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHeldByOperator, isHeldSince } from '../../src/orders/decide.ts';

test('a hold without facts is no operator’s, and none of the travel rule’s', () => {
  for (const event of ['held', 'payout_rejected', 'refund_rejected']) {
    const history = [{ version: 3, event }];
    assert.equal(isHeldSince(history, 2), false, event);
    assert.equal(isHeldByOperator(history), false, event);
    assert.equal(isHeldSince([...history, { version: 4, event, facts: { heldBy: 'rule' } }], 2), true, event);
  }
});
