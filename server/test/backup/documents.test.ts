/** Files of customers are part of a backup and its restore; files that were added since are kept. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { restoreBackup, takeBackup } from '../../src/backup/index.ts';
import { openFolder } from '../../src/base/blobs.ts';
import { openErasureList } from '../../src/base/erasurelist.ts';
import { migrate } from '../../src/base/migrate.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { KEPT_AFTER_RESTORE_MS, sweepFiles } from '../../src/customers/index.ts';
import { freshFixture } from '../support/fixture.ts';
import { freshFolder } from '../support/folder.ts';

test('the folder of documents is in the backup, and a restore adds missing files', async () => {
  const [dataDir, into, backups] = [freshFolder('from'), freshFolder('into'), freshFolder('backups')];
  const [one, two] = ['a'.repeat(32), 'b'.repeat(32)];
  const erased = { before: `${'B'.repeat(10)}_1`, since: `${'S'.repeat(10)}_1` };
  await openErasureList(join(dataDir, 'documents')).add(erased.before);
  await openFolder(join(dataDir, 'documents')).write(one, Buffer.from('encrypted'));
  const postgres = await startPostgres({ dataDir, fast: true });
  let backup: string;
  try {
    await migrate(postgres.adminUrl, 'a password of the test');
    const taken = await takeBackup({ adminUrl: postgres.adminUrl, dataDir }, backups, new Date());
    assert.ok(taken.manifest.files.some(({ path }) => path === `documents/aa/${one}`));
    backup = taken.folder;
  } finally {
    await postgres.stop();
  }
  mkdirSync(join(into, 'documents', 'bb'), { recursive: true });
  writeFileSync(join(into, 'documents', 'bb', two), 'newer');
  await openErasureList(join(into, 'documents')).add(erased.since);
  await restoreBackup({ backup, dataDir: into, replace: false, now: new Date() });
  const read = (id: string) => readFileSync(join(into, 'documents', id.slice(0, 2), id), 'utf8');
  assert.deepEqual([read(one), read(two)], ['encrypted', 'newer']);
  const list = await openErasureList(join(into, 'documents')).all();
  assert.deepEqual(
    list.toSorted(),
    [erased.before, erased.since],
    'a customer whom one of the lists names is not erased',
  );
});

test('after a restore files without a row are kept for a time, because another restore may restore their rows', async () => {
  const { db, clock, adminUrl, stop } = await freshFixture();
  const owner = new Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  await owner.connect();
  try {
    const folder = freshFolder('swept');
    const blobs = openFolder(folder);
    const [since, failed] = ['c'.repeat(32), 'd'.repeat(32)];
    const now = clock.now();
    const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);
    for (const [id, at] of [
      [since, hoursAgo(5)],
      [failed, hoursAgo(2)],
    ] as const) {
      await blobs.write(id, Buffer.from('encrypted'));
      utimesSync(join(folder, id.slice(0, 2), id), at, at);
    }
    const sql = 'insert into restores (backup_taken_at, restored_at, first_lost_index) values ($1, $2, 0)';
    await owner.query(sql, [hoursAgo(9), hoursAgo(3)]);
    assert.equal(await sweepFiles(db, blobs, now), 1);
    assert.deepEqual([await blobs.read(failed), String(await blobs.read(since))], [undefined, 'encrypted']);
    assert.equal(await sweepFiles(db, blobs, new Date(now.getTime() + KEPT_AFTER_RESTORE_MS)), 1);
    assert.equal(await blobs.read(since), undefined);
  } finally {
    await owner.end();
    await stop();
  }
});
