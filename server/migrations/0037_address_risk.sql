-- What a provider said about the risk of addresses, and what people decided where the risk was too high.
--
-- Addresses on chains are public, and stay when a customer is erased, as in orders and payouts. No partner may read any of this:
-- a hit is never disclosed.

set search_path = cloverleaf;

-- One row for each answer. The newest one of an address counts, by the time at which it was asked.
create table address_risks (
  id        bigint      generated always as identity primary key,
  rail      text        not null,
  address   text        not null,
  provider  text        not null,
  -- Version of our rules and of the provider's adapter.
  rules     text        not null,
  -- From which level on an address was a hit.
  threshold text        not null check (threshold in ('medium', 'high', 'severe')),
  level     text        not null check (level in ('low', 'medium', 'high', 'severe')),
  -- The provider's own word or number, and its words for it.
  score     text        not null,
  reason    text        not null,
  -- SHA-256 of the question and of the provider's answer.
  digest    bytea       not null check (length(digest) = 32),
  asked_at  timestamptz not null,
  kept_at   timestamptz not null
);
create index address_risks_newest on address_risks (address, rail, asked_at, id);
create trigger append_only before update or delete on address_risks for each row execute function refuse_change();
create trigger no_truncate before truncate on address_risks for each statement execute function refuse_change();

-- One for each owner, address and finding: what was decided is asked again only when one of them is new. The owner is
-- customer:<id>, or deposit:<id> for money of no customer.
create table address_hits (
  id          bigint      generated always as identity primary key,
  owner       text        not null check (owner ~ '^(customer|deposit):.+$'),
  customer_id text        references customers (id),
  -- payer:<deposit>, or destination.
  subject     text        not null check (subject ~ '^(payer:.+|destination)$'),
  rail        text        not null,
  address     text        not null,
  -- The first answer with this finding.
  risk_id     bigint      not null references address_risks (id),
  level       text        not null,
  finding     text        not null,
  state       text        not null check (state in ('open', 'true_hit', 'false_positive')),
  people      text[],
  reason      text,
  found_at    timestamptz not null,
  decided_at  timestamptz,
  unique (owner, rail, address, level, finding),
  check ((state = 'open') = (decided_at is null))
);
create index address_hits_standing on address_hits (owner, rail, address) where state in ('open', 'true_hit');
create index address_hits_state on address_hits (state, id);

grant select, insert on address_risks to cloverleaf_system;
grant select, insert on address_hits to cloverleaf_system;
grant update (state, people, reason, decided_at) on address_hits to cloverleaf_system;
