-- Prices, the state of their sources and the circuit breaker; quotes.
--
-- The state of a source is a row and not in memory: another process may poll it next, and a pause that a source asked for
-- survives a restart.

set search_path = cloverleaf;

-- The newest price of each source: whole `quote` per one whole `base`, as an exact fraction.
create table prices (
  source     text          not null,
  base       text          not null,
  quote      text          not null,
  num        numeric(78,0) not null check (num > 0),
  den        numeric(78,0) not null check (den > 0),
  -- When it was valid according to the source, and when we received it.
  priced_at  timestamptz   not null,
  fetched_at timestamptz   not null,
  primary key (base, quote, source)
);

create table price_sources (
  source          text        primary key,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  -- In our words, never the answer's: it is public.
  last_failure    text,
  -- Since the last success.
  failures        integer     not null default 0,
  -- Not polled before this.
  paused_until    timestamptz
);

-- The last accepted level of each price that a market uses (its coin, and the coin its chain charges gas in), and whether
-- quoting is halted for it. Written in the transaction that stores a price, so that no server sees the price without the
-- halt.
create table price_levels (
  market_id     bigint        not null references markets (id),
  coin          text          not null,
  -- Null until a quorum has agreed for the first time.
  level_num     numeric(78,0) check (level_num > 0),
  level_den     numeric(78,0) check (level_den > 0),
  level_at      timestamptz,
  -- Since when fewer sources than the quorum have been live.
  missing_since timestamptz,
  halted_at     timestamptz,
  why           text          check (why in ('jump', 'quorum')),
  -- While halted: the price the sources agree on, and since when.
  seen_num      numeric(78,0) check (seen_num > 0),
  seen_den      numeric(78,0) check (seen_den > 0),
  seen_since    timestamptz,
  primary key (market_id, coin),
  check ((halted_at is null) = (why is null)),
  check ((level_num is null) = (level_den is null)),
  check ((seen_num is null) = (seen_den is null) and (seen_num is null) = (seen_since is null))
);

create table quotes (
  id            bigint        primary key,
  partner_id    bigint        not null references partners (id),
  market_id     bigint        not null references markets (id),
  deposit_units numeric(78,0) not null check (deposit_units > 0),
  payout_units  numeric(78,0) not null check (payout_units > 0),
  gross_units   numeric(78,0) not null,
  rate_num      numeric(78,0) not null check (rate_num > 0),
  rate_den      numeric(78,0) not null check (rate_den > 0),
  fee_operator  numeric(78,0) not null,
  fee_partner   numeric(78,0) not null,
  fee_rail      numeric(78,0) not null,
  fee_chain     numeric(78,0) not null,
  -- Every price used, with its source and time.
  prices        jsonb         not null,
  created_at    timestamptz   not null,
  expires_at    timestamptz   not null,
  order_id      bigint,
  -- Equality of numeric is not leakproof, so row-level security prevents an index on deposit_units from being used; one on
  -- text is used.
  deposit_text  text          not null generated always as (deposit_units::text) stored,
  -- Value of a quote in its market's fiat, for the cap.
  fiat_asset    text          references assets (code),
  fiat_units    numeric(78,0),
  fee_tax       numeric(78,0) not null default 0 check (fee_tax >= 0)
);
create index quotes_live on quotes (partner_id, market_id, deposit_text, expires_at) where order_id is null;
create index quotes_age on quotes (expires_at) where order_id is null;
call protect('quotes');
create index quotes_exposure on quotes (partner_id, fiat_asset, expires_at) include (fiat_units) where order_id is null;

grant select on prices, price_levels, quotes to cloverleaf_partner;
grant insert (id, partner_id, market_id, deposit_units, payout_units, gross_units, rate_num, rate_den, fee_operator, fee_partner,
  fee_rail, fee_chain, prices, created_at, expires_at, order_id, fiat_asset, fiat_units, fee_tax) on quotes to cloverleaf_partner;
grant update (order_id) on quotes to cloverleaf_partner;
grant select, insert, update on prices, price_sources, price_levels to cloverleaf_system;
grant select, insert, update, delete on quotes to cloverleaf_system;
