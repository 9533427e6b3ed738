-- Owners of wallets that belong to another person, to be compared with sanctions lists.
--
-- They were named by partners for the travel rule, and compared with nothing.

set search_path = cloverleaf;

-- wallet:<id> of travel_wallets.
alter table name_screenings drop constraint name_screenings_subject_check;
alter table name_screenings add constraint name_screenings_subject_check check (subject ~ '^(customer|account|payer|wallet):.+$');
alter table names_to_compare drop constraint names_to_compare_subject_check;
alter table names_to_compare add constraint names_to_compare_subject_check check (subject ~ '^(customer|account|payer|wallet):.+$');

-- Grows with each declaration. From 1: a server of the previous version, which takes such a subject for a payer, stores 0.
alter table travel_wallets add column names_revision integer not null default 1;

-- Not for an erasure or an exchange of the master key: they declare nothing.
create function wallet_is_declared() returns trigger
language plpgsql as $$
begin
  new.names_revision := old.names_revision + 1;
  return new;
end $$;
create function wallet_to_compare() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.names_to_compare (subject, partner_id, revision)
    values ('wallet:' || new.id, new.partner_id, new.names_revision)
  on conflict (subject) do update set revision = greatest(cloverleaf.names_to_compare.revision, excluded.revision);
  return null;
end $$;
create trigger is_declared before update of declared_at on travel_wallets
  for each row execute function wallet_is_declared();
create trigger to_compare after insert or update of declared_at on travel_wallets
  for each row when (new.owner = 'other') execute function wallet_to_compare();

insert into names_to_compare (subject, partner_id, revision)
  select 'wallet:' || id, partner_id, names_revision from travel_wallets where owner = 'other' and length(details) > 0;
