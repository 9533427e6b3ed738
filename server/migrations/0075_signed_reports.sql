-- The reconciliation report of each day, with its signature. What chains and banks show is known only as it is now, so a report for a past
-- day cannot be computed later: it is made when the day has ended, and kept.

set search_path = cloverleaf;

create table reconciliation_reports (
  -- The day in UTC that had ended.
  day        date        primary key,
  made_at    timestamptz not null,
  -- In words whether the two sides agreed; `is_open` where they did not.
  verdict    text        not null,
  is_open    boolean     not null,
  -- Exactly the text that is signed.
  report     text        not null,
  signature  bytea       not null check (length(signature) = 64),
  -- The public key of then: another one after an exchange of the master key.
  public_key bytea       not null check (length(public_key) = 32)
);
create trigger append_only before update or delete on reconciliation_reports for each row execute function refuse_change();
create trigger no_truncate before truncate on reconciliation_reports for each statement execute function refuse_change();

grant select, insert on reconciliation_reports to cloverleaf_system;
