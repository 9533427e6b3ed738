-- Limits of a customer across all of its orders, by level of verification: per order, in any 24 hours, in any 30 days. What an
-- order is worth in its fiat counts, so that one limit covers every coin.

set search_path = cloverleaf;

-- The newest version of each scope is in force. A row never changes: a limit is lowered, raised or taken away by another version.
create table customer_limits (
  id         bigint        generated always as identity primary key,
  fiat_asset text          not null references assets (code),
  -- Null: orders in both directions together.
  direction  text          check (direction in ('offramp', 'onramp')),
  -- Null: orders on all markets of the fiat together.
  market_id  bigint        references markets (id),
  -- For customers verified up to this level.
  level      smallint      not null check (level between 0 and 5),
  period     text          not null check (period in ('order', 'day', 'month')),
  version    integer       not null check (version > 0),
  -- In the fiat's units; null: from this version on there is no such limit.
  max_units  numeric(78,0) check (max_units >= 0),
  set_by     text          not null,
  why        text          not null,
  set_at     timestamptz   not null,
  unique nulls not distinct (fiat_asset, direction, market_id, level, period, version),
  -- A market has one direction.
  check (direction is null or market_id is null)
);
create trigger append_only before update or delete on customer_limits for each row execute function refuse_change();
create trigger no_truncate before truncate on customer_limits for each statement execute function refuse_change();

grant select on customer_limits to cloverleaf_partner;
grant select, insert (fiat_asset, direction, market_id, level, period, version, max_units, set_by, why, set_at)
  on customer_limits to cloverleaf_system;
