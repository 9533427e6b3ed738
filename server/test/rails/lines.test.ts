import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BankAdapter, StatementLine } from '../../src/rails/bank.adapter.ts';
import { movementOf } from '../../src/rails/bank.lines.ts';

const adapter = { currencies: { INR: 'inr' } } as unknown as BankAdapter;
const line: StatementLine = {
  externalId: 'L1',
  direction: 'debit',
  currency: 'INR',
  units: 500n,
  reference: 'UTR1',
  bookedAt: new Date('2027-01-04T09:00:00Z'),
  free: {},
};
const common = { name: 'L1', wallet: 'main', asset: 'inr' };

test('a debit moves its amount and its charge, under the key that it carries', () => {
  assert.deepEqual(movementOf(adapter, { ...line, chargeUnits: 5n, key: 'pay_1_1' }), [
    { ...common, units: -505n, key: 'pay_1_1' },
  ]);
  assert.deepEqual(movementOf(adapter, line), [{ ...common, units: -500n }]);
});

test('a recall moves money under the name of the credit that it recalls', () => {
  const recallOf = { externalId: 'L0', why: 'recalled' };
  assert.deepEqual(movementOf(adapter, { ...line, recallOf, key: 'pay_1_1' }), [
    { ...common, units: -500n, key: 'L0' },
  ]);
});

test('a credit moves its amount, and a line that cannot be booked moves nothing', () => {
  assert.deepEqual(movementOf(adapter, { ...line, direction: 'credit' }), [{ ...common, units: 500n }]);
  for (const odd of [
    { units: null },
    { units: 0n },
    { currency: 'XXX' },
    { externalId: '' },
    { bookedAt: new Date('') },
  ])
    assert.deepEqual(movementOf(adapter, { ...line, ...odd }), []);
});
