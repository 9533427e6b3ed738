/** The server's information for its operators: health, readiness, metrics. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Fastify from 'fastify';
import { Client } from 'pg';
import { later } from '../src/base/clock.ts';
import { openDatabase } from '../src/base/db.ts';
import { enqueue } from '../src/base/jobs.ts';
import { watchWorkers } from '../src/base/presence.ts';
import { startWorkers } from '../src/base/workers.ts';
import { openCase } from '../src/compliance/index.ts';
import {
  type Check,
  databaseCheck,
  databaseReadings,
  folderCheck,
  openMetrics,
  opsRoutes,
  pricesCheck,
  railCheck,
  railReadings,
  startMetrics,
  workCheck,
  workersCheck,
  writesCheck,
} from '../src/ops/index.ts';
import { runCheck } from '../src/ops/routes.ts';
import type { Rail, RailHealth } from '../src/rails/rail.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { freshFolder } from './support/folder.ts';
import { patience } from './support/patience.ts';
import { until } from './support/until.ts';

let fixture: Fixture;

before(async () => {
  fixture = await freshFixture();
});
after(() => fixture?.stop());

const railWith = (health: () => Promise<RailHealth>) => ({ code: 'evm.test', health }) as Rail;
const check = (name: string, essential: boolean, run: Check['run']): Check => ({ name, essential, run });
async function ask(checks: Check[], url: string) {
  const app = Fastify();
  await app.register(opsRoutes(() => checks));
  const reply = await app.inject(url);
  await app.close();
  return { status: reply.statusCode, body: reply.json() };
}

test('a process is healthy as long as it answers, even if other systems are down', async () => {
  const down = check('database', true, () => Promise.reject(new Error('down')));
  assert.deepEqual(await ask([down], '/healthz'), { status: 200, body: { ok: true } });
});

test('it is ready when everything essential is, and shows the rest', async () => {
  const up = check('a', true, async () => ({ ageMs: 7 }));
  const ill = check('b', false, async () => ({ ok: false, ageMs: 9 }));
  const ready = await ask([up, ill], '/readyz');
  assert.equal(ready.status, 200);
  assert.deepEqual(
    ready.body.checks.map(({ name, ok, ageMs }: Record<string, unknown>) => [name, ok, ageMs]),
    [
      ['a', true, 7],
      ['b', false, 9],
    ],
  );
  assert.equal((await ask([up, { ...ill, essential: true }], '/readyz')).status, 503);
});

test('an error is reported without its content', async () => {
  const secret = check('a', true, () => Promise.reject(new Error('postgres://user:hunter2@db')));
  const { status, body } = await ask([secret], '/readyz');
  assert.equal(status, 503);
  assert.ok(!JSON.stringify(body).includes('hunter2'));
});

test('a check that never answers ends at its deadline, and is reported', async () => {
  let told = false;
  const stuck = check('stuck', true, (signal) => {
    signal.addEventListener('abort', () => {
      told = true;
    });
    return new Promise(() => {});
  });
  const isLate = patience(1_000);
  const { ok, why } = await runCheck(stuck, 50);
  assert.deepEqual([ok, why, told], [false, 'no answer within 50 ms', true]);
  assert.ok(!isLate(), 'a check took longer than its deadline');
});

test('a process without a worker says so after a while, and what to do; it stays in service', async () => {
  const { db, clock, log } = fixture;
  const workforce = watchWorkers(db, 10);
  try {
    const patient = await runCheck(workersCheck(workforce, 3_600_000));
    assert.deepEqual([patient.ok, patient.essential, patient.alive], [true, false, 0], 'a restart is reported');
    await until('none was seen for longer than allowed', () => workforce.unseenMs() > 20);
    const away = await runCheck(workersCheck(workforce, 20));
    assert.equal(away.ok, false);
    assert.match(
      String(away.why),
      /^no worker was seen for \d+ s, so orders do not advance: start a server with --role/,
    );
    const workers = await startWorkers({ db, clock, log, handlers: {} });
    try {
      // Seen between two questions, too.
      await until('it was seen', () => workforce.unseenMs() < 10);
      const there = await runCheck(workersCheck(workforce, 0));
      assert.deepEqual([there.ok, there.alive], [true, 1]);
    } finally {
      await workers.stop();
    }
    assert.equal((await runCheck(workersCheck(workforce, 3_600_000))).alive, 0);
  } finally {
    workforce.stop();
  }
});

test('asking for readiness a hundred times asks the database once', async () => {
  let runs = 0;
  const counted = check('a', true, async () => ({ runs: ++runs }));
  const app = Fastify();
  await app.register(opsRoutes(() => [counted]));
  await Promise.all(Array.from({ length: 100 }, () => app.inject('/readyz')));
  await app.close();
  assert.equal(runs, 1);
});

test('the checks of a live server: database, work, prices, rails', async () => {
  const { db, clock } = fixture;
  assert.equal((await runCheck(databaseCheck(db))).ok, true);
  const gone = openDatabase('postgres://nobody@127.0.0.1:1/none');
  assert.equal((await runCheck(databaseCheck(gone))).ok, false);
  await gone.close();

  assert.equal((await runCheck(pricesCheck(db))).ok, false, 'a missing price counted as fresh');
  const price = (ageS: number) =>
    db.asSystem((tx) =>
      tx.run(
        `insert into prices (source, base, quote, num, den, priced_at, fetched_at)
         values ('fixed', 'usdc', 'inr', 83, 1, now() - make_interval(secs => $1), now())
         on conflict (base, quote, source) do update set priced_at = excluded.priced_at`,
        [ageS],
      ),
    );
  await price(1);
  assert.equal((await runCheck(pricesCheck(db))).ok, true);
  await price(120);
  assert.equal((await runCheck(pricesCheck(db))).ok, false, 'an old price counted as fresh');

  await db.asSystem((tx) => enqueue(tx, { kind: 'test', subject: '1', dueAt: clock.now() }));
  assert.equal((await runCheck(workCheck(db, clock))).ok, true);
  const later90s = { now: () => later(clock.now(), 90_000) };
  const late = await runCheck(workCheck(db, later90s));
  assert.deepEqual([late.ok, late.due, late.dead], [false, 1, 0]);
  assert.ok(Number(late.oldestDueMs) >= 90_000);

  const sick = await runCheck(
    railCheck(railWith(async () => ({ healthy: false, ageMs: 5, why: 'no new block for too long' }))),
  );
  assert.deepEqual([sick.ok, sick.essential, sick.headAgeMs, sick.why], [false, false, 5, 'no new block for too long']);
});

describe('readiness asks whether a write commits', () => {
  /** The server's report about a database on which only reading still works. */
  async function ready(db = fixture.db) {
    const { status, body } = await ask([databaseCheck(db), writesCheck(db)], '/readyz');
    const [database, writes] = body.checks;
    assert.equal(database.ok, true, 'reading does not work');
    return { status, ok: writes.ok, why: writes.why };
  }

  test('it does, and takes a row and no more', async () => {
    const size = () =>
      fixture.db.asSystem((tx) => tx.row<{ n: bigint }>(`select pg_relation_size('write_probe') as n`));
    const before = (await size())?.n ?? 0n;
    assert.deepEqual(await ready(), { status: 200, ok: true, why: undefined });
    assert.equal((await size())?.n, before + 8192n, 'the file did not grow by a page');
  });

  test('a full disk is not ready, and it is ready again when there is room', async () => {
    const disk = await smallDisk();
    try {
      assert.deepEqual(await ready(), { status: 200, ok: true, why: undefined });
      await disk.fill();
      assert.deepEqual(await ready(), { status: 503, ok: false, why: 'the disk of the database is full' });
      await disk.free();
      assert.deepEqual(await ready(), { status: 200, ok: true, why: undefined });
    } finally {
      await disk.remove();
    }
  });

  test('a read-only database is not ready', async () => {
    const { rows } = await onAdmin('select current_database() as name');
    await onAdmin(`alter database ${rows[0].name} set default_transaction_read_only = on`);
    // Affects new connections.
    const readOnly = openDatabase(fixture.serverUrl);
    try {
      assert.deepEqual(await ready(readOnly), { status: 503, ok: false, why: 'the database is read-only' });
    } finally {
      await readOnly.close();
      await onAdmin(`set transaction read write; alter database ${rows[0].name} reset default_transaction_read_only`);
    }
    assert.deepEqual(await ready(), { status: 200, ok: true, why: undefined });
  });

  test('a write that hangs fails at the deadline, and no second one joins it', async () => {
    const check = writesCheck(fixture.db, 0);
    const holder = new Client({ connectionString: fixture.adminUrl });
    await holder.connect();
    await holder.query('begin; lock table cloverleaf.write_probe in access exclusive mode');
    for (const _ of [1, 2, 3]) assert.equal((await runCheck(check, 50)).why, 'no answer within 50 ms');
    const waiting = `select from pg_stat_activity where query like 'insert into write_probe%' and wait_event_type = 'Lock'
      and datname = current_database()`;
    await until('it waits', async () => (await onAdmin(waiting)).rowCount === 1);
    await holder.end();
    await until('it is ready', async () => (await runCheck(check)).ok);
  });

  test('asked at every moment it writes once in a while, and its rows do not pile up', async () => {
    const check = writesCheck(fixture.db);
    await Promise.all(Array.from({ length: 50 }, () => runCheck(check)));
    const rows = async () => Number((await onAdmin('select count(*) as n from cloverleaf.write_probe')).rows[0].n);
    const before = await rows();
    await runCheck(check);
    assert.equal(await rows(), before, 'a row was added before its time');
    await onAdmin(`insert into cloverleaf.write_probe (filler) select repeat('x', 1000) from generate_series(1, 1100)`);
    await runCheck(writesCheck(fixture.db));
    assert.equal(await rows(), 0, 'eight megabytes of rows were kept');
  });

  test('the data folder: written, and missing', async () => {
    const folder = freshFolder('disk');
    const run = (path: string, essential = true) => ask([folderCheck(path, essential, 0)], '/readyz');
    assert.equal((await run(folder)).status, 200);
    assert.deepEqual(readdirSync(folder), [], 'the probe left a file behind');
    assert.equal((await run(join(folder, 'gone'))).status, 503);
    assert.equal((await run(join(folder, 'gone'), false)).status, 200);
  });

  async function onAdmin(text: string) {
    const client = new Client({ connectionString: fixture.adminUrl });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  }

  /**
   * A disk of two megabytes under the table that is written. If this user may not mount one, PostgreSQL is made to answer as on a
   * full disk.
   */
  async function smallDisk() {
    const folder = freshFolder('disk');
    const mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=777', 'tmpfs', folder]).status === 0;
    if (!mounted) {
      const full = `create function cloverleaf.full() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
        create trigger disk before insert on cloverleaf.write_probe execute function cloverleaf.full()`;
      const room = 'drop function if exists cloverleaf.full() cascade';
      return { fill: () => onAdmin(full), free: () => onAdmin(room), remove: () => onAdmin(room) };
    }
    const inside = join(folder, 'space');
    mkdirSync(inside);
    chmodSync(inside, 0o777);
    const space = `small_${process.pid}`;
    await chownToPostgres(inside);
    await onAdmin(`create tablespace ${space} location '${inside}'`);
    await onAdmin(`alter table cloverleaf.write_probe set tablespace ${space}`);
    const filler = join(folder, 'filler');
    return {
      async fill() {
        const file = openSync(filler, 'w');
        try {
          for (;;) writeSync(file, Buffer.alloc(4096));
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'ENOSPC');
        } finally {
          closeSync(file);
        }
      },
      free: async () => rmSync(filler),
      async remove() {
        await onAdmin('alter table cloverleaf.write_probe set tablespace pg_default');
        await onAdmin(`drop tablespace ${space}`);
        // PostgreSQL holds files of a table that moved until its next checkpoint: the disk is detached, and goes when they close.
        assert.equal(spawnSync('/bin/umount', ['--lazy', folder]).status, 0);
      },
    };
  }

  /** PostgreSQL rejects another user's folder: it runs as another user when we are root. */
  async function chownToPostgres(path: string): Promise<void> {
    const { rows } = await onAdmin(`select current_setting('data_directory') as folder`);
    const { uid, gid } = statSync(rows[0].folder);
    chownSync(path, uid, gid);
    chmodSync(path, 0o700);
  }
});

