/**
 * Ordering keys: the deliveries to one endpoint about one subject, which go strictly one after the other. A key exists while a
 * delivery waits in it. Whoever delivers holds its lease; a lapsed lease is anybody's.
 *
 * A key is leased when it is inserted, if its endpoint has room and no older key waits for that room, or when it is claimed. Both
 * read the first waiting event of each key in the transaction that leases it.
 *
 * Not here: delivering, and ending a key (dispatcher.ts).
 */
import { awaitAll, type Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import type { EndpointRow } from './endpoints.ts';
import type { EventRow } from './store.ts';

const KEYS_AT_ONCE = 8;
/** From this many consecutive failures on, the endpoint is at fault, not a single event. */
export const FAILING_AFTER = 5;

export interface OrderingKey {
  endpointId: string;
  subject: string;
  partnerId: bigint;
  tries: number;
  lease: string;
}

export type Item = EventRow & { endpoint: EndpointRow; attempts: number; since: Date };

/** @param item undefined if no event waits any more */
export interface Leased {
  orderingKey: OrderingKey;
  item: Item | undefined;
}

/** A lease that no other has, and the most keys that it may be given. */
export interface LeaseTerms {
  lease: string;
  leaseS: number;
  room: number;
}

/**
 * The free key of an endpoint that has been due for longest. In order and limited, so that every plan takes the first row of the
 * index: an endpoint may have a hundred thousand.
 */
export const oldestDue = (endpointId: string, now: string): string => `(
  select w.due_at from webhook_ordering_keys w
   where w.endpoint_id = ${endpointId} and w.due_at <= ${now} and (w.leased_until is null or w.leased_until < clock_timestamp())
   order by w.due_at limit 1)`;

/** Room of endpoint `e`. */
const ROOM = `case when e.failures >= ${FAILING_AFTER} then 1 else ${KEYS_AT_ONCE} end
            - (select count(*) from webhook_ordering_keys b
                where b.endpoint_id = e.id and b.lease is not null and b.leased_until >= clock_timestamp())`;
const TAKES = `e.enabled and e.held_at is null and (e.paused_until is null or e.paused_until <= `;

const sql = {
  // Reads each endpoint's due ordering keys by its own index, as many as it has room for, the longest waiting first.
  claim: `with chosen as (
      select l.endpoint_id, l.subject from webhook_endpoints e
       cross join lateral (
         select w.endpoint_id, w.subject, w.due_at from webhook_ordering_keys w
          where w.endpoint_id = e.id and w.due_at <= $1 and (w.leased_until is null or w.leased_until < clock_timestamp())
          order by w.due_at
          limit greatest(0, ${ROOM})) l
       where ${TAKES}$1)
       order by l.due_at limit $2),
    locked as (
      select w.endpoint_id, w.subject from webhook_ordering_keys w join chosen c using (endpoint_id, subject)
       where w.leased_until is null or w.leased_until < clock_timestamp()
       for update of w skip locked)
    update webhook_ordering_keys w set lease = $3, leased_until = clock_timestamp() + make_interval(secs => $4)
      from locked where w.endpoint_id = locked.endpoint_id and w.subject = locked.subject
    returning w.endpoint_id, w.subject, w.partner_id, w.tries, w.lease`,
  // Inserted in one order, because another transaction may insert the same ones. A key that exists stays as it is.
  insert: `with given as (
      select distinct on (endpoint_id, subject) endpoint_id, subject, partner_id
        from unnest($1::text[], $2::text[], $3::bigint[]) as given (endpoint_id, subject, partner_id)
       order by endpoint_id, subject),
    room as (
      select e.id, ${ROOM} as keys from webhook_endpoints e
       where e.id = any($1) and ${TAKES}$4)
         and not exists (select from ${oldestDue('e.id', '$4')} as due)),
    placed as (
      select g.*, row_number() over (order by g.endpoint_id, g.subject) <= $7::int
             and row_number() over (partition by g.endpoint_id order by g.subject) <= coalesce(room.keys, 0) as is_ours
        from given g left join room on room.id = g.endpoint_id)
    insert into webhook_ordering_keys (endpoint_id, subject, partner_id, due_at, lease, leased_until)
    select endpoint_id, subject, partner_id, $4::timestamptz, case when is_ours then $5 end,
           case when is_ours then clock_timestamp() + make_interval(secs => $6) end
      from placed order by endpoint_id, subject
    on conflict (endpoint_id, subject) do update set due_at = webhook_ordering_keys.due_at
    returning endpoint_id, subject, partner_id, tries, lease, due_at <= $4::timestamptz as is_due`,
  endpoints: 'select * from webhook_endpoints where id = any($1::text[])',
  heads: `select g.endpoint_id, e.id, e.partner_id, f.position, e.type, e.subject, e.subject_seq, e.body, e.at, d.attempts, d.since
    from unnest($1::text[], $2::text[]) as g (endpoint_id, subject)
    cross join lateral (
      select event_id, attempts, since from webhook_deliveries
       where endpoint_id = g.endpoint_id and subject = g.subject and state = 'waiting' order by subject_seq limit 1) d
    join events e on e.id = d.event_id join event_feed f on f.event_id = d.event_id`,
} as const;

/** Leases due keys, the longest waiting first. */
export async function claim(tx: Tx, { lease, leaseS, room }: LeaseTerms, now: Date): Promise<Leased[]> {
  return await withHeads(tx, await tx.rows<OrderingKey>(sql.claim, [now, room, lease, leaseS]));
}

interface Given {
  endpointId: string;
  row: EventRow;
}

/**
 * Inserts the keys of these deliveries; the deliveries come afterwards.
 *
 * @returns the new keys with this lease, and whether there are due ones without any, which a claim may take
 */
export async function insertOrderingKeys(
  tx: Tx,
  given: readonly Given[],
  { lease, leaseS, room }: LeaseTerms,
  now: Date,
): Promise<{ leased: OrderingKey[]; isMoreDue: boolean }> {
  if (given.length === 0) return { leased: [], isMoreDue: false };
  const rows = await tx.rows<Omit<OrderingKey, 'lease'> & { lease: string | null; isDue: boolean }>(sql.insert, [
    given.map(({ endpointId }) => endpointId),
    given.map(({ row }) => row.subject),
    given.map(({ row }) => row.partnerId),
    ...[now, lease, leaseS, room],
  ]);
  return {
    leased: rows.flatMap((row) => (row.lease === lease ? [{ ...row, lease }] : [])),
    isMoreDue: rows.some((row) => row.lease === null && row.isDue),
  };
}

/** The keys with their endpoints and first waiting events. */
export async function withHeads(tx: Tx, orderingKeys: readonly OrderingKey[]): Promise<Leased[]> {
  if (orderingKeys.length === 0) return [];
  const ids = orderingKeys.map(({ endpointId }) => endpointId);
  const [endpoints, heads] = await awaitAll(
    tx.rows<EndpointRow>(sql.endpoints, [[...new Set(ids)]]),
    tx.rows<Omit<Item, 'endpoint'> & { endpointId: string }>(sql.heads, [ids, orderingKeys.map((key) => key.subject)]),
  );
  const endpointOf = new Map(endpoints.map((row) => [row.id, row]));
  const headOf = new Map(heads.map((row) => [nameOf(row), row]));
  return orderingKeys.map((orderingKey) => {
    const endpoint = endpointOf.get(orderingKey.endpointId);
    assert(endpoint !== undefined, 'the endpoint of an ordering key does not exist');
    const head = headOf.get(nameOf(orderingKey));
    return { orderingKey, item: head && { ...head, endpoint } };
  });
}

const nameOf = ({ endpointId, subject }: { endpointId: string; subject: string }): string => `${endpointId} ${subject}`;
