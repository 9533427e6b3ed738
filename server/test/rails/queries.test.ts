/** What others ask about payouts, on rows in memory: the amount that left, whose key it is, and when another amount may settle it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { Refusal } from '../../src/base/errors.ts';
import { enqueueUnsubmitted, payoutByKey, requireOtherAmount, unitsPaid } from '../../src/rails/payouts.queries.ts';
import type { Payout } from '../../src/rails/payouts.store.ts';

const ENDED = new Date('2026-01-05T10:00:00Z');
const OPEN = { units: 100n, asset: 'inr', endedAt: null, refundId: null } as Payout;

/** @returns why it is refused; undefined if it is not */
function refused(payout: Payout, isSaid: boolean | undefined): string | undefined {
  try {
    requireOtherAmount(payout, 90n, isSaid);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'does_not_fit');
    return String(error.facts.why);
  }
}

test('another amount settles a payout only when operators confirm the difference', () => {
  const unsaid = 'the payout is 100 inr, and 90 left: confirm the difference with otherAmount';
  for (const isSaid of [undefined, false])
    for (const payout of [OPEN, { ...OPEN, endedAt: ENDED, refundId: 7n }])
      assert.equal(refused(payout, isSaid), unsaid);
  assert.equal(refused(OPEN, true), undefined);
});

test('an ended attempt at a refund is not settled by another amount, even if they confirm it', () => {
  const why = 'another amount, and its refund does not wait for it: retry that, and match the new attempt';
  assert.equal(refused({ ...OPEN, endedAt: ENDED, refundId: 7n }, true), why);
  assert.equal(refused({ ...OPEN, endedAt: ENDED }, true), undefined);
  assert.equal(refused({ ...OPEN, refundId: 7n }, true), undefined);
});

test('what left is the paid amount if it is known, also when it is nothing', () => {
  assert.equal(unitsPaid({ paidUnits: null, units: 100n }), 100n);
  assert.equal(unitsPaid({ paidUnits: 90n, units: 100n }), 90n);
  assert.equal(unitsPaid({ paidUnits: 0n, units: 100n }), 0n);
});

test('a key is a payout of the rail that asks, and of no other', async () => {
  const rows: Record<string, object> = { pay_1_1: { id: 'pay_1_1', rail: 'bank' } };
  const tx = { row: async (_: string, [id]: readonly unknown[] = []) => rows[String(id)] } as unknown as Tx;
  assert.equal((await payoutByKey(tx, 'bank', 'pay_1_1'))?.id, 'pay_1_1');
  assert.equal(await payoutByKey(tx, 'evm', 'pay_1_1'), undefined);
  assert.equal(await payoutByKey(tx, 'bank', 'pay_2_1'), undefined);
});

test('each payout that was not submitted is tried again now', async () => {
  const sent: (readonly unknown[])[] = [];
  const tx = {
    rows: async () => [{ id: 'pay_1_1' }, { id: 'ref_2_1' }],
    defer: (_: string, values: readonly unknown[] = []) => void sent.push(values),
    deferLast: (_: string, __: string, values: readonly unknown[] = []) => void sent.push(values),
  } as unknown as Tx;
  await enqueueUnsubmitted(tx, ENDED);
  const jobs = sent.filter(([kind]) => kind === 'send_payout');
  assert.deepEqual(
    jobs.map(([, id, , ...rest]) => [id, rest.some((one) => one === ENDED)]),
    [
      ['pay_1_1', true],
      ['ref_2_1', true],
    ],
  );
});
