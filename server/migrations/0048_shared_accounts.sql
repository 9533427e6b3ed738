-- A kind of monitoring rule for bank accounts that several customers use. Whom customers are paid at is found by the index of
-- fiat_accounts (0035_account_numbers.sql); this adds the same for the accounts that bank credits came from.
--
-- A server of the version before knows no such kind: set the first rule once no server of it is left.

set search_path = cloverleaf;

alter table monitoring_rules drop constraint monitoring_rules_kind_check;
alter table monitoring_rules add constraint monitoring_rules_kind_check
  check (kind in ('velocity', 'structuring', 'first_large', 'shared_wallet', 'shared_account', 'country_mismatch'));

-- A blind index of the payer's account number, keyed per partner of the deposit: the same account under two partners has two
-- values. Empty when the statement shows no account. Lines are indexed in the background (rails/bank.payers.ts); the second
-- index is the list of those that are not yet. Only the system role reads this table.
alter table bank_lines
  add column payer_index      bytea,
  -- Whose key it is; null while the deposit had no partner.
  add column payer_partner_id bigint references partners (id);
create index bank_lines_payer on bank_lines (payer_index) where payer_index is not null;
create index bank_lines_unindexed on bank_lines (read_at)
  where meaning = 'deposit' and payer_index is null and details is not null;

-- The index ends with the details, also where a server of the version before erases them.
create function forget_payer() returns trigger
language plpgsql as $$
begin
  new.payer_index := null;
  new.payer_partner_id := null;
  return new;
end $$;
create trigger forget_payer before update of details on bank_lines for each row
  when (new.details is null) execute function forget_payer();

-- Payouts to an account, the oldest first.
create index payouts_account on payouts (fiat_account_id, created_at) where fiat_account_id is not null;

-- Up to which payout orders were looked at: some accounts are known only then, as that of a refund. payout_id is null when
-- all payouts of that time were.
alter table monitoring_cursor
  add column paid_at   timestamptz,
  add column payout_id text;
grant update (paid_at, payout_id) on monitoring_cursor to cloverleaf_system;
