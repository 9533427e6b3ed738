/** Due work that fails: which failures are retried, which are given up, and where they are shown. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { Unavailable } from '../../src/base/errors.ts';
import { release, renew } from '../../src/base/jobs.store.ts';
import { enqueue, enqueueAt, type Handled, type Handlers, shiftDueTimes } from '../../src/base/jobs.ts';
import { startWorkers, type Workers } from '../../src/base/workers.ts';
import { failingJobsCheck, workCheck } from '../../src/ops/index.ts';
import { runCheck } from '../../src/ops/routes.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
});
after(() => fixture?.stop());

/** Lets workers fail at one job this many times, by a clock that advances two minutes at each read. */
async function failing(kind: string, times: number, fails: () => Error): Promise<void> {
  const { db, log } = fixture;
  let at = Date.now();
  const clock = { now: () => new Date((at += 120_000)) };
  let tries = 0;
  let workers: Workers | undefined;
  const done = new Promise<void>((enough) => {
    const handlers: Handlers = {
      [kind]: async () => {
        tries += 1;
        if (tries >= times) enough();
        throw fails();
      },
    };
    // Its clock runs ahead of the timer that a worker sleeps by.
    void startWorkers({ db, clock, log, handlers, pollMs: 20 }).then((started) => {
      workers = started;
    });
  });
  await db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: clock.now() }));
  const late = new Promise<void>((end) => setTimeout(end, 30_000).unref());
  await Promise.race([done, late]);
  await workers?.stop();
}

const rowOf = (kind: string) =>
  fixture.db.asSystem((tx) =>
    tx.row<{ attempts: number; dead: boolean }>(
      'select attempts, dead_at is not null as dead from jobs where kind = $1',
      [kind],
    ),
  );

test('work on something unavailable is never given up, however long it lasts', async () => {
  await failing('look_outside', 40, () => new Unavailable('a bank', 'no answer'));
  assert.deepEqual(await rowOf('look_outside'), { attempts: 40, dead: false });
});

test('work that fails in another way is given up after 25 attempts, and tried again at the next start', async () => {
  await failing('trip_over', 25, () => new Error('a bug'));
  assert.deepEqual(await rowOf('trip_over'), { attempts: 25, dead: true });

  const { db, clock, log } = fixture;
  let tried: () => void = () => {};
  const again = new Promise<void>((done) => {
    tried = done;
  });
  const handlers: Handlers = {
    trip_over: async () => {
      tried();
      return undefined;
    },
  };
  const workers = await startWorkers({ db, clock, log, handlers });
  await again;
  await workers.stop();
  assert.equal(await rowOf('trip_over'), undefined);
});

test('work that keeps failing is seen while it waits for its next try, and so is work given up', async () => {
  const { db } = fixture;
  await db.asSystem((tx) => tx.run('delete from jobs'));
  const seen = async () => {
    const { ok, essential, failing: count, dead } = await runCheck(failingJobsCheck(db));
    return { ok, essential, count, dead };
  };
  await failing('submit', 3, () => new Error('once or twice'));
  assert.deepEqual(await seen(), { ok: true, essential: false, count: 0, dead: 0 });
  await failing('submit', 6, () => new Error('again and again'));
  assert.deepEqual(await seen(), { ok: false, essential: false, count: 1, dead: 0 });
  await failing('submit', 25, () => new Error('always'));
  assert.deepEqual(await seen(), { ok: false, essential: false, count: 0, dead: 1 });
});

test('a job that waits behind its ordering key runs at once when its turn comes, and not at the next poll', async () => {
  const { db, clock, log } = fixture;
  const subjects = Array.from({ length: 60 }, (_, n) => String(n));
  const worked: string[] = [];
  const take: Handlers = {
    take_turns: async (subject) => {
      worked.push(subject);
      return undefined;
    },
  };
  await db.asSystem(async (tx) => {
    for (const subject of subjects)
      await enqueue(tx, { kind: 'take_turns', subject, orderingKey: 'one', dueAt: clock.now() });
  });
  const workers = await startWorkers({ db, clock, log, handlers: take, pollMs: 3_600_000 });
  try {
    await until('all had their turn', () => worked.length === subjects.length, { withinMs: 30_000 });
  } finally {
    await workers.stop();
  }
  assert.deepEqual(worked, subjects);
});

/** Polls every few milliseconds by a clock that is ahead by `aheadMs`. */
async function polling(kind: string, aheadMs: () => number) {
  const { db, log } = fixture;
  const clock = { now: () => new Date(Date.now() + aheadMs()) };
  let polls = 0;
  const handlers: Handlers = {
    [kind]: async () => {
      polls += 1;
      return { againInMs: 20 };
    },
  };
  const workers = await startWorkers({ db, clock, log, handlers, polls: [kind], pollMs: 50 });
  return { polls: () => polls, stop: () => workers.stop() };
}

