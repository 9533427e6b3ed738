/** Amounts in the console are texts: they are grouped, added and compared exactly, also beyond what a number can hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compared, grouped, sum } from '../../../console/src/format.ts';

test('amounts are compared exactly', () => {
  for (const [one, other, sign] of [
    ['9999.999944938205161474', '9999.999944938205161473', 1],
    ['500000000000000000000.01', '500000000000000000000.02', -1],
    ['10', '9.99', 1],
    ['-2', '-1', -1],
    ['-0.5', '0.5', -1],
    ['7.50', '7.5', 0],
    ['0', '-0.00', 0],
  ] as const) {
    assert.equal(compared(one, other), sign, `${one} and ${other}`);
    assert.equal(compared(other, one) + sign, 0, `${other} and ${one}`);
  }
});

test('amounts are added exactly, and grouped without losing a digit', () => {
  assert.equal(sum(['9007199254740993', '0.000000000000000001']), '9007199254740993.000000000000000001');
  assert.equal(grouped('-1234567.0891'), '-1\u202f234\u202f567.0891');
});
