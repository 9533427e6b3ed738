/**
 * The drill: a backup has every row that was acknowledged before it ended, and with the archived log every row that was ever
 * acknowledged. Writers run all the time, and PostgreSQL runs with fsync, as in production.
 */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { archiveSettings, readBackup, restoreBackup, takeBackup } from '../../src/backup/index.ts';
import { migrate } from '../../src/base/migrate.ts';
import { type Postgres, runningPostgres, startPostgres } from '../../src/base/postgres.ts';
import { isGoneWithin, signal } from '../../src/base/processes.ts';
import { freshFolder } from '../support/folder.ts';
import { isLong } from '../support/long.ts';
import { until } from '../support/until.ts';

const dataDir = freshFolder('drill');
const archive = join(freshFolder('drill-archive'), 'wal');
const backups = freshFolder('drill-backups');
const open: Postgres[] = [];
let postgres: Postgres;
let backup: string;
/** Number of rows that were acknowledged when the backup had ended. */
let acknowledgedThen: number;

async function starts(folder: string, settings: Record<string, string> = {}): Promise<Postgres> {
  const started = await startPostgres({ dataDir: folder, settings });
  open.push(started);
  return started;
}

async function on<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Several sessions that commit rows one after the other until they are stopped or the database ends. */
function writers(url: string) {
  let [acknowledged, isStopping] = [0, false];
  /** Position of the log when each row was acknowledged. */
  const positions: bigint[] = [];
  const all = [1, 2, 3].map((who) =>
    on(url, async (client) => {
      while (!isStopping) {
        await client.query('insert into drill (who, filler) values ($1, repeat(md5(random()::text), 40))', [who]);
        acknowledged += 1;
        const { rows } = await client.query('select pg_current_wal_flush_lsn()::text as lsn');
        positions.push(lsn(rows[0].lsn));
      }
    }).catch(() => {}),
  );
  return {
    acknowledged: () => acknowledged,
    acknowledgedBefore: (end: bigint) => positions.filter((position) => position <= end).length,
    until: (count: number) => until(`${count} rows are written`, () => acknowledged >= count),
    async stop() {
      isStopping = true;
      await Promise.all(all);
    },
  };
}

/** Parses `16/B374D848`, PostgreSQL's notation of a position in its log. */
function lsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

const rowsIn = (url: string): Promise<number> =>
  on(url, async (client) => Number((await client.query('select count(*) as count from drill')).rows[0].count));

before(async () => {
  postgres = await starts(dataDir, archiveSettings(archive));
  await migrate(postgres.adminUrl, 'a password');
  await on(postgres.adminUrl, (client) =>
    client.query('create table drill (id bigint generated always as identity primary key, who int, filler text)'),
  );
  const writing = writers(postgres.adminUrl);
  await writing.until(200);
  const asked = writing.acknowledged();
  const taking = takeBackup({ adminUrl: postgres.adminUrl, dataDir }, backups, new Date());
  const taken = await taking;
  backup = taken.folder;
  await writing.until(writing.acknowledged() + 500);
  acknowledgedThen = writing.acknowledgedBefore(lsn(taken.manifest.stopLsn));
  assert.ok(acknowledgedThen > asked, 'no rows were written while the backup was taken');
  // The machine of the database fails during a write.
  const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const stopping = postgres.stop();
  signal(pid, 'SIGKILL');
  await isGoneWithin(pid, 10_000);
  await stopping.catch(() => {});
  await writing.stop();
  acknowledgedAtDeath = writing.acknowledged();
});
let acknowledgedAtDeath = 0;

after(async () => {
  for (const one of open) await one.stop().catch(() => {});
});

if (isLong)
  test('a backup taken while three sessions write has every row acknowledged before it ended', async () => {
    const elsewhere = freshFolder('drill-else');
    const restored = await restoreBackup({ backup, dataDir: elsewhere, replace: false, now: new Date() });
    assert.equal(restored.laterPieces, 0);
    const url = (await starts(elsewhere)).adminUrl;
    const rows = await rowsIn(url);
    assert.ok(rows >= acknowledgedThen && rows < acknowledgedAtDeath, `${rows} of ${acknowledgedThen}`);
    const [noted] = await on(url, async (client) => (await client.query('select * from cloverleaf.restores')).rows);
    assert.ok(noted.restored_at instanceof Date, 'the restored database has no record of the restore');
  });

