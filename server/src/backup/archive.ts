/**
 * The archive: every finished segment of the write-ahead log, copied to a folder as soon as PostgreSQL has finished it, so
 * that a restored backup can be replayed up to the last commit.
 *
 * A segment is finished when it is full (16 MB) or a minute old, so losing a machine with its disk costs a minute at most,
 * and losing only the cluster's files costs nothing (restore.ts also reads the log that the cluster left). A segment is
 * compressed, written under another name, flushed and then renamed; an existing one is never overwritten. PostgreSQL keeps
 * each segment until this has succeeded, so a failing archive fills the disk: it is a metric to watch.
 *
 * PostgreSQL itself runs the commands, through a shell and as its own user.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { SettingError } from '../base/env.ts';
import { giveToPostgres } from '../base/postgres.ts';

/** Maximum loss with a disk, in seconds. A quiet database finishes no segments. */
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
    // Existing: archived before, but PostgreSQL did not learn of it. Different content under the same name belongs to another
    // cluster.
    archive_command: `if test -f ${piece}; then gzip -dc ${piece} | cmp -s - "%p"; else gzip -c < "%p" > ${part} && sync ${part} && mv ${part} ${piece}; fi`,
  };
}
