-- Destinations that nothing is paid out to without a person looking first.
--
-- Lists come from outside, each with a version, and are replaced whole. A destination is kept as a blind index: account
-- numbers on a list name people, and the look-up is by equality only. No partner's data stands here, and no partner may
-- read it.

set search_path = cloverleaf;

create table deny_lists (
  list      text primary key,
  version   text not null,
  loaded_at timestamptz not null
);

create table denied_destinations (
  kind  text not null check (kind in ('address', 'account')),
  index bytea not null,
  list  text not null references deny_lists (list),
  primary key (kind, index, list)
);
create index denied_destinations_list on denied_destinations (list);

grant select, insert, update on deny_lists to cloverleaf_system;
grant select, insert, delete on denied_destinations to cloverleaf_system;
