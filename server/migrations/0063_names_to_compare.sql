-- Names that no comparison with sanctions lists has read yet: new customers and accounts, and customers whose names have changed.
--
-- Before, each run of the job searched all customers for them. Triggers write the rows, so that servers of the previous version add
-- theirs too. Such a server does not remove rows: the next comparison by a server of this version does.

set search_path = cloverleaf;

create table names_to_compare (
  -- customer:<id> or account:<id>, as in name_screenings.
  subject    text    primary key check (subject ~ '^(customer|account):.+$'),
  -- Null for the account of a payer.
  partner_id bigint  references partners (id),
  -- Of the names, as in name_screenings: a comparison of older names does not remove the row.
  revision   integer not null
);
call protect('names_to_compare');
-- Through the triggers. A partner sees only that its customers will be compared, and never a result.
grant select, insert, update (revision) on names_to_compare to cloverleaf_partner;
grant select, insert, update (revision), delete on names_to_compare to cloverleaf_system;

create function customer_to_compare() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.names_to_compare (subject, partner_id, revision)
    values ('customer:' || new.customer_id, new.partner_id, new.version + new.names_revision)
  on conflict (subject) do update set revision = greatest(cloverleaf.names_to_compare.revision, excluded.revision);
  return null;
end $$;
create function account_to_compare() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.names_to_compare (subject, partner_id, revision) values ('account:' || new.id, new.partner_id, 0)
  on conflict (subject) do nothing;
  return null;
end $$;
create trigger to_compare after insert or update of version, names_revision on customer_details
  for each row execute function customer_to_compare();
create trigger to_compare after insert on fiat_accounts for each row execute function account_to_compare();

insert into names_to_compare (subject, partner_id, revision)
  select 'customer:' || d.customer_id, d.partner_id, d.version + d.names_revision from customer_details d
   where not exists (select from name_screenings s
     where s.subject = 'customer:' || d.customer_id and s.ended_at is null and s.revision = d.version + d.names_revision)
  union all
  select 'account:' || a.id, a.partner_id, 0 from fiat_accounts a join customers c on c.id = a.customer_id and c.erased_at is null
   where not exists (select from name_screenings s where s.subject = 'account:' || a.id and s.ended_at is null);
