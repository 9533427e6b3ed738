-- Restores of an older backup.

set search_path = cloverleaf;

-- When this database was restored from a backup, and what is known about what it lost.
create table restores (
  id               bigint      generated always as identity primary key,
  backup_taken_at  timestamptz not null,
  restored_at      timestamptz not null,
  -- The first index that the restored books had not given out. The lost period gave out targets from here on.
  first_lost_index bigint
);

grant select on restores to cloverleaf_system;
