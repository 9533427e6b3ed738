-- What the hosted pages keep: the one-time code a customer logs in with, and the details it gave to be verified.

set search_path = cloverleaf;

-- One row per customer: its newest code and how often codes were sent and missed. Outlives each code, because the limits do.
create table login_codes (
  customer_id  text primary key references customers (id),
  partner_id   bigint not null references partners (id),
  -- A keyed hash: six digits are guessed from a plain one in a second. Null before the first was sent.
  code         bytea,
  sent_at      timestamptz,
  -- Wrong tries at this code.
  tries        smallint not null default 0,
  -- The browser session that has used it (a keyed hash): the same request twice logs in once, anybody else's not at all.
  used_by      bytea,
  window_began timestamptz not null,
  sends        smallint not null default 0,
  -- Wrong tries since the last right one, over all codes.
  wrong        smallint not null default 0,
  locked_until timestamptz
);
call protect('login_codes');

create table customer_details (
  customer_id text primary key references customers (id),
  partner_id  bigint not null references partners (id),
  -- Sealed JSON of what was typed in.
  details     bytea not null,
  -- Counts what was given; names the verification with the verifier.
  version     integer not null default 1 check (version > 0),
  -- What the verifier found about this version; null while it has not answered.
  outcome     text check (outcome in ('in_review', 'verified', 'failed', 'refused')),
  given_at    timestamptz not null
);
call protect('customer_details');

grant select, insert, update on login_codes, customer_details to cloverleaf_partner, cloverleaf_system;
