-- Customers and their fiat accounts. Everything that names a person is sealed (src/base/crypto.ts); what must be found
-- again has a blind index beside it.

set search_path = cloverleaf;

create table customers (
  id                 text primary key,
  partner_id         bigint not null references partners (id),
  client_customer_id text,
  kind               text not null check (kind in ('INDIVIDUAL', 'BUSINESS')),
  phone              bytea,
  phone_index        bytea,
  email              bytea,
  -- Our own level of verification; each partner has words for it.
  level              smallint not null default 0,
  verification       text not null default 'none' check (verification in ('none', 'in_review', 'verified', 'failed', 'refused')),
  previous_level     smallint not null default 0,
  failed_reason      text,
  country            text not null default 'IN',
  logged_in_at       timestamptz,
  blocked_at         timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  unique (partner_id, client_customer_id)
);
create index customers_phone on customers (partner_id, phone_index) where phone_index is not null;
call protect('customers');

-- What was decided about a customer, when, by whom: never changed.
create table verifications (
  id          bigint generated always as identity primary key,
  partner_id  bigint not null references partners (id),
  customer_id text not null references customers (id),
  verifier    text not null,
  outcome     text not null,
  level       smallint not null,
  at          timestamptz not null
);
create index verifications_customer on verifications (customer_id, id);
call protect('verifications');
create trigger append_only before update or delete on verifications for each row execute function refuse_change();

create table fiat_accounts (
  id            bigint primary key,
  partner_id    bigint not null references partners (id),
  customer_id   text not null references customers (id),
  fiat          text not null references assets (code),
  -- JSON of what the rail needs: account number, routing code, holder.
  details       bytea not null,
  details_index bytea not null,
  -- Last characters, for showing.
  hint          text not null,
  created_at    timestamptz not null,
  unique (customer_id, details_index)
);
call protect('fiat_accounts');

grant select, insert, update on customers to cloverleaf_partner, cloverleaf_system;
grant select, insert on verifications, fiat_accounts to cloverleaf_partner, cloverleaf_system;
