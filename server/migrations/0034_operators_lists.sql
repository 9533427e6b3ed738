-- Operators' lists of debts and of bank lines: each is walked by an index, page by page.

set search_path = cloverleaf;

-- Accounts of customers that owe something now: few among millions of accounts.
create index accounts_owed on accounts (id) where kind = 'receivable' and debits > credits;
-- The orders that a debt comes from.
create index deposits_lost on deposits (lost_to, order_id) where lost_to is not null;
-- Newest first.
create index bank_lines_booked on bank_lines (booked_at, rail, external_id);
