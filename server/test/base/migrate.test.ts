/** Who may start on a database: the installation that set it up, whatever moment it was killed at. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openDatabase } from '../../src/base/db.ts';
import { migrate } from '../../src/base/migrate.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

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
