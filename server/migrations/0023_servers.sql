-- Which servers work on this database, and which migrations each of them knows, so that a migration that older code could
-- not live with waits until none of it runs, and older code that meets one stops. And when a database came from a backup.

set search_path = cloverleaf;

create table servers (
  id         uuid primary key,
  version    text not null,
  -- Names of all migrations its code has.
  known      text[] not null,
  started_at timestamptz not null default now(),
  -- By the database's clock, as is whoever asks how long ago that was.
  seen_at    timestamptz not null default now()
);

create table restores (
  id              bigint generated always as identity primary key,
  backup_taken_at timestamptz not null,
  restored_at     timestamptz not null
);

grant select, insert, update, delete on servers to cloverleaf_system;
grant select on restores to cloverleaf_system;
-- What the schema has been through, and which of it was breaking.
grant usage on schema cloverleaf_meta to cloverleaf_system;
grant select on cloverleaf_meta.migrations to cloverleaf_system;
