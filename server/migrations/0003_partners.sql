-- Partners and their terms: keys, markets, fees, limits, policies, kill switches; and what each key did.
--
-- An order keeps the policy it was created under, so a changed policy does not affect orders under way. What a key does is
-- one row, written in the transaction that does it. A trigger rejects that row once the partner is suspended or the key is
-- revoked or held, so the whole request is rolled back, on every server and whatever that server has cached.

set search_path = cloverleaf;

create table partners (
  id                  bigint      generated always as identity primary key,
  name                text        not null unique,
  suspended_at        timestamptz,
  quote_shape         text        not null default 'B' check (quote_shape in ('A', 'B')),
  -- How far a fresh price may differ from the rate a partner sends.
  tolerance_bps       integer     not null default 50 check (tolerance_bps between 0 and 10000),
  -- Words for our verification levels, if a partner's program needs others than the defaults.
  kyc_words           jsonb       not null default '{}',
  -- Level from which a customer may trade.
  trade_level         smallint    not null default 1,
  cors_origins        text[]      not null default '{}',
  requests_per_minute integer     not null default 6000,
  created_at          timestamptz not null
);
alter table partners enable row level security;
create policy own_rows on partners to cloverleaf_partner using (id = cloverleaf.current_partner());
create policy all_rows on partners to cloverleaf_system using (true);

create table api_keys (
  key          text        primary key,
  partner_id   bigint      not null references partners (id),
  label        text        not null,
  scopes       text[]      not null,
  -- Checking an HMAC needs the secret itself, so it is encrypted rather than hashed. Two are valid during a rotation.
  secret       bytea       not null,
  next_secret  bytea,
  next_until   timestamptz,
  addresses    cidr[]      not null default '{}',
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz not null,
  -- Held by a containment: the key authenticates nobody; the endpoint's deliveries wait.
  held_at      timestamptz,
  secret_for   text,
  secret_until timestamptz,
  constraint api_keys_secret_waits check ((secret_for is null) = (secret_until is null))
);
create index api_keys_partner on api_keys (partner_id);
call protect('api_keys');

-- A market is a pair, a direction and the terms on which it is traded.
create table markets (
  id              bigint        generated always as identity primary key,
  direction       text          not null check (direction in ('offramp', 'onramp')),
  crypto_asset    text          not null references assets (code),
  fiat_asset      text          not null references assets (code),
  enabled         boolean       not null default true,
  -- Used when a request names a coin but no chain.
  is_default      boolean       not null default false,
  deposit_rail    text          not null,
  payout_rail     text          not null,
  payment_method  text          not null,
  -- Limits on the deposit, in the deposit asset's units.
  min_units       numeric(78,0) not null check (min_units > 0),
  max_units       numeric(78,0) not null check (max_units >= min_units),
  payout_decimals   smallint      not null,
  quote_ttl_s     integer       not null default 60 check (quote_ttl_s > 0),
  deposit_ttl_s   integer       not null default 3600 check (deposit_ttl_s > 0),
  price_sources   text[]        not null,
  price_max_age_s integer       not null default 30,
  price_quorum    smallint      not null default 1 check (price_quorum > 0),
  outlier_bps     integer       not null default 300,
  -- Seconds from a bank's credit until an order takes it, for rails whose payments can be recalled.
  clearing_s      integer       not null default 0 check (clearing_s >= 0),
  -- A quorum of one is declared: a single source is accepted, without confirmation by another.
  single_source   boolean       not null default false,
  -- Quoting halts at a price further than this from the last accepted level, up or down.
  jump_bps        integer       not null default 1000 check (jump_bps between 1 and 1000000),
  -- How long sources must agree before a halted market resumes by itself.
  resume_s        integer       not null default 300 check (resume_s between 1 and 86400),
  tax_bps         int           not null default 0 check (tax_bps between 0 and 5000),
  unique (direction, crypto_asset, fiat_asset)
);
create index markets_default on markets (direction, fiat_asset) where is_default;

-- Each of the four fees: fixed part + basis points, at least the minimum; units of the market's fiat. A row with a partner
-- overrides the row without.
create table fee_schedules (
  id            bigint        generated always as identity primary key,
  market_id     bigint        not null references markets (id),
  partner_id    bigint        references partners (id),
  kind          text          not null check (kind in ('operator', 'partner', 'rail', 'chain')),
  fixed_units   numeric(78,0) not null default 0 check (fixed_units >= 0),
  bps           integer       not null default 0 check (bps between 0 and 10000),
  minimum_units numeric(78,0) not null default 0 check (minimum_units >= 0),
  -- For the chain fee: gas used by an order's transfers, priced at the node's gas price.
  gas_units     bigint        not null default 0 check (gas_units >= 0),
  unique nulls not distinct (market_id, partner_id, kind)
);
alter table fee_schedules enable row level security;
create policy own_rows on fee_schedules to cloverleaf_partner
  using (partner_id is null or partner_id = cloverleaf.current_partner());
