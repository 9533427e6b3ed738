/** A channel while its database accepts no connections, and connections that are probed while nothing is said on them. */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { after, before, describe, mock, type TestContext, test } from 'node:test';
import pg from 'pg';
import { openDatabase } from '../../src/base/db.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

/** A channel that is not opened again is never heard. */
const ENDS = { timeout: 30_000 };

let fixture: Fixture;
let admin: pg.Client;
/** Beside the database: nobody closes the one that they are connected to. */
let outside: pg.Client;
before(async () => {
  fixture = await freshFixture();
  admin = new pg.Client(fixture.adminUrl);
  await admin.connect();
  outside = new pg.Client(Object.assign(new URL(fixture.adminUrl), { pathname: '/postgres' }).href);
  await outside.connect();
});
after(async () => {
  await outside?.end();
  await admin?.end();
  await fixture?.stop();
});

const LISTENERS = `from pg_stat_activity where application_name = 'cloverleaf_listen' and datname = current_database()`;
const listeners = async () => (await admin.query(`select ${LISTENERS}`)).rowCount;
const accepts = async (isOpen: boolean) => {
  const name = new URL(fixture.adminUrl).pathname.slice(1);
  await outside.query(`alter database ${admin.escapeIdentifier(name)} with allow_connections ${isOpen}`);
};
const loses = () => admin.query(`select pg_terminate_backend(pid) ${LISTENERS}`);

test('a channel is tried again until the database accepts connections, and then heard', ENDS, async (t) => {
  const heard: string[] = [];
  const listening = await fixture.db.listen('tried', (payload) => void heard.push(payload));
  t.after(() => listening.stop());
  const attempts = t.mock.method(pg.Client.prototype, 'connect').mock;
  await accepts(false);
  await loses();
  await until('an attempt has failed, and the next has begun', () => attempts.callCount() >= 2);
  assert.deepEqual(heard, ['']);
  await accepts(true);
  await until('it is heard again', () => heard.length === 2);
  await admin.query(`select pg_notify('tried', 'one')`);
  await until('the new connection hears', () => heard.length === 3);
  assert.deepEqual(heard, ['', '', 'one']);
  assert.equal(await listeners(), 1);
});

describe('a channel on connections in memory', ENDS, () => {
  const failed = () => Promise.reject(new Error('not now'));

  /** `made` are its connections, also those that could not be opened, and `opens` answers the next ones. */
  async function heardInMemory(t: TestContext) {
    const made: pg.Client[] = [];
    const heard: string[] = [];
    const opens = { next: (): Promise<void> => Promise.resolve(), listens: (): Promise<void> => Promise.resolve() };
    t.mock.method(pg.Client.prototype, 'connect', function connects(this: pg.Client) {
      made.push(this);
      return opens.next();
    });
    t.mock.method(pg.Client.prototype, 'query', () => opens.listens());
    const ended: pg.Client[] = [];
    t.mock.method(pg.Client.prototype, 'end', function ends(this: pg.Client) {
      ended.push(this);
      return Promise.resolve();
    });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const listening = await openDatabase('postgres:///none').listen('tried', (payload) => void heard.push(payload));
    const lose = () => void made.at(-1)?.emit('error', new Error('lost'));
    const pass = async (ms: number) => {
      t.mock.timers.tick(ms);
      await new Promise((turn) => setImmediate(turn));
    };
    return { made, ended, heard, opens, listening, lose, pass };
  }

  test('is opened again half a second after it was lost, and a second after each failed attempt', async (t) => {
    const { made, heard, opens, lose, pass } = await heardInMemory(t);
    opens.next = failed;
    lose();
    const counts: number[] = [];
    for (const ms of [499, 1, 999, 1, 999, 1]) {
      await pass(ms);
      counts.push(made.length);
    }
    assert.deepEqual(counts, [1, 2, 2, 3, 3, 4]);
    assert.deepEqual(heard, ['']);
  });

  test('is opened again once when it is lost before it listens', async (t) => {
    const { made, heard, opens, lose, pass } = await heardInMemory(t);
    lose();
    const listen = Promise.withResolvers<void>();
    opens.listens = () => listen.promise;
    await pass(500);
    opens.listens = () => Promise.resolve();
    lose();
    listen.reject(new Error('lost'));
    await pass(0);
    await pass(1_000);
    await pass(10_000);
    assert.equal(made.length, 3);
    assert.deepEqual(heard, ['', '']);
  });

  test('closes a connection on which it may not listen, such as that of a standby that is not promoted yet', async (t) => {
    const { made, ended, heard, opens, lose, pass } = await heardInMemory(t);
    opens.listens = failed;
    lose();
    await pass(500);
    await pass(1_000);
    opens.listens = () => Promise.resolve();
    await pass(1_000);
    assert.equal(made.length, 4);
    assert.deepEqual(heard, ['', '']);
    assert.ok(
      made.slice(0, 3).every((one) => ended.includes(one)),
      'a connection that does not listen stays open',
    );
    assert.ok(!ended.includes(made.at(-1) as pg.Client));
  });

  test('is not opened again once it is stopped, whatever it waited for', async (t) => {
    const waits: readonly [what: string, until: (of: Awaited<ReturnType<typeof heardInMemory>>) => unknown][] = [
      ['nothing', () => {}],
      ['its first attempt', ({ lose }) => lose()],
      [
        'an attempt after a failed one',
        async ({ opens, lose, pass }) => {
          opens.next = failed;
          lose();
          await pass(500);
        },
      ],
    ];
    for (const [what, waitUntil] of waits)
      await t.test(what, async (its) => {
        const channel = await heardInMemory(its);
        await waitUntil(channel);
        const before = channel.made.length;
        await channel.listening.stop();
        await channel.pass(10_000);
        assert.equal(channel.made.length, before);
      });
  });

  test('is not opened again when its connection reports an error after it was stopped', async (t) => {
    const { made, listening, lose, pass } = await heardInMemory(t);
    await listening.stop();
    lose();
    await pass(10_000);
    assert.equal(made.length, 1);
  });

  test('is not opened again when an attempt fails after it was stopped', async (t) => {
    const { made, opens, listening, lose, pass } = await heardInMemory(t);
    const attempt = Promise.withResolvers<void>();
    opens.next = () => attempt.promise;
    lose();
    await pass(500);
    await listening.stop();
    attempt.reject(new Error('not now'));
    await pass(0);
    await pass(10_000);
    assert.equal(made.length, 2);
  });
});

