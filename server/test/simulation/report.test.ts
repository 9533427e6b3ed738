/**
 * What many runs came to is counted as it was, and what shows nothing is not called clean.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect, run } from '../support/process.ts';
import { openTally } from './report.ts';
import type { Told } from './workers.ts';

const told = (seed: number, points: string[], ends: string[] = []): Told => {
  const times = (names: string[]) => new Map(names.map((name) => [name, 1]));
  const none = { violations: [], deadlocks: [], schedule: [], history: [], digest: '', faults: new Map(), states: {} };
  const counts = { orders: 5, unmade: 0, submissions: 3, steps: 1, waits: 0, virtualMs: 1, realMs: 1 };
  return { ...none, ...counts, seed, points: times(points), ends: times(ends) };
};

test('a seed that is played again to come to a point is one seed and two runs', () => {
  const tally = openTally();
  tally.add(told(1, ['a', 'b'], ['a']), { seed: 1, orders: 5 });
  assert.deepEqual(tally.unhit(), [{ seed: 1, endAt: 'b' }]);
  tally.add(told(1, ['a', 'b'], ['b']), { seed: 1, orders: 5, endAt: 'b' });
  const { seeds, runs, points } = tally.report('npm run simulate', 1);
  assert.deepEqual([seeds, runs, points], [1, 2, { known: 2, hit: 2, ends: 2, never: [] }]);
});

test('a point that was gone to and not hit is told from one that was not gone to', () => {
  const tally = openTally();
  tally.add(told(1, ['a', 'b']), { seed: 1, orders: 5 });
  tally.add(told(1, ['a']), { seed: 1, orders: 5, endAt: 'b' });
  const { points } = tally.report('npm run simulate', 1);
  assert.equal(points.hit, 0);
  const why = new Map(points.never.map((one) => [one.point, one.why]));
  assert.match(why.get('a') ?? '', /was not played again/);
  assert.match(why.get('b') ?? '', /was played again to end a process there, it did not/);
});

for (const [seeds, why] of [
  ['5..1', /none: A\.\.B goes up/],
  ['1..2..3', /--seeds A\.\.B/],
  ['0..3', /--seeds A\.\.B/],
] as const)
  test(`--seeds ${seeds} is refused, and not clean`, async () => {
    const child = run(['server/test/simulation/main.process.ts', '--seeds', seeds], {});
    const output = collect(child);
    assert.equal(await new Promise((done) => child.once('close', done)), 1);
    assert.match(output(), why);
    assert.doesNotMatch(output(), /clean|paid twice/);
  });
