-- Partners, their keys, and what they trade: markets, fees, prices.

set search_path = cloverleaf;

create table partners (
  id               bigint generated always as identity primary key,
  name             text not null unique,
  suspended_at     timestamptz,
  quote_shape      text not null default 'B' check (quote_shape in ('A', 'B')),
  -- How far a fresh price may lie from the rate a partner sends.
  tolerance_bps    integer not null default 50 check (tolerance_bps between 0 and 10000),
  -- Words for our verification levels, where a partner's program wants others than the defaults.
  kyc_words        jsonb not null default '{}',
  -- Level from which a customer may trade.
  trade_level      smallint not null default 1,
  cors_origins     text[] not null default '{}',
  requests_per_minute integer not null default 6000,
  created_at       timestamptz not null
);
alter table partners enable row level security;
create policy own_rows on partners to cloverleaf_partner using (id = cloverleaf.current_partner());
create policy all_rows on partners to cloverleaf_system using (true);

create table api_keys (
  key           text primary key,
  partner_id    bigint not null references partners (id),
  label         text not null,
  scopes        text[] not null,
  -- Checking an HMAC needs the secret itself, so it is sealed rather than hashed. Two are valid while rotating.
  secret        bytea not null,
  next_secret   bytea,
  next_until    timestamptz,
  addresses     cidr[] not null default '{}',
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz,
  created_at    timestamptz not null
);
create index api_keys_partner on api_keys (partner_id);
call protect('api_keys');

-- A market is a pair, a direction and the terms on which it is traded.
create table markets (
  id              bigint generated always as identity primary key,
  direction       text not null check (direction in ('offramp', 'onramp')),
  crypto_asset    text not null references assets (code),
  fiat_asset      text not null references assets (code),
  enabled         boolean not null default true,
  -- The market taken where the request names a coin but no chain.
  is_default      boolean not null default false,
  deposit_rail    text not null,
  payout_rail     text not null,
  payment_method  text not null,
  -- Limits on what comes in, in the deposit asset's units.
  min_units       numeric(78,0) not null check (min_units > 0),
  max_units       numeric(78,0) not null check (max_units >= min_units),
  payout_places   smallint not null,
  quote_ttl_s     integer not null default 60 check (quote_ttl_s > 0),
  deposit_ttl_s   integer not null default 3600 check (deposit_ttl_s > 0),
  price_sources   text[] not null,
  price_max_age_s integer not null default 30,
  price_quorum    smallint not null default 1 check (price_quorum > 0),
  outlier_bps     integer not null default 300,
  unique (direction, crypto_asset, fiat_asset)
);
create index markets_default on markets (direction, fiat_asset) where is_default;

-- Each of the four fees: fixed part + basis points, at least the minimum; units of the market's fiat.
-- A row with a partner stands before the row without.
create table fee_schedules (
  id            bigint generated always as identity primary key,
  market_id     bigint not null references markets (id),
  partner_id    bigint references partners (id),
  kind          text not null check (kind in ('operator', 'partner', 'rail', 'chain')),
  fixed_units   numeric(78,0) not null default 0 check (fixed_units >= 0),
  bps           integer not null default 0 check (bps between 0 and 10000),
  minimum_units numeric(78,0) not null default 0 check (minimum_units >= 0),
  -- For the chain fee: gas used by the transfers an order causes, priced at the node's gas price.
  gas_units     bigint not null default 0 check (gas_units >= 0),
  unique nulls not distinct (market_id, partner_id, kind)
);
alter table fee_schedules enable row level security;
create policy own_rows on fee_schedules to cloverleaf_partner
  using (partner_id is null or partner_id = cloverleaf.current_partner());
create policy all_rows on fee_schedules to cloverleaf_system using (true);

-- How many confirmations an amount wants: the row with the greatest from_units that the amount reaches.
create table confirmation_policies (
  chain         text not null,
  asset         text not null references assets (code),
  from_units    numeric(78,0) not null default 0,
  confirmations integer not null check (confirmations > 0),
  primary key (chain, asset, from_units)
);

-- The newest price of each source: whole `quote` per one whole `base`, as an exact fraction.
create table prices (
  source     text not null,
  base       text not null,
  quote      text not null,
  num        numeric(78,0) not null check (num > 0),
  den        numeric(78,0) not null check (den > 0),
  -- When the source says it held, and when we heard.
  priced_at  timestamptz not null,
  fetched_at timestamptz not null,
  primary key (base, quote, source)
);

-- What a chain charges now: native units per unit of gas.
create table gas_prices (
  chain      text primary key,
  units      numeric(78,0) not null,
  fetched_at timestamptz not null
);

-- The reply to a signed request, kept so that the same request gets the same reply and has happened once.
create table kept_replies (
  partner_id bigint not null references partners (id),
  path       text not null,
  key        bytea not null,
  body       bytea not null,
  reply      jsonb not null,
  kept_at    timestamptz not null,
  primary key (partner_id, path, key)
);
create index kept_replies_age on kept_replies (kept_at);
call protect('kept_replies');

grant select on partners, api_keys, markets, fee_schedules, confirmation_policies, prices, gas_prices to cloverleaf_partner;
grant select, insert on kept_replies to cloverleaf_partner;
grant select, insert, update on partners, api_keys, markets, fee_schedules, confirmation_policies, prices, gas_prices to cloverleaf_system;
grant delete on fee_schedules, confirmation_policies to cloverleaf_system;
grant select, insert, delete on kept_replies to cloverleaf_system;
