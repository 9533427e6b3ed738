-- A transfer to an own address is screened like other money: a hit of an address's risk may belong to an own address.

set search_path = cloverleaf;

alter table address_hits drop constraint address_hits_owner_check;
alter table address_hits add constraint address_hits_owner_check check (owner ~ '^(customer|deposit|own):.+$');
