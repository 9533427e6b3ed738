-- The field's words for what a bank rejects, and for the download of a payout file.
--
-- Reasons of banks and the action of a download had words of our own. A proposal that waits must find its action under the new name.
-- An approval rule is copied and not renamed: a server of the previous version still asks for as many people as before.
-- Append-only rows (histories, the audit) keep the old words, and readers know them.

set search_path = cloverleaf;

update payouts set why = replace(why, 'refused_by_', 'rejected_by_') where why ~ '^refused_by_(bank|payee)\y';
update deposits set why = replace(why, 'refused_by_', 'rejected_by_') where why ~ '^refused_by_(bank|payee)\y';

update proposals set action = 'bank.download_file' where action = 'bank.hand_out_file' and state = 'open';
insert into people_rules (action, for_right, asset, above_units, people, roles)
  select 'bank.download_file', for_right, asset, above_units, people, roles from people_rules where action = 'bank.hand_out_file'
  on conflict do nothing;
