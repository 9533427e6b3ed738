-- How each price source is doing, for those who run the server and for whichever process asks it next.
--
-- In a row and not in memory, because the next turn may be another process's, and because a pause that a source asked for
-- must outlast a restart. No partner's data stands here.

set search_path = cloverleaf;

create table price_sources (
  source          text primary key,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  -- In words of ours, never of the answer: it is shown to everybody.
  last_failure    text,
  -- Since the last success.
  failures        integer not null default 0,
  -- Not asked before.
  paused_until    timestamptz
);

grant select, insert, update on price_sources to cloverleaf_system;