test('with the archive and the log of the cluster that died, every row acknowledged at all is there', async () => {
  assert.ok(acknowledgedAtDeath >= acknowledgedThen + 500);
  assert.equal(runningPostgres(dataDir), undefined);
  const restored = await restoreBackup({ backup, dataDir, archive, replace: true, now: new Date() });
  assert.ok(restored.laterPieces > 0);
  assert.ok(existsSync(restored.movedTo ?? ''), 'the previous cluster was not kept');
  const url = (await starts(dataDir, archiveSettings(archive))).adminUrl;
  assert.ok((await rowsIn(url)) >= acknowledgedAtDeath);
  await on(url, (client) => client.query('insert into drill (who) values (9)'));
});

test('a folder with a database is not overwritten without an explicit option', async () => {
  const before = readdirSync(dataDir);
  await assert.rejects(restoreBackup({ backup, dataDir, replace: false, now: new Date() }), /--replace/);
  assert.deepEqual(readdirSync(dataDir), before);
});

test('a backup with a byte changed, a file missing or no manifest is refused before anything is touched', async () => {
  const target = freshFolder('drill-refused');
  const file = join(backup, 'cluster', 'PG_VERSION');
  const content = readFileSync(file);
  appendFileSync(file, ' ');
  await assert.rejects(restoreBackup({ backup, dataDir: target, replace: false, now: new Date() }), /damaged/);
  rmSync(file);
  await assert.rejects(restoreBackup({ backup, dataDir: target, replace: false, now: new Date() }), /missing/);
  writeFileSync(file, content);
  await readBackup(backup);
  await assert.rejects(readBackup(backups), /no finished backup/);
  assert.deepEqual(readdirSync(target), []);
});

test('a copy with a gap in its log is refused, and the existing cluster stays', async () => {
  const holed = freshFolder('drill-holed');
  const own = join(holed, 'backup');
  cpSync(backup, own, { recursive: true });
  for (const name of readdirSync(join(own, 'wal'))) rmSync(join(own, 'wal', name));
  const manifest = JSON.parse(readFileSync(join(own, 'manifest.json'), 'utf8'));
  manifest.files = manifest.files.filter(({ path }: { path: string }) => !path.startsWith('wal/'));
  writeFileSync(join(own, 'manifest.json'), JSON.stringify(manifest));
  const target = join(holed, 'data');
  await assert.rejects(restoreBackup({ backup: own, dataDir: target, replace: false, now: new Date() }));
  assert.equal(existsSync(join(target, 'postgres')), false);
});

test('after a restore that was killed when it had moved the database aside, no new database is started in its place', async () => {
  const target = freshFolder('drill-killed');
  mkdirSync(join(target, 'postgres.before-2026-11-21T08-00-00-000Z'));
  await assert.rejects(startPostgres({ dataDir: target, fast: true }), /set aside by a restore that did not end/);
  assert.equal(existsSync(join(target, 'postgres')), false);
});

test('a missing archive is not treated as an empty one', async () => {
  const target = freshFolder('drill-archiveless');
  const input = { backup, dataDir: target, archive: join(target, 'wal'), replace: false, now: new Date() };
  await assert.rejects(restoreBackup(input), /is not there/);
  assert.deepEqual(readdirSync(target), []);
});

test('the log of another cluster in its place is not used', async () => {
  const target = freshFolder('drill-other');
  // The disk was lost, and a server was started on the new one before the backup was restored.
  const other = await startPostgres({ dataDir: target, fast: true, settings: { wal_keep_size: '1GB' } });
  const { files } = await readBackup(backup);
  const last = files
    .map(({ path }) => /^wal\/[0-9A-F]{16}([0-9A-F]{8})$/.exec(path)?.[1] ?? '')
    .toSorted()
    .at(-1);
  await on(other.adminUrl, async (client) => {
    await client.query('create table something (at int)');
    for (let piece = 1; piece <= Number.parseInt(last ?? '', 16) + 1; piece += 1) {
      await client.query('insert into something values ($1)', [piece]);
      await client.query('select pg_switch_wal()');
    }
  });
  await other.stop();
  const restored = await restoreBackup({ backup, dataDir: target, replace: true, now: new Date() });
  const rows = await rowsIn((await starts(target)).adminUrl);
  assert.ok(rows >= acknowledgedThen, `${rows} of ${acknowledgedThen}`);
  assert.equal(restored.laterPieces, 0);
});
