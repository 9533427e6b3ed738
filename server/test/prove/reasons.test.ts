/** The reasons of survivors (reasons.ts): how they are found, and which are enough. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineTexts, wrongWith } from './reasons.ts';

test('equal lines of a source are told apart, whatever their indentation', () => {
  assert.deepEqual(lineTexts('a;\n  b;\n    a;\na;\n'), ['a;', 'b;', 'a; (2)', 'a; (3)', '']);
});

test('words may change in a file that moves money', () => {
  const text = { lineText: "tell('sent');", mutator: 'StringLiteral', code: "'sent'", instead: '""' };
  const reasons = { 'orders/jobs.ts': { words: { "tell('sent');": { '\'sent\' -> ""': 'the sentence of a case' } } } };
  assert.equal(wrongWith(reasons, 'orders/jobs.ts', text), undefined);
  assert.equal(wrongWith({}, 'orders/jobs.ts', text), 'not explained');
});
