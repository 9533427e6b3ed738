/** The connections of a server: their roles and limits, what they hear, and what they ask before their first statement. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { isOtherTimeline, openDatabase, surviveLostConnections, TIME_LIMITS, txOn } from '../../src/base/db.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

/** A statement that is never sent is never answered. */
const ENDS = { timeout: 30_000 };

let fixture: Fixture;
let admin: pg.Client;
before(async () => {
  fixture = await freshFixture();
  admin = new pg.Client(fixture.adminUrl);
  await admin.connect();
});
after(async () => {
  await admin?.end();
  await fixture?.stop();
});

const endSessions = (named: string) =>
  admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()',
    [named],
  );

test(
  'each pool has its role, the schema, and limits of time; neither is an owner or past row-level security',
  ENDS,
  async () => {
    const asked = `select current_user as role, current_setting('search_path') as path,
    current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('application_name') as name,
    (select rolsuper or rolbypassrls from pg_roles where rolname = current_user) as is_above`;
    const limits = { statement: '15s', lock: '10s', idle: '15s', isAbove: false, path: 'cloverleaf' };
    for (const [seen, role] of [
      [await fixture.db.asPartner(1n, (tx) => tx.row(asked)), 'cloverleaf_partner'],
      [await fixture.db.readOnlyAsPartner(1n, (tx) => tx.row(asked)), 'cloverleaf_partner'],
      [await fixture.db.asSystem((tx) => tx.row(asked)), 'cloverleaf_system'],
    ] as const)
      assert.deepEqual(seen, { role, name: role, ...limits });
    assert.deepEqual(Object.values(TIME_LIMITS), [15_000, 10_000, 15_000]);
  },
);

test('a pool has as many connections as it is given, and the next transaction waits for one', ENDS, async () => {
  const db = openDatabase(fixture.serverUrl, { partnerConnections: 1, systemConnections: 2 });
  // All ask at once, before any connection is returned: each that finds the pool below its limit gets a connection of its own.
  const heldOf = async (most: number, make: (hold: (pid: number) => Promise<void>) => Promise<unknown>[]) => {
    const pids: number[] = [];
    const freed = Promise.withResolvers<void>();
    const made = make(async (pid) => {
      pids.push(pid);
      await freed.promise;
    });
    await until(`${most} connections are held at a time`, () => pids.length >= most);
    freed.resolve();
    await Promise.all(made);
    return [pids.length, new Set(pids).size];
  };
  const pid = 'select pg_backend_pid() as pid';
  const ask = async (tx: { row<R>(text: string): Promise<R | undefined> }, hold: (pid: number) => Promise<void>) =>
    hold((await tx.row<{ pid: number }>(pid))?.pid ?? 0);
  const three = [1n, 2n, 3n];
  assert.deepEqual(await heldOf(1, (hold) => three.map((id) => db.asPartner(id, (tx) => ask(tx, hold)))), [3, 1]);
  assert.deepEqual(await heldOf(2, (hold) => three.map(() => db.asSystem((tx) => ask(tx, hold)))), [3, 2]);
  await db.close();
});

describe('a channel', ENDS, () => {
  test('is heard, and once more after each new connection; its end leaves no connection', async () => {
    const heard: string[] = [];
    const listening = await fixture.db.listen('tried', (payload) => void heard.push(payload));
    assert.deepEqual(heard, ['']);
    await admin.query(`select pg_notify('tried', 'one')`);
    await until('it is heard', () => heard.length === 2);
    await endSessions('cloverleaf_listen');
    await until('it is heard again', () => heard.length === 3);
    await admin.query('notify tried');
    await until('the new connection hears', () => heard.length === 4);
    assert.deepEqual(heard, ['', 'one', '', '']);
    await listening.stop();
    const left = () =>
      admin.query(
        `select from pg_stat_activity where application_name = 'cloverleaf_listen' and datname = current_database()`,
      );
    await until('PostgreSQL has noticed', async () => (await left()).rowCount === 0);
  });

  test('that cannot be heard from the start is reported', async () => {
    const gone = openDatabase('postgres://nobody@127.0.0.1:1/none');
    await assert.rejects(gone.listen('tried', () => {}));
    await gone.close();
  });
});

