-- Stored replies for idempotency keys, and checkout links.

set search_path = cloverleaf;

-- The reply to a signed request, stored so that the same request takes effect once and gets the same reply.
create table idempotency_records (
  partner_id bigint      not null references partners (id),
  path       text        not null,
  key        bytea       not null,
  body       bytea       not null,
  reply      jsonb       not null,
  kept_at    timestamptz not null,
  primary key (partner_id, path, key)
);
create index idempotency_records_age on idempotency_records (kept_at);
call protect('idempotency_records');

-- One row per link in use. What the link is for is encrypted in the link itself.
create table checkouts (
  id           text        primary key,
  partner_id   bigint      not null references partners (id),
  -- Number of phone numbers for which a code was requested through this link: limited, because each costs a message.
  phones       smallint    not null default 0,
  -- The quote shown last, so that reloading makes no further promise.
  quote_id     bigint,
  -- The one order of this link, and its customer.
  order_id     bigint      unique references orders (id),
  customer_id  text        references customers (id),
  begun_at     timestamptz not null,
  -- The phone numbers entered through this link, as keyed hashes: the same one again does not count.
  phones_named bytea[]     not null default '{}',
  check ((order_id is null) = (customer_id is null))
);
call protect('checkouts');

grant select on idempotency_records, checkouts to cloverleaf_partner;
grant insert (partner_id, path, key, body, reply, kept_at) on idempotency_records to cloverleaf_partner;
grant insert (id, partner_id, begun_at) on checkouts to cloverleaf_partner;
grant update (phones, quote_id, order_id, customer_id, phones_named) on checkouts to cloverleaf_partner;
grant select, insert, delete on idempotency_records to cloverleaf_system;
grant select, insert, update on checkouts to cloverleaf_system;
