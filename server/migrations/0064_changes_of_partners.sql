-- Changes of a partner's own terms have a history like those of markets: values before and after, who changed them, and why.
--
-- The lock lasts for one look at the table: it has one row per change that an operator made.

set search_path = cloverleaf;

alter table market_changes drop constraint market_changes_what_check;
alter table market_changes add constraint market_changes_what_check
  check (what in ('market', 'fee', 'limit', 'exposure', 'policy', 'partner'));
