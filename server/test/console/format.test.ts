/** Amounts in the console are texts: they are grouped, added and compared exactly, also beyond what a number can hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compared, grouped, spoken, sum, worded } from '../../../console/src/format.ts';

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

test('a sentence of the server has no lines in its words, and every id as it is', () => {
  assert.equal(
    spoken('payout_settled: paying_out → settled (payout pay_752573830357764_1), held_by_magic_value'),
    'payout settled: paying out → settled (payout pay_752573830357764_1), held by magic value',
  );
  assert.equal(
    spoken('ALERT_CHANNELS of customer K4LMOOeqwo_1, line aBc_def'),
    'ALERT_CHANNELS of customer K4LMOOeqwo_1, line aBc_def',
  );
  assert.match(spoken('rail bank.simulated since 2026-11-29T06:50:39.784Z'), /since 2026-11-\d\d \d\d:\d\d:39$/);
  assert.deepEqual(['fiatAccountId', 'payoutUnits', 'at', 'address.postalCode'].map(worded), [
    'fiat account id',
    'payout units',
    'at',
    'address.postal code',
  ]);
});
