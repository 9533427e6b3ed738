/**
 * Backup: copies of the embedded PostgreSQL that can be put back, to the last commit where its log was kept.
 *
 * take.ts (a copy while it runs) → archive.ts (the log since) → restore.ts (putting it back) → post-restore.ts (it is older than
 * the world, and must know) → main.ts (the commands). A PostgreSQL of one's own is backed up by its own tools
 * (docs/operating/backup.md); post-restore.ts is for it, too.
 */
export { archiveSettings } from './archive.ts';
export { markRestored } from './post-restore.ts';
export { type Restored, readBackup, restoreBackup } from './restore.ts';
export { type Manifest, type Taken, takeBackup } from './take.ts';
