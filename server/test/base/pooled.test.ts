/**
 * What a pooler in transaction mode requires of every transaction, tested on PostgreSQL itself. A trade through a real PgBouncer is
 * run by hand (docs/operating/scaling.md).
 */
import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { after, before, test } from 'node:test';
import { awaitAll, type Database, type Tx } from '../../src/base/db.ts';
import { openPooled } from '../../src/base/pooled.ts';
import { readConfig } from '../../src/config.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
let forwarder: Server;
let forwarded = 0;
let db: Database;

before(async () => {
  fixture = await freshFixture();
  const { hostname, port } = new URL(fixture.serverUrl);
  forwarder = createServer((client) => {
    forwarded += 1;
    const server = connect({ host: hostname, port: Number(port) });
    client.pipe(server).pipe(client);
    // A side that is reset ends no pipe: the other one would stay open, and this file's process with it.
    for (const [end, other] of [
      [client, server],
      [server, client],
    ] as const)
      end.on('error', () => {}).on('close', () => other.destroy());
  });
  await new Promise<void>((up) => forwarder.listen(0, '127.0.0.1', up));
  const pooler = `postgres://127.0.0.1:${(forwarder.address() as AddressInfo).port}`;
  db = openPooled({ direct: fixture.serverUrl, pooler }, { partnerConnections: 1, systemConnections: 1 });
});
after(async () => {
  await db?.close();
  forwarder?.close();
  await fixture?.stop();
});

const settings = async (tx: Tx) =>
  await tx.row<Record<string, string>>(
    `select current_user as role, session_user as login, current_setting('search_path') as path,
       current_setting('statement_timeout') as statement_timeout, current_setting('lock_timeout') as lock_timeout`,
  );

test('each transaction has the role, the search path and the timeouts of a direct connection', async () => {
  assert.deepEqual(await db.asSystem(settings), await fixture.db.asSystem(settings));
  assert.deepEqual(await db.asPartner(1n, settings), await fixture.db.asPartner(1n, settings));
  assert.deepEqual(await db.readOnlyAsPartner(1n, settings), await fixture.db.readOnlyAsPartner(1n, settings));
  assert.equal((await db.asPartner(1n, settings))?.role, 'cloverleaf_partner');
});

test('no prepared statement is left on the connection, and no partner', async () => {
  await db.asPartner(7n, (tx) => tx.rows('select 1 as one'));
  await assert.rejects(
    db.asPartner(7n, (tx) => tx.rows('select 1 / 0')),
    /division by zero/,
  );
  const left = (tx: Tx) => tx.row<Record<string, unknown>>('select count(*) as prepared from pg_prepared_statements');
  assert.deepEqual(await db.asPartner(8n, left), { prepared: 0n });
  assert.notDeepEqual(await fixture.db.asPartner(8n, left), { prepared: 0n }, 'the comparison shows nothing');
  const partner = (tx: Tx) => tx.row(`select current_setting('cloverleaf.partner', true) as partner`);
  assert.deepEqual(await db.asPartner(9n, partner), { partner: '9' });
});

test('statements that share a round trip keep their texts and values apart', async () => {
  const asked = await db.asSystem((tx) =>
    awaitAll(
      tx.row('select $1::int as number', [1]),
      tx.row('select $1::text as text', ['x']),
      tx.row('select $1::int as number', [2]),
    ),
  );
  assert.deepEqual(asked, [{ number: 1 }, { text: 'x' }, { number: 2 }]);
  const again = await db.asSystem((tx) => tx.row('select $1::text as text', ['y']));
  assert.deepEqual(again, { text: 'y' });
});

test('a failed transaction changes nothing', async () => {
  const insert = (tx: Tx) => tx.run(`insert into jobs (kind, subject, due_at) values ('pooled', '1', now())`);
  await assert.rejects(
    db.asSystem(async (tx) => {
      await insert(tx);
      await tx.run('select no_such_column from jobs');
    }),
  );
  assert.deepEqual(await db.asSystem((tx) => tx.rows(`select 1 from jobs where kind = 'pooled'`)), []);
});

test('what needs a session goes past the pooler', async () => {
  const before = forwarded;
  let heard = '';
  const listening = await db.listen('jobs', (name) => {
    heard = name;
  });
  const session = await db.session();
  await session.query('select pg_advisory_lock(4711)');
  assert.equal(forwarded, before);
  await db.asSystem((tx) => tx.run(`select pg_notify('jobs', 'look 1')`));
  await until('it is heard', () => heard === 'look 1');
  await session.end();
  await listening.stop();
});

test('the address of a pooler is one without a login, beside that of the database', () => {
  const [direct, pooler] = ['postgres://ramp@127.0.0.1/ramp', 'postgres://127.0.0.1:6432'];
  const said = (env: NodeJS.ProcessEnv) => () => readConfig(env);
  assert.equal(readConfig({ DATABASE_URL: direct, DATABASE_POOL_URL: pooler }).databasePoolUrl, pooler);
  for (const wrong of ['6432', 'http://127.0.0.1:6432', 'postgres://ramp:geheim@127.0.0.1:6432'])
    assert.throws(
      said({ DATABASE_URL: direct, DATABASE_POOL_URL: wrong }),
      /^SettingError: DATABASE_POOL_URL must be postgres:\/\/host:port, without a login$/,
    );
  assert.throws(said({ DATABASE_POOL_URL: pooler }), /DATABASE_POOL_URL must be set beside DATABASE_URL only/);
});