test('a session is the system’s, and PostgreSQL ends it when it is idle for as long as was given', ENDS, async () => {
  const session = await fixture.db.session({ idleMs: 300 });
  const ended = new Promise((end) => session.once('end', end));
  const { rows } = await session.query(
    `select current_user as role, current_setting('search_path') as path, current_setting('idle_session_timeout') as idle`,
  );
  assert.deepEqual(rows, [{ role: 'cloverleaf_system', path: 'cloverleaf', idle: '300ms' }]);
  await ended;
  await assert.rejects(session.query('select 1'));
  const waiting = await fixture.db.session({ idleMs: 300 });
  await assert.rejects(waiting.query('select pg_sleep(10)'), /timeout/);
  await waiting.end();
  const unlimited = await fixture.db.session();
  const { rows: kept } = await unlimited.query(`select current_setting('idle_session_timeout') as idle`);
  assert.deepEqual(kept, [{ idle: '0' }]);
  await unlimited.end();
});

test('a connection that is lost while it is idle ends no process, and the pool opens another', ENDS, async () => {
  const pool = new pg.Pool({ connectionString: fixture.adminUrl, max: 1, application_name: 'tried_pool' });
  surviveLostConnections(pool);
  await pool.query('select 1');
  await endSessions('tried_pool');
  await until('the pool has noticed', () => pool.totalCount === 0);
  const client = await pool.connect();
  await endSessions('tried_pool');
  // A quicker statement could be answered before PostgreSQL ends the session.
  await assert.rejects(client.query('select pg_sleep(5)'));
  client.release(new Error('lost'));
  assert.equal((await pool.query('select 1 as one')).rowCount, 1);
  await pool.end();
});

describe('a database on another timeline than its books', ENDS, () => {
  const moved = (to: string) => admin.query(`update cloverleaf.database_timeline set cluster = ${to}`);
  const back = '(select system_identifier from pg_control_system())';

  test('is recorded before the first statement of a connection, once', async () => {
    await moved('1');
    let asked = 0;
    const db = openDatabase(fixture.serverUrl, {
      onOtherTimeline: async () => {
        asked += 1;
        await moved(back);
      },
    });
    assert.deepEqual(await db.asSystem((tx) => tx.row('select 1 as one')), { one: 1 });
    assert.deepEqual(await db.asPartner(1n, (tx) => tx.row('select 1 as one')), { one: 1 });
    assert.equal(asked, 1);
    await db.close();
  });

  test('is used by nobody as long as that cannot be recorded', async () => {
    await moved('1');
    const silent = openDatabase(fixture.serverUrl, { onOtherTimeline: () => Promise.resolve() });
    await assert.rejects(
      silent.asSystem((tx) => tx.row('select 1')),
      (error) => isOtherTimeline(error),
    );
    await silent.close();
    const failing = openDatabase(fixture.serverUrl, { onOtherTimeline: () => Promise.reject(new Error('no room')) });
    await assert.rejects(
      failing.asPartner(1n, (tx) => tx.row('select 1')),
      /no room/,
    );
    await failing.close();
    await moved(back);
  });

  test('is not taken for one when the question fails for another reason', async () => {
    await admin.query('alter function cloverleaf.refuse_other_timeline() rename to tried_elsewhere');
    let asked = 0;
    const db = openDatabase(fixture.serverUrl, { onOtherTimeline: async () => void (asked += 1) });
    await assert.rejects(
      db.asSystem((tx) => tx.row('select 1')),
      { code: '42883' },
    );
    assert.equal(asked, 0);
    await db.close();
    await admin.query('alter function cloverleaf.tried_elsewhere() rename to refuse_other_timeline');
  });
});

test('what is issued on a client of one’s own is sent at once, and nothing is sent ahead', ENDS, async () => {
  const tx = txOn(admin);
  assert.equal(tx.cacheKey, txOn(admin).cacheKey);
  assert.deepEqual(await tx.rows('select 1 as one'), [{ one: 1 }]);
  assert.throws(() => tx.defer('select 1'), /nothing is sent ahead here/);
  assert.throws(() => tx.deferLast('', 'select 1'), /nothing is sent with the commit here/);
});
