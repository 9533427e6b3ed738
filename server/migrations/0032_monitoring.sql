-- Transaction monitoring: rules over a customer's orders, and what they found. A finding is a case for a person; it holds no money.

set search_path = cloverleaf;

-- The newest version of each name is in force. A row never changes: a rule is changed or switched off by another version.
create table monitoring_rules (
  id          bigint        generated always as identity primary key,
  name        text          not null check (name ~ '^[a-z0-9][a-z0-9-]{1,39}$'),
  version     integer       not null check (version > 0),
  kind        text          not null check (kind in ('velocity', 'structuring', 'first_large', 'shared_wallet', 'country_mismatch')),
  is_on       boolean       not null,
  -- What the kind takes (src/monitoring/rules.ts); worth is in the fiat's units.
  fiat_asset  text          references assets (code),
  worth_units numeric(78,0) check (worth_units > 0),
  count       integer       check (count > 0),
  days        integer       check (days between 1 and 30),
  within_bps  integer       check (within_bps between 1 and 9999),
  set_by      text          not null,
  why         text          not null,
  set_at      timestamptz   not null,
  unique (name, version)
);
create trigger append_only before update or delete on monitoring_rules for each row execute function refuse_change();
create trigger no_truncate before truncate on monitoring_rules for each statement execute function refuse_change();

-- What a rule saw when it found something: ids, counts and amounts only.
create table monitoring_findings (
  id          bigint      generated always as identity primary key,
  rule_id     bigint      not null references monitoring_rules (id),
  order_id    bigint      not null references orders (id),
  customer_id text        not null references customers (id),
  saw         jsonb       not null,
  found_at    timestamptz not null,
  unique (order_id, rule_id)
);
create index monitoring_findings_customer on monitoring_findings (customer_id, id);
create trigger append_only before update or delete on monitoring_findings for each row execute function refuse_change();
create trigger no_truncate before truncate on monitoring_findings for each statement execute function refuse_change();

-- Up to which deposit orders were looked at.
create table monitoring_cursor (
  id         boolean     primary key default true check (id),
  seen_at    timestamptz not null,
  deposit_id bigint      not null
);

grant select, insert (name, version, kind, is_on, fiat_asset, worth_units, count, days, within_bps, set_by, why, set_at)
  on monitoring_rules to cloverleaf_system;
grant select, insert (rule_id, order_id, customer_id, saw, found_at) on monitoring_findings to cloverleaf_system;
grant select, insert, update (seen_at, deposit_id) on monitoring_cursor to cloverleaf_system;
