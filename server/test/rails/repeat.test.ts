import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Repeat, repeatOf } from '../../src/rails/payouts.repeat.ts';

const DAY_MS = 86_400_000;

test('a key is sent again only while its rail is certain to recognise it', () => {
  const table: [number, number | null, Repeat][] = [
    [0, 0, 'unpromised'],
    [0, null, 'unpromised'],
    [DAY_MS, 0, 'safe'],
    [DAY_MS, DAY_MS / 2 - 1, 'safe'],
    [DAY_MS, DAY_MS / 2, 'may_be_forgotten'],
    [DAY_MS, 100 * DAY_MS, 'may_be_forgotten'],
    [DAY_MS, null, 'may_be_forgotten'],
    [2 * DAY_MS, DAY_MS - 1, 'safe'],
    [Number.POSITIVE_INFINITY, 100 * DAY_MS, 'safe'],
    [Number.POSITIVE_INFINITY, null, 'safe'],
  ];
  for (const [deduplicatesForMs, firstSubmissionAgeMs, repeat] of table)
    assert.equal(
      repeatOf({ deduplicatesForMs }, { firstSubmissionAgeMs }),
      repeat,
      `${deduplicatesForMs} promised, ${firstSubmissionAgeMs} old`,
    );
});
