-- Addresses of the operator outside this server (cold storage), and transfers to them from the wallets that pay. A server of the
-- version before sends none of these transfers: it has no job for them.

set search_path = cloverleaf;

create table treasury_addresses (
  -- Names its wallet in the ledger: own.<id>. An address keeps its number when it is ended and registered again.
  id            bigint      generated always as identity primary key,
  rail          text        not null,
  -- In the spelling of the rail.
  address       text        not null,
  -- What it is, as its operators typed it: encrypted.
  label         text        not null check (length(label) between 1 and 8000),
  registered_by text        not null,
  registered_at timestamptz not null,
  -- Before this nothing is sent there.
  usable_at     timestamptz not null,
  ended_at      timestamptz,
  ended_by      text,
  unique (rail, address),
  check (num_nulls(ended_at, ended_by) in (0, 2))
);

create table treasury_transfers (
  id         bigint        generated always as identity primary key,
  -- The key of the send, and the hold in the ledger.
  key        text          not null generated always as ('transfer:' || id) stored unique,
  address_id bigint        not null references treasury_addresses (id),
  rail       text          not null,
  -- The wallet that it leaves from.
  wallet     text          not null,
  target     text          not null,
  asset      text          not null references assets (code),
  units      numeric(78,0) not null check (units > 0),
  -- Who agreed: as many people as the rules ask for when it is sent.
  people     text[]        not null check (cardinality(people) > 0),
  reason     text          not null check (length(reason) between 1 and 8000),
  state      text          not null default 'created' check (state in ('created', 'submitted', 'settled', 'failed', 'cancelled')),
  -- Why it waits, or how it ended.
  why        text,
  reference  text,
  created_at timestamptz   not null,
  ended_at   timestamptz,
  check ((state in ('created', 'submitted')) = (ended_at is null))
);
create index treasury_transfers_address on treasury_transfers (address_id);

grant select, insert, update (label, registered_by, registered_at, usable_at, ended_at, ended_by) on treasury_addresses to cloverleaf_system;
grant select, insert, update (state, why, reference, ended_at) on treasury_transfers to cloverleaf_system;