test('a clock that steps ahead by an hour and back does not stop polling jobs', async () => {
  const { db, clock } = fixture;
  let aheadMs = 0;
  const worker = await polling('look_stepping', () => aheadMs);
  try {
    await db.asSystem((tx) => enqueue(tx, { kind: 'look_stepping', subject: '1', dueAt: clock.now() }));
    await until('it polls', () => worker.polls() > 3);
    aheadMs = 3_600_000;
    const before = worker.polls();
    await until('it polls by the clock that is ahead', () => worker.polls() > before + 3);
    aheadMs = 0;
    const then = worker.polls();
    await until('it polls by the clock that came back', () => worker.polls() > then + 3);
  } finally {
    await worker.stop();
  }
});

test('work that one fast server put to sleep is done by the others', async () => {
  const { db, clock } = fixture;
  const fast = await polling('look_two', () => 3_600_000);
  await db.asSystem((tx) => enqueue(tx, { kind: 'look_two', subject: '1', dueAt: clock.now() }));
  await until('the fast one polls', () => fast.polls() > 0);
  await fast.stop();
  const right = await polling('look_two', () => 0);
  try {
    await until('the right one polls', () => right.polls() > 3);
  } finally {
    await right.stop();
  }
});

test('a job postponed until a time does not run before it', async () => {
  const { db, clock } = fixture;
  const worker = await polling('look_on', () => 0);
  const at = new Date(clock.now().getTime() + 3_600_000);
  try {
    await db.asSystem((tx) => {
      enqueueAt(tx, { kind: 'look_later', subject: '1', dueAt: at });
      enqueue(tx, { kind: 'look_on', subject: '1', dueAt: clock.now() });
    });
    await until('workers have looked round', () => worker.polls() > 60);
    const row = await db.asSystem((tx) => tx.row<{ dueAt: Date }>(`select due_at from jobs where kind = 'look_later'`));
    assert.deepEqual(row?.dueAt, at);
  } finally {
    await worker.stop();
  }
});

test('a server whose recurring jobs wait since a future time is not ready', async () => {
  const { db } = fixture;
  const seen = async () => {
    const { ok, essential, asleep } = await runCheck(workCheck(db, systemClock));
    return { ok, essential, asleep };
  };
  await db.asSystem((tx) => tx.run('delete from jobs'));
  await db.asSystem((tx) =>
    tx.run(
      `insert into jobs (kind, subject, due_at, slept_at) values ('observe_rail', 'evm.x', now() + interval '5 s', now())`,
    ),
  );
  assert.deepEqual(await seen(), { ok: true, essential: true, asleep: 0 });
  await db.asSystem((tx) =>
    tx.run(`update jobs set due_at = now() + interval '16 s', slept_at = now() + interval '15 s'`),
  );
  assert.deepEqual(await seen(), { ok: false, essential: true, asleep: 1 });
});

test('rows that are kept and always due leave room for a row of the table', async () => {
  const { db, clock, log } = fixture;
  let isDone = false;
  const outside = () => new Promise<void>((answered) => setTimeout(answered, 50));
  const handlers: Handlers = {
    look_always: async () => {
      await outside();
      return { againInMs: 0 };
    },
    do_once: async () => {
      isDone = true;
      return undefined;
    },
  };
  await db.asSystem((tx) => {
    for (let n = 0; n < 12; n += 1) enqueue(tx, { kind: 'look_always', subject: String(n), dueAt: clock.now() });
  });
  const workers = await startWorkers({ db, clock, log, handlers, polls: Object.keys(handlers), concurrency: 4 });
  try {
    await until('all are held', async () =>
      db.asSystem(async (tx) => {
        const row = await tx.row<{ n: bigint }>(
          `select count(*) as n from jobs where kind = 'look_always' and lease is not null`,
        );
        return row?.n === 12n;
      }),
    );
    await db.asSystem((tx) => enqueue(tx, { kind: 'do_once', subject: '1', dueAt: clock.now() }));
    await until('the row has its turn', () => isDone, { withinMs: 10_000 });
  } finally {
    await workers.stop();
  }
});