create policy all_rows on fee_schedules to cloverleaf_system using (true);

-- How many confirmations an amount needs: the row with the greatest from_units that the amount reaches.
create table confirmation_policies (
  chain         text          not null,
  asset         text          not null references assets (code),
  from_units    numeric(78,0) not null default 0,
  confirmations integer       not null check (confirmations > 0),
  primary key (chain, asset, from_units)
);

-- The most that customers up to this level may pay at once, in the deposit asset's units. Without a row that reaches a
-- customer's level, only the market's own limit applies.
create table market_limits (
  market_id bigint        not null references markets (id),
  level     smallint      not null check (level >= 0),
  max_units numeric(78,0) not null check (max_units > 0),
  primary key (market_id, level)
);

-- Maximum sum of a partner's live quotes in one fiat, in that fiat's units. No row: no cap.
create table exposure_caps (
  partner_id bigint        not null references partners (id),
  fiat_asset text          not null references assets (code),
  max_units  numeric(78,0) not null check (max_units > 0),
  primary key (partner_id, fiat_asset)
);
call protect('exposure_caps');

-- Every change of a market, a fee, a limit or a cap, with the previous value. For operators only: no partner role reads it.
create table market_changes (
  id         bigint      generated always as identity primary key,
  what       text        not null check (what in ('market', 'fee', 'limit', 'exposure', 'policy')),
  market_id  bigint      references markets (id),
  partner_id bigint      references partners (id),
  -- The kind of a fee, the level of a limit, the fiat of a cap.
  item       text        not null default '',
  before     jsonb,
  after      jsonb,
  changed_by text        not null,
  why        text        not null,
  at         timestamptz not null default now()
);
create index market_changes_market on market_changes (market_id, id);
create trigger append_only before update or delete on market_changes for each row execute function refuse_change();
create trigger no_truncate before truncate on market_changes for each statement execute function refuse_change();

-- One answer per question. Fields that an answer omits come from the market's row, or from the built-in policy.
create table policies (
  id         bigint generated always as identity primary key,
  market_id  bigint not null references markets (id),
  -- Null: for every partner without its own answer.
  partner_id bigint references partners (id),
  question   text   not null,
  answer     jsonb  not null check (jsonb_typeof(answer) = 'object'),
  unique nulls not distinct (market_id, partner_id, question)
);
alter table policies enable row level security;
create policy own_rows on policies to cloverleaf_partner
  using (partner_id is null or partner_id = cloverleaf.current_partner());
create policy all_rows on policies to cloverleaf_system using (true);

create table kyb_requirements (
  partner_id   bigint      primary key references partners (id),
  -- Shown unchanged, in its original order.
  requirements json        not null check (json_typeof(requirements) = 'object'),
  set_at       timestamptz not null
);
call protect('kyb_requirements');

-- Kill switches. A row is active; lifting deletes it, and the audit has both.
create table kill_switches (
  kind       text        not null check (kind in ('market', 'partner', 'rail', 'payouts')),
  -- Id of the market or partner, code of the rail; `all` for payouts.
  subject    text        not null,
  -- Of a suspended partner. A market's kill switch affects every partner.
  partner_id bigint      references partners (id),
  by         text        not null,
  reason     text        not null,
  at         timestamptz not null,
  primary key (kind, subject),
  check ((kind = 'partner') = (partner_id is not null)),
  check (kind <> 'partner' or subject = partner_id::text),
  check (kind <> 'payouts' or subject = 'all')
);
alter table kill_switches enable row level security;
create policy own_rows on kill_switches to cloverleaf_partner
  using ((partner_id is null and kind = 'market') or partner_id = cloverleaf.current_partner());
create policy all_rows on kill_switches to cloverleaf_system using (true);

-- Everybody who set a kill switch. One set by several people takes as many to lift.
create table kill_switch_layers (
  kind    text        not null,
  subject text        not null,
  by      text        not null,
  reason  text        not null,
  at      timestamptz not null,
  primary key (kind, subject, by),
  foreign key (kind, subject) references kill_switches (kind, subject) on delete cascade
);

