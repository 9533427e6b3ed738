/** Command lines of programs with declared commands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf } from '../../src/base/commandline.ts';

const parts = (line: string) =>
  partsOf(line.split(' '), ['json', 'dry-run'], ['reason', 'amount']).map((part) =>
    'word' in part ? part.word : [part.option, part.value],
  );

test('options stand anywhere, with their value after a space or an equals sign', () => {
  assert.deepEqual(parts('--json order release 5 --reason=a=b --amount 7 --dry-run'), [
    ['json', undefined],
    ...['order', 'release', '5'],
    ['reason', 'a=b'],
    ['amount', '7'],
    ['dry-run', undefined],
  ]);
});

test('words with one dash are values', () => {
  for (const word of ['-4', '-45', '-4.5', '-', '-h', '-4-5', '-a=b'])
    assert.deepEqual(parts(`status ${word} --json`).slice(0, 2), ['status', word]);
  assert.deepEqual(parts('status -45 -6 --json 7'), ['status', '-45', '-6', ['json', undefined], '7']);
});

test('an option takes a value that begins with a dash, and an empty one', () => {
  assert.deepEqual(parts('--amount -4 --reason --json --amount='), [
    ['amount', '-4'],
    ['reason', '--json'],
    ['amount', ''],
  ]);
});

test('absent values and unknown options are reported', () => {
  assert.deepEqual(parts('--colour red --size=2 --json=no --reason'), [
    ['colour', undefined],
    'red',
    ['size', '2'],
    ['json', 'no'],
    ['reason', undefined],
  ]);
});

test('after two dashes every word is a value', () => {
  assert.deepEqual(parts('lookup -- --reason -4'), ['lookup', '--reason', '-4']);
});
