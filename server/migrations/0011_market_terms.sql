-- Terms of trade: lower limits for customers who are verified less far, a cap on what a partner may have quoted at once,
-- a waiting time for bank money that can be taken back, and who changed which of all these terms, when and why.

set search_path = cloverleaf;

-- The most that customers up to this level may give at once, in the deposit asset's units. Without a row that reaches a
-- customer's level the market's own limit stands alone.
create table market_limits (
  market_id bigint not null references markets (id),
  level     smallint not null check (level >= 0),
  max_units numeric(78,0) not null check (max_units > 0),
  primary key (market_id, level)
);

-- The most that a partner's live quotes of one fiat may come to, in that fiat's units. No row: no cap.
create table exposure_caps (
  partner_id bigint not null references partners (id),
  fiat_asset text not null references assets (code),
  max_units  numeric(78,0) not null check (max_units > 0),
  primary key (partner_id, fiat_asset)
);
call protect('exposure_caps');

-- What a quote is worth in its market's fiat, for the cap. Null in quotes older than this column, which are long over.
alter table quotes add column fiat_asset text references assets (code), add column fiat_units numeric(78,0);
create index quotes_exposure on quotes (partner_id, fiat_asset, expires_at) include (fiat_units) where order_id is null;

-- Seconds from a bank's credit until an order takes it, for rails whose payments can be recalled.
alter table markets add column clearing_s integer not null default 0 check (clearing_s >= 0);
-- Until when a deposit that has arrived is waited with; null where nothing was.
alter table deposits add column clears_at timestamptz;

-- Every change of a market, a fee, a limit or a cap, with what it was before. The operator's own affair: no partner's door.
create table market_changes (
  id         bigint generated always as identity primary key,
  what       text not null check (what in ('market', 'fee', 'limit', 'exposure')),
  market_id  bigint references markets (id),
  partner_id bigint references partners (id),
  -- Of a fee its kind, of a limit its level, of a cap its fiat.
  item       text not null default '',
  before     jsonb,
  after      jsonb,
  changed_by text not null,
  why        text not null,
  at         timestamptz not null default now()
);
create index market_changes_market on market_changes (market_id, id);
create trigger append_only before update or delete on market_changes for each row execute function refuse_change();
create trigger no_truncate before truncate on market_changes for each statement execute function refuse_change();

grant select on market_limits, exposure_caps to cloverleaf_partner;
grant select, insert, update, delete on market_limits, exposure_caps to cloverleaf_system;
grant select, insert on market_changes to cloverleaf_system;
