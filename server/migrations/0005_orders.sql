-- Quotes and orders, and the objects with lives of their own around them: deposits, payouts, cases, events.

set search_path = cloverleaf;

create table quotes (
  id           bigint primary key,
  partner_id   bigint not null references partners (id),
  market_id    bigint not null references markets (id),
  deposit_units numeric(78,0) not null check (deposit_units > 0),
  payout_units numeric(78,0) not null check (payout_units > 0),
  gross_units  numeric(78,0) not null,
  rate_num     numeric(78,0) not null check (rate_num > 0),
  rate_den     numeric(78,0) not null check (rate_den > 0),
  fee_operator numeric(78,0) not null,
  fee_partner  numeric(78,0) not null,
  fee_rail     numeric(78,0) not null,
  fee_chain    numeric(78,0) not null,
  -- Every price that went in, with its source and time.
  prices       jsonb not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  order_id     bigint,
  -- Equality of numeric is not leakproof, so under row-level security no index on deposit_units is used; on text it is.
  deposit_text text not null generated always as (deposit_units::text) stored
);
create index quotes_live on quotes (partner_id, market_id, deposit_text, expires_at) where order_id is null;
create index quotes_age on quotes (expires_at) where order_id is null;
call protect('quotes');

create table orders (
  id              bigint primary key,
  partner_id      bigint not null references partners (id),
  customer_id     text not null references customers (id),
  direction       text not null check (direction in ('offramp', 'onramp')),
  -- Position among the customer's orders of this direction, dense from 1: a page of a list is a range of it.
  customer_seq    bigint not null check (customer_seq > 0),
  market_id       bigint not null references markets (id),
  quote_id        bigint references quotes (id),
  state           text not null,
  -- What is asked of the customer, and what the customer gets for it.
  deposit_asset   text not null references assets (code),
  deposit_units   numeric(78,0) not null check (deposit_units > 0),
  payout_asset    text not null references assets (code),
  payout_units    numeric(78,0) not null check (payout_units > 0),
  -- What the order's account was given; less than asked where an underpaid deposit was taken.
  received_units  numeric(78,0) check (received_units > 0),
  -- All that is converted, before fees; fees stand in the market's fiat.
  gross_units     numeric(78,0) not null,
  fiat_asset      text not null references assets (code),
  fee_operator    numeric(78,0) not null,
  fee_partner     numeric(78,0) not null,
  fee_rail        numeric(78,0) not null,
  fee_chain       numeric(78,0) not null,
  rate_num        numeric(78,0) not null check (rate_num > 0),
  rate_den        numeric(78,0) not null check (rate_den > 0),
  rate_locked_until timestamptz not null,
  deposit_rail    text not null,
  -- Where a deposit for this order arrives: an address or a reference, unique on its rail.
  deposit_target  text not null,
  deposit_index   bigint,
  payout_rail     text not null,
  payment_method  text not null,
  fiat_account_id bigint references fiat_accounts (id),
  payout_address  text,
  merchant_reference text,
  -- The payer's bank reference as the customer says it: shown to whoever looks for the money, never matched by.
  claimed_reference text,
  -- What was unusual about the money, where anything was; and why it ended, where it did not end well.
  exception       text,
  failure         text,
  payout_attempt  integer not null default 0,
  refund_attempt  integer not null default 0,
  -- Whether a person had to look at it: what is shown of that never goes back.
  was_held        boolean not null default false,
  -- When a rail first accepted a payout of this order.
  payout_handed_at timestamptz,
  -- Evidence for showing: the chain transaction, the bank's reference.
  deposit_reference text,
  payout_reference  text,
  expires_at      timestamptz not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  version         integer not null default 0,
  unique (customer_id, direction, customer_seq),
  unique (deposit_rail, deposit_target)
);
create index orders_partner on orders (partner_id, direction, id desc);
create index orders_open on orders (state, updated_at)
  where state not in ('settled', 'refunded', 'expired', 'cancelled', 'frozen');
call protect('orders');

-- How many orders a customer has of a direction; its row is locked while one is made, which is what keeps the sequence dense.
create table order_counts (
  partner_id  bigint not null references partners (id),
  customer_id text not null references customers (id),
  direction   text not null,
  count       bigint not null,
  primary key (customer_id, direction)
);
call protect('order_counts');

-- Every transition, in order.
create table order_history (
  order_id   bigint not null references orders (id),
  version    integer not null,
  partner_id bigint not null references partners (id),
  state_from text not null,
  event      text not null,
  state_to   text not null,
  facts      jsonb not null default '{}',
  at         timestamptz not null,
  primary key (order_id, version)
);
call protect('order_history');
create trigger append_only before update or delete on order_history for each row execute function refuse_change();

