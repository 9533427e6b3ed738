/** When a worker reads the table of jobs: by notification, by due time, and as often as it must for others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { later } from '../../src/base/clock.ts';
import type { Database } from '../../src/base/db.ts';
import { enqueueAt, type Handlers } from '../../src/base/jobs.ts';
import { startWorkers, type Workers } from '../../src/base/workers.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
});
after(() => fixture?.stop());

test('a job that is due in a moment runs then, without a worker that looks every second', async () => {
  const { db, clock, log } = fixture;
  const ranAt: number[] = [];
  const handlers: Handlers = {
    run_soon: async () => {
      ranAt.push(Date.now());
      return undefined;
    },
  };
  const workers = await startWorkers({ db, clock, log, handlers, pollMs: 3_600_000 });
  try {
    await db.asSystem((tx) => tx.run('delete from jobs'));
    const dueAt = later(clock.now(), 400);
    await db.asSystem((tx) => enqueueAt(tx, { kind: 'run_soon', subject: '1', dueAt }));
    await until('it runs', () => ranAt.length === 1, { withinMs: 10_000 });
    assert.ok((ranAt[0] ?? 0) >= dueAt.getTime(), 'it ran before it was due');
    await db.asSystem((tx) => enqueueAt(tx, { kind: 'run_soon', subject: '2', dueAt: clock.now() }));
    await until('the next one runs', () => ranAt.length === 2, { withinMs: 10_000 });
  } finally {
    await workers.stop();
  }
});

test('a worker that is alone looks rarely, and every second as soon as there is another, whose rows it may take', async () => {
  const { db, clock, log } = fixture;
  let looks: number[] = [];
  const watched: Database = {
    ...db,
    asSystem: (body) => {
      looks.push(performance.now());
      return db.asSystem(body);
    },
  };
  const longestPause = (): number => Math.max(0, ...looks.slice(1).map((at, n) => at - (looks[n] ?? at)));
  await db.asSystem((tx) => tx.run('delete from jobs'));
  const handlers: Handlers = { never: async () => undefined };
  const one = await startWorkers({ db: watched, clock, log, handlers });
  let other: Workers | undefined;
  try {
    await until('it lets more than two seconds pass', () => longestPause() > 2_500);
    looks = [];
    other = await startWorkers({ db, clock, log, handlers });
    // The first look is that of the announcement. Without it, or if that look did not see the other, the second one is as late as
    // that of a worker that is alone.
    await until('it has looked three times', () => looks.length >= 3, { withinMs: 12_000 });
    const [first = 0, second = 0] = looks;
    assert.ok(second - first < 3_500, 'the announcement did not make it look every second');
  } finally {
    await other?.stop();
    await one.stop();
  }
});
