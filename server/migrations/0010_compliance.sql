-- Cases, screening, decisions and approvals.
--
-- Screening may call a provider, so its result is stored beforehand and read by the gate, in the transaction that submits. An
-- approval records exactly what was approved: one hit, for one destination and amount, and by whom. Deny lists come from
-- outside, each with a version, and are replaced as a whole; a destination is a blind index, because account numbers on a
-- list identify people.

set search_path = cloverleaf;

-- Something a person has to decide. At most one open case per kind and subject.
create table cases (
  id         bigint      generated always as identity primary key,
  kind       text        not null,
  subject    text        not null,
  order_id   bigint      references orders (id),
  partner_id bigint      references partners (id),
  reason     text        not null,
  facts      jsonb       not null default '{}',
  opened_at  timestamptz not null,
  closed_at  timestamptz,
  outcome    text,
  -- Assignment of cases.
  assignee   text
);
create unique index cases_open on cases (kind, subject) where closed_at is null;
call protect('cases');
create index cases_open_age on cases (opened_at, id) where closed_at is null;
create index cases_closed_age on cases (opened_at, id) where closed_at is not null;
create index cases_order on cases (order_id) where order_id is not null;

create table case_actions (
  id      bigint      generated always as identity primary key,
  case_id bigint      not null references cases (id),
  at      timestamptz not null,
  by      text        not null,
  what    text        not null check (what in ('assigned', 'noted', 'acted', 'closed')),
  note    text        not null check (length(note) between 1 and 8000)
);
create index case_actions_case on case_actions (case_id, id);
create trigger append_only before update or delete on case_actions for each row execute function refuse_change();
create trigger no_truncate before truncate on case_actions for each statement execute function refuse_change();

-- Every decision about whether something may happen, with its inputs.
create table decisions (
  id         bigint      generated always as identity primary key,
  partner_id bigint      references partners (id),
  order_id   bigint      references orders (id),
  about      text        not null,
  outcome    text        not null,
  rules      text        not null,
  inputs     jsonb       not null,
  at         timestamptz not null
);
create index decisions_order on decisions (order_id, id);
call protect('decisions');
create trigger append_only before update or delete on decisions for each row execute function refuse_change();

create table deny_lists (
  list      text        primary key,
  version   text        not null,
  loaded_at timestamptz not null
);

create table denied_destinations (
  kind  text  not null check (kind in ('address', 'account')),
  index bytea not null,
  list  text  not null references deny_lists (list),
  primary key (kind, index, list)
);
create index denied_destinations_list on denied_destinations (list);

-- The newest result for one destination of one order or refund. No partner may read it: hits are never disclosed.
create table screenings (
  subject    text        primary key,
  partner_id bigint      references partners (id),
  order_id   bigint      references orders (id),
  outcome    text        not null check (outcome in ('cleared', 'held')),
  -- [{rule, entry, own}]: `own` marks hits of our own blocks and lists at the time; the gate reads those again.
  hits       jsonb       not null,
  rules      text        not null,
  at         timestamptz not null
);

-- A provider is down for longer than a result is valid: two people may extend the age, for a limited time.
create table screening_extensions (
  id        bigint      generated always as identity primary key,
  max_age_s bigint      not null check (max_age_s > 0),
  until     timestamptz not null,
  people    text[]      not null check (cardinality(people) >= 1),
  reason    text        not null,
  at        timestamptz not null
);
create trigger append_only before update or delete on screening_extensions for each row execute function refuse_change();
create trigger no_truncate before truncate on screening_extensions for each statement execute function refuse_change();

create table approvals (
  id          bigint        generated always as identity primary key,
  partner_id  bigint        references partners (id),
  order_id    bigint        references orders (id),
  -- What was approved: the rule and the entry that hit (a list's entry, the time of a block).
  rule        text          not null,
  entry       text          not null,
  destination text          not null,
  asset       text          not null references assets (code),
  units       numeric(78,0) not null check (units > 0),
  people      text[]        not null check (cardinality(people) >= 1),
  reason      text          not null,
  at          timestamptz   not null,
  -- For a refund out of suspense: its deposit. Null for what an order's own account pays.
  deposit_id  bigint        references deposits (id)
);
create index approvals_destination on approvals (destination, asset);
create index approvals_order on approvals (order_id);
create trigger append_only before update or delete on approvals for each row execute function refuse_change();
create trigger no_truncate before truncate on approvals for each statement execute function refuse_change();

-- Which submissions an approval let pass, and how much of it they used. A use whose payout was rejected, so that nothing
-- left, is free again.
create table approval_uses (
  approval_id bigint        not null references approvals (id),
  payout_id   text          not null references payouts (id),
  units       numeric(78,0) not null check (units > 0),
  at          timestamptz   not null,
  primary key (approval_id, payout_id)
);
create trigger append_only before update or delete on approval_uses for each row execute function refuse_change();
create trigger no_truncate before truncate on approval_uses for each statement execute function refuse_change();

grant select on cases, decisions to cloverleaf_partner;
grant select, insert, update on cases, deny_lists, screenings to cloverleaf_system;
grant select, insert on case_actions, decisions, screening_extensions, approvals, approval_uses to cloverleaf_system;
grant select, insert, delete on denied_destinations to cloverleaf_system;
