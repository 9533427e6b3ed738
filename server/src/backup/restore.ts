/**
 * Restores a backup and replays the log as far as it goes.
 *
 * The log is searched in three places; of each segment the first copy that belongs to this cluster is used: the archive, the
 * cluster that is replaced (its last minutes are nowhere else), and the backup itself. Every file of the backup is checked
 * against its manifest before anything is changed. The copy is recovered in a separate folder, and the restore is recorded in it
 * (post-restore.ts). Only then does it take the cluster's place, so no server can start on a copy without that record. The
 * previous cluster is moved aside, never deleted. If the process ends between those two steps, there is no cluster, and a server
 * refuses to create a new one.
 *
 * Not here: the master key. A backup does not contain it, and without it no encrypted field can be read.
 */

import {
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
import { defined } from '../base/defined.ts';
import { SettingError } from '../base/env.ts';
import { openErasureList } from '../base/erasurelist.ts';
import { ASIDE, giveToPostgres, startPostgres } from '../base/postgres.ts';
import { markRestored } from './post-restore.ts';
import { DOCUMENTS, describe, type Manifest } from './take.ts';

/** Names of log segments, and of timeline history files. */
const PIECE = /^([0-9A-F]{24}|[0-9A-F]{8}\.history)$/;

export interface Restored {
  manifest: Manifest;
  /** Number of log segments beyond the backup's own. */
  laterPieces: number;
  /** Where the previous cluster was moved. */
  movedTo?: string;
  lastCommitAt: Date | null;
}

/** @throws SettingError if the folder is not a complete backup of ours */
export async function readBackup(folder: string): Promise<Manifest> {
  const path = join(folder, 'manifest.json');
  if (!existsSync(path)) throw new SettingError(`${folder} is no finished backup: it has no manifest.json`);
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  } catch {
    throw new SettingError(`${path} cannot be read`);
  }
  if (
    manifest?.format !== 1 ||
    !Array.isArray(manifest.files) ||
    !manifest.files.every((file) => typeof file?.path === 'string')
  )
    throw new SettingError(`${path} describes a backup of another format`);
  for (const { path: name, bytes, sha256 } of manifest.files) {
    const file = join(folder, name);
    if (!resolve(file).startsWith(`${resolve(folder)}/`)) throw new SettingError(`${path} names a file outside of it`);
    const found = existsSync(file) ? await describe(file, folder) : undefined;
    if (found === undefined || found.bytes !== bytes || found.sha256 !== sha256)
      throw new SettingError(
        `${file} ${found === undefined ? 'is missing' : 'has changed since the backup'}: this backup is damaged`,
      );
  }
  return manifest;
}

/**
 * Restores a backup into a data folder whose lock the caller holds.
 *
 * @param input.replace whether an existing cluster may be moved aside
 * @throws SettingError | Unavailable; the data folder is then unchanged
 */
export async function restoreBackup(input: {
  backup: string;
  dataDir: string;
  archive?: string;
  replace: boolean;
  now: Date;
}): Promise<Restored> {
  const dataDir = resolve(input.dataDir);
  const cluster = join(dataDir, 'postgres');
  const manifest = await readBackup(input.backup);
  if (existsSync(cluster) && !input.replace)
    throw new SettingError(`${dataDir} has a database. With --replace it is moved aside, and its last log is used.`);

  if (input.archive !== undefined && !existsSync(input.archive))
    throw new SettingError(`${input.archive} is not there: the log that was kept in it would be missing`);
  const stamp = input.now.toISOString().replace(/[:.]/g, '-');
  const work = join(dataDir, `restoring-${stamp}`);
  const [restored, log] = [join(work, 'postgres'), join(work, 'log')];
  const movedTo = existsSync(cluster) ? join(dataDir, `${ASIDE}${stamp}`) : undefined;
  try {
    mkdirSync(work, { recursive: true });
    cpSync(join(input.backup, 'cluster'), restored, { recursive: true });
    const folders = [input.archive, movedTo && join(cluster, 'pg_wal'), join(input.backup, 'wal')];
    gatherLog(log, folders, manifest.system);
    const own = readdirSync(join(input.backup, 'wal'));
    const laterPieces = readdirSync(log).filter((name) => !own.includes(name)).length;
    writeFileSync(join(restored, 'recovery.signal'), '');
    copyFileSync(join(input.backup, 'postgres.password'), join(work, 'postgres.password'));
    giveToPostgres(restored);
    giveToPostgres(log);
    const lastCommitAt = await recover(work, log, input.now, manifest);
    // Existing files stay: they are the same or newer, and rows that the log brings back may refer to them.
    const documents = join(input.backup, DOCUMENTS);
    if (existsSync(documents)) {
      cpSync(documents, join(dataDir, DOCUMENTS), { recursive: true, force: false });
      // Customers on either list stay erased. A server erases them again before it accepts requests.
      const list = openErasureList(join(dataDir, DOCUMENTS));
      const known = new Set(await list.all());
      for (const id of await openErasureList(documents).all()) if (!known.has(id)) await list.add(id);
    }
    copyFileSync(join(input.backup, 'postgres.password'), join(dataDir, 'postgres.password'));
    if (movedTo !== undefined) renameSync(cluster, movedTo);
    renameSync(restored, cluster);
    return { manifest, laterPieces, lastCommitAt, ...defined({ movedTo }) };
  } catch (error) {
    if (movedTo !== undefined && existsSync(movedTo)) renameSync(movedTo, cluster);
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Has PostgreSQL replay the whole log and start a new timeline, and records the restore in the database. */
async function recover(work: string, log: string, now: Date, manifest: Manifest): Promise<Date | null> {
  const postgres = await startPostgres({
    dataDir: work,
    settings: {
      restore_command: `cp "${log}/%f" "%p"`,
      recovery_target_timeline: 'latest',
      hot_standby: 'off',
      // Only this process may connect meanwhile, so that no other process sees an intermediate state.
      max_connections: '200',
      track_commit_timestamp: 'off',
    },
  });
  try {
    return (await markRestored(postgres.adminUrl, { takenAt: new Date(manifest.takenAt), now })).lastCommitAt;
  } finally {
    await postgres.stop();
  }
}

/**
 * Collects all segments of this cluster in one folder that PostgreSQL may read, of each the first one found. Another cluster's
 * segments may have the same names: after losing a disk, an operator may have started a server on a new one before restoring.
 */
function gatherLog(to: string, folders: readonly (string | undefined)[], system: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const folder of folders) {
    if (folder === undefined || !existsSync(folder)) continue;
    const histories: [name: string, content: Buffer][] = [];
    let isOurs = false;
    for (const file of readdirSync(folder)) {
      const name = file.replace(/\.gz$/, '');
      if (!PIECE.test(name)) continue;
      const content = readFileSync(join(folder, file));
      const piece = file === name ? content : gunzipSync(content);
      if (name.endsWith('.history')) histories.push([name, piece]);
      else if (writerOf(piece) === system) {
        isOurs = true;
        keep(name, piece);
      }
    }
    // History files do not name their cluster.
    if (isOurs) for (const [name, piece] of histories) keep(name, piece);
  }

  function keep(name: string, piece: Buffer): void {
    if (!existsSync(join(to, name))) writeFileSync(join(to, name), piece, { mode: 0o600 });
  }
}

/** The cluster's identifier in the first page of a segment (xlp_sysid). Source: PostgreSQL's access/xlog_internal.h */
const writerOf = (piece: Buffer): string => (piece.length < 32 ? '' : String(piece.readBigUInt64LE(24)));
