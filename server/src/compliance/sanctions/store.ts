/** Rows of sanctions screening: lists with their versions, results, hits. */
import { countedFor } from '../travel-rule/exchange.store.ts';

export interface ResultRow {
  id: bigint;
  subject: string;
  customerId: string | null;
  inputs: Buffer | null;
  inputsDigest: Buffer;
  rules: string;
  screenedTo: bigint;
  found: readonly FoundEntry[];
}

/** The fields of a hit that a result keeps: no personal data. */
export interface FoundEntry {
  entryId: string;
  /** In ten-thousandths. */
  score: number;
}

export interface HitRow {
  id: bigint;
  owner: string;
  subject: string;
  screeningId: bigint;
  customerId: string | null;
  entryId: bigint;
  score: number;
  explanation: Buffer;
  state: 'open' | 'true_hit' | 'false_positive' | 'gone';
  people: string[] | null;
  reason: string | null;
  foundAt: Date;
  decidedAt: Date | null;
}

/** Of a payer `s.subject`, the key of its result: how many messages of providers name its originators (`Payer` in subjects.ts). */
const PAYER_REVISION = `select count(*)::int from travel_exchanges where ${countedFor('substr(s.subject, 7)::bigint')}`;
const RESULT = 'id, subject, customer_id, inputs, inputs_digest, rules, screened_to, found';
const HIT = `h.id, h.owner, h.subject, h.screening_id, h.customer_id, h.entry_id, h.score, h.explanation, h.state, h.people,
  h.reason, h.found_at, h.decided_at`;
/**
 * Hits that are undecided or true, with a subject of `param` that they concern. A hit keeps the subject that found it first; another one
 * of the same owner and name has no hit of its own, only the entry in its result, which keeps its owner when money becomes another's.
 * A subject with a hit of its own for each time that the entry was found is not held by hits of other names.
 */
const standingOf = (param: string): string => `select o.id, o.subject from sanctions_hits o
     where o.subject = any(${param}::text[]) and o.state in ('open', 'true_hit')
    union select o.id, s.subject from name_screenings s
      join sanctions_hits o on o.owner = s.owner
       and (select count(*) from jsonb_array_elements(s.found) f where f ->> 'entryId' = o.entry_id::text)
         > (select count(*) from sanctions_hits own
            where own.owner = s.owner and own.entry_id = o.entry_id and own.subject = s.subject)
     where s.subject = any(${param}::text[]) and s.ended_at is null and o.state in ('open', 'true_hit')`;

