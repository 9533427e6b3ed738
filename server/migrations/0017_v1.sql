-- The partner API under /v1: what a key needs for it, destinations with their confirmation, the request log, and where a price was
-- composed from.

set search_path = cloverleaf;

-- The dated version that answers a key, pinned at its first request; and whether its writes in production may go without a signature.
alter table api_keys add column api_version text check (api_version ~ '^\d{4}-\d\d-\d\d$');
alter table api_keys add column unsigned_writes boolean not null default false;

-- The pairs that a composed price was computed through, in order, such as {usdc/usd,usd/inr}; null where the source quotes the pair.
alter table prices add column composed_of text[];

-- Which side of a quote its request named.
alter table quotes add column fixed_side text not null default 'pay' check (fixed_side in ('pay', 'receive'));
grant insert (fixed_side) on quotes to cloverleaf_partner;

-- Destinations that a partner's program has added for a customer, or that a customer has confirmed on a hosted page. Money leaves to one
-- that was not confirmed only from `usable_at` on: the gate reads it. An account without a row was added otherwise, and does not wait.
create table customer_destinations (
  -- Of an account: its own id.
  id              bigint      primary key,
  partner_id      bigint      not null references partners (id),
  customer_id     text        not null references customers (id),
  fiat_account_id bigint      unique references fiat_accounts (id),
  chain           text,
  address         text,
  created_at      timestamptz not null,
  usable_at       timestamptz not null,
  confirmed_at    timestamptz,
  unique (customer_id, chain, address),
  check ((fiat_account_id is null) <> (address is null)),
  check ((chain is null) = (address is null)),
  check (fiat_account_id is null or fiat_account_id = id)
);
call protect('customer_destinations');
create index customer_destinations_customer on customer_destinations (customer_id, id);

grant select, insert (id, partner_id, customer_id, fiat_account_id, chain, address, created_at, usable_at, confirmed_at)
  on customer_destinations to cloverleaf_partner;
grant update (confirmed_at) on customer_destinations to cloverleaf_partner;
grant select on customer_destinations to cloverleaf_system;

-- A phone that the partner has changed does not confirm a destination before the cooling-off time has passed.
alter table customers add column phone_changed_at timestamptz;
grant update (phone_changed_at) on customers to cloverleaf_partner;

-- Requests of the last thirty days, for the partner that sent them. Bodies are the declared fields without personal ones.
create table request_log (
  id                bigint      generated always as identity primary key,
  partner_id        bigint      not null references partners (id),
  request_id        text        not null,
  client_request_id text,
  api_key           text        not null,
  operation         text        not null,
  method            text        not null,
  path              text        not null,
  status            integer     not null,
  reason            text,
  took_ms           integer     not null,
  replayed          boolean     not null,
  version           text        not null,
  -- Encrypted: a program may put anything in it.
  idempotency_key   text,
  request           jsonb,
  reply             jsonb,
  at                timestamptz not null
);
create index request_log_partner on request_log (partner_id, id);
create index request_log_request on request_log (partner_id, request_id);
create index request_log_client on request_log (partner_id, client_request_id) where client_request_id is not null;
create index request_log_age on request_log (at);
call protect('request_log');

grant select, insert (partner_id, request_id, client_request_id, api_key, operation, method, path, status, reason, took_ms,
  replayed, version, idempotency_key, request, reply, at) on request_log to cloverleaf_partner;
grant select, delete on request_log to cloverleaf_system;
