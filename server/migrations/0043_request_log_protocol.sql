-- The request log has requests of the white-label wire, too: which of the two a line is of.

set search_path = cloverleaf;

alter table request_log add column protocol text not null default 'v1' check (protocol in ('v1', 'white-label'));

grant insert (protocol) on request_log to cloverleaf_partner;
