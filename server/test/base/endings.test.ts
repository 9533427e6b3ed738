/** Jobs that end in their handler's last transaction: none is lost, and none of another worker is touched. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Collision, type Database } from '../../src/base/db.ts';
import { enqueue, enqueueAt, type Handled, type Handler } from '../../src/base/jobs.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
});
after(() => fixture?.stop());

interface Row {
  lease: string | null;
  attempts: number;
  dueAt: Date;
}

const rowOf = (kind: string): Promise<Row | undefined> =>
  fixture.db.asSystem((tx) => tx.row<Row>('select lease, attempts, due_at from jobs where kind = $1', [kind]));

/** Whether the table has the effect of the handler's transaction. */
const hasEffect = async (kind: string): Promise<boolean> => (await rowOf(`${kind}_effect`)) !== undefined;
const effect = (tx: Parameters<typeof enqueueAt>[0], kind: string): void =>
  enqueueAt(tx, { kind: `${kind}_effect`, subject: '1', dueAt: fixture.clock.now() });

/** Runs a worker while `body` runs, with one job of this kind. @returns the number of transactions of the worker itself */
async function working(kind: string, handler: Handler, body: () => Promise<unknown>): Promise<{ settled: number }> {
  const { clock, log } = fixture;
  let settled = 0;
  const db: Database = {
    ...fixture.db,
    asSystem: (told) =>
      fixture.db.asSystem((tx) =>
        told({
          ...tx,
          run: (text, values) => {
            if (/^(delete from|update) jobs/.test(text)) settled += 1;
            return tx.run(text, values);
          },
          row: (text, values) => {
            if (text.startsWith('update jobs')) settled += 1;
            return tx.row(text, values);
          },
        }),
      ),
  };
  const workers = await startWorkers({ db, clock, log, handlers: { [kind]: handler }, pollMs: 50 });
  // Its start revives dead jobs.
  settled = 0;
  try {
    await again(kind);
    await body();
  } finally {
    await workers.stop();
  }
  return { settled };
}

const again = (kind: string): Promise<void> =>
  fixture.db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: fixture.clock.now() }));

test('a job ends with its handler’s transaction, and its worker needs none', async () => {
  const { db } = fixture;
  for (const againInMs of [undefined, 3_600_000]) {
    const kind = againInMs === undefined ? 'ends_gone' : 'ends_later';
    const handled: Handled = againInMs === undefined ? undefined : { againInMs };
    let runs = 0;
    const { settled } = await working(
      kind,
      async (_, run) => {
        runs += 1;
        return await db.asSystem((tx) => {
          effect(tx, kind);
          run?.ends(tx, handled);
          return handled;
        });
      },
      () => until('it has ended', async () => runs === 1 && (await rowOf(kind))?.lease == null),
    );
    assert.equal(settled, 0, 'the worker recorded the outcome once more');
    assert.equal(runs, 1);
    assert.ok(await hasEffect(kind));
    const row = await rowOf(kind);
    if (againInMs === undefined) assert.equal(row, undefined);
    else assert.ok(row !== undefined && row.dueAt.getTime() - fixture.clock.now().getTime() > againInMs - 60_000);
  }
});

test('a transaction that is rolled back keeps its job', async () => {
  const { db } = fixture;
  const kind = 'ends_rolled_back';
  let runs = 0;
  await working(
    kind,
    async (_, run) => {
      runs += 1;
      const isFirst = runs === 1;
      return await db.asSystem(async (tx) => {
        effect(tx, kind);
        run?.ends(tx, undefined);
        await tx.rows('select 1');
        if (!isFirst) return undefined;
        throw new Error('rolled back');
      });
    },
    async () => {
      await until('it has failed', async () => (await rowOf(kind))?.attempts === 1);
      assert.equal(await hasEffect(kind), false);
      await until('it is gone', async () => (await rowOf(kind)) === undefined);
    },
  );
  assert.equal(runs, 2);
  assert.ok(await hasEffect(kind));
});

test('a transaction that is repeated ends its job once', async () => {
  const { db } = fixture;
  const kind = 'ends_repeated';
  let attempts = 0;
  const { settled } = await working(
    kind,
    async (_, run) =>
      await db.asSystem(async (tx) => {
        attempts += 1;
        run?.ends(tx, undefined);
        await tx.rows('select 1');
        if (attempts < 3) throw new Collision('again');
        return undefined;
      }),
    () => until('it is gone', async () => attempts > 0 && (await rowOf(kind)) === undefined),
  );
  assert.deepEqual({ attempts, settled }, { attempts: 3, settled: 0 });
});

test('a job that is enqueued again while it runs, also by itself, runs again', async () => {
  const { db, clock } = fixture;
  for (const by of ['another', 'itself']) {
    const kind = `ends_enqueued_by_${by}`;
    let runs = 0;
    await working(
      kind,
      async (_, run) => {
        runs += 1;
        if (runs === 1 && by === 'another') await again(kind);
        return await db.asSystem((tx) => {
          if (runs === 1 && by === 'itself') enqueue(tx, { kind, subject: '1', dueAt: clock.now() });
          run?.ends(tx, undefined);
          return undefined;
        });
      },
      () => until('it is gone', async () => runs === 2 && (await rowOf(kind)) === undefined),
    );
    assert.equal(runs, 2, by);
  }
});

test('a worker that has lost its lease deletes and postpones no job of another', async () => {
  const { db } = fixture;
  for (const handled of [undefined, { againInMs: 3_600_000 }]) {
    const kind = handled === undefined ? 'ends_lost' : 'ends_lost_later';
    let isOver = false;
    await working(
      kind,
      async (_, run) => {
        await db.asSystem((tx) =>
          tx.run(
            `update jobs set lease = 'another', leased_until = clock_timestamp() + interval '1 hour' where kind = $1`,
            [kind],
          ),
        );
        await db.asSystem((tx) => {
          run?.ends(tx, handled);
        });
        isOver = true;
        return handled;
      },
      () => until('it has run', () => isOver),
    );
    const row = await rowOf(kind);
    assert.equal(row?.lease, 'another');
    assert.ok(row.dueAt <= fixture.clock.now(), 'it was postponed');
  }
});

test('a process that is killed before its commit leaves its job, and one killed afterwards does not', async () => {
  const { db, clock, log, serverUrl } = fixture;
  for (const stopsAt of ['before the commit', 'after the commit']) {
    const isBefore = stopsAt === 'before the commit';
    const kind = isBefore ? 'ends_killed_before' : 'ends_killed_after';
    await again(kind);
    const program = fileURLToPath(new URL('ending.process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, JSON.stringify({ serverUrl, kind, stopsAt })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await until('its connections are closed', async () => (await hasEffect(kind)) === !isBefore);
    assert.equal((await rowOf(kind)) === undefined, !isBefore, stopsAt);
    if (!isBefore) continue;
    let runs = 0;
    const handlers = { [kind]: async () => void (runs += 1) as undefined };
    const workers = await startWorkers({ db, clock, log, handlers, pollMs: 50 });
    try {
      await until('another worker has run it', async () => (await rowOf(kind)) === undefined);
    } finally {
      await workers.stop();
    }
    assert.equal(runs, 1);
  }
});
