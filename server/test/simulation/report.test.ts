/** The results of many runs are counted exactly, and a run that shows nothing is not called clean. */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freshFolder } from '../support/folder.ts';
import { openJournal } from '../support/journal.ts';
import { collect, run } from '../support/process.ts';
import { openTally } from './report.ts';
import type { Told } from './workers.ts';

const told = (seed: number, points: string[], ends: string[] = []): Told => {
  const times = (names: string[]) => new Map(names.map((name) => [name, 1]));
  const none = { violations: [], deadlocks: [], schedule: [], history: [], digest: '', faults: new Map(), states: {} };
  const counts = { orders: 5, unmade: 0, submissions: 3, steps: 1, waits: 0, virtualMs: 1, realMs: 1 };
  return { ...none, ...counts, seed, points: times(points), ends: times(ends) };
};

test('a seed played again to reach a point counts as one seed and two runs', () => {
  const tally = openTally();
  tally.add(told(1, ['a', 'b'], ['a']), { seed: 1, orders: 5 });
  assert.deepEqual(tally.unhit(6), [{ seed: 1, endAt: ['b'] }]);
  tally.add(told(1, ['a', 'b'], ['b']), { seed: 1, orders: 5, endAt: ['b'] });
  const { seeds, runs, points } = tally.report('npm run simulate', 1);
  assert.deepEqual([seeds, runs, points], [1, 2, { known: 2, hit: 2, ends: 2, never: [] }]);
});

test('a point that a run missed is distinguished from one without a run', () => {
  const tally = openTally();
  tally.add(told(1, ['a', 'b']), { seed: 1, orders: 5 });
  tally.add(told(1, ['a']), { seed: 1, orders: 5, endAt: ['b'] });
  const { points } = tally.report('npm run simulate', 1);
  assert.equal(points.hit, 0);
  const why = new Map(points.never.map((one) => [one.point, one.why]));
  assert.match(why.get('a') ?? '', /was not played again/);
  assert.match(why.get('b') ?? '', /was played again to end a process there, it did not/);
});

test('a point is visited in the lowest seed that reached it, whichever seed ends first', () => {
  const tally = openTally();
  tally.add(told(2, ['a']), { seed: 2, orders: 5 });
  tally.add(told(1, ['a']), { seed: 1, orders: 5 });
  assert.deepEqual(tally.unhit(6), [{ seed: 1, endAt: ['a'] }]);
  tally.add(told(3, ['b', 'c']), { seed: 3, orders: 5 });
  tally.add(told(1, ['d']), { seed: 1, orders: 5 });
  const [first, ...others] = [
    { seed: 1, endAt: ['d', 'a'] },
    { seed: 3, endAt: ['b', 'c'] },
  ];
  assert.deepEqual(tally.unhit(2), [first, ...others]);
  assert.deepEqual(tally.unhit(1).length, 4);
});

test('common points share a run, and rare ones have runs of their own with fewer points', () => {
  const tally = openTally();
  const common = Array.from({ length: 5 }, (_, n) => `common ${n}`);
  for (let seed = 1; seed <= 30; seed += 1)
    tally.add(told(seed, seed === 7 ? [...common, 'rare 1', 'rare 2', 'rare 3'] : common), { seed, orders: 5 });
  assert.deepEqual(tally.unhit(2, 4), [
    { seed: 7, endAt: ['rare 1', 'rare 2'] },
    { seed: 7, endAt: ['rare 3'] },
    { seed: 1, endAt: common.slice(0, 4) },
    { seed: 1, endAt: common.slice(4) },
  ]);
});

test('seeds in a journal are not played again: ranges played separately add up', async () => {
  const path = join(freshFolder('journal'), 'kept');
  // Workers that are not opened have played no seed.
  for (const seed of [1, 2]) openJournal(path).keep(`{"orders":7,"seed":${seed}}`, { ...told(seed, ['a']), orders: 7 });
  const child = run(
    ['server/test/simulation/main.process.ts', '--seeds', '1..2', '--orders', '7', '--workers', '1', '--kept', path],
    {},
  );
  const output = collect(child);
  assert.equal(await new Promise((done) => child.once('close', done)), 0, output());
  assert.match(output(), /2 seeds in 2 runs: 2 clean/);
  assert.match(output(), /14 orders in [^]*points: 1 known, 0 hit/);
});

test('a journal forgets a line that was cut off, and nothing else', () => {
  const path = join(freshFolder('journal'), 'kept');
  const first = openJournal(path);
  first.keep('a', { times: new Map([['x', 2]]) });
  first.keep('b', 1);
  assert.deepEqual(first.known('b'), 1);
  const whole = readFileSync(path, 'utf8');
  appendFileSync(path, whole.slice(0, 12));
  const second = openJournal(path);
  second.keep('c', 3);
  const third = openJournal(path);
  assert.deepEqual(third.known('a'), { times: new Map([['x', 2]]) });
  assert.deepEqual([third.known('b'), third.known('c'), third.known('d')], [1, 3, undefined]);
  const none = openJournal(undefined);
  none.keep('a', 1);
  assert.equal(none.known('a'), 1);
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
