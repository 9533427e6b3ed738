-- What several people approved counts in the day of each of them, as long as a limit takes more people than approved it. Rows of
-- before were of one person alone, and so are those of servers of the previous version.

set search_path = cloverleaf;

alter table alone_amounts add column people smallint not null default 1 check (people between 1 and 3);
-- A rule for every action (`*`) does not apply to it.
alter table alone_amounts add column is_named boolean not null default false;
