-- Treasury: sweeps of deposits to the wallet that pays, gas for them, thresholds, and what the operator owns elsewhere.
--
-- A sweep names its deposits, so each is moved once and every one can say where it went. The amount at an address is what the chain
-- has confirmed for good less what sweeps took, never a balance that a node reports.

set search_path = cloverleaf;

-- Which assets are swept, and from how much at one address on. Without a row nothing is: sweeping dust is paid in gas.
create table sweep_minimums (
  asset     text          primary key references assets (code),
  min_units numeric(78,0) not null check (min_units > 0)
);

-- Money moved between our own wallets: sweeps, and the gas that is sent ahead of them. The bytes are in chain_sends.
create table own_transfers (
  -- The send's key and the ledger entry's id.
  key        text          primary key,
  kind       text          not null check (kind in ('sweep', 'gas')),
  rail       text          not null,
  -- The deposit address swept or given gas, and its number.
  address    text          not null,
  index      bigint        not null,
  asset      text          not null references assets (code),
  units      numeric(78,0) not null check (units > 0),
  -- Whom it pays, for good: another paying wallet configured later does not change what was written.
  target     text          not null,
  -- Gas: for which sweep.
  sweep      text          references own_transfers (key),
  state      text          not null default 'created' check (state in ('created', 'submitted', 'settled', 'failed', 'dropped')),
  -- Why it could not be submitted, last time it was tried.
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
-- One sweep under way per address: two would reckon with the same gas.
create unique index own_transfers_sweep on own_transfers (rail, address) where kind = 'sweep' and ended_at is null;
create unique index own_transfers_gas on own_transfers (sweep) where kind = 'gas' and ended_at is null;
create index own_transfers_of_sweep on own_transfers (sweep) where sweep is not null;
create index own_transfers_open on own_transfers (rail, created_at) where booked_at is null;
create index own_transfers_address on own_transfers (rail, address);

-- How much should lie in a wallet: below `low_units` readiness says so, below `alarm_units` there is a case.
create table treasury_thresholds (
  rail        text          not null,
  wallet      text          not null,
  asset       text          not null references assets (code),
  low_units   numeric(78,0) not null check (low_units >= 0),
  alarm_units numeric(78,0) not null check (alarm_units >= 0),
  primary key (rail, wallet, asset),
  check (alarm_units <= low_units)
);

-- What chain or bank last said is in it.
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
