/**
 * The archive: every finished piece of the write-ahead log, put into a folder as soon as PostgreSQL has finished it, so that
 * a backup can be brought forward to the last commit.
 *
 * A piece is finished when it is full (16 MB) or a minute old, so a machine lost with its disk costs a minute at most, and
 * one that only lost its cluster's files costs nothing (restore.ts also reads the log that the cluster left). A piece is
 * compressed, written under another name, flushed and then renamed; one that is there already is never written over.
 * PostgreSQL keeps each piece until this has succeeded, so an archive that fails fills the disk: it is a metric to watch.
 *
 * The commands are run by PostgreSQL itself, through a shell and as its own user.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { SettingError } from '../base/env.ts';
import { giveToPostgres } from '../sandbox/postgres.ts';

/** At most so much is lost with a disk. A quiet database finishes no pieces. */
const FINISH_AFTER_S = 60;

/** PostgreSQL's settings that keep the archive; makes the folder. @throws SettingError for a path that a shell would read otherwise */
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
    // There already: done before, and PostgreSQL was not told. Another content under one name would be another cluster's.
    archive_command: `if test -f ${piece}; then gzip -dc ${piece} | cmp -s - "%p"; else gzip -c < "%p" > ${part} && sync ${part} && mv ${part} ${piece}; fi`,
  };
}
