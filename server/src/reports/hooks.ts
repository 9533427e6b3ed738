/**
 * Webhooks of one subject: its events, each with its delivery to every endpoint, and when the next attempt is.
 *
 * Deliveries of a subject to an endpoint go one after the other, so only the first waiting one has a time; the others wait for it.
 * A delivery that ended is kept for thirty days, its event for good: an event without a delivery was received by no endpoint, or
 * its delivery is no longer kept.
 */
import type { Tx } from '../base/db.ts';

export interface HookRow {
  sequence: number;
  type: string;
  at: Date;
  /** Position among the partner's events; null until it is published. */
  position: bigint | null;
  endpointId: string | null;
  url: string | null;
  state: 'waiting' | 'delivered' | 'dead' | 'dropped' | null;
  attempts: number;
  lastError: string | null;
  endedAt: Date | null;
  /** Of a waiting delivery: when it is tried next; null if that depends on something else. */
  nextAttemptAt: Date | null;
  /** Of a waiting delivery: what it waits for, if not for its time. */
  waitsFor: 'being_sent' | 'earlier_event' | 'endpoint_held' | 'endpoint_off' | 'endpoint_removed' | null;
}

/** Leases are real time; due times are those of the clock. The endpoints of a partner are few: each event has one look-up by key. */
const OF_SUBJECT = `with page as (
  select e.id, e.partner_id, e.subject, e.subject_seq, e.type, e.at, f.position
    from events e join event_feed f on f.event_id = e.id
   where e.subject = $1 and ($2::int is null or e.subject_seq < $2) order by e.subject_seq desc limit $3),
waiting as (
  select p.*, d.endpoint_id, d.url, d.state, d.attempts, d.last_error, d.ended_at, d.due_at, d.paused_until,
         case when d.state <> 'waiting' then null
              when d.removed_at is not null then 'endpoint_removed'
              when d.held_at is not null then 'endpoint_held'
              when not d.enabled then 'endpoint_off'
              when d.head < p.subject_seq then 'earlier_event'
              when d.leased_until >= clock_timestamp() then 'being_sent' end as waits_for
    from page p
    left join lateral (
      select d.*, w.url, w.enabled, w.held_at, w.paused_until, w.removed_at, k.due_at, k.leased_until, h.head
        from webhook_endpoints w
        join webhook_deliveries d on d.endpoint_id = w.id and d.event_id = p.id
        left join webhook_ordering_keys k on k.endpoint_id = w.id and k.subject = p.subject
        left join lateral (select min(o.subject_seq) as head from webhook_deliveries o
          where o.endpoint_id = w.id and o.subject = p.subject and o.state = 'waiting') h on true
       where w.partner_id = p.partner_id) d on true)
select subject_seq as sequence, type, at, position, endpoint_id, url, state, coalesce(attempts, 0) as attempts, last_error,
       ended_at, waits_for,
       case when state = 'waiting' and waits_for is null then greatest(due_at, paused_until) end as next_attempt_at
  from waiting order by subject_seq desc, endpoint_id`;

/**
 * @param input.below only events before this one of the subject
 * @param input.limit maximum number of events
 * @returns newest first; `next` is the last event of the page if there are older ones
 */
export async function hooksOf(
  tx: Tx,
  { subject, below, limit }: { subject: string; below?: number | undefined; limit: number },
): Promise<{ rows: HookRow[]; next: number | null }> {
  const rows = await tx.rows<HookRow>(OF_SUBJECT, [subject, below ?? null, limit]);
  const oldest = rows.at(-1)?.sequence ?? 1;
  // An event is numbered from 1 without gaps.
  return { rows, next: oldest > 1 ? oldest : null };
}
