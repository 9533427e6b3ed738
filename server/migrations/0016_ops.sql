-- The row that the readiness check writes to prove that a write commits.

set search_path = cloverleaf;

-- A row is inserted to prove that a write commits. Each takes a page of its own (fill factor), so that the file has to grow:
-- on a full disk an update in place still succeeds when nothing else does. Space is reused only after truncation: no vacuum.
create table write_probe (
  at     timestamptz not null default clock_timestamp(),
  filler text        not null
) with (fillfactor = 10, autovacuum_enabled = false);
alter table write_probe alter column filler set storage plain;

grant insert, truncate on write_probe to cloverleaf_system;
