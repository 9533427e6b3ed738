/**
 * Putting a backup back, brought forward as far as there is log for.
 *
 * The log is looked for in three places, and the first that has a piece is believed: the archive, the cluster that is being
 * replaced (its last minutes are nowhere else), the backup itself. Every file of the backup is checked against its manifest
 * before anything is touched. The copy is recovered in a folder of its own and told that it is older than the world
 * (older.ts); only then it takes its place, so no server ever starts on one that was not told. The cluster that was there is
 * moved aside, never deleted.
 *
 * Not here: the master key. It is not in a backup, and without it no sealed field can be read.
 */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { SettingError } from '../base/env.ts';
import { giveToPostgres, startPostgres } from '../sandbox/postgres.ts';
import { tellOlder } from './older.ts';
import { describe, type Manifest } from './take.ts';

/** Names of pieces of log, and of the files that tell timelines apart. */
const PIECE = /^([0-9A-F]{24}|[0-9A-F]{8}\.history)$/;

export interface Restored {
  manifest: Manifest;
  /** How many pieces of log there were beyond the backup's own. */
  laterPieces: number;
  /** Where the cluster is that was there before. */
  movedTo?: string;
  lastCommitAt: Date | null;
}

/** @throws SettingError where the folder is no backup of ours, or not a whole one */
export async function readBackup(folder: string): Promise<Manifest> {
  const path = join(folder, 'manifest.json');
  if (!existsSync(path)) throw new SettingError(`${folder} is no finished backup: it has no manifest.json`);
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  } catch {
    throw new SettingError(`${path} cannot be read`);
  }
  if (manifest.format !== 1 || !Array.isArray(manifest.files))
    throw new SettingError(`${path} describes a backup of another format`);
  for (const { path: name, bytes, sha256 } of manifest.files) {
    const file = join(folder, name);
    if (!resolve(file).startsWith(`${resolve(folder)}/`)) throw new SettingError(`${path} names a file outside of it`);
    const found = existsSync(file) ? await describe(file, folder) : undefined;
    if (found?.bytes !== bytes || found.sha256 !== sha256)
      throw new SettingError(
        `${file} is ${found === undefined ? 'missing' : 'not what it was'}: this backup is damaged`,
      );
  }
  return manifest;
}

/**
 * Restores into a data folder whose lock the caller holds.
 *
 * @param ask.replace whether a cluster that is there may be moved aside
 * @throws SettingError | Unavailable; the data folder is then as it was
 */
export async function restoreBackup(ask: {
  backup: string;
  dataDir: string;
  archive?: string;
  replace: boolean;
  now: Date;
}): Promise<Restored> {
  const dataDir = resolve(ask.dataDir);
  const cluster = join(dataDir, 'postgres');
  const manifest = await readBackup(ask.backup);
  if (existsSync(cluster) && !ask.replace)
    throw new SettingError(`${dataDir} has a database. With --replace it is moved aside, and its last log is used.`);

  const stamp = ask.now.toISOString().replace(/[:.]/g, '-');
  const work = join(dataDir, `restoring-${stamp}`);
  const [restored, log] = [join(work, 'postgres'), join(work, 'log')];
  const movedTo = existsSync(cluster) ? join(dataDir, `postgres.before-${stamp}`) : undefined;
  try {
    mkdirSync(work, { recursive: true });
    cpSync(join(ask.backup, 'cluster'), restored, { recursive: true });
    const laterPieces = gatherLog(log, ask.backup, movedTo === undefined ? undefined : cluster, ask.archive);
    writeFileSync(join(restored, 'recovery.signal'), '');
    copyFileSync(join(ask.backup, 'postgres.password'), join(work, 'postgres.password'));
    giveToPostgres(restored);
    giveToPostgres(log);
    const lastCommitAt = await recover(work, log, ask.now, manifest);
    copyFileSync(join(ask.backup, 'postgres.password'), join(dataDir, 'postgres.password'));
    if (movedTo !== undefined) renameSync(cluster, movedTo);
    renameSync(restored, cluster);
    return { manifest, laterPieces, lastCommitAt, ...(movedTo === undefined ? {} : { movedTo }) };
  } catch (error) {
    if (movedTo !== undefined && existsSync(movedTo)) renameSync(movedTo, cluster);
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Lets PostgreSQL replay all the log there is, become the next timeline, and tells it that it is older than the world. */
async function recover(work: string, log: string, now: Date, manifest: Manifest): Promise<Date | null> {
  const postgres = await startPostgres({
    dataDir: work,
    settings: {
      restore_command: `cp "${log}/%f" "%p"`,
      recovery_target_timeline: 'latest',
      hot_standby: 'off',
      // Nothing but this may connect meanwhile, so nobody sees a state that is not final.
      max_connections: '200',
      track_commit_timestamp: 'off',
    },
  });
  try {
    return (await tellOlder(postgres.adminUrl, { takenAt: new Date(manifest.takenAt), now })).lastCommitAt;
  } finally {
    await postgres.stop();
  }
}

/** All pieces into one folder that PostgreSQL may read. Answers how many are not the backup's own. */
function gatherLog(to: string, backup: string, replaced: string | undefined, archive: string | undefined): number {
  mkdirSync(to, { mode: 0o700 });
  const own = readdirSync(join(backup, 'wal')).filter((name) => PIECE.test(name));
  const put = (name: string, read: () => Buffer) => {
    if (!existsSync(join(to, name))) writeFileSync(join(to, name), read(), { mode: 0o600 });
  };
  if (archive !== undefined)
    for (const file of readdirSync(archive)) {
      const name = file.replace(/\.gz$/, '');
      if (file.endsWith('.gz') && PIECE.test(name)) put(name, () => gunzipSync(readFileSync(join(archive, file))));
    }
  if (replaced !== undefined) {
    const folder = join(replaced, 'pg_wal');
    for (const name of existsSync(folder) ? readdirSync(folder) : [])
      if (PIECE.test(name)) put(name, () => readFileSync(join(folder, name)));
  }
  for (const name of own) put(name, () => readFileSync(join(backup, 'wal', name)));
  chmodSync(to, 0o700);
  return readdirSync(to).filter((name) => !own.includes(name)).length;
}
