/** `compact`: which tables it rewrites, that it waits for nobody for long, and who may run it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { encryptTyped } from '../../src/base/typed.ts';
import { openCase } from '../../src/compliance/index.ts';
import { compact } from '../../src/rotation/index.ts';
import { PARTS } from '../../src/rotation/parts.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
let admin: pg.Client;
const filesOf = async (tables: readonly string[]) =>
  (
    await admin.query<{ table: string; file: string }>(
      `select relname as "table", relfilenode::text as file from pg_class
        where relnamespace = 'cloverleaf'::regnamespace and relname = any($1)`,
      [tables],
    )
  ).rows;

before(async () => {
  fixture = await freshFixture();
  admin = new pg.Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
});
after(async () => {
  await admin?.end();
  await fixture?.stop();
});

test('every table with an encrypted column is rewritten, those with typed texts, also erased ones, and no other', async () => {
  const typed = encryptTyped(fixture.vault, 'about a person');
  const about = { kind: 'sanctions_hit', subject: 'sanctions:customer:1', now: fixture.clock.now() } as const;
  await fixture.db.asSystem((tx) => openCase(tx, { ...about, reason: typed }));
  await admin.query(`insert into partner_activity (partner_id, api_key, action, subject, at)
    select id, 'key', 'link.made', 'erased', now() from partners limit 1`);
  const encrypted = [...new Set(PARTS.map(({ table }) => table))];
  const wanted = [...encrypted, 'cases'];
  const others = ['transfers', 'entries', 'assets', 'jobs'];
  const [files, otherFiles] = [await filesOf(wanted), await filesOf(others)];
  assert.equal(files.length, wanted.length);
  const seen: string[] = [];
  const report = await compact(fixture.adminUrl, {
    lockTimeoutMs: 2_000,
    onTable: ({ table }) => void seen.push(table),
  });
  assert.deepEqual(report.left, []);
  assert.deepEqual(
    seen,
    report.rewritten.map(({ table }) => table),
  );
  for (const table of [...wanted, 'pg_catalog.pg_statistic']) assert.ok(seen.includes(table), table);
  const now = new Map((await filesOf(wanted)).map(({ table, file }) => [table, file]));
  for (const { table, file } of files) assert.notEqual(now.get(table), file, `${table} was not rewritten`);
  assert.deepEqual(await filesOf(others), otherFiles);
});

test('a table that stays locked is left and reported, the others are rewritten, and the next run rewrites it', async () => {
  await admin.query('begin');
  await admin.query('lock table submissions in access share mode');
  const report = await compact(fixture.adminUrl, { lockTimeoutMs: 50 });
  assert.deepEqual(report.left, ['submissions']);
  assert.ok(report.rewritten.some(({ table }) => table === 'travel_records'));
  await admin.query('rollback');
  assert.deepEqual((await compact(fixture.adminUrl, { lockTimeoutMs: 2_000 })).left, []);
});

test('a login that does not own the database may not, and two do not run at once', async () => {
  await assert.rejects(compact(fixture.serverUrl, { lockTimeoutMs: 50 }), /Only the owner of the database/);
  await admin.query(`select pg_advisory_lock(hashtext('compacting tables'))`);
  await assert.rejects(compact(fixture.adminUrl, { lockTimeoutMs: 50 }), /Another process compacts/);
  await admin.query('select pg_advisory_unlock_all()');
});
