-- Originators whom a provider names after the payer of their coins was compared with sanctions lists.
--
-- A payer was compared once for each version of the lists, because its names never changed. The names of originators come later: with
-- the message of the provider that sent the coins.

set search_path = cloverleaf;

-- payer:<deposit>; its revision is the number of such messages.
alter table names_to_compare drop constraint names_to_compare_subject_check;
alter table names_to_compare add constraint names_to_compare_subject_check check (subject ~ '^(customer|account|payer):.+$');