test('a channel that was stopped while it was opened again leaves no connection', ENDS, async (t) => {
  const heard: string[] = [];
  const listening = await fixture.db.listen('tried', (payload) => void heard.push(payload));
  t.after(() => listening.stop());
  const connect: () => Promise<unknown> = pg.Client.prototype.connect;
  const connected = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const ended = mock.method(pg.Client.prototype, 'end').mock;
  mock.method(pg.Client.prototype, 'connect', async function connects(this: pg.Client) {
    await connect.call(this);
    connected.resolve();
    await stopped.promise;
  });
  t.after(() => mock.restoreAll());
  await loses();
  await connected.promise;
  await listening.stop();
  const before = ended.callCount();
  stopped.resolve();
  await until('the new connection is ended', () => ended.callCount() > before);
  await until('PostgreSQL has noticed', async () => (await listeners()) === 0);
  assert.deepEqual(heard, ['']);
});

test(
  'every connection is probed after ten silent seconds, so that the end of its machine is noticed',
  ENDS,
  async () => {
    const probes = mock.method(Socket.prototype, 'setKeepAlive');
    const db = openDatabase(fixture.serverUrl);
    await db.asSystem((tx) => tx.row('select 1'));
    await db.asPartner(1n, (tx) => tx.row('select 1'));
    const session = await db.session();
    const listening = await db.listen('tried', () => {});
    await listening.stop();
    await session.end();
    await db.close();
    const asked = probes.mock.calls.map(({ arguments: given }) => given);
    assert.deepEqual(
      asked,
      Array.from({ length: 4 }, () => [true, 10_000]),
    );
  },
);

test('a closed database accepts no transaction', async () => {
  const db = openDatabase(fixture.serverUrl);
  await db.asSystem((tx) => tx.row('select 1'));
  await db.asPartner(1n, (tx) => tx.row('select 1'));
  await db.close();
  await assert.rejects(db.asSystem((tx) => tx.row('select 1')));
  await assert.rejects(db.asPartner(1n, (tx) => tx.row('select 1')));
});

test('a session that PostgreSQL ends while it is idle ends no process', async () => {
  const session = await fixture.db.session();
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ended = new Promise((end) => session.once('end', end));
  await admin.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await ended;
  await assert.rejects(session.query('select 1'));
});

test('without anyone to record another timeline, no connection asks for it', async (t) => {
  const moved = (to: string) => admin.query(`update cloverleaf.database_timeline set cluster = ${to}`);
  await moved('1');
  t.after(() => moved('(select system_identifier from pg_control_system())'));
  const db = openDatabase(fixture.serverUrl);
  t.after(() => db.close());
  assert.deepEqual(await db.asSystem((tx) => tx.row('select 1 as one')), { one: 1 });
});
