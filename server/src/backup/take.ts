/**
 * Taking a backup of the embedded PostgreSQL while it runs: the cluster's files as they are, and the write-ahead log that
 * makes them consistent.
 *
 * The embedded PostgreSQL comes without pg_dump or pg_basebackup, so this follows the method that PostgreSQL documents for
 * other programs (low-level base backup): announce it, copy the files in any order while they change, end it, keep the log
 * between the two. When restored, the copy replays that log and has the database's state at the end of the backup: everything
 * acknowledged before is in it. A replication slot of the backup's own session keeps PostgreSQL from recycling log that is
 * still to be copied; it ends with the session, whatever happens to us.
 *
 * A backup is a folder: `cluster/`, `wal/`, `documents/` (files of customers, encrypted), the superuser's password, and `manifest.json` with size and SHA-256 of every
 * file. It gets its final name only when it is complete and on disk. It does not contain the master key: a backup alone
 * decrypts no field.
 *
 * Not here: restoring it (restore.ts), the log since the backup (archive.ts). Source:
 * https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { Unavailable } from '../base/errors.ts';

export interface Manifest {
  /** Version of the manifest; a reader rejects unknown ones. */
  format: 1;
  takenAt: string;
  /** PostgreSQL's major version: no other version reads the cluster. */
  postgres: number;
  /** Cluster identifier, so that another cluster's log is never replayed into it. */
  system: string;
  migrations: string[];
  /** `wal/` has the log from the first to the second. */
  startLsn: string;
  stopLsn: string;
  files: { path: string; bytes: number; sha256: string }[];
}

export interface Taken {
  folder: string;
  manifest: Manifest;
  bytes: number;
}

/** Folders that are empty in a backup: their content belongs to the running process. */
const EMPTIED = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
];
/** Encrypted files of customers. The master key is not among them. */
export const DOCUMENTS = 'documents';
/** File with the superuser's password: the copied cluster contains only its hash. */
const PASSWORD = 'postgres.password';
const LEFT_OUT = /^(postmaster\.(pid|opts)|backup_label|tablespace_map|.*pg_internal\.init.*|pgsql_tmp.*)$/;

/**
 * Takes a backup.
 *
 * @param from the running database: the superuser's URL, and the data folder with the cluster
 * @param to the folder of backups; the backup gets its own folder there, named after its time
 * @throws Unavailable if PostgreSQL or the disk fails; the unfinished folder is then removed
 */
export async function takeBackup(from: { adminUrl: string; dataDir: string }, to: string, now: Date): Promise<Taken> {
  const name = now.toISOString().replaceAll(':', '-').replace('.', '-');
  const [unfinished, folder] = [join(resolve(to), `${name}.unfinished`), join(resolve(to), name)];
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  const client = new pg.Client({ connectionString: from.adminUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const manifest = await copyAll(client, resolve(from.dataDir), unfinished, now);
    writeFileSync(join(unfinished, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 });
    await onDisk(join(unfinished, 'manifest.json'));
    renameSync(unfinished, folder);
    await onDisk(dirname(folder));
    return { folder, manifest, bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error instanceof Unavailable ? error : new Unavailable('backup', (error as Error).message, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}

async function copyAll(client: pg.Client, dataDir: string, folder: string, now: Date): Promise<Manifest> {
  const cluster = join(dataDir, 'postgres');
  const one = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R> =>
    (await client.query<R>(text, values)).rows[0] as R;

  await client.query(`select pg_create_physical_replication_slot($1, true, true)`, [`backup_${process.pid}`]);
  // `true` requests a checkpoint now instead of one spread over minutes.
  const { start } = await one<{ start: string }>('select pg_backup_start($1, true)::text as start', ['cloverleaf']);
  const files = await copyFolder(cluster, join(folder, 'cluster'), folder);
  const { stop, label } = await one<{ stop: string; label: string }>(
    'select lsn::text as stop, labelfile as label from pg_backup_stop(false)',
  );
  const labelFile = join(folder, 'cluster', 'backup_label');
  writeFileSync(labelFile, label, { mode: 0o600 });
  files.push(await describe(labelFile, folder));
  files.push(await copyFile(join(dataDir, PASSWORD), join(folder, PASSWORD), folder));
  files.push(...(await copyLog(client, { cluster, folder, start, stop })));
  // Copied after the database: a file is stored before its row, so every row of the copy finds its file.
  const documents = join(dataDir, DOCUMENTS);
  if (existsSync(documents)) files.push(...(await copyFolder(documents, join(folder, DOCUMENTS), folder)));

  const { version, system } = await one<{ version: number; system: string }>(
    `select current_setting('server_version_num')::int / 10000 as version,
            (select system_identifier::text from pg_control_system()) as system`,
  );
  const migrations = await client.query<{ name: string }>('select name from cloverleaf_meta.migrations order by name');
  return {
    format: 1,
    takenAt: now.toISOString(),
    postgres: version,
    system,
    migrations: migrations.rows.map(({ name }) => name),
    startLsn: start,
    stopLsn: stop,
    files,
  };
}

/** Copies every segment from the backup's first to its last. */
async function copyLog(
  client: pg.Client,
  { cluster, folder, start, stop }: { cluster: string; folder: string; start: string; stop: string },
): Promise<Manifest['files']> {
  // The end of the log is written, but may not be in a segment file yet.
  await client.query('select pg_switch_wal()');
  const { rows } = await client.query<{ name: string }>(
    `select pg_walfile_name($1::pg_lsn + n * size) as name
       from (select setting::bigint as size from pg_settings where name = 'wal_segment_size') as segment,
            generate_series(0, (($2::pg_lsn - $1::pg_lsn) / size)::bigint + 1) as n
      where pg_walfile_name($1::pg_lsn + n * size) <= pg_walfile_name($2::pg_lsn)`,
    [start, stop],
  );
  mkdirSync(join(folder, 'wal'), { mode: 0o700 });
  const copied: Manifest['files'] = [];
  for (const { name } of rows)
    copied.push(await copyFile(join(cluster, 'pg_wal', name), join(folder, 'wal', name), folder));
  return copied;
}

/** Files may change, grow and disappear while they are copied; replaying the log corrects that. */
async function copyFolder(from: string, to: string, root: string): Promise<Manifest['files']> {
  mkdirSync(to, { mode: 0o700 });
  const files: Manifest['files'] = [];
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (LEFT_OUT.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (!entry.isDirectory()) files.push(await copyFile(source, target, root));
      else if (EMPTIED.includes(entry.name)) mkdirSync(target, { mode: 0o700 });
      else files.push(...(await copyFolder(source, target, root)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      rmSync(target, { force: true, recursive: true });
    }
  }
  return files;
}

async function copyFile(from: string, to: string, root: string): Promise<Manifest['files'][number]> {
  const hash = createHash('sha256');
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(from), count, createWriteStream(to, { mode: 0o600, flush: true }));
  return { path: relative(root, to), bytes, sha256: hash.digest('hex') };
}

export async function describe(path: string, root: string): Promise<Manifest['files'][number]> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { path: relative(root, path), bytes, sha256: hash.digest('hex') };
}

/** Waits until a file or folder is on disk, so that a name never exists before its content. */
async function onDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
