/** Rows of containments and of the items they hold (migrations/0003_partners.sql). */

export type HeldKind =
  | 'key'
  | 'endpoint'
  | 'link'
  | 'account'
  | 'destination'
  | 'member'
  | 'passkey'
  | 'session'
  | 'code';
/** Kinds that are no credentials: they give access to nothing. Only these are released by kind, and stay released in a later containment. */
export const NOT_CREDENTIALS = ['endpoint', 'link', 'account', 'destination'] as const satisfies readonly HeldKind[];
export type HeldState = 'held' | 'released' | 'rejected';

export interface HeldRow {
  id: bigint;
  containmentId: bigint;
  kind: HeldKind;
  subject: string;
  address: string | null;
  why: string;
  madeAt: Date;
  madeByKey: string | null;
  state: HeldState;
  heldAt: Date;
  heldBy: string;
  decidedAt: Date | null;
  decidedBy: string | null;
}

export interface ContainmentRow {
  id: bigint;
  since: Date;
  apiKey: string | null;
  openedBy: string;
  reason: string;
  openedAt: Date;
  endedAt: Date | null;
  endedBy: string | null;
}

const ITEM = `id, containment_id, kind, subject, address, why, made_at, made_by_key, state, held_at, held_by, decided_at,
  decided_by`;
const CONTAINMENT = 'id, since, api_key, opened_by, reason, opened_at, ended_at, ended_by';
/** What operators have released, of those kinds, from a containment since $3 or since an earlier time. */
const RELEASED = `released as (
      select h.kind, h.subject, coalesce(h.address, '') as address, max(h.decided_at) as at
        from held_items h join containments c on c.id = h.containment_id
       where h.partner_id = $2 and h.state = 'released' and c.since <= $3
         and h.kind in (${NOT_CREDENTIALS.map((kind) => `'${kind}'`).join(', ')}) group by 1, 2, 3)`;
const HOLD = `insert into held_items (containment_id, partner_id, kind, subject, address, why, made_at, made_by_key, held_at, held_by)`;