test('a row that is kept while the database is away does not make its worker ask at full speed', async () => {
  const { clock, log } = fixture;
  let failed = 0;
  let isAway = false;
  const db = {
    ...fixture.db,
    asSystem: (async (body) => {
      if (!isAway) return await fixture.db.asSystem(body);
      failed += 1;
      throw new Error('the database is away');
    }) as typeof fixture.db.asSystem,
  };
  let runs = 0;
  const handlers: Handlers = {
    look_slowly: async () => {
      runs += 1;
      return { againInMs: 8_500 };
    },
  };
  await db.asSystem((tx) => enqueue(tx, { kind: 'look_slowly', subject: '1', dueAt: clock.now() }));
  const workers = await startWorkers({ db, clock, log, handlers, polls: Object.keys(handlers) });
  try {
    await until('it ran', () => runs === 1);
    const began = performance.now();
    isAway = true;
    await until('it is overdue', () => performance.now() - began > 9_000, { withinMs: 20_000 });
    const [before, since] = [failed, performance.now()];
    await until('it was asked a few times', () => failed >= before + 4, { withinMs: 10_000 });
    assert.ok(performance.now() - since > 1_000, `4 times within ${performance.now() - since} ms`);
    isAway = false;
    await until('it runs again', () => runs > 1, { withinMs: 10_000 });
  } finally {
    await workers.stop();
  }
});

test('a job whose due time moves while a worker holds it runs again with fresh data', async () => {
  const { db, clock, log } = fixture;
  for (const isPoll of [false, true]) {
    const kind = isPoll ? 'look_shifted_poll' : 'look_shifted';
    let runs = 0;
    let go: (() => void) | undefined;
    const held = new Promise<void>((wake) => {
      go = wake;
    });
    const handlers: Handlers = {
      [kind]: async (): Promise<Handled> => {
        runs += 1;
        if (runs === 1) await held;
        return runs === 1 ? { againInMs: isPoll ? 9_000 : 3_600_000 } : undefined;
      },
    };
    const workers = await startWorkers({ db, clock, log, handlers, polls: isPoll ? [kind] : [], pollMs: 50 });
    try {
      await db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: clock.now() }));
      await until('it runs', () => runs === 1);
      await db.asSystem((tx) => shiftDueTimes(tx, { kinds: [kind], subjects: ['1'], ms: 7_200_000 }));
      go?.();
      await until('it runs again', () => runs >= 2, { withinMs: 5_000 });
      await until('it is gone', async () => (await rowOf(kind)) === undefined);
    } finally {
      await workers.stop();
    }
  }
});

test('a poll that waits in its worker runs when it is moved forward', async () => {
  const { db, clock, log } = fixture;
  const kind = 'look_kept';
  let runs = 0;
  const handlers: Handlers = { [kind]: async () => ((runs += 1), { againInMs: 9_000 }) };
  const workers = await startWorkers({ db, clock, log, handlers, polls: [kind], pollMs: 50 });
  try {
    await db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: clock.now() }));
    await until('it waits', () => runs > 0);
    for (let n = 0; n < 2; n += 1) {
      const before = runs;
      await db.asSystem((tx) => shiftDueTimes(tx, { kinds: [kind], subjects: ['1'], ms: 9_000 }));
      await until('it runs again', () => runs > before, { withinMs: 5_000 });
    }
  } finally {
    await workers.stop();
  }
});

test('work that enqueues itself is run again, and not at full speed', async () => {
  const { db, clock, log } = fixture;
  for (const isPoll of [false, true]) {
    const kind = isPoll ? 'look_itself_poll' : 'look_itself';
    let runs = 0;
    const handlers: Handlers = {
      [kind]: async (): Promise<Handled> => {
        runs += 1;
        if (runs < 16) await db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: clock.now() }));
        return isPoll && runs < 16 ? { againInMs: 5_000 } : undefined;
      },
    };
    const workers = await startWorkers({ db, clock, log, handlers, polls: isPoll ? [kind] : [], pollMs: 50 });
    try {
      const began = performance.now();
      await db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: clock.now() }));
      await until('it has run sixteen times', () => runs === 16);
      // Ten are free; then 20, 40, 80, 160 and 320 ms.
      const tookMs = performance.now() - began;
      assert.ok(tookMs >= 300, `${isPoll ? 'a poll' : 'a row'}: sixteen runs in ${tookMs} ms`);
    } finally {
      await workers.stop();
    }
  }
});

test('a poll that failed, was enqueued again and then succeeds shows no failure any more', async () => {
  const { db, clock, log } = fixture;
  const kind = 'look_failing';
  let runs = 0;
  const handlers: Handlers = {
    [kind]: async () => {
      runs += 1;
      if (runs === 1) throw new Unavailable('a node', 'no answer');
      return { againInMs: 20 };
    },
  };
  const errorOf = async () => {
    const row = await db.asSystem((tx) =>
      tx.row<{ lastError: string | null }>('select last_error from jobs where kind = $1', [kind]),
    );
    return row?.lastError;
  };
  const workers = await startWorkers({ db, clock, log, handlers, polls: [kind], pollMs: 20 });
  try {
    const again = () => db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: clock.now() }));
    await again();
    await until('it has failed', async () => typeof (await errorOf()) === 'string');
    await again();
    await until('it polls', () => runs > 4);
    await until('its failure is over', async () => (await errorOf()) === null);
  } finally {
    await workers.stop();
  }
});

