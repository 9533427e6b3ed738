-- Sanctions lists from an address, and erasing what no customer owns.
--
-- Of lists: what a request needs so that an unchanged list is not sent again, and versions that wait for people.
--
-- A list that lacks many entries of the version before was refused until a checksum proved it whole. A checksum proves what was sent and
-- not that its publisher meant it, so two people now accept such a version by its SHA-256. Servers of the previous version write neither
-- the columns nor the table; `source_version` keeps a request of this version from trusting columns that are not of the stored version.
--
-- What was typed about a deposit that has no order, and that went to no customer's account, stayed for ever: no erasure reached it. A job
-- erases it after the retention time, and has a row here for each.

set search_path = cloverleaf;

alter table sanctions_lists
  -- The address that gave the version `source_version`, and what it said to recognise its answer by.
  add column source         text,
  add column source_version bigint references sanctions_versions (id),
  add column etag           text,
  add column modified       text;

-- The newest version of a list that lacks too many entries; the row ends when a version is stored.
create table sanctions_shrunken (
  list        text        primary key,
  sha256      bytea       not null check (length(sha256) = 32),
  published   text        not null,
  -- Of the version before, and of this one.
  before      integer     not null check (before > 0),
  entries     integer     not null check (entries > 0),
  added       integer     not null check (added >= 0),
  removed     integer     not null check (removed > 0),
  changed     integer     not null check (changed >= 0),
  found_at    timestamptz not null,
  accepted_at timestamptz
);
grant select, insert, update, delete on sanctions_shrunken to cloverleaf_system;

-- Deposits of no customer whose typed texts and names were erased after the retention time.
create table deposit_erasures (
  deposit_id bigint      primary key references deposits (id),
  erased_at  timestamptz not null,
  -- Rows of each kind.
  erased     jsonb       not null check (jsonb_typeof(erased) = 'object')
);
grant select, insert on deposit_erasures to cloverleaf_system;
create index deposits_ownerless on deposits (id) where order_id is null;
