/** Whose money it is: the payer's name beside the customer's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNames } from '../../src/customers/details.ts';

for (const [own, payer] of [
  ['Asha Rao', 'ASHA RAO'],
  ['Asha Rao', 'Rao, Asha'],
  ['José Núñez García', 'JOSE NUNEZ GARCIA'],
  ['José Núñez García', 'Jose Nunez'],
  ['Asha Devi Rao', 'Asha D. Rao'],
  ['Asha Rao', 'Mrs Asha Rao'],
  ['Sukarno', 'SUKARNO'],
] as const) {
  test(`"${payer}" is ${own}`, () => assert.equal(compareNames(own, payer), 'same'));
}

for (const [own, payer] of [
  ['Asha Rao', 'Ravi Rao'],
  ['Asha Rao', 'A. R.'],
  ['Asha Rao', 'A Payer'],
  ['Asha Rao', 'Asha Ray'],
  ['Asha Asha', 'Asha Rao'],
  ['Asha Rao', 'Asha'],
] as const) {
  test(`"${payer}" is not ${own}`, () => assert.equal(compareNames(own, payer), 'other'));
}

test('no name at all says nothing', () => {
  assert.equal(compareNames('Asha Rao', ' -- '), 'unknown');
});
