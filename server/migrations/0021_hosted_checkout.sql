-- What has become of a link to the hosted checkout, customers who came by one and have no name of their partner's, and what
-- a partner asks of businesses where that is not the default.

set search_path = cloverleaf;

-- One row per link that somebody has begun to use. What the link is for stands sealed in the link itself.
create table checkouts (
  id             text primary key,
  partner_id     bigint not null references partners (id),
  -- Phone numbers that a code was asked for with this link: each costs a message, so there is an end to it.
  phones         smallint not null default 0,
  -- The price shown last, so that looking again is not another promise.
  quote_id       bigint,
  -- The one order of this link, and whose it is.
  order_id       bigint unique references orders (id),
  customer_id    text references customers (id),
  begun_at       timestamptz not null,
  check ((order_id is null) = (customer_id is null))
);
call protect('checkouts');
grant select, insert, update on checkouts to cloverleaf_partner, cloverleaf_system;

-- A customer who came by a link that named nobody is known by its phone alone.
create index customers_by_phone on customers (partner_id, phone_index) where client_customer_id is null;

create table kyb_requirements (
  partner_id   bigint primary key references partners (id),
  -- Shown as it stands, in the order in which it was written.
  requirements json not null check (json_typeof(requirements) = 'object'),
  set_at       timestamptz not null
);
call protect('kyb_requirements');
grant select on kyb_requirements to cloverleaf_partner;
grant select, insert, update, delete on kyb_requirements to cloverleaf_system;
