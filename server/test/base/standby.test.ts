/**
 * A standby of the database: a commit that waits for it is not acknowledged before the standby has it; operators see whether it is
 * attached; and a connection whose other end is silent is probed.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openDatabase } from '../../src/base/db.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { standbysCheck } from '../../src/ops/index.ts';
import { runCheck } from '../../src/ops/routes.ts';
import { standbysOf, waitedFor } from '../../src/ops/standbys.ts';
import { freshFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';

let primary: Awaited<ReturnType<typeof startPostgres>>;
let admin: pg.Client;
before(async () => {
  primary = await startPostgres({ dataDir: freshFolder('standby'), fast: true });
  admin = new pg.Client(primary.adminUrl);
  await admin.connect();
  await admin.query('create schema cloverleaf');
  await admin.query('create role cloverleaf_system');
  await admin.query('create role cloverleaf_partner');
  await admin.query(`create role server login password 'server' in role cloverleaf_system, cloverleaf_partner`);
  await admin.query('create table cloverleaf.kept (id int primary key)');
  await admin.query('grant usage on schema cloverleaf to cloverleaf_system');
  await admin.query('grant all on cloverleaf.kept to cloverleaf_system');
});
after(async () => {
  await admin?.end();
  await primary?.stop();
});

const urlOf = (): string => {
  const url = new URL(primary.adminUrl);
  [url.username, url.password] = ['server', 'server'];
  return url.href;
};
const set = async (name: string, value: string) => {
  await admin.query(`alter system set ${name} = '${value}'`);
  await admin.query('select pg_reload_conf()');
};

test('a database without a standby shows nothing, one that misses its standby says what that means', async () => {
  const db = openDatabase(urlOf());
  try {
    const alone = await runCheck(standbysCheck(db));
    assert.deepEqual({ ...alone, tookMs: 0 }, { name: 'standbys', ok: true, essential: false, tookMs: 0 });
    await admin.query(`select pg_create_physical_replication_slot('second', true)`);
    const missing = await runCheck(standbysCheck(db));
    assert.deepEqual([missing.ok, missing.attached, missing.missing, missing.waitedFor], [false, 0, 1, 0]);
    assert.match(String(missing.why), /^1 standby is not attached/);
    await admin.query('create table log_of_the_primary as select generate_series(1, 50000) as n');
    const { lagBytes } = (await db.asSystem(standbysOf)) ?? {};
    assert.ok((lagBytes ?? 0) > 1_000_000, `it lacks ${lagBytes} bytes`);
    await admin.query(`select pg_drop_replication_slot('second')`);
    await set('synchronous_standby_names', 'ANY 1 (second, third)');
    await until('the setting counts', async () => (await runCheck(standbysCheck(db))).waitedFor === 1);
    assert.match(String((await runCheck(standbysCheck(db))).why), /no write is done until it is back/);
  } finally {
    await set('synchronous_standby_names', '');
    await db.close();
  }
});

test('the number of standbys that commits wait for is read as PostgreSQL reads it', () => {
  for (const [names, many] of [
    ['', 0],
    ['second', 1],
    ['second, third', 1],
    ['*', 1],
    ['2 (second, third)', 2],
    ['FIRST 2 (second, third, fourth)', 2],
    ['any 1(second, third)', 1],
  ] as const)
    assert.equal(waitedFor(names), many, names);
});

test('a commit that waits for an absent standby is neither acknowledged nor seen, and ends with the standby', async () => {
  const db = openDatabase(urlOf());
  await set('synchronous_standby_names', 'second');
  let acknowledged = false;
  const committing = db
    .asSystem((tx) => tx.run('insert into cloverleaf.kept values (1)'))
    .then(() => {
      acknowledged = true;
    });
  try {
    await until('the commit waits for the standby', async () => {
      const { rows } = await admin.query(`select from pg_stat_activity where wait_event = 'SyncRep'`);
      return rows.length === 1;
    });
    const { rows } = await admin.query('select id from cloverleaf.kept');
    assert.deepEqual([acknowledged, rows], [false, []], 'a commit that no standby has was acknowledged');
  } finally {
    // Stands for the standby's return: both release the waiting commits.
    await set('synchronous_standby_names', '');
    await committing;
    await db.close();
  }
  assert.equal(acknowledged, true);
});

test('each connection is probed when it is silent', { skip: process.platform !== 'linux' }, async () => {
  const db = openDatabase(urlOf());
  const session = await db.session();
  const listening = await db.listen('wake', () => {});
  try {
    await db.asSystem((tx) => tx.row('select 1'));
    const port = primary.port.toString(16).toUpperCase().padStart(4, '0');
    // Our side of a connection to PostgreSQL; the timer 02 is the keepalive timer.
    const timers = () =>
      readFileSync('/proc/net/tcp', 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , remote, state]) => remote?.endsWith(`:${port}`) && state === '01')
        .map(([, , , , , timer]) => timer?.slice(0, 2));
    // The administrator's connection is not one of the server's.
    await until('three connections are probed', () => timers().filter((timer) => timer === '02').length === 3);
  } finally {
    await listening.stop();
    await session.end();
    await db.close();
  }
});
