-- Treasury: sweeps of deposits to the paying wallet, gas for them, thresholds, and what the operator owns elsewhere.
--
-- A sweep names its deposits, so each is moved once and can be traced. The amount at an address is the final amount on the
-- chain minus what sweeps took, never a balance that a node reports.

set search_path = cloverleaf;

-- Which assets are swept, and from which amount at one address. Without a row nothing is: sweeping dust costs gas.
create table sweep_minimums (
  asset     text          primary key references assets (code),
  min_units numeric(78,0) not null check (min_units > 0)
);

-- Money moved between our own wallets: sweeps, and the gas sent ahead of them. The bytes are in chain_sends.
create table own_transfers (
  -- The send's key and the ledger entry's id.
  key        text          primary key,
  kind       text          not null check (kind in ('sweep', 'gas')),
  rail       text          not null,
  -- The deposit address that is swept or gets gas, and its number.
  address    text          not null,
  index      bigint        not null,
  asset      text          not null references assets (code),
  units      numeric(78,0) not null check (units > 0),
  -- The recipient, fixed: configuring another paying wallet later does not change existing rows.
  target     text          not null,
  -- For gas: its sweep.
  sweep      text          references own_transfers (key),
  state      text          not null default 'created' check (state in ('created', 'submitted', 'settled', 'failed', 'dropped')),
  -- Why the last try to submit it failed.
  why        text,
  reference  text,
  cost_asset text          references assets (code),
  cost_units numeric(78,0) not null default 0,
  created_at timestamptz   not null,
  looked_at  timestamptz   not null default '-infinity',
  ended_at   timestamptz,
  -- Ended and in the ledger.
  booked_at  timestamptz,
  constraint own_transfers_check check (kind = 'gas' or sweep is null)
);
-- One sweep under way per address: two would count on the same gas.
create unique index own_transfers_sweep on own_transfers (rail, address) where kind = 'sweep' and ended_at is null;
create unique index own_transfers_gas on own_transfers (sweep) where kind = 'gas' and ended_at is null;
create index own_transfers_of_sweep on own_transfers (sweep) where sweep is not null;
create index own_transfers_open on own_transfers (rail, created_at) where booked_at is null;
create index own_transfers_address on own_transfers (rail, address);

-- The required balance of a wallet: below `low_units` readiness reports it, below `alarm_units` there is a case.
create table treasury_thresholds (
  rail        text          not null,
  wallet      text          not null,
  asset       text          not null references assets (code),
  low_units   numeric(78,0) not null check (low_units >= 0),
  alarm_units numeric(78,0) not null check (alarm_units >= 0),
  primary key (rail, wallet, asset),
  check (alarm_units <= low_units)
);

-- The balance that chain or bank last reported.
create table treasury_outside (
  rail    text          not null,
  wallet  text          not null,
  asset   text          not null references assets (code),
  units   numeric(78,0) not null,
  read_at timestamptz   not null,
  primary key (rail, wallet, asset)
);

grant select, insert, update, delete on sweep_minimums, treasury_thresholds to cloverleaf_system;
grant select, insert, update on own_transfers, treasury_outside to cloverleaf_system;