create table partner_activity (
  id         bigint      generated always as identity primary key,
  -- Looked up by the trigger below, once for both columns.
  partner_id bigint      not null,
  -- The key that signed the request. For an action on a hosted page: the key that made the link, null if the link is older
  -- than this table.
  api_key    text,
  -- For an action on a hosted page: the link's id.
  link       text,
  action        text        not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  -- What was created or changed: `endpoint:…`, `link:…`, `customer:…`, `account:…`, `order:…`.
  subject    text        not null check (length(subject) <= 160),
  -- Ids, addresses on a chain, URLs. Nothing personal and no secret.
  facts      jsonb       not null default '{}',
  at         timestamptz not null,
  check (api_key is not null or link is not null)
);
create index partner_activity_partner on partner_activity (partner_id, at, id);
call protect('partner_activity');
create trigger append_only before update or delete on partner_activity for each row execute function refuse_change();
create trigger no_truncate before truncate on partner_activity for each statement execute function refuse_change();

-- A changing request holds the partner's lock in shared mode until its commit; suspending, revoking and holding take it
-- exclusively. So once one of these has returned, no earlier request is still running, and no new one begins. For a hosted
-- page the key is not checked: to stop a link, the link itself is held.
create function partner_is_active() returns trigger
language plpgsql as $$
declare
  is_suspended boolean;
  is_of_use boolean;
begin
  perform pg_advisory_xact_lock_shared(1702194543, hashint8(new.partner_id));
  -- A separate statement: it sees what was committed while the lock was awaited.
  select p.suspended_at is not null, k.key is not null into is_suspended, is_of_use
    from cloverleaf.partners p
    left join cloverleaf.api_keys k on k.key = new.api_key and k.partner_id = p.id and k.revoked_at is null and k.held_at is null
   where p.id = new.partner_id;
  if not found then
    raise exception 'there is no partner %', new.partner_id using errcode = 'foreign_key_violation';
  elsif is_suspended then
    raise exception 'partner % is suspended', new.partner_id using errcode = 'CL001';
  elsif new.link is null and not is_of_use then
    raise exception 'the key is revoked or held' using errcode = 'CL002';
  end if;
  return null;
end $$;
create trigger is_active after insert on partner_activity for each row execute function partner_is_active();

-- Since when activity is recorded: earlier activity has no rows.
create table partner_activity_began (
  at timestamptz not null
);

-- From when a partner's activity is distrusted, for one key or for all.
create table containments (
  id             bigint      generated always as identity primary key,
  partner_id     bigint      not null references partners (id),
  since          timestamptz not null,
  api_key        text        references api_keys (key),
  opened_by      text        not null,
  reason         text        not null,
  opened_at      timestamptz not null,
  -- When everything held had been released or rejected.
  ended_at       timestamptz,
  ended_by       text,
  -- Links made before links were recorded are no items; they work again once everything that a containment holds is released.
  links_released boolean     not null default false,
  check (since <= opened_at),
  check ((ended_at is null) = (ended_by is null))
);
create index containments_partner on containments (partner_id, id);
create index containments_open on containments (partner_id) where ended_at is null;
call protect('containments');

-- What a containment holds. `rejected` is permanent: it stays rejected after the containment ends.
create table held_items (
  id             bigint      generated always as identity primary key,
  containment_id bigint      not null references containments (id),
  partner_id     bigint      not null references partners (id),
  kind           text        not null check (kind in ('key', 'endpoint', 'link', 'account', 'destination')),
  -- Id of the key, endpoint, link or account; for a destination the order's.
  subject        text        not null,
  -- For a destination: an address on a chain, in our spelling.
  address        text,
  why            text        not null,
  made_at        timestamptz not null,
  made_by_key    text,
  state          text        not null default 'held' check (state in ('held', 'released', 'rejected')),
  held_at        timestamptz not null,
  held_by        text        not null,
  decided_at     timestamptz,
  decided_by     text,
  check ((kind = 'destination') = (address is not null)),
  check ((state = 'held') = (decided_at is null)),
  check ((state = 'held') = (decided_by is null)),
  unique nulls not distinct (containment_id, kind, subject, address)
);
create index held_items_partner on held_items (partner_id, id);
create index held_items_subject on held_items (partner_id, kind, subject) where state <> 'released';
create index held_items_address on held_items (partner_id, lower(address)) where state <> 'released' and address is not null;
call protect('held_items');

insert into partner_activity_began (at) values (now());

grant select on partners, api_keys, markets, fee_schedules, confirmation_policies, market_limits, exposure_caps, policies,
  kyb_requirements, kill_switches, partner_activity, containments, held_items to cloverleaf_partner;
grant insert (partner_id, api_key, link, action, subject, facts, at) on partner_activity to cloverleaf_partner;
grant select, insert, update on partners, api_keys, markets, containments, held_items to cloverleaf_system;
grant select, insert, update, delete on fee_schedules, confirmation_policies, market_limits, exposure_caps, policies,
  kyb_requirements to cloverleaf_system;
grant select, insert on market_changes, kill_switch_layers, partner_activity to cloverleaf_system;
grant select, insert, delete on kill_switches to cloverleaf_system;
grant select on partner_activity_began to cloverleaf_system;
