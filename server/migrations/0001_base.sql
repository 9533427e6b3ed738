-- The schema, its two roles, due work, and the servers that run on this database.
--
-- The server never works as the owner of these tables. `cloverleaf_partner` sees the rows of the one partner named in the setting
-- cloverleaf.partner, and none where that is not set; `cloverleaf_system` is for workers, which serve all partners. Neither can
-- bypass row-level security. Roles belong to the whole cluster, so they are created only where they are absent.

create schema cloverleaf;
set search_path = cloverleaf;

-- Another database of the cluster may be doing the same at this moment, so a role that appears in between is as good.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['cloverleaf_partner', 'cloverleaf_system'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin nobypassrls', role_name);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
end $$;

grant usage on schema cloverleaf to cloverleaf_partner, cloverleaf_system;

create function current_partner() returns bigint
language sql stable parallel safe
as $$ select nullif(current_setting('cloverleaf.partner', true), '')::bigint $$;

-- Row-level security for a table with a partner's rows: the one policy every such table has.
create procedure protect(protected regclass)
language plpgsql as $$
begin
  execute format('alter table %s enable row level security', protected);
  execute format('create policy own_rows on %s to cloverleaf_partner using (partner_id = cloverleaf.current_partner())', protected);
  execute format('create policy all_rows on %s to cloverleaf_system using (true)', protected);
end $$;

-- For triggers on tables that are only ever added to.
create function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

create sequence work_holders as integer cycle;

-- Due work: alarm clocks, never the truth (src/base/work.ts). No partner's data stands here, only kinds and ids.
create table work (
  id           bigint      generated always as identity primary key,
  kind         text        not null,
  subject      text        not null,
  lane         text,
  due_at       timestamptz not null,
  rings        integer     not null default 1,
  attempts     integer     not null default 0,
  holder       integer,
  lease        text,
  leased_until timestamptz,
  last_error   text,
  dead_at      timestamptz,
  slept_at     timestamptz,
  unique (kind, subject)
);
create index work_due on work (due_at, id) where dead_at is null;
create index work_dead on work (id) where dead_at is not null;
create index work_lane on work (lane, id) where lane is not null and dead_at is null;
create index work_holder on work (holder) where holder is not null;
create index work_slept on work (slept_at) where slept_at is not null and dead_at is null;
alter table work enable row level security;
create policy all_rows on work to cloverleaf_system using (true);

-- Servers that work on this database, and the migrations each of them knows: a breaking migration waits until none runs that does
-- not know it (src/base/servers.ts).
create table servers (
  id         uuid        primary key,
  version    text        not null,
  -- Names of all migrations its code has.
  known      text[]      not null,
  started_at timestamptz not null default now(),
  -- By the database's clock, as is whoever asks how long ago that was.
  seen_at    timestamptz not null default now()
);

grant insert (kind, subject, lane, due_at) on work to cloverleaf_partner;
grant select (kind, subject, due_at, rings) on work to cloverleaf_partner;
grant update (due_at, rings, attempts, dead_at) on work to cloverleaf_partner;
grant select, insert, update, delete on work, servers to cloverleaf_system;
grant usage on sequence work_holders to cloverleaf_system;
grant usage on schema cloverleaf_meta to cloverleaf_system;
grant select on cloverleaf_meta.migrations to cloverleaf_system;
