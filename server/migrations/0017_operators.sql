-- Operators: who runs this, what they did, what needs two of them, and what they have switched off.
--
-- Nothing here is a partner's to read, but for two things: which markets are stopped, and whether it is stopped itself. Names
-- of operators are written into the audit as they were, so a row of it says the same for ever. No secret and no personal field
-- of a customer stands in any of these tables.

set search_path = cloverleaf;

-- Work on cases.
alter table cases add column assignee text;
create index cases_open_age on cases (opened_at, id) where closed_at is null;
create index cases_closed_age on cases (opened_at, id) where closed_at is not null;
create index cases_order on cases (order_id) where order_id is not null;

create table case_acts (
  id      bigint generated always as identity primary key,
  case_id bigint not null references cases (id),
  at      timestamptz not null,
  by      text not null,
  what    text not null check (what in ('assigned', 'noted', 'acted', 'closed')),
  note    text not null check (length(note) between 1 and 2000)
);
create index case_acts_case on case_acts (case_id, id);
create trigger append_only before update or delete on case_acts for each row execute function refuse_change();
create trigger no_truncate before truncate on case_acts for each statement execute function refuse_change();

create table operators (
  id          bigint generated always as identity primary key,
  name        text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{1,39}$'),
  role        text not null check (role in ('viewer', 'support', 'finance', 'admin')),
  created_at  timestamptz not null,
  disabled_at timestamptz
);

-- A token is 256 random bits, shown once; only its SHA-256 is kept. There is nothing to guess, so nothing to slow down.
create table operator_tokens (
  id           bigint generated always as identity primary key,
  operator_id  bigint not null references operators (id),
  hash         bytea not null unique,
  label        text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz
);
create index operator_tokens_operator on operator_tokens (operator_id);

-- What needs a second operator: an asset (its code) from above how many units, or one of the gates `terms`, `keys`, `resume`,
-- where 0 means two and anything above means that one is enough. What has no row needs two.
create table second_operator (
  what        text primary key,
  above_units numeric(78,0) not null check (above_units >= 0)
);

-- An act that waits for another operator. `seen` is what it is about as it stood when proposed.
create table proposals (
  id          bigint generated always as identity primary key,
  act         text not null,
  subject     text not null,
  ask         jsonb not null,
  seen        jsonb,
  reason      text not null,
  proposed_by bigint not null references operators (id),
  proposed_at timestamptz not null,
  expires_at  timestamptz not null,
  state       text not null default 'open' check (state in ('open', 'confirmed', 'declined', 'overtaken', 'expired')),
  decided_by  bigint references operators (id),
  decided_at  timestamptz,
  check ((state in ('confirmed', 'declined')) <= (decided_by is not null)),
  -- Nobody is two people.
  check (state <> 'confirmed' or decided_by <> proposed_by)
);
create unique index proposals_open on proposals (act, subject) where state = 'open';

create table audit (
  id       bigint generated always as identity primary key,
  at       timestamptz not null,
  operator text not null,
  role     text not null,
  address  text not null,
  act      text not null,
  subject  text not null,
  reason   text not null check (length(reason) between 1 and 500),
  -- `begun` stands alone where an act calls somebody outside and its end is a row of its own.
  outcome  text not null check (outcome in ('done', 'begun', 'proposed', 'confirmed', 'declined', 'overtaken', 'refused')),
  proposal bigint references proposals (id),
  before   jsonb,
  after    jsonb
);
create index audit_subject on audit (subject, id);
create index audit_operator on audit (operator, id);
create trigger append_only before update or delete on audit for each row execute function refuse_change();
create trigger no_truncate before truncate on audit for each statement execute function refuse_change();

-- What is switched off. A row is a stop; switching on again takes it away, and the audit has both.
create table stops (
  kind       text not null check (kind in ('market', 'partner', 'rail', 'payouts')),
  -- Id of the market or partner, code of the rail; `all` for payouts.
  subject    text not null,
  -- Of a stopped partner. A market's stop is everybody's.
  partner_id bigint references partners (id),
  by         text not null,
  reason     text not null,
  at         timestamptz not null,
  primary key (kind, subject),
  check ((kind = 'partner') = (partner_id is not null)),
  check (kind <> 'partner' or subject = partner_id::text),
  check (kind <> 'payouts' or subject = 'all')
);
alter table stops enable row level security;
create policy own_rows on stops to cloverleaf_partner
  using ((partner_id is null and kind = 'market') or partner_id = cloverleaf.current_partner());
create policy all_rows on stops to cloverleaf_system using (true);

-- What an operator is asked about: a hash, a reference, an address.
create index deposits_reference on deposits (reference) where reference <> '';
create index deposits_target on deposits (target) where target <> '';
create index payouts_reference on payouts (reference) where reference is not null;
create index payouts_address on payouts (address) where address is not null;
create index orders_merchant_reference on orders (merchant_reference) where merchant_reference is not null;
create index customers_client on customers (client_customer_id) where client_customer_id is not null;

grant select on stops to cloverleaf_partner;
grant select, insert on audit, case_acts to cloverleaf_system;
grant select, insert, update on operators, operator_tokens, second_operator, proposals to cloverleaf_system;
grant select, insert, delete on stops to cloverleaf_system;
