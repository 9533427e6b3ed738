/** Files of customers are in a backup, and come back with it; what came since is kept. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { restoreBackup, takeBackup } from '../../src/backup/index.ts';
import { openFolder } from '../../src/base/blobs.ts';
import { migrate } from '../../src/base/migrate.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { freshFolder } from '../support/folder.ts';

test('the folder of documents is in the backup, and a restore puts back what is missing', async () => {
  const [dataDir, into, backups] = [freshFolder('from'), freshFolder('into'), freshFolder('backups')];
  const [one, two] = ['a'.repeat(32), 'b'.repeat(32)];
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
  await restoreBackup({ backup, dataDir: into, replace: false, now: new Date() });
  const read = (id: string) => readFileSync(join(into, 'documents', id.slice(0, 2), id), 'utf8');
  assert.deepEqual([read(one), read(two)], ['encrypted', 'newer']);
});