create table deposits (
  id          bigint generated always as identity primary key,
  rail        text not null,
  -- The rail's own name for it: chain transaction and log, statement line.
  external_id text not null,
  asset       text not null references assets (code),
  units       numeric(78,0) not null check (units > 0),
  target      text not null,
  order_id    bigint references orders (id),
  partner_id  bigint references partners (id),
  state       text not null check (state in ('seen', 'confirmed', 'reversed', 'applied', 'suspense', 'refunded', 'lost')),
  reference   text not null,
  -- Whether who paid is the customer; the name itself is kept by the rail, sealed.
  payer       text not null default 'unknown' check (payer in ('same', 'other', 'unknown')),
  -- Account the money is booked to, once it is booked.
  booked_to   text,
  why         text,
  facts       jsonb not null default '{}',
  seen_at     timestamptz not null,
  confirmed_at timestamptz,
  -- A chain may take a booked deposit back, and even bring it again.
  state_before_loss text,
  losses      integer not null default 0,
  unique (rail, external_id)
);
create index deposits_order on deposits (order_id) where order_id is not null;
create index deposits_suspense on deposits (seen_at) where state = 'suspense';
call protect('deposits');

create table payouts (
  id           text primary key,
  order_id     bigint not null references orders (id),
  partner_id   bigint not null references partners (id),
  purpose      text not null check (purpose in ('payout', 'refund')),
  attempt      integer not null check (attempt > 0),
  -- A refund names the deposit it returns.
  deposit_id   bigint references deposits (id),
  rail         text not null,
  asset        text not null references assets (code),
  units        numeric(78,0) not null check (units > 0),
  -- Where to: a fiat account of the customer, or an address.
  fiat_account_id bigint references fiat_accounts (id),
  address      text,
  state        text not null default 'written'
               check (state in ('written', 'handing', 'handed', 'unknown', 'settled', 'returned', 'refused')),
  -- While handing: nobody else may hand it over before this, and after it nobody may without asking the rail first.
  handing_until timestamptz,
  -- How often it was handed over; a worker records its answer only while the number is still its own.
  handings     integer not null default 0,
  -- Since when we do not know what became of it, and when a person was told.
  unknown_since timestamptz,
  alarmed_at   timestamptz,
  reference    text,
  why          text,
  written_at   timestamptz not null,
  handed_at    timestamptz,
  ended_at     timestamptz,
  unique (order_id, purpose, attempt),
  check ((purpose = 'refund') = (deposit_id is not null)),
  check ((fiat_account_id is null) <> (address is null))
);
create index payouts_open on payouts (written_at) where ended_at is null;
call protect('payouts');

-- Something a person has to look at. One open case for the same kind and subject.
create table cases (
  id         bigint generated always as identity primary key,
  kind       text not null,
  subject    text not null,
  order_id   bigint references orders (id),
  partner_id bigint references partners (id),
  reason     text not null,
  facts      jsonb not null default '{}',
  opened_at  timestamptz not null,
  closed_at  timestamptz,
  outcome    text
);
create unique index cases_open on cases (kind, subject) where closed_at is null;
call protect('cases');

-- What happened, for partners: written with its cause, delivered later.
create table events (
  id         bigint generated always as identity primary key,
  partner_id bigint not null references partners (id),
  type       text not null,
  subject    text not null,
  -- Position among the subject's events, so that a receiver can tell stale news.
  subject_seq integer not null,
  body       jsonb not null,
  at         timestamptz not null,
  unique (subject, subject_seq)
);
create index events_partner on events (partner_id, id);
call protect('events');
create trigger append_only before update or delete on events for each row execute function refuse_change();

-- Every decision about whether something may happen, with what it was decided on.
create table decisions (
  id         bigint generated always as identity primary key,
  partner_id bigint not null references partners (id),
  order_id   bigint references orders (id),
  about      text not null,
  outcome    text not null,
  rules      text not null,
  inputs     jsonb not null,
  at         timestamptz not null
);
create index decisions_order on decisions (order_id, id);
call protect('decisions');
create trigger append_only before update or delete on decisions for each row execute function refuse_change();

grant select, insert, update on quotes, orders, order_counts to cloverleaf_partner, cloverleaf_system;
grant select, insert on order_history, events, decisions to cloverleaf_partner, cloverleaf_system;
grant select on deposits, payouts, cases to cloverleaf_partner;
grant select, insert, update on deposits, payouts, cases to cloverleaf_system;
grant delete on quotes to cloverleaf_system;
