-- What each entry changed for a customer, and the sums of each day: a page of a customer's statement costs its lines and one day of its
-- customer, however long the customer's history is.
--
-- Both tables are made of the journal in the order of its sequence numbers, up to where all entries are sealed
-- (0069_daily_revenue.sql). A server of the previous version seals without summing, and the next one continues.

set search_path = cloverleaf;

create table customer_changes (
  customer_id text          not null,
  -- Of the entry. A customer's statement is in this order.
  at          timestamptz   not null,
  seq         bigint        not null,
  -- For an account that many customers share (suspense, dormant): its code, and the line; '' and 0 for the sum over all others.
  account     text          not null,
  line        smallint      not null,
  asset       text          not null references assets (code),
  -- What we hold for the customer, and what they owe: afterwards minus before.
  held_units  numeric(78,0) not null,
  owed_units  numeric(78,0) not null,
  primary key (customer_id, at, seq, account, line, asset)
);
-- What a customer has on an account of many is the sum of its rows.
create index customer_changes_shared on customer_changes (customer_id, account) include (held_units) where account <> '';

create table customer_days (
  customer_id text          not null,
  -- In UTC, of the entries' booking time.
  day         date          not null,
  asset       text          not null references assets (code),
  held_units  numeric(78,0) not null,
  owed_units  numeric(78,0) not null,
  primary key (customer_id, day, asset)
);
-- Entries up to this sequence number are in both tables.
alter table daily_totals_progress add column customers_to bigint not null default 0;

grant select, insert on customer_changes to cloverleaf_system;
grant select, insert, update on customer_days to cloverleaf_system;
