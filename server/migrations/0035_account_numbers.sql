-- A blind index of the number of a fiat account, so that operators find the account by its full number.
--
-- It is keyed per partner: the same account under two partners has two values. Rows of before get theirs in the background
-- (customers/fiat-accounts.ts); the second index is the list of those.

set search_path = cloverleaf;

alter table fiat_accounts add column number_index bytea;
create index fiat_accounts_number on fiat_accounts (number_index) where number_index is not null;
create index fiat_accounts_unnumbered on fiat_accounts (id) where number_index is null and details <> ''::bytea;

grant insert (number_index) on fiat_accounts to cloverleaf_partner;
grant update (number_index) on fiat_accounts to cloverleaf_system;
