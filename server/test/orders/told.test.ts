/** The partner's view of an order's money is bounded, however many parts a payer makes; the rest is returned on request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Known, MOST_SHOWN, publicMoneyOf } from '../../src/orders/read/public.ts';
import type { Refund } from '../../src/orders/refunds/store.ts';
import type { Order } from '../../src/orders/store.ts';
import type { Payout } from '../../src/rails/payouts.ts';

const AT = new Date('2026-01-05T00:00:00Z');
const order = {
  ...{ state: 'on_hold', depositAsset: 'usdc', exception: 'underpaid', refundRequest: null, dormantFrom: null },
} as unknown as Order;
const refund = (id: number, state = 'settled') =>
  ({
    ...{ id: BigInt(id), depositId: 1n, state, key: '', purpose: 'refund', netUnits: 1n, asset: 'usdc', why: 'second' },
    ...{ address: null, fiatAccountId: null, createdAt: AT, updatedAt: AT },
  }) as unknown as Refund;
const back = (id: number) =>
  ({
    ...{ id: `pay_${id}`, purpose: 'payout', state: 'returned', units: 1n, asset: 'inr', why: '', endedAt: AT },
    ...{ createdAt: AT, reference: `r${id}` },
  }) as unknown as Payout;
const upTo = (most: number) => Array.from({ length: most }, (_, at) => at + 1);
const known = (refunds: number, payouts = 0): Known => ({
  ...{ deposits: [], history: [], confirmed: new Set<bigint>(), short: new Map<string, unknown>() },
  ...{ refunds: upTo(refunds).map((id) => refund(id)), payouts: upTo(payouts).map(back) },
});
const ids = ({ refunds }: ReturnType<typeof publicMoneyOf>) => refunds.map(({ refundId }) => Number(refundId));

test('an event has the newest twenty refunds, and the number of older ones', () => {
  const told = publicMoneyOf(order, known(45, 30), new Map());
  assert.deepEqual(ids(told), upTo(45).slice(-MOST_SHOWN));
  assert.deepEqual([told.olderRefunds, told.olderReturnedPayouts], [25, 10]);
  assert.equal(told.returnedPayouts.at(-1)?.reference, 'r30');
  const few = publicMoneyOf(order, known(MOST_SHOWN, MOST_SHOWN), new Map());
  assert.deepEqual([ids(few).length, 'olderRefunds' in few, 'olderReturnedPayouts' in few], [MOST_SHOWN, false, false]);
});

test('the older ones are asked for page by page, each once and none left out', () => {
  const found: number[] = [];
  for (let before: bigint | undefined; ; ) {
    const told = publicMoneyOf(order, known(45), new Map(), { before, most: 10 });
    found.unshift(...ids(told));
    if (told.olderRefunds === undefined) break;
    before = BigInt(told.refunds[0]?.refundId ?? 0);
  }
  assert.deepEqual(found, upTo(45));
  assert.deepEqual(ids(publicMoneyOf(order, known(45), new Map(), { before: 999n, most: 10 })), []);
});

test('a destination that an older refund waits for is requested', () => {
  const { refunds, ...rest } = known(45);
  const waits = [refund(0, 'needs_destination'), ...refunds];
  assert.equal(publicMoneyOf(order, { ...rest, refunds: waits }, new Map()).needsDestination, true);
});