test('two transactions that insert the same jobs in opposite order do not deadlock', async () => {
  const { db, clock } = fixture;
  const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const runs = [0, 0];
  const inserts = (at: 0 | 1, subjects: readonly string[]) =>
    db.asSystem(async (tx) => {
      runs[at] = (runs[at] ?? 0) + 1;
      for (const subject of subjects) {
        enqueue(tx, { kind: 'opposite', subject, dueAt: clock.now() });
        await tx.rows('select 1');
        both[at]?.resolve();
        await both[1 - at]?.promise;
      }
    });
  await Promise.all([inserts(0, ['1', '2']), inserts(1, ['2', '1'])]);
  assert.deepEqual(runs, [1, 1], 'a transaction was retried');
  const rows = await db.asSystem((tx) =>
    tx.rows<{ enqueued: number }>(`select enqueued from jobs where kind = 'opposite' order by subject`),
  );
  assert.deepEqual(
    rows.map(({ enqueued }) => enqueued),
    [2, 2],
  );
});

test('leases are renewed, and let go, in the order in which jobs are enqueued', async () => {
  const { db, clock, adminUrl } = fixture;
  // The later one has the lower id.
  const made = await db.asSystem(async (tx) => {
    const ids: bigint[] = [];
    for (const subject of ['2', '1'])
      ids.push(
        ...(
          await tx.rows<{ id: bigint }>(
            `insert into jobs (kind, subject, due_at, lease, leased_until)
           values ('ordered', $1, now(), 'ours', clock_timestamp() + interval '1 hour') returning id`,
            [subject],
          )
        ).map(({ id }) => id),
      );
    return ids;
  });
  const [enqueuing, looking] = [1, 2].map(
    () => new Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' }),
  ) as [Client, Client];
  await Promise.all([enqueuing.connect(), looking.connect()]);
  try {
    for (const write of [renew, release]) {
      await enqueuing.query('begin');
      await enqueuing.query(`select from jobs where kind = 'ordered' and subject = '1' for update`);
      const written = write(db, { ids: made, token: 'ours', holder: 1, now: clock.now() });
      await until('it waits for the first', async () => {
        // By a connection without a transaction: within one, the activity of others stands still.
        const { rows } = await looking.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%update jobs%'`,
        );
        return rows.length > 0;
      });
      await enqueuing.query(`select from jobs where kind = 'ordered' and subject = '2' for update nowait`);
      await enqueuing.query('commit');
      await written;
    }
  } finally {
    await Promise.all([enqueuing.end(), looking.end()]);
  }
});

/** The locks of `holdPresence` in this database. */
const PRESENT = `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
  where l.locktype = 'advisory' and l.classid = x'776f726b'::int and l.granted and d.datname = current_database()`;

test('the polls of a frozen process are taken over as soon as it does not say that it lives, and stay taken', async () => {
  const { db, clock, log, serverUrl } = fixture;
  const kind = 'look_frozen';
  const presentMs = 2_000;
  let ran = 0;
  const handlers: Handlers = {
    [kind]: async () => {
      ran += 1;
      return { againInMs: 20 };
    },
  };
  const holder = async () =>
    (await db.asSystem((tx) => tx.row<{ holder: number | null }>('select holder from jobs where kind = $1', [kind])))
      ?.holder;
  await db.asSystem((tx) => enqueue(tx, { kind, subject: '1', dueAt: clock.now() }));
  const file = fileURLToPath(new URL('worker.process.ts', import.meta.url));
  const other = spawn(process.execPath, [file, JSON.stringify({ serverUrl, kind, presentMs })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let otherRan = 0;
  other.stdout.on('data', (text: Buffer) => (otherRan += text.toString().split('\n').length - 1));
  let workers: Workers | undefined;
  try {
    await until('the other process keeps the poll', () => otherRan > 5);
    const before = await holder();
    workers = await startWorkers({ db, clock, log, handlers, polls: [kind], presentMs });
    other.kill('SIGSTOP');
    // A poll that waits is leased for minutes.
    await until('the poll is taken over', () => ran > 5);
    assert.notEqual(await holder(), before);
    const [frozenAt, ranAt] = [otherRan, ran];
    other.kill('SIGCONT');
    await until('both hold a presence lock', async () => {
      const row = await db.asSystem((tx) => tx.row<{ count: number }>(PRESENT));
      return row?.count === 2;
    });
    await until('the poll goes on', () => ran > ranAt + 5);
    // What was on its way when it was stopped.
    assert.ok(otherRan <= frozenAt + 1, `the other process ran it ${otherRan - frozenAt} times more`);
  } finally {
    other.kill('SIGKILL');
    await workers?.stop();
  }
});
