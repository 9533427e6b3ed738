/**
 * Rows of events and of their feed: insert-only, except for the position in the feed.
 */
import type { Tx } from '../base/db.ts';

/** Channel that every inserted event notifies; the publisher listens. */
export const CHANNEL = 'events';

export interface EventRow {
  id: bigint;
  partnerId: bigint;
  position: bigint;
  type: string;
  subject: string;
  subjectSeq: number;
  body: Record<string, unknown>;
  at: Date;
}

const EVENT = 'e.id, e.partner_id, f.position, e.type, e.subject, e.subject_seq, e.body, e.at';

export const sql = {
  // Finds the newest event of the subject with one step down the index of (subject, subject_seq).
  insert: `insert into events (partner_id, type, subject, subject_seq, body, at)
    select $1::bigint, $2::text, $3::text, coalesce(max(subject_seq), 0) + 1, $4::jsonb, $5::timestamptz
      from events where subject = $3
    on conflict (subject, subject_seq) do nothing`,
  insertAlone: `insert into events (partner_id, type, subject, subject_seq, body, at)
    select $1::bigint, $2::text, $3::text, coalesce(max(subject_seq), 0) + 1, $4::jsonb, $5::timestamptz
      from events where subject = $3`,
  notify: `select pg_notify('${CHANNEL}', '')`,

  /** One process publishes at a time; the lock ends with its transaction. */
  lockFeed: 'select pg_try_advisory_xact_lock(1702194540) as locked',
  unpublished: `select e.id, e.partner_id, 0::bigint as position, e.type, e.subject, e.subject_seq, e.body, e.at
    from event_feed f join events e on e.id = f.event_id where f.position is null order by f.event_id limit $1`,
  lastPosition: 'select coalesce(max(position), 0) as last from event_feed where partner_id = $1',
  setPositions: `update event_feed f set position = given.position
    from unnest($1::bigint[], $2::bigint[]) as given (event_id, position) where f.event_id = given.event_id`,
  earlier: `select ${EVENT} from events e join event_feed f on f.event_id = e.id
    where e.subject = $1 and e.subject_seq < $2 order by e.subject_seq desc limit $3`,
  page: `select ${EVENT} from event_feed f join events e on e.id = f.event_id
    where f.partner_id = $1 and f.position > $2 order by f.position limit $3`,
  newest: 'select max(position) as newest from event_feed where partner_id = $1',
} as const;

interface NewEvent {
  partnerId: bigint;
  type: string;
  subject: string;
  body: string;
  at: Date;
}

/** @returns false if another transaction took the sequence number meanwhile */
export async function insertNext(tx: Tx, e: NewEvent): Promise<boolean> {
  if ((await tx.run(sql.insert, [e.partnerId, e.type, e.subject, e.body, e.at])) !== 1) return false;
  tx.defer(sql.notify);
  return true;
}

/** For callers whose lock prevents other transactions from taking the sequence number. */
export function insertAlone(tx: Tx, e: NewEvent): void {
  tx.defer(sql.insertAlone, [e.partnerId, e.type, e.subject, e.body, e.at]);
  tx.defer(sql.notify);
}

/** Removes personal texts from the bodies of events about these subjects. The table's trigger allows no other change. */
export const eraseTexts = async (tx: Tx, subjects: readonly string[]): Promise<number> =>
  await tx.run(
    `update events set body = without_personal(body) where subject = any($1::text[]) and body <> without_personal(body)`,
    [subjects],
  );
