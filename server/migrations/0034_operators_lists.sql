-- Operators' lists of debts and of bank lines: each is walked by an index, page by page.

set search_path = cloverleaf;

-- The orders that a debt comes from.
create index deposits_lost on deposits (lost_to, order_id) where lost_to is not null;
-- Newest first.
create index bank_lines_booked on bank_lines (booked_at, rail, external_id);
-- Accounts of customers that have owed something: few among millions of accounts. Balances are not in the predicate: an update of a
-- column of an index writes new entries in all of them. Last, because until the migration ends no posting can be written.
create index accounts_owed on accounts (id) where kind = 'receivable';
