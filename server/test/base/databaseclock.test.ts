/** The time that all servers share: its reaction to a step of this machine's clock, or of the database's. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { openDatabaseClock } from '../../src/base/databaseclock.ts';
import type { Database, Tx } from '../../src/base/db.ts';
import { until } from '../support/until.ts';

/** A database that returns the set time; undefined when it is unavailable. */
function saying(at: () => number | undefined): Database {
  const tx = {
    async row() {
      const ms = at();
      if (ms === undefined) throw new Error('the database is away');
      return { at: new Date(ms) };
    },
  } as unknown as Tx;
  return { asSystem: async (body: (tx: Tx) => unknown) => await body(tx) } as unknown as Database;
}

const EPOCH = Date.UTC(2027, 0, 4);
/** Real time from an epoch, as a healthy database returns it. */
const running = (offsetMs: () => number = () => 0) => {
  const from = performance.now();
  return () => EPOCH + performance.now() - from + offsetMs();
};
const near = (a: number, b: number): boolean => Math.abs(a - b) < 400;

test('the time is the database’s, whatever this machine’s clock shows', async () => {
  const there = running();
  const clock = await openDatabaseClock(saying(there));
  try {
    assert.ok(near(clock.now().getTime(), there()));
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 });
    assert.ok(near(clock.now().getTime(), there()), 'a local step of an hour changed the time');
    mock.timers.setTime(0);
    assert.ok(near(clock.now().getTime(), there()), 'a local step to 1970 changed the time');
  } finally {
    mock.timers.reset();
    clock.stop();
  }
});

test('a step of the database’s own clock is followed, ahead and back', async () => {
  let stepMs = 0;
  const there = running(() => stepMs);
  const clock = await openDatabaseClock(saying(there), 5);
  try {
    for (const to of [15_000, 0]) {
      stepMs = to;
      await until(`the step to ${to} is followed`, () => near(clock.now().getTime(), there()));
    }
  } finally {
    clock.stop();
  }
});

test('an answer that differs by its round trip does not make time jump back', async () => {
  let looks = 0;
  const there = running();
  const clock = await openDatabaseClock(
    saying(() => {
      looks += 1;
      return there() + (looks % 2 === 0 ? -30 : 0);
    }),
    1,
  );
  try {
    let last = clock.now().getTime();
    await until('it has looked often', () => {
      const now = clock.now().getTime();
      assert.ok(now >= last, `went back by ${last - now} ms`);
      last = now;
      return looks > 20;
    });
  } finally {
    clock.stop();
  }
});

test('while the database is unavailable it keeps counting', async () => {
  let isAway = false;
  let asked = 0;
  const there = running();
  const clock = await openDatabaseClock(
    saying(() => {
      asked += 1;
      return isAway ? undefined : there();
    }),
    1,
  );
  try {
    isAway = true;
    const from = asked;
    await until('it has asked in vain', () => asked > from + 3);
    assert.ok(near(clock.now().getTime(), there()));
  } finally {
    clock.stop();
  }
});