export const sql = {
  open: `insert into containments (partner_id, since, api_key, opened_by, reason, opened_at)
    values ($1, $2, $3, $4, $5, $6) returning ${CONTAINMENT}`,
  isOpen: 'select 1 from containments where partner_id = $1 and ended_at is null limit 1',
  containments: `select ${CONTAINMENT} from containments where partner_id = $1 order by id desc limit 20`,
  // The key of an item's activity row. An item without a row, or a link from before keys were recorded, may come from any key.
  // What was released stays released, unless it was made or changed after that.
  hold: `with ${RELEASED}, changes as (
      select subject, max(at) as at from partner_activity
       where partner_id = $2 and at >= $3 and action in ('endpoint.made', 'endpoint.changed', 'endpoint.rotated', 'account.added',
         'order.created', 'refund_destination.named', 'destination.added') group by subject), makers as (
      select action, subject, array_agg(distinct api_key) as keys, bool_or(api_key is null and member_id is null) as is_unknown
        from partner_activity where partner_id = $2 and at >= $3 group by action, subject)
    ${HOLD}
    select $1::bigint, $2::bigint, found.kind, found.subject, found.address, found.why, found.made_at,
        case when $4::text = any(m.keys) then $4 else m.keys[1] end, $5::timestamptz, $6::text
      from unnest($7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[], $12::text[], $13::text[])
        with ordinality as found (kind, subject, address, why, made_at, action, about, n)
      left join makers m on m.action = found.action and m.subject = found.about
      left join released r on r.kind = found.kind and r.subject = found.subject and r.address = coalesce(found.address, '')
      left join changes c on c.subject = found.about
     where ($4::text is null or m.keys is null or m.is_unknown or $4 = any(m.keys))
       and (r.at is null or greatest(found.made_at, c.at) >= r.at)
     order by found.n
    on conflict do nothing returning kind, subject`,
  holdLinks: `with ${RELEASED} ${HOLD}
    select $1::bigint, $2::bigint, 'link', substr(subject, 6), null, 'made since then', min(at), min(api_key), $5::timestamptz, $6::text
      from partner_activity where partner_id = $2 and at >= $3 and action = 'link.made' and ($4::text is null or api_key = $4)
       and substr(subject, 6) not in (select r.subject from released r where r.kind = 'link')
     group by subject on conflict do nothing`,
  keysSince: `select key, created_at from api_keys
    where partner_id = $1 and (key = $3 or created_at >= $2 and revoked_at is null) order by created_at, key`,
  // Only members of the team rotate and change keys in the partner's name, so their activity has it.
  keysChanged: `select k.key, string_agg(distinct substr(a.action, 5), ' and ') as how, min(a.at) as at
      from partner_activity a join api_keys k on k.partner_id = a.partner_id and 'key:' || k.key = a.subject
     where a.partner_id = $1 and a.at >= $2 and a.action in ('key.rotated', 'key.changed')
       and k.created_at < $2 and k.revoked_at is null
     group by k.key`,
  holdKeys: `update api_keys set held_at = coalesce(held_at, $3) where partner_id = $1 and key = any($2)`,
  freeKeys: `update api_keys set held_at = null where partner_id = $1 and key = any($2)`,
  revokeKeys: `update api_keys set revoked_at = coalesce(revoked_at, $3) where partner_id = $1 and key = any($2)`,
  changed: `select action, subject, min(at) as at, (array_agg(facts ->> 'was' order by id))[1] as was from partner_activity
    where partner_id = $1 and at >= $2 and action = any($3) and ($4::text is null or api_key = $4)
    group by action, subject order by subject, action`,
  named: `select subject, facts ->> 'address' as address, at from partner_activity
    where partner_id = $1 and at >= $2 and action = 'refund_destination.named' and facts ? 'address'
      and ($3::text is null or api_key = $3) order by id`,
  added: `select subject, facts ->> 'address' as address, at from partner_activity
    where partner_id = $1 and at >= $2 and action = 'destination.added' and facts ? 'address'
      and ($3::text is null or api_key = $3) order by id`,
  counts: `select kind, count(*) as count from held_items where partner_id = $1 and state = 'held' group by kind order by kind`,
  newest: `select max(id) as id from held_items where partner_id = $1 and state = 'held'`,
  page: `select ${ITEM} from held_items
    where partner_id = $1 and ($2::text is null or kind = $2) and ($3::text is null or state = $3) and id > $4
    order by id limit $5`,
  byIds: `select ${ITEM} from held_items where partner_id = $1 and id = any($2) order by id`,
  decide: `update held_items set state = $3, decided_at = $4, decided_by = $5
    where partner_id = $1 and state = 'held' and id = any($2) returning ${ITEM}`,
  // "Release everything" releases nothing that admits anybody: keys made since and the leaked key are rejected, and so are
  // sessions. Other keys and what belongs to the team is older, or may be honest: it stays held until it is named.
  decideAll: `update held_items h set decided_at = $3, decided_by = $4,
      state = case when $2 = 'released' and h.kind in ('key', 'session') then 'rejected' else $2 end
    where h.partner_id = $1 and h.state = 'held' and ($5::text is null or h.kind = $5)
      and h.made_at >= coalesce($6::timestamptz, '-infinity') and ($7::bigint is null or h.id <= $7) and ($2 = 'rejected' or h.kind not in ('key', 'member', 'passkey', 'code')
      or h.kind = 'key' and exists (select from containments c join api_keys k on k.key = h.subject
        where c.id = h.containment_id and (k.created_at >= c.since or k.key = c.api_key)))
    returning ${ITEM}`,
  decideSubject: `update held_items set state = $4, decided_at = $5, decided_by = $6
    where partner_id = $1 and state = 'held' and kind = $2 and subject = $3 returning ${ITEM}`,
  stillHeld: `select distinct subject from held_items
    where partner_id = $1 and kind = $2 and subject = any($3) and state <> 'released'`,
  end: `update containments c set ended_at = $2, ended_by = $3
    where c.partner_id = $1 and c.ended_at is null
      and not exists (select from held_items h where h.containment_id = c.id and h.state = 'held')`,

  // If several containments hold an account, a rejection by any of them counts.
  heldAccount: `select c.since, h.why, h.state from held_items h join containments c on c.id = h.containment_id
    where h.partner_id = $1 and h.kind = 'account' and h.subject = $2 and h.state <> 'released'
    order by (h.state = 'rejected') desc, h.id limit 1`,
  // An order from before the containment still pays to the address that it named then; an address named since has a row of its
  // own. At most four rows, however many orders name the address.
  heldAddress: `select h.state, h.subject is not distinct from $3 as own, min(c.since) as since, min(h.why) as why
      from held_items h join containments c on c.id = h.containment_id
    where h.partner_id = $1 and h.kind = 'destination' and lower(h.address) = lower($2) and h.state <> 'released'
    group by 1, 2 order by (h.state = 'rejected') desc, own desc`,
  heldLink: `select 1 from held_items where partner_id = $1 and kind = 'link' and subject = $2 and state <> 'released' limit 1`,
  // A link without a recorded key is no item: it works again when everything is released, and otherwise stays blocked until it
  // expires.
  distrusts: `select 1 from containments where partner_id = $1 and not links_released and since <= $2 and opened_at >= $2 limit 1`,
  releaseLinks: `update containments set links_released = true where partner_id = $1 and ended_at is null`,
} as const;
