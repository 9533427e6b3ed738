-- Customers, their verification, accounts and logins.
--
-- All columns that name a person are encrypted (src/base/crypto.ts). What must be found again has a blind index beside it.

set search_path = cloverleaf;

create table customers (
  id                 text        primary key,
  partner_id         bigint      not null references partners (id),
  client_customer_id text,
  kind               text        not null check (kind in ('INDIVIDUAL', 'BUSINESS')),
  phone              bytea,
  phone_index        bytea,
  email              bytea,
  -- Our own verification level; each partner has words for it.
  level              smallint    not null default 0,
  verification       text        not null default 'none' check (verification in ('none', 'in_review', 'verified', 'failed', 'refused')),
  previous_level     smallint    not null default 0,
  failed_reason      text,
  country            text        not null default 'IN',
  logged_in_at       timestamptz,
  blocked_at         timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  blocked_for        text        check (blocked_for in ('debt')),
  -- A session of the hosted pages is an encrypted cookie, and nothing is stored for it. It contains the login epoch of its
  -- customer: when the phone belongs to another person, the epoch increases, and the session has ended permanently, whoever
  -- logs in again.
  login_epoch        integer     not null default 0,
  unique (partner_id, client_customer_id)
);
create index customers_phone on customers (partner_id, phone_index) where phone_index is not null;
call protect('customers');
create index customers_client on customers (client_customer_id) where client_customer_id is not null;
-- A customer who came through a link that named nobody is identified by its phone only.
create index customers_by_phone on customers (partner_id, phone_index) where client_customer_id is null;

-- What was decided about a customer, when, by whom: never changed.
create table verifications (
  id          bigint      generated always as identity primary key,
  partner_id  bigint      not null references partners (id),
  customer_id text        not null references customers (id),
  verifier    text        not null,
  outcome     text        not null,
  level       smallint    not null,
  at          timestamptz not null
);
create index verifications_customer on verifications (customer_id, id);
call protect('verifications');
create trigger append_only before update or delete on verifications for each row execute function refuse_change();

create table customer_details (
  customer_id text        primary key references customers (id),
  partner_id  bigint      not null references partners (id),
  -- Encrypted JSON of the submitted details.
  details     bytea       not null,
  -- Counts submissions; the verifier's key for the verification.
  version     integer     not null default 1 check (version > 0),
  -- The verifier's result for this version; null while it has not answered.
  outcome     text        check (outcome in ('in_review', 'verified', 'failed', 'refused')),
  given_at    timestamptz not null
);
call protect('customer_details');

create table fiat_accounts (
  id            bigint      primary key,
  partner_id    bigint      references partners (id),
  customer_id   text        references customers (id),
  fiat          text        not null references assets (code),
  -- JSON of what the rail needs: account number, routing code, holder.
  details       bytea       not null,
  details_index bytea       not null,
  -- Last characters, for display.
  hint          text        not null,
  created_at    timestamptz not null,
  -- The account that a credit came from, according to the statement: two people may return that money to it. It belongs to no
  -- customer and no partner, and no partner sees it.
  sender_of     bigint      unique,
  unique (customer_id, details_index),
  check ((customer_id is null) = (sender_of is not null)),
  check ((partner_id is null) = (customer_id is null))
);
call protect('fiat_accounts');

-- Login codes, one row per code: it belongs to the browser session that requested it, and limits are counted by session,
-- link, network and customer (src/customers/login.ts). With one limit per customer, anybody with a link could lock the
-- customer out.
create table login_sends (
  id          bigint      generated always as identity primary key,
  partner_id  bigint      not null references partners (id),
  customer_id text        not null references customers (id),
  -- Keyed hashes of the requester.
  session     bytea       not null,
  link        bytea       not null,
  network     bytea       not null,
  -- Whether the link names nobody; and whether the code was sent, or the page only said so.
  is_open     boolean     not null,
  is_sent     boolean     not null,
  -- Keyed hash of the code; of a code that nobody has, if none was sent. Null once the phone has changed.
  code        bytea,
  sent_at     timestamptz not null,
  tries       smallint    not null default 0,
  used_at     timestamptz,
  failed_at   timestamptz
);
create index login_sends_customer on login_sends (customer_id, session, id desc);
create index login_sends_link on login_sends (link, sent_at);
call protect('login_sends');

grant select on customers, verifications, customer_details, fiat_accounts to cloverleaf_partner;
grant select, delete on login_sends to cloverleaf_partner;
grant insert (id, partner_id, client_customer_id, kind, phone, phone_index, email, created_at,
  updated_at) on customers to cloverleaf_partner;
grant update (phone, phone_index, email, level, verification, previous_level, failed_reason, logged_in_at, updated_at,
  login_epoch) on customers to cloverleaf_partner;
grant insert (partner_id, customer_id, verifier, outcome, level, at) on verifications to cloverleaf_partner;
grant insert (customer_id, partner_id, details, given_at) on customer_details to cloverleaf_partner;
grant update (details, version, outcome, given_at) on customer_details to cloverleaf_partner;
grant insert (id, partner_id, customer_id, fiat, details, details_index, hint, created_at) on fiat_accounts to cloverleaf_partner;
grant insert (partner_id, customer_id, session, link, network, is_open, is_sent, code,
  sent_at) on login_sends to cloverleaf_partner;
grant update (code, tries, used_at, failed_at) on login_sends to cloverleaf_partner;
grant select, insert, update on customers, customer_details to cloverleaf_system;
grant select, insert on verifications, fiat_accounts to cloverleaf_system;
grant select, insert, update, delete on login_sends to cloverleaf_system;
