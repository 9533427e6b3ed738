import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patience, type Reading } from './patience.ts';

function machine() {
  const reading: Reading = { atMs: 1_000, waitedMs: 500, takenMs: 70 };
  return {
    read: () => ({ ...reading }),
    passes(ms: number, { waitedMs = 0, takenMs = 0 } = {}): void {
      reading.atMs += ms;
      reading.waitedMs += waitedMs;
      reading.takenMs += takenMs;
    },
  };
}

test('on a quiet machine a wait has exactly its given length', () => {
  const { read, passes } = machine();
  const isOver = patience(20_000, read);
  passes(20_000);
  assert.equal(isOver(), false, 'it was over early');
  passes(1);
  assert.equal(isOver(), true, 'it is not over at its end');
});

test('time in which programs waited for a processor, or that the host took, does not count', () => {
  for (const lost of [{ waitedMs: 12_000 }, { takenMs: 12_000, waitedMs: 3_000 }]) {
    const { read, passes } = machine();
    const isOver = patience(20_000, read);
    passes(32_000, lost);
    assert.equal(isOver(), false, 'lost time was counted');
    passes(1);
    assert.equal(isOver(), true, 'time that was not lost was not counted');
  }
});

test('a wait ends even on a machine that gives no time at all', () => {
  const { read, passes } = machine();
  const isOver = patience(20_000, read);
  passes(120_000, { waitedMs: 120_000 });
  assert.equal(isOver(), false, 'it was over before six times its length');
  passes(1, { waitedMs: 1 });
  assert.equal(isOver(), true, 'the wait does not end');
});
