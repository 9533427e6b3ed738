/** Waits until a session waits for a lock. */
import type { Tx } from '../../src/base/db.ts';
import { until } from './until.ts';

/** Of this database: other tests have databases on the same server, and their sessions wait too. */
const WAITING =
  'select from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted';

/**
 * @param what the end of the sentence "waiting until …"
 * @param tx   holds the lock
 */
export const untilLocked = (what: string, tx: Tx) => until(what, () => tx.row(WAITING));
