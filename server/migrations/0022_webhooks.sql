-- Telling partners what happened: the order in which events are told, endpoints, what is to be delivered to them, and what
-- came of each attempt.
--
-- Ids of events are given when a row is inserted, and transactions commit in another order, so whoever reads "all above
-- this id" misses what commits late. A position is therefore given after the commit, by one process at a time
-- (src/events/feed.ts); it is dense per partner and tells nothing about others.

set search_path = cloverleaf;

-- Made with its event, by a trigger, so that none is forgotten whoever writes it: a server of the version before this one
-- knows nothing of feeds, and may run beside this one. The position comes when it is published.
create table event_feed (
  event_id   bigint primary key references events (id),
  partner_id bigint not null references partners (id),
  position   bigint check (position > 0),
  unique (partner_id, position)
);
create index event_feed_unpublished on event_feed (event_id) where position is null;
call protect('event_feed');

create function feed_event() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.event_feed (event_id, partner_id) values (new.id, new.partner_id);
  return null;
end $$;
-- Making it locks out writers until this commits, so no event falls between it and what is there already.
create trigger feed after insert on events for each row execute function feed_event();

insert into event_feed (event_id, partner_id, position)
  select id, partner_id, row_number() over (partition by partner_id order by id) from events;

-- Where a partner wants to hear of events.
create table webhook_endpoints (
  id           text primary key,
  partner_id   bigint not null references partners (id),
  url          text not null check (length(url) <= 1000),
  format       text not null check (format in ('whitelabel', 'standard')),
  -- Types of events, such as order.settled or order.*; none means all.
  filter       text[] not null default '{}',
  -- Of the standard format, sealed. The one before is valid, too, until a time.
  secret       bytea not null,
  old_secret   bytea,
  old_until    timestamptz,
  -- Of the whitelabel format: the key whose secret signs.
  api_key      text not null references api_keys (key),
  -- The one that merchant/setWebhookUrl sets.
  is_wire      boolean not null default false,
  enabled      boolean not null default true,
  -- Attempts that failed one after the other, and until when it is left alone for that.
  failures     integer not null default 0,
  paused_until timestamptz,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  removed_at   timestamptz
);
create unique index webhook_endpoints_wire on webhook_endpoints (partner_id) where is_wire and removed_at is null;
create index webhook_endpoints_partner on webhook_endpoints (partner_id, created_at);
call protect('webhook_endpoints');

-- One event for one endpoint.
create table webhook_deliveries (
  endpoint_id text not null references webhook_endpoints (id),
  event_id    bigint not null references events (id),
  partner_id  bigint not null references partners (id),
  subject     text not null,
  subject_seq integer not null,
  state       text not null default 'waiting' check (state in ('waiting', 'delivered', 'dead', 'dropped')),
  attempts    integer not null default 0,
  -- From when the days are counted after which it is given up.
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

-- What waits for one endpoint about one subject goes one after the other. A lane is there while anything waits in it; it
-- says when the next attempt is due and who is at it. Leases are real time, due times the clock's.
create table webhook_lanes (
  endpoint_id  text not null references webhook_endpoints (id),
  subject      text not null,
  partner_id   bigint not null references partners (id),
  due_at       timestamptz not null,
  tries        integer not null default 0,
  lease        text,
  leased_until timestamptz,
  primary key (endpoint_id, subject)
);
create index webhook_lanes_due on webhook_lanes (endpoint_id, due_at);
create index webhook_lanes_leased on webhook_lanes (endpoint_id) where lease is not null;
call protect('webhook_lanes');

-- Every attempt. An answer may say anything, so its first bytes are sealed.
create table webhook_attempts (
  id          bigint generated always as identity primary key,
  partner_id  bigint not null references partners (id),
  endpoint_id text not null references webhook_endpoints (id),
  event_id    bigint not null references events (id),
  at          timestamptz not null,
  took_ms     integer not null,
  status      integer,
  error       text,
  answer      bytea
);
create index webhook_attempts_delivery on webhook_attempts (endpoint_id, event_id, id);
create index webhook_attempts_age on webhook_attempts (at);
call protect('webhook_attempts');

grant select, insert on event_feed to cloverleaf_partner;
grant select, insert, update on webhook_endpoints to cloverleaf_partner;
-- A replay puts back what was delivered, and rings its lane.
grant select, insert, update on webhook_deliveries, webhook_lanes to cloverleaf_partner;
grant select on webhook_attempts to cloverleaf_partner;
grant select, insert, update on event_feed, webhook_endpoints to cloverleaf_system;
grant select, insert, update, delete on webhook_deliveries, webhook_lanes, webhook_attempts to cloverleaf_system;
