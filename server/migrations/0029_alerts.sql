-- Alerts: which cases people are told about, by which channel, and what was sent.
--
-- A message is a row before it is sent, with what it says: ids, kinds and times, never a name, an account or an address. A rule
-- that was removed stays, because messages name it.

set search_path = cloverleaf;

create table alert_rules (
  id            bigint        generated always as identity primary key,
  name          text          not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'),
  channel       text          not null,
  -- `opened`, `unclaimed` and `overdue` are about cases; `digest` is a summary each day.
  about         text          not null check (about in ('opened', 'unclaimed', 'overdue', 'digest')),
  -- Kinds of case; empty is every kind.
  kinds         text[]        not null default '{}',
  -- Only where at least so much of an asset is concerned.
  asset         text          references assets (code),
  least_units   numeric(78,0) check (least_units >= 0),
  after_minutes integer       not null default 0 check (after_minutes between 0 and 43200),
  -- Hours of the day in the zone; a span may pass midnight. Equal ones are the whole day.
  from_hour     smallint      not null default 0 check (from_hour between 0 and 23),
  until_hour    smallint      not null default 0 check (until_hour between 0 and 23),
  zone          text          not null default 'UTC',
  created_by    text          not null,
  created_at    timestamptz   not null,
  removed_at    timestamptz,
  check (num_nulls(asset, least_units) in (0, 2))
);
create unique index alert_rules_name on alert_rules (name) where removed_at is null;

create table alert_messages (
  id         bigint      generated always as identity primary key,
  rule_id    bigint      not null references alert_rules (id),
  channel    text        not null,
  -- `cases`, `digest` or `test`.
  about      text        not null check (about in ('cases', 'digest', 'test')),
  -- The day of a digest: one of each rule.
  day        date,
  says       jsonb       not null,
  created_at timestamptz not null,
  attempts   integer     not null default 0 check (attempts >= 0),
  last_error text,
  sent_at    timestamptz,
  failed_at  timestamptz,
  check (num_nonnulls(sent_at, failed_at) <= 1),
  check ((about = 'digest') = (day is not null))
);
create index alert_messages_rule on alert_messages (rule_id, id);
create unique index alert_messages_day on alert_messages (rule_id, day) where day is not null;
create index alert_messages_failed on alert_messages (failed_at) where failed_at is not null;

-- Which case a rule has told about: each once.
create table alert_told (
  rule_id    bigint not null references alert_rules (id),
  case_id    bigint not null references cases (id),
  message_id bigint not null references alert_messages (id),
  primary key (rule_id, case_id)
);

-- Sweeps as a list, the newest first.
create index own_transfers_newest on own_transfers (created_at, key);

grant select, insert, update on alert_rules, alert_messages to cloverleaf_system;
grant select, insert on alert_told to cloverleaf_system;
