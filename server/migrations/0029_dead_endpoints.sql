-- An endpoint that takes nothing for days is switched off and shown as such, so that no partner believes to be told what is
-- refused at the other end: since when every attempt has failed, and when it was switched off for that.

set search_path = cloverleaf;

alter table webhook_endpoints add column failing_since timestamptz;
alter table webhook_endpoints add column switched_off_at timestamptz check (switched_off_at is null or not enabled);
