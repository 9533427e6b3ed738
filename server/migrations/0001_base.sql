-- The schema, its two roles, jobs, and the servers that run on this database.
--
-- The server never works as the owner of these tables. `cloverleaf_partner` sees the rows of the one partner named in the
-- setting cloverleaf.partner, and none while that is not set; `cloverleaf_system` is for workers, which serve all partners.
-- Neither can bypass row-level security. Roles belong to the whole cluster, so they are created only if missing.

create schema cloverleaf;
set search_path = cloverleaf;

-- Another database of the cluster may be running this at the same moment: a role that it creates in between is accepted.
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

-- Row-level security for a table with a partner's rows: the one policy of every such table.
create procedure protect(protected regclass)
language plpgsql as $$
begin
  execute format('alter table %s enable row level security', protected);
  execute format('create policy own_rows on %s to cloverleaf_partner using (partner_id = cloverleaf.current_partner())', protected);
  execute format('create policy all_rows on %s to cloverleaf_system using (true)', protected);
end $$;

-- For triggers on insert-only tables.
create function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

create sequence job_holders as integer cycle;

-- Due work: a row is a wake-up call, never the truth (src/base/jobs.ts). It contains no partner's data, only kinds and ids.
create table jobs (
  id           bigint      generated always as identity primary key,
  kind         text        not null,
  subject      text        not null,
  ordering_key         text,
  due_at       timestamptz not null,
  enqueued        integer     not null default 1,
  attempts     integer     not null default 0,
  holder       integer,
  lease        text,
  leased_until timestamptz,
  last_error   text,
  dead_at      timestamptz,
  slept_at     timestamptz,
  unique (kind, subject)
);
create index jobs_due on jobs (due_at, id) where dead_at is null;
create index jobs_dead on jobs (id) where dead_at is not null;
create index jobs_ordering_key on jobs (ordering_key, id) where ordering_key is not null and dead_at is null;
create index jobs_holder on jobs (holder) where holder is not null;
create index jobs_slept on jobs (slept_at) where slept_at is not null and dead_at is null;
alter table jobs enable row level security;
create policy all_rows on jobs to cloverleaf_system using (true);

-- Servers that work on this database, and the migrations each of them knows: a breaking migration waits until no server runs
-- that does not know it (src/base/servers.ts).
create table servers (
  id         uuid        primary key,
  version    text        not null,
  -- Names of all migrations its code has.
  known      text[]      not null,
  started_at timestamptz not null default now(),
  -- By the database's clock, like the query for its age.
  seen_at    timestamptz not null default now()
);

grant insert (kind, subject, ordering_key, due_at) on jobs to cloverleaf_partner;
grant select (kind, subject, due_at, enqueued) on jobs to cloverleaf_partner;
grant update (due_at, enqueued, attempts, dead_at) on jobs to cloverleaf_partner;
grant select, insert, update, delete on jobs, servers to cloverleaf_system;
grant usage on sequence job_holders to cloverleaf_system;
grant usage on schema cloverleaf_meta to cloverleaf_system;
grant select on cloverleaf_meta.migrations to cloverleaf_system;
