/** Actions that had another name in an earlier version: rows of that time count as the action of today. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf, nameToday } from '../../src/operators/renamed.ts';

test('an action of an earlier version has its name of today', () => {
  assert.equal(nameToday('bank.hand_out_file'), 'bank.download_file');
  for (const action of ['bank.download_file', 'order.retry', '']) assert.equal(nameToday(action), action);
});

test('an action has had all its names, the one of today first', () => {
  assert.deepEqual(namesOf('bank.download_file'), ['bank.download_file', 'bank.hand_out_file']);
  assert.deepEqual(namesOf('order.retry'), ['order.retry']);
});
