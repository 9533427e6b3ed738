/** Ownership of money: the payer's name compared with the customer's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compared } from '../../src/customers/known-names.ts';
import { nameScore, SAME_NAME } from '../../src/customers/names.ts';

for (const [own, payer] of [
  ['Asha Rao', 'ASHA RAO'],
  ['Asha Rao', 'Rao, Asha'],
  ['José Núñez García', 'JOSE NUNEZ GARCIA'],
  ['José Núñez García', 'Jose Nunez'],
  ['Asha Devi Rao', 'Asha D. Rao'],
  ['Asha Rao', 'Mrs Asha Rao'],
  ['Sukarno', 'SUKARNO'],
  ['Asha Devi Chatterjee', 'Asha Devi Chaterjee'],
  ['Maria Fernanda Gonzalez', 'Maria Fernanda Gonzales'],
  ['نازنین\u200cزهرا رضایی', 'نازنینزهرا رضایی'],
  ['Asha Rao', '\u202eA\u00adsha R\u200bao'],
] as const) {
  test(`"${payer}" is ${own}`, () => assert.equal(compared([own], payer).match, 'same'));
}

for (const [own, payer] of [
  ['Asha Rao', 'Ravi Rao'],
  ['Asha Rao', 'A. R.'],
  ['Asha Rao', 'A Payer'],
  ['Asha Rao', 'Asha Ray'],
  ['Asha Asha', 'Asha Rao'],
  ['Asha Rao', 'Asha'],
  ['Maria Gonzalez', 'Mario Gonzalez'],
  ['Gonzalez Chatterjee', 'Gonzales Chaterjee'],
  ['Asha Rao', 'R. Rao'],
] as const) {
  test(`"${payer}" is not ${own}`, () => assert.equal(compared([own], payer).match, 'other'));
}

test('a missing name gives no result', () => {
  assert.equal(compared(['Asha Rao'], ' -- ').match, 'unknown');
});

test('a business matches by its company or by the person who answered for it', () => {
  const names = ['Asha Rao', 'Rao Trading Ltd'];
  for (const payer of ['RAO TRADING LTD', 'Asha Rao']) assert.equal(compared(names, payer).match, 'same');
  assert.equal(compared(names, 'Kumar Trading Ltd').match, 'other');
  assert.equal(compared([], 'Asha Rao').match, 'unknown');
});

test('the score is the same in both orders of the names', () => {
  for (const [a, b, score] of [
    ['Asha Rao', 'Rao Asha', 10_000],
    ['Asha Devi Rao', 'Asha Rao', 9_800],
    ['Asha Devi Rao', 'Asha D Rao', 9_000],
    ['Asha Devi Chatterjee', 'Asha Devi Chaterjee', 9_333],
    ['Asha Rao', 'Ravi Rao', 5_000],
    ['Asha Rao', 'Ravi Kumar', 0],
  ] as const) {
    assert.equal(nameScore(a, b), score, `${a}, ${b}`);
    assert.equal(nameScore(b, a), score, `${b}, ${a}`);
  }
  assert.ok(SAME_NAME > 5_000);
});
