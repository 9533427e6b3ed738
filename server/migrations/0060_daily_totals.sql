-- What was posted on each day, by line of the trial balance: the balances of a past instant are the sum of the days before it and of the
-- entries of its own day, however long the journal is.
--
-- Only sealed entries are summed, one seal after the other, so each is summed once. A server of the previous version seals
-- without summing: the next one continues from the last summed seal.

set search_path = cloverleaf;

create table daily_totals (
  -- In UTC, of the entries' booking time.
  day          date          not null,
  -- A line of the trial balance: the account's code, or `order:*:inr` for the accounts of all orders.
  account      text          not null,
  kind         text          not null,
  asset        text          not null references assets (code),
  side         text          not null check (side in ('debit', 'credit', 'either')),
  debits       numeric(78,0) not null,
  credits      numeric(78,0) not null,
  -- Changes of what is held: below zero on a day on which more holds ended than began.
  debits_held  numeric(78,0) not null,
  credits_held numeric(78,0) not null,
  primary key (day, account)
);

create table daily_totals_progress (
  only_row boolean primary key default true check (only_row),
  -- Entries of seals up to this one are summed.
  seal     bigint  not null
);
insert into daily_totals_progress (seal) values (0);

grant select, insert, update on daily_totals to cloverleaf_system;
grant select, update on daily_totals_progress to cloverleaf_system;
