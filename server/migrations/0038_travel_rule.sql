-- The travel rule: from which amount on a transfer of coins needs data of originator and beneficiary, whose wallet is on its other
-- side, and the data of each transfer.
--
-- Names are encrypted, in IVMS101 and in what a partner says of a wallet. Addresses on chains are public.

set search_path = cloverleaf;

-- The newest version of a jurisdiction and fiat is in force. A row never changes: a rule is changed or switched off by another one.
create table travel_rules (
  id              bigint        generated always as identity primary key,
  -- Country of the customer, or * for every other.
  jurisdiction    text          not null check (jurisdiction ~ '^([A-Z]{2}|\*)$'),
  fiat_asset      text          not null references assets (code),
  version         integer       not null check (version > 0),
  is_on           boolean       not null,
  -- From this worth on, in the fiat's units.
  threshold_units numeric(78,0) not null check (threshold_units >= 0),
  -- From this worth on the owner of a self-hosted wallet proves it with its key; null: never.
  proof_units     numeric(78,0) check (proof_units >= 0),
  deadline_s      integer       not null check (deadline_s between 60 and 2592000),
  -- What happens at the deadline.
  policy          text          not null check (policy in ('hold', 'send')),
  set_by          text          not null,
  why             text          not null,
  set_at          timestamptz   not null,
  unique (jurisdiction, fiat_asset, version)
);
create trigger append_only before update or delete on travel_rules for each row execute function refuse_change();
create trigger no_truncate before truncate on travel_rules for each statement execute function refuse_change();

-- What a partner last said of a wallet that its customer uses.
create table travel_wallets (
  id          bigint      generated always as identity primary key,
  customer_id text        not null references customers (id),
  partner_id  bigint      not null references partners (id),
  rail        text        not null,
  address     text        not null,
  kind        text        not null check (kind in ('hosted', 'self_hosted')),
  owner       text        not null check (owner in ('customer', 'other')),
  -- Encrypted: the owner's name, and the provider's. Empty once erased.
  details     bytea       not null,
  proven_at   timestamptz,
  declared_at timestamptz not null,
  unique (customer_id, rail, address)
);

-- The data of a transfer, as it was when the transfer was allowed.
create table travel_records (
  id          bigint      generated always as identity primary key,
  order_id    bigint      not null references orders (id),
  customer_id text        not null references customers (id),
  partner_id  bigint      not null references partners (id),
  direction   text        not null check (direction in ('in', 'out')),
  -- Of the other side; '' where the chain does not say.
  address     text        not null,
  rule_id     bigint      not null references travel_rules (id),
  -- `without`: the deadline passed, and the rule lets it go.
  state       text        not null check (state in ('complete', 'without')),
  -- IVMS101, encrypted. Empty once erased.
  ivms        bytea       not null,
  made_at     timestamptz not null,
  unique (order_id, direction, address)
);
create index travel_records_customer on travel_records (customer_id);

-- Orders that wait, or waited, for the data of a transfer.
create table travel_waits (
  order_id bigint      primary key references orders (id),
  rule_id  bigint      not null references travel_rules (id),
  since    timestamptz not null,
  due_at   timestamptz not null
);

grant select, insert (jurisdiction, fiat_asset, version, is_on, threshold_units, proof_units, deadline_s, policy, set_by, why, set_at)
  on travel_rules to cloverleaf_system;
grant select, insert, update (kind, owner, details, proven_at, declared_at) on travel_wallets to cloverleaf_system;
grant select, insert, update (ivms) on travel_records to cloverleaf_system;
grant select, insert on travel_waits to cloverleaf_system;
