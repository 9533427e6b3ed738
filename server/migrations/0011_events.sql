-- Events, their order, and their delivery to webhook endpoints.
--
-- An event gets its id when its row is inserted, and transactions commit in another order, so a reader of "all above this id"
-- would miss events that commit late. A position is therefore assigned after the commit, by one process at a time
-- (src/events/feed.ts). It is dense per partner and reveals nothing about other partners.

set search_path = cloverleaf;

-- What happened, for partners: inserted with its cause, delivered later.
create table events (
  id          bigint      generated always as identity primary key,
  partner_id  bigint      not null references partners (id),
  type        text        not null,
  subject     text        not null,
  -- Position among the subject's events, so that a receiver can detect stale news.
  subject_seq integer     not null,
  body        jsonb       not null,
  at          timestamptz not null,
  unique (subject, subject_seq)
);
create index events_partner on events (partner_id, id);
call protect('events');

create function feed_event() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.event_feed (event_id, partner_id) values (new.id, new.partner_id);
  return null;
end $$;
create trigger feed after insert on events for each row execute function feed_event();
create trigger append_only before update or delete on events for each row execute function refuse_change();

-- Inserted with its event, by a trigger. The position is set when the event is published.
create table event_feed (
  event_id   bigint primary key references events (id),
  partner_id bigint not null references partners (id),
  position   bigint check (position > 0),
  unique (partner_id, position)
);
create index event_feed_unpublished on event_feed (event_id) where position is null;
call protect('event_feed');

-- Where a partner receives events.
create table webhook_endpoints (
  id              text        primary key,
  partner_id      bigint      not null references partners (id),
  url             text        not null check (length(url) <= 1000),
  format          text        not null check (format in ('whitelabel', 'standard', 'flat')),
  -- Event types, such as order.settled or order.*; empty means all.
  filter          text[]      not null default '{}',
  -- For the standard format, encrypted. The previous one is valid, too, until a time.
  secret          bytea       not null,
  old_secret      bytea,
  old_until       timestamptz,
  -- For the whitelabel format: the key whose secret signs.
  api_key         text        not null references api_keys (key),
  -- The one that merchant/setWebhookUrl sets.
  is_wire         boolean     not null default false,
  enabled         boolean     not null default true,
  -- Consecutive failed attempts, and until when the endpoint is paused for that.
  failures        integer     not null default 0,
  paused_until    timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  removed_at      timestamptz,
  failing_since   timestamptz,
  switched_off_at timestamptz check (switched_off_at is null or not enabled),
  held_at         timestamptz,
  -- The key that made it, which never changes; api_key is the one it is signed with, which may change.
  made_by_key     text,
  payload_form    text        not null default 'body' check (payload_form in ('body', 'wrapped'))
);
create index webhook_endpoints_partner on webhook_endpoints (partner_id, created_at);
call protect('webhook_endpoints');
create unique index webhook_endpoints_wire on webhook_endpoints (partner_id, format) where is_wire and removed_at is null;

-- Deliveries to one endpoint about one subject are sequential. An ordering key exists while a delivery waits in it; it has
-- the time of the next attempt and the worker's lease. Leases are real time, due times the clock's.
create table webhook_ordering_keys (
  endpoint_id  text        not null references webhook_endpoints (id),
  subject      text        not null,
  partner_id   bigint      not null references partners (id),
  due_at       timestamptz not null,
  tries        integer     not null default 0,
  lease        text,
  leased_until timestamptz,
  primary key (endpoint_id, subject)
);
create index webhook_ordering_keys_due on webhook_ordering_keys (endpoint_id, due_at);
create index webhook_ordering_keys_leased on webhook_ordering_keys (endpoint_id) where lease is not null;
call protect('webhook_ordering_keys');

-- One event for one endpoint.
create table webhook_deliveries (
  endpoint_id text        not null references webhook_endpoints (id),
  event_id    bigint      not null references events (id),
  partner_id  bigint      not null references partners (id),
  subject     text        not null,
  subject_seq integer     not null,
  state       text        not null default 'waiting' check (state in ('waiting', 'delivered', 'dead', 'dropped')),
  attempts    integer     not null default 0,
  -- Start of the period after which it is given up.
  since       timestamptz not null,
  last_error  text,
  ended_at    timestamptz,
  primary key (endpoint_id, event_id),
  check ((state = 'waiting') = (ended_at is null))
);
create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, subject, subject_seq) where state = 'waiting';
create index webhook_deliveries_dead on webhook_deliveries (endpoint_id) where state = 'dead';
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
call protect('webhook_deliveries');

-- Every attempt. An answer may contain anything, so its first bytes are encrypted.
create table webhook_attempts (
  id          bigint      generated always as identity primary key,
  partner_id  bigint      not null references partners (id),
  endpoint_id text        not null references webhook_endpoints (id),
  event_id    bigint      not null references events (id),
  at          timestamptz not null,
  took_ms     integer     not null,
  status      integer,
  error       text,
  answer      bytea
);
create index webhook_attempts_delivery on webhook_attempts (endpoint_id, event_id, id);
create index webhook_attempts_age on webhook_attempts (at);
call protect('webhook_attempts');

grant select on events, event_feed, webhook_endpoints, webhook_ordering_keys, webhook_deliveries, webhook_attempts to cloverleaf_partner;
grant insert (partner_id, type, subject, subject_seq, body, at) on events to cloverleaf_partner;
grant insert (event_id, partner_id) on event_feed to cloverleaf_partner;
grant insert (id, partner_id, url, format, filter, secret, api_key, is_wire, created_at, updated_at, made_by_key,
  payload_form) on webhook_endpoints to cloverleaf_partner;
grant update (url, format, filter, secret, old_secret, old_until, api_key, enabled, failures, paused_until, updated_at,
  removed_at, failing_since, switched_off_at, payload_form) on webhook_endpoints to cloverleaf_partner;
grant insert (endpoint_id, subject, partner_id, due_at) on webhook_ordering_keys to cloverleaf_partner;
grant update (due_at, tries) on webhook_ordering_keys to cloverleaf_partner;
grant insert (endpoint_id, event_id, partner_id, subject, subject_seq, since) on webhook_deliveries to cloverleaf_partner;
grant update (state, since, ended_at) on webhook_deliveries to cloverleaf_partner;
grant select, insert on events to cloverleaf_system;
grant select, insert, update on event_feed, webhook_endpoints to cloverleaf_system;
grant select, insert, update, delete on webhook_ordering_keys, webhook_deliveries, webhook_attempts to cloverleaf_system;