test('metrics: requests by route template, work by kind, and the contents of the database', async () => {
  const { db, clock } = fixture;
  const metrics = openMetrics([
    databaseReadings(db, clock),
    railReadings([railWith(async () => ({ healthy: true, ageMs: 2_000 }))]),
  ]);
  const app = Fastify();
  metrics.measureHttp(app);
  app.get('/orders/:id', async () => ({}));
  for (const url of ['/orders/1', '/orders/2', '/nothing/here']) await app.inject(url);
  await app.close();

  const handlers = metrics.measureJobs({
    good: async () => ({ againInMs: 5 }),
    bad: () => Promise.reject(new Error('no')),
  });
  assert.deepEqual(await handlers.good?.('1'), { againInMs: 5 });
  await assert.rejects(async () => handlers.bad?.('1'));
  await db.asSystem((tx) => openCase(tx, { kind: 'overpaid', subject: 'case:1', reason: '', now: clock.now() }));
  await db.asSystem((tx) => enqueue(tx, { kind: 'test', subject: '2', dueAt: clock.now() }));

  const served = await startMetrics({ metrics, port: 0, host: '127.0.0.1' });
  try {
    const base = `http://127.0.0.1:${served.port}`;
    assert.equal((await fetch(`${base}/`)).status, 404);
    const reply = await fetch(`${base}/metrics`);
    assert.match(reply.headers.get('content-type') ?? '', /^text\/plain/);
    const text = await reply.text();
    for (const line of [
      'cloverleaf_http_request_seconds_count{method="GET",route="/orders/:id",status="200"} 2',
      'cloverleaf_http_request_seconds_count{method="GET",route="none",status="404"} 1',
      'cloverleaf_job_seconds_count{kind="good",outcome="handled"} 1',
      'cloverleaf_job_seconds_count{kind="bad",outcome="failed"} 1',
      'cloverleaf_jobs_due{kind="test"} 2',
      'cloverleaf_cases_open{kind="overpaid"} 1',
      'cloverleaf_rail_healthy{rail="evm.test"} 1',
      'cloverleaf_rail_head_age_seconds{rail="evm.test"} 2',
      'cloverleaf_ledger_entries 0',
      'cloverleaf_quotes 0',
      'cloverleaf_readings_ok 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
    assert.match(text, /^process_cpu_seconds_total/m);
    assert.ok(!text.includes('/orders/1'), 'a label contains an id');
  } finally {
    await served.stop();
  }
});

test('a scrape is answered when a reading fails or hangs, without the numbers it would have given', async () => {
  let reads = 0;
  const metrics = openMetrics([
    { readings: [{ name: 'test_broken', help: '.' }], read: () => Promise.reject(new Error('down')) },
    {
      readings: [{ name: 'test_fine', help: '.' }],
      read: async () => {
        reads += 1;
        return { test_fine: [{ value: 1 }, { value: 2 }] };
      },
    },
  ]);
  const [text] = await Promise.all(Array.from({ length: 20 }, () => metrics.text()));
  assert.match(text ?? '', /^cloverleaf_readings_ok 0$/m);
  assert.match(text ?? '', /^test_fine 3$/m);
  assert.doesNotMatch(text ?? '', /^test_broken /m);
  assert.equal(reads, 1, 'each scraper caused a reading');
});
