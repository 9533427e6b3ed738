/**
 * Whether the database is still the one that this installation wrote to last. A promoted standby writes to a new timeline, a restored
 * backup too, and a dump lies in another cluster; `database_timeline` has the timeline and cluster from before. Each of them may lack
 * the last commits, so it is marked as restored before a server writes to it (post-restore.ts), unless the operator has declared that
 * only a standby with every commit is promoted.
 *
 * A server checks this at start, and again for each new connection (base/db.ts) or transaction through a pooler (base/pooled.ts): a
 * failover ends every connection to the old primary.
 */
import type { Log } from '../base/log.ts';
import { recordByMachine } from '../operators/index.ts';
import { inOwnersTransaction, markIn, noteTimeline } from './post-restore.ts';

/** What was found: nothing new, a standby that lacks no commit by declaration, or a database that is now marked as restored. */
export type Found = 'same' | 'promoted' | 'restored';

interface Compared {
  cluster: bigint;
  timeline: number;
  clusterNow: bigint;
  timelineNow: number;
  /** Whether it was recovered to a point in time: settings of the recovery stay until the next start without them. */
  isStopped: boolean;
  now: Date;
}

/** Settings that end a recovery before the end of the log. */
const TARGETS = ['', '_time', '_xid', '_lsn', '_name'].map((name) => `'recovery_target${name}'`).join(', ');

/**
 * One server at a time: the row is locked, so the next one finds what the first has recorded.
 *
 * @param adminUrl the URL of the role that owns the database's tables
 * @param options.losesNothing whether only a standby with every commit is ever promoted (`DATABASE_FAILOVER=synchronous`)
 */
export async function continueTimeline(
  adminUrl: string,
  { losesNothing, log }: { losesNothing: boolean; log: Log },
): Promise<Found> {
  const found = await inOwnersTransaction(adminUrl, async (tx): Promise<Found> => {
    const row = await tx.row<Compared>(
      `select t.cluster, t.timeline, s.system_identifier as cluster_now, written_timeline() as timeline_now, now() as now,
              exists (select from pg_settings where name in (${TARGETS}) and setting <> '') as is_stopped
         from database_timeline t, pg_control_system() s for update of t`,
    );
    if (row === undefined || (row.cluster === row.clusterNow && row.timeline === row.timelineNow)) return 'same';
    const { now } = row;
    // No declaration about standbys covers a copy by contents, in another cluster, or a recovery that was told where to stop.
    if (losesNothing && row.cluster === row.clusterNow && !row.isStopped) {
      await noteTimeline(tx);
      await recordByMachine(tx, {
        action: 'database.promoted',
        subject: 'database',
        reason: 'a standby was promoted; DATABASE_FAILOVER=synchronous declares that it has every commit',
        now,
        before: { timeline: row.timeline },
        after: { timeline: row.timelineNow },
      });
      return 'promoted';
    }
    await markIn(tx, { now });
    return 'restored';
  });
  if (found === 'promoted')
    log.warn({}, 'a standby of the database was promoted; by DATABASE_FAILOVER=synchronous it has every commit');
  if (found === 'restored')
    log.error(
      {},
      'the database was promoted or restored and may lack the last commits: it is marked as restored, and payouts are switched off (docs/operating/backup.md, after a restore)',
    );
  return found;
}
