-- Sanctions lists with their versions, what names were compared with them, and what people decided about hits.
--
-- Lists are public and stored as they are read. Names that were compared are encrypted; a keyed digest tells whether they have
-- changed. No partner may read any of this: a hit is never disclosed.

set search_path = cloverleaf;

-- A version is made when a list that was read differs from the one before.
create table sanctions_versions (
  id        bigint      generated always as identity primary key,
  list      text        not null check (list in ('ofac', 'un', 'eu', 'uk')),
  sha256    bytea       not null check (length(sha256) = 32),
  -- What the list says of its own date.
  published text        not null,
  entries   integer     not null check (entries > 0),
  added     integer     not null check (added >= 0),
  removed   integer     not null check (removed >= 0),
  changed   integer     not null check (changed >= 0),
  loaded_at timestamptz not null
);
create index sanctions_versions_list on sanctions_versions (list, id);
create trigger append_only before update or delete on sanctions_versions for each row execute function refuse_change();
create trigger no_truncate before truncate on sanctions_versions for each statement execute function refuse_change();

-- The newest version of each list, and the time at which its source last gave it.
create table sanctions_lists (
  list       text        primary key,
  version_id bigint      not null references sanctions_versions (id),
  as_of      timestamptz not null,
  read_at    timestamptz not null
);

-- An entry from the version that brought it up to the one that no longer has it: every version can be put together again.
create table sanctions_entries (
  id         bigint generated always as identity primary key,
  list       text   not null,
  entry      text   not null,
  -- Unchanged, in its original order: its digest is of this text.
  content    json   not null,
  digest     bytea  not null check (length(digest) = 32),
  added_in   bigint not null references sanctions_versions (id),
  removed_in bigint references sanctions_versions (id) check (removed_in > added_in)
);
create unique index sanctions_entries_current on sanctions_entries (list, entry) where removed_in is null;

-- What was compared: customer:<id>, account:<id> or payer:<deposit>. A row stands until its names, the rules or what was found
-- change; until then only the version up to which it was compared moves on.
create table name_screenings (
  id            bigint      generated always as identity primary key,
  subject       text        not null check (subject ~ '^(customer|account|payer):.+$'),
  -- Whose hits they are: as in sanctions_hits.
  owner         text        not null check (owner ~ '^(customer|deposit):.+$'),
  partner_id    bigint      references partners (id),
  customer_id   text        references customers (id),
  -- Encrypted; null once erased, and the digest is random then.
  inputs        bytea,
  inputs_digest bytea       not null,
  -- Version of the details that it was read from; 0 for what never changes.
  revision      integer     not null,
  -- How many names there were to compare.
  names         integer     not null check (names >= 0),
  rules         text        not null,
  screened_to   bigint      not null references sanctions_versions (id),
  -- [{entryId, score}], scores in ten-thousandths.
  found         jsonb       not null check (jsonb_typeof(found) = 'array'),
  first_at      timestamptz not null,
  at            timestamptz not null,
  ended_at      timestamptz
);
create unique index name_screenings_current on name_screenings (subject) where ended_at is null;
create index name_screenings_owner on name_screenings (owner);
create index name_screenings_due on name_screenings (screened_to, id) where ended_at is null;

-- One for each owner, entry as it stood, and input: what was decided is asked again only when one of them is new. The owner is
-- customer:<id>, or deposit:<id> for a payer of nobody's deposit.
create table sanctions_hits (
  id            bigint      generated always as identity primary key,
  owner         text        not null check (owner ~ '^(customer|deposit):.+$'),
  subject       text        not null,
  screening_id  bigint      not null references name_screenings (id),
  customer_id   text        references customers (id),
  entry_id      bigint      not null references sanctions_entries (id),
  inputs_digest bytea       not null,
  -- Of the name alone: the same name of a payer is the same question.
  name_digest   bytea       not null,
  score         integer     not null check (score between 0 and 10000),
  -- Encrypted: how they are alike, and what was compared. Empty once erased, and both digests are random then.
  explanation   bytea       not null,
  -- `gone`: found no longer, and undecided.
  state         text        not null check (state in ('open', 'true_hit', 'false_positive', 'gone')),
  people        text[],
  reason        text,
  found_at      timestamptz not null,
  decided_at    timestamptz,
  unique (owner, entry_id, inputs_digest),
  check ((state in ('true_hit', 'false_positive')) = (decided_at is not null))
);
create index sanctions_hits_standing on sanctions_hits (owner) where state in ('open', 'true_hit');
create index sanctions_hits_subject on sanctions_hits (subject) where state in ('open', 'true_hit');
create index sanctions_hits_state on sanctions_hits (state, id);

grant select, insert on sanctions_versions to cloverleaf_system;
grant select, insert, update on sanctions_lists, sanctions_entries, name_screenings, sanctions_hits to cloverleaf_system;