export const sql = {
  // Lists.
  lockLists: `select pg_advisory_xact_lock(hashtext('cloverleaf sanctions lists'))`,
  digests: 'select entry, digest from sanctions_entries where list = $1 and removed_in is null',
  insertVersion: `insert into sanctions_versions (list, sha256, published, entries, added, removed, changed, loaded_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
  endEntries: `update sanctions_entries set removed_in = $2 where list = $1 and removed_in is null and entry = any($3::text[])`,
  insertEntries: `insert into sanctions_entries (list, entry, content, digest, added_in)
    select $1, entry, content::json, digest, $2 from unnest($3::text[], $4::text[], $5::bytea[]) as given (entry, content, digest)`,
  putList: `insert into sanctions_lists (list, version_id, as_of, read_at, source, etag, modified, source_version)
    values ($1, $2, $3, $4, $5, $6, $7, $2)
    on conflict (list) do update set version_id = excluded.version_id, as_of = greatest(sanctions_lists.as_of, excluded.as_of),
      read_at = excluded.read_at, source = excluded.source, etag = excluded.etag, modified = excluded.modified,
      source_version = excluded.source_version`,
  stillList: `update sanctions_lists set as_of = greatest(as_of, $2), read_at = $3, source = $4, etag = $5, modified = $6,
      source_version = version_id where list = $1`,
  // Only if the list is still of the version whose source has said so.
  unchangedList: `update sanctions_lists set as_of = greatest(as_of, $2), read_at = $3 where list = $1 and source_version = version_id
      and source = $4 and etag is not distinct from $5 and modified is not distinct from $6`,
  givenBy: `select source, etag, modified from sanctions_lists
    where list = $1 and source_version = version_id and (etag is not null or modified is not null)`,
  inUse: `select l.read_at > $2 as is_newer, v.published from sanctions_lists l join sanctions_versions v on v.id = l.version_id
    where l.list = $1`,
  lists: `select l.list, l.version_id, l.as_of, l.read_at, v.published, v.entries, v.added, v.removed, v.changed, v.loaded_at,
      encode(v.sha256, 'hex') as sha256, encode(s.sha256, 'hex') as refused_sha256, s.entries as refused_entries,
      s.removed as refused_removed
    from sanctions_lists l join sanctions_versions v on v.id = l.version_id left join sanctions_shrunken s on s.list = l.list
    order by l.list`,
  // What people have accepted stays accepted as long as these bytes are read.
  putShrunken: `insert into sanctions_shrunken as s (list, sha256, published, before, entries, added, removed, changed, found_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (list) do update set published = excluded.published, before = excluded.before, entries = excluded.entries,
      added = excluded.added, removed = excluded.removed, changed = excluded.changed,
      found_at = case when s.sha256 = excluded.sha256 then s.found_at else excluded.found_at end,
      accepted_at = case when s.sha256 = excluded.sha256 and s.removed = excluded.removed then s.accepted_at end,
      sha256 = excluded.sha256
    returning accepted_at is not null as is_accepted`,
  endShrunken: 'delete from sanctions_shrunken where list = $1',
  shrunkenOf: `select list, encode(sha256, 'hex') as sha256, published, before, entries, added, removed, changed, found_at, accepted_at
    from sanctions_shrunken where list = $1 and sha256 = decode($2, 'hex') for update`,
  acceptShrunken: 'update sanctions_shrunken set accepted_at = $2 where list = $1',
  newest: 'select coalesce(max(id), 0) as id from sanctions_versions',
  entriesAt: `select id, list, content from sanctions_entries
    where id > $1 and added_in <= $2 and (removed_in is null or removed_in > $2) and list = any($4::text[]) order by id limit $3`,
  // The difference from one version to another.
  entriesSince: `select id, list, content from sanctions_entries
    where added_in > $1 and added_in <= $2 and (removed_in is null or removed_in > $2) and list = any($3::text[]) order by id limit $4`,
  endedSince: `select id from sanctions_entries where removed_in > $1 and removed_in <= $2 and added_in <= $1 and list = any($3::text[])
    limit $4`,

  // Results.
  // The revision of now is that of the rows themselves: names that another transaction has stored since are seen here.
  standing: `select s.subject, s.names, s.rules = $3 and s.revision = case when s.subject like 'payer:%'
          then (${PAYER_REVISION}) else coalesce(d.version + d.names_revision, w.names_revision, 0) end
        and s.screened_to >= (select coalesce(max(id), 0) from sanctions_versions) as is_of_now
    from name_screenings s
    left join customer_details d on s.subject = 'customer:' || d.customer_id and d.customer_id = $2
    left join travel_wallets w on s.subject = 'wallet:' || w.id and w.customer_id = $2
    where s.subject = any($1::text[]) and s.ended_at is null`,
  resultById: `select ${RESULT} from name_screenings where id = $1`,
  // In one order, so that two transactions cannot wait for each other.
  currentOf: `select ${RESULT}, revision from name_screenings where subject = any($1::text[]) and ended_at is null
    order by subject for update`,
  seenOf: `select ${RESULT}, revision from name_screenings where subject = any($1::text[]) and ended_at is null`,
  moveOn: `update name_screenings s set screened_to = $2, revision = one.revision, at = $3
    from unnest($1::bigint[], $4::integer[]) as one (id, revision) where s.id = one.id`,
  endResults: 'update name_screenings set ended_at = $2 where id = any($1::bigint[])',
  // No row is returned for a subject whose result another transaction inserts at the same time.
  insertResult: `insert into name_screenings (subject, owner, partner_id, customer_id, inputs, inputs_digest, revision, names, rules,
      screened_to, found, first_at, at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12, $12)
    on conflict (subject) where ended_at is null do nothing returning id`,
  // A row that is locked gets a newer revision just now, so it stays.
  wereCompared: `delete from names_to_compare where subject in (
      select n.subject from names_to_compare n join unnest($1::text[], $2::integer[]) as one (subject, revision)
        on n.subject = one.subject and n.revision <= one.revision for update of n skip locked)`,
  isErased: 'select erased_at is not null as erased from customers where id = $1',
  // An erasure locks the row for update: it waits until these results are stored, or this statement sees it.
  erasedLocked: `select id, erased_at is not null as erased from customers where id = any($1::text[]) order by id for share`,
  // Not payers: those of money in suspense are below. Others are compared when their order is screened or their money is about to leave,
  // and when their names come later.
  due: `select subject from name_screenings
    where ended_at is null and subject not like 'payer:%' and (screened_to < $1 or rules <> $2) and subject <> all($4::text[])
    order by screened_to, id limit $3`,
  // Payers of money that lies in suspense, or that a refund takes from there: nothing else may ask for them for a long time. Only of rails
  // that run: of another one the payer is not known, and would count as compared.
  payersDue: `select 'payer:' || d.id as subject
    from (select id from deposits where state in ('suspense', 'applied', 'refunded', 'confirmed') and taken_units + refund_units < units
          union select deposit_id from refunds where source = 'suspense' and state not in ('settled', 'cancelled')) d
    join deposits p on p.id = d.id and p.rail = any($5::text[])
    left join name_screenings s on s.subject = 'payer:' || d.id and s.ended_at is null
    where (s.id is null or s.screened_to < $1 or s.rules <> $2 or s.revision <> (${PAYER_REVISION}))
      and 'payer:' || d.id <> all($4::text[])
    order by d.id limit $3`,
  // Of one deposit: whether the statement above would find it.
  payerDue: `select from deposits p left join name_screenings s on s.subject = 'payer:' || p.id and s.ended_at is null
    where p.id = $1 and p.rail = any($3::text[]) and p.state in ('suspense', 'applied', 'refunded', 'confirmed')
      and p.taken_units + p.refund_units < p.units
      and (s.id is null or s.screened_to < (select coalesce(max(id), 0) from sanctions_versions) or s.rules <> $2
        or s.revision <> (${PAYER_REVISION}))`,
  missing: 'select subject from names_to_compare where subject <> all($2::text[]) order by subject limit $1',
  accountOwner: 'select customer_id, partner_id, sender_of from fiat_accounts where id = $1',
  depositOwner: `select o.customer_id, d.partner_id from deposits d left join orders o on o.id = d.order_id where d.id = $1`,

  // Hits.
  insertHit: `insert into sanctions_hits (owner, subject, screening_id, customer_id, entry_id, inputs_digest, name_digest, score,
      explanation, state, people, reason, found_at, decided_at)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce(before.state, 'open'), before.people, before.reason, $10, before.decided_at
      from (select) as one left join lateral (
        select state, people, reason, decided_at from sanctions_hits
         where owner = $1 and entry_id = $5 and name_digest = any($11) and state = 'false_positive' and $2 not like 'customer:%'
           and ($2 like 'wallet:%') = (subject like 'wallet:%')
         order by id desc limit 1) as before on true
    on conflict (owner, entry_id, inputs_digest) do update
      set state = case when sanctions_hits.state = 'gone' then 'open' else sanctions_hits.state end,
          screening_id = excluded.screening_id`,
  // During an exchange of the master key, a hit may still have its digest under the old key.
  renewHit: `update sanctions_hits set inputs_digest = $3 where owner = $1 and entry_id = $2 and inputs_digest = any($4)
      and not exists (select from sanctions_hits s where s.owner = $1 and s.entry_id = $2 and s.inputs_digest = $3)`,
  goneHits: `update sanctions_hits h set state = 'gone' from sanctions_entries e
    where h.subject = any($1::text[]) and h.state = 'open' and e.id = h.entry_id and e.removed_in <= $2`,
  standingHits: `select h.id, h.subject, h.state, e.list, e.entry from sanctions_hits h join sanctions_entries e on e.id = h.entry_id
    where h.id in (select id from sanctions_hits where owner = $1 and state in ('open', 'true_hit')
      union select id from (${standingOf('$2')}) of_subjects) order by h.id limit 100`,
  listedPayers: `select distinct subject from (${standingOf('$1')}) of_payers`,
  openOf: `select owner, count(*) as count from sanctions_hits where owner = any($1::text[]) and state = 'open' group by owner`,
  hits: `select ${HIT}, e.list, e.entry from sanctions_hits h join sanctions_entries e on e.id = h.entry_id
    where h.state = $1 and h.id > $2 order by h.id limit $3`,
  lockCustomerOf: `select from customers where id = (select customer_id from sanctions_hits where id = $1) for no key update`,
  hitById: `select ${HIT}, e.list, e.entry, e.content, e.added_in, e.removed_in
    from sanctions_hits h join sanctions_entries e on e.id = h.entry_id where h.id = $1 for update of h`,

  // Erasure. The entry, the score and the decision stay: they explain what happened.
  eraseResults: `update name_screenings set inputs = null, inputs_digest = uuid_send(gen_random_uuid()), ended_at = coalesce(ended_at, $2)
    where owner = any($1::text[]) and inputs is not null`,
  eraseHits: `update sanctions_hits set explanation = '', inputs_digest = uuid_send(gen_random_uuid()),
      name_digest = uuid_send(gen_random_uuid()), reason = without_typed(reason),
      state = case when state = 'open' then 'gone' else state end
    where owner = any($1::text[]) returning id`,
  screeningsOf: 'select id from name_screenings where owner = any($1::text[])',
  comparedOf: `select id, subject, inputs, first_at from name_screenings
    where owner = 'customer:' || $1 and subject not like 'payer:%' and inputs is not null order by id limit $2`,
  listedAddresses: `select e.content from sanctions_entries e where e.list = $1 and e.removed_in is null
      and json_array_length(e.content -> 'addresses') > 0`,
  deniedLists: `select d.list, d.version, s.list as code from deny_lists d join sanctions_lists s on d.list = 'sanctions.' || s.list
    where d.loaded_at < $1 order by d.list`,

  // Decisions.
  decide: `update sanctions_hits set state = $2, people = $3, reason = $4, decided_at = $5 where id = $1`,
} as const;
