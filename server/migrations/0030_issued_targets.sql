-- Targets that no public key derives are issued one by one, by a key service or a bank. They wait here until an order takes one; from then
-- on deposit_addresses has it.

set search_path = cloverleaf;

create table target_issuers (
  rail      text    primary key,
  -- How many of the issuer's targets, in its order, these books have.
  known     bigint  not null default 0 check (known >= 0),
  -- After a restore: whatever the issuer has made beyond `known` may have been given to a customer since, so no order gets it.
  withdraws boolean not null default false
);

-- Free ones. They are nobody's.
create table issued_targets (
  rail   text   not null,
  target text   not null,
  -- Its number at the issuer.
  number bigint not null,
  primary key (rail, target)
);
create unique index issued_targets_number on issued_targets (rail, number);

-- After a restore the free ones may have been given out since. They are watched without an order.
create function withdraw_targets() returns trigger
language plpgsql as $$
begin
  update cloverleaf.target_issuers set withdraws = true;
  with free as (delete from cloverleaf.issued_targets returning rail, target)
  insert into cloverleaf.deposit_addresses (rail, address, index, made_at)
  select rail, target, nextval('cloverleaf.deposit_indexes'), new.restored_at from free on conflict do nothing;
  return new;
end $$;
create trigger withdraw_targets after insert on restores for each row execute function withdraw_targets();

grant select, insert, update on target_issuers to cloverleaf_system;
grant select, insert, delete on issued_targets to cloverleaf_system;
-- The right to update is for the lock on the row that an order takes.
grant select, delete, update (number) on issued_targets to cloverleaf_partner;
grant update (number) on issued_targets to cloverleaf_system;
