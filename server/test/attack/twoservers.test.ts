/** A second sandbox on a database that belongs to another one: refused, before it can stop a chain for both. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openLog } from '../../src/base/log.ts';
import { readConfig } from '../../src/config.ts';
import { type Running, start } from '../../src/server.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { freshFolder } from '../support/folder.ts';

let database: FreshDatabase;
let first: Running | undefined;
const log = openLog('silent');
const opens = (MASTER_KEY: string) =>
  start(readConfig({ DATA_DIR: freshFolder('two'), DATABASE_URL: database.adminUrl, PORT: '0', MASTER_KEY }), { log });
const [KEY, OTHER_KEY] = ['ab'.repeat(32), 'cd'.repeat(32)];

before(async () => {
  database = await freshDatabase();
  first = await opens(KEY);
});
after(async () => {
  await first?.stop();
  await database?.drop();
});

for (const [what, key] of [
  ['with a master key of its own', OTHER_KEY],
  ['with the same master key and chains of its own', KEY],
] as const) {
  test(`a second server ${what} is refused, and the first continues`, async () => {
    await assert.rejects(opens(key), { name: 'SettingError' });
    for (const rail of first?.rails.values() ?? []) {
      if (rail.isAsleep?.() === true) continue;
      await rail.observe();
      assert.equal((await rail.health()).healthy, true, rail.code);
    }
  });
}
