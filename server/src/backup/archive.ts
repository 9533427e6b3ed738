/**
 * The archive: copies every finished segment of the write-ahead log to a folder, as soon as PostgreSQL has finished it. With it a
 * restored backup can be replayed up to the last commit.
 *
 * A segment is finished when it is full (16 MB) or a minute old. So losing a machine with its disk costs at most a minute, and
 * losing only the cluster's files costs nothing (restore.ts also reads the log that the cluster left). The archive command
 * compresses a segment, writes it under another name, flushes it and then renames it; it never overwrites an existing segment.
 * PostgreSQL keeps each segment until the command has succeeded. So a failing archive fills the disk; a metric shows it.
 *
 * PostgreSQL itself runs the commands, through a shell and as its own user.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { SettingError } from '../base/env.ts';
import { giveToPostgres } from '../base/postgres.ts';

/** Maximum loss when a disk is lost, in seconds. A database without writes finishes no segments. */
const FINISH_AFTER_S = 60;

/** PostgreSQL's settings for the archive; creates the folder. @throws SettingError for a path that a shell would interpret */
export function archiveSettings(folder: string): Record<string, string> {
  const path = resolve(folder);
  if (!/^[\w./ -]+$/.test(path))
    throw new SettingError('WAL_ARCHIVE_DIR must be a path of letters, digits, and _ . - / or spaces');
  mkdirSync(path, { recursive: true });
  giveToPostgres(path);
  const [piece, part] = [`"${path}/%f.gz"`, `"${path}/%f.part"`];
  return {
    archive_mode: 'on',
    archive_timeout: String(FINISH_AFTER_S),
    // An existing segment was archived before PostgreSQL learned of it. A different content under the same name belongs to
    // another cluster.
    archive_command: `if test -f ${piece}; then gzip -dc ${piece} | cmp -s - "%p"; else gzip -c < "%p" > ${part} && sync ${part} && mv ${part} ${piece}; fi`,
  };
}
