-- Which cluster and timeline of PostgreSQL the books continue. A promoted standby, a restored backup and a dump that was loaded into
-- another cluster have another one than the row that they brought along: they may be older than what was paid.

set search_path = cloverleaf;

create table database_timeline (
  only_row boolean primary key default true check (only_row),
  -- pg_control_system(): initdb makes it, and a physical copy keeps it.
  cluster  bigint  not null,
  timeline integer not null
);

-- The timeline to which this server writes its log. pg_control_checkpoint() has it only after the first checkpoint of a promoted standby.
create function written_timeline() returns integer
language sql stable set search_path = pg_catalog as $$
  select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
$$;

insert into database_timeline (cluster, timeline) select system_identifier, written_timeline() from pg_control_system();

-- For connections of a server, before they write.
create function refuse_other_timeline() returns void
language plpgsql stable set search_path = pg_catalog as $$
begin
  -- A standby writes to no timeline yet.
  if pg_is_in_recovery() then
    raise exception using errcode = 'read_only_sql_transaction', message = 'the database is a standby that is not promoted';
  end if;
  if not exists (
    select from cloverleaf.database_timeline t, pg_control_system() s
     where t.cluster = s.system_identifier and t.timeline = cloverleaf.written_timeline()
  ) then
    raise exception using errcode = 'CL003',
      message = 'the database was promoted or restored, and this is not recorded yet: it may be older than what was paid';
  end if;
end $$;
grant select on database_timeline to cloverleaf_system, cloverleaf_partner;
