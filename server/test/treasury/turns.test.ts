/** Which open sweeps a check advances: the ones that waited longest, also if its time does not suffice for all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnTransfer } from '../../src/treasury/store.ts';
import { inTurn, type Turns, tookTurn } from '../../src/treasury/sweeps.turns.ts';

const sweeps = (...keys: string[]): OwnTransfer[] => keys.map((key) => ({ key }) as OwnTransfer);

/** @returns the keys of the sweeps that a check begins with, whose time suffices for so many */
function check(turns: Turns, open: readonly OwnTransfer[], { most, began }: { most: number; began: number }): string[] {
  const due = inTurn(turns, open, most).slice(0, began);
  for (const one of due) tookTurn(turns, one);
  return due.map(({ key }) => key);
}

test('a sweep that a check had no time for comes first in the next one', () => {
  const turns: Turns = new Set();
  const open = sweeps('a', 'b', 'c', 'd', 'e');
  assert.deepEqual(check(turns, open, { most: 4, began: 2 }), ['a', 'b']);
  assert.deepEqual(check(turns, open, { most: 4, began: 2 }), ['c', 'd']);
  assert.deepEqual(check(turns, open, { most: 4, began: 2 }), ['e', 'a']);
  assert.deepEqual(check(turns, open, { most: 4, began: 2 }), ['b', 'c']);
});

test('a new sweep comes before those that had a turn, and one that has ended is forgotten', () => {
  const turns: Turns = new Set();
  check(turns, sweeps('a', 'b'), { most: 4, began: 2 });
  assert.deepEqual(check(turns, sweeps('b', 'new'), { most: 4, began: 1 }), ['new']);
  assert.deepEqual([...turns], ['b', 'new']);
});
