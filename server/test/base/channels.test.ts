/** A channel while its database accepts no connections, and connections that are probed while nothing is said on them. */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { after, before, mock, test } from 'node:test';
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
const later = (ms: number) => new Promise((wake) => setTimeout(wake, ms));

test('a channel is tried again until the database accepts connections, and then heard', ENDS, async (t) => {
  const heard: string[] = [];
  const listening = await fixture.db.listen('tried', (payload) => void heard.push(payload));
  t.after(() => listening.stop());
  await accepts(false);
  await loses();
  // Two attempts fail: the first after half a second, and one a second later.
  await later(1_900);
  assert.deepEqual(heard, ['']);
  await accepts(true);
  await until('it is heard again', () => heard.length === 2);
  await admin.query(`select pg_notify('tried', 'one')`);
  await until('the new connection hears', () => heard.length === 3);
  assert.deepEqual(heard, ['', '', 'one']);
  assert.equal(await listeners(), 1);
});

test('a channel that was stopped while it waited for its next attempt is not opened again', ENDS, async (t) => {
  for (const waitMs of [100, 1_000]) {
    const heard: string[] = [];
    const listening = await fixture.db.listen('tried', (payload) => void heard.push(payload));
    t.after(() => listening.stop());
    await accepts(false);
    await loses();
    await later(waitMs);
    await listening.stop();
    await accepts(true);
    await later(1_500);
    assert.deepEqual([heard, await listeners()], [[''], 0], `stopped after ${waitMs} ms`);
  }
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
