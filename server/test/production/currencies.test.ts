/** The decimals of a currency: defined by its issuer, and not by this machine's locale. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimalsOf } from '../../src/production/currencies.ts';

test('a currency has the decimals of ISO 4217, whatever a locale displays', () => {
  const asked = { EUR: 2, INR: 2, PKR: 2, HUF: 2, IDR: 2, COP: 2, JPY: 0, KRW: 0, XOF: 0, KWD: 3, IQD: 3, CLF: 4 };
  assert.deepEqual(Object.fromEntries(Object.keys(asked).map((code) => [code, decimalsOf(code)])), asked);
});
