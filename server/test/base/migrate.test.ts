/** Who may start on a database: the installation that set it up, whatever moment it was killed at. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openDatabase } from '../../src/base/db.ts';
import { migrate } from '../../src/base/migrate.ts';
import { startPostgres } from '../../src/sandbox/postgres.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { freshFolder } from '../support/folder.ts';

let database: FreshDatabase;
before(async () => {
  database = await freshDatabase();
});
after(() => database?.drop());

async function canWork(url: string): Promise<boolean> {
  const db = openDatabase(url);
  try {
    return (await db.asSystem((tx) => tx.row('select from work'))) === undefined;
  } finally {
    await db.close();
  }
}

test('a server with another master key is refused, and the one that was there works on', async () => {
  const url = await migrate(database.adminUrl, 'of the first key');
  await assert.rejects(migrate(database.adminUrl, 'of another key'), { name: 'SettingError' });
  assert.equal(await canWork(url), true);
  assert.equal(await migrate(database.adminUrl, 'of the first key'), url);
});

test('a login made by a server that was killed before it had its rights gets them at the next start', async () => {
  const url = await migrate(database.adminUrl, 'of the first key');
  const admin = new pg.Client(database.adminUrl);
  await admin.connect();
  const login = decodeURIComponent(new URL(url).username);
  await admin.query(`revoke cloverleaf_partner, cloverleaf_system from ${pg.escapeIdentifier(login)}`);
  await admin.end();
  await assert.rejects(canWork(url));
  assert.equal(await canWork(await migrate(database.adminUrl, 'of the first key')), true);
});

test('databases of one new cluster may be migrated at once: the roles they share are made once', async () => {
  const own = await startPostgres({ dataDir: freshFolder('roles'), fast: true });
  try {
    const names = ['one', 'two', 'three', 'four'];
    const admin = new pg.Client({ connectionString: own.adminUrl });
    await admin.connect();
    for (const name of names) await admin.query(`create database ${name}`);
    await admin.end();
    const urls = names.map((name) => Object.assign(new URL(own.adminUrl), { pathname: `/${name}` }).href);
    const migrated = await Promise.all(urls.map((url) => migrate(url, 'a password')));
    assert.equal(new Set(migrated).size, names.length);
  } finally {
    await own.stop();
  }
});
