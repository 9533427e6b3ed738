/**
 * Backup: copies of the embedded PostgreSQL that can be restored, up to the last commit if its log was kept.
 *
 * take.ts (a copy while it runs) → archive.ts (the log since) → restore.ts (restoring it) → post-restore.ts (what the
 * database must record about the restore) → apps/backup.ts (the commands). An external PostgreSQL is backed up with its own tools
 * (docs/operating/backup.md); post-restore.ts applies to it, too. timeline.ts finds a database that was promoted or restored and not
 * marked.
 */
export { archiveSettings } from './archive.ts';
export { markRestored } from './post-restore.ts';
export { type Restored, readBackup, restoreBackup } from './restore.ts';
export { type Manifest, type Taken, takeBackup } from './take.ts';
export { continueTimeline } from './timeline.ts';
