-- Exchange of the master key: how far it has come, and proofs for audit rows whose encrypted texts it has changed. Erasure of customers.

set search_path = cloverleaf;

-- One row per exchange. Every server that starts with both keys notes it, so from `started_at` on all that is written is written
-- under the new key, and no server starts without the old one before `finished_at`.
create table key_rotations (
  id          bigint      generated always as identity primary key,
  -- Names of the keys (base/crypto.ts), from which neither can be computed.
  old_key     text        not null,
  new_key     text        not null,
  started_at  timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  unique (old_key, new_key)
);

-- How far each part of it has come. Written in the transaction that re-encrypts, so a killed process loses nothing.
create table key_rotation_parts (
  rotation_id bigint  not null references key_rotations (id),
  part        text    not null,
  -- The last row's primary key; null before the first.
  after       text[],
  rewritten   bigint  not null default 0,
  is_done     boolean not null default false,
  primary key (rotation_id, part)
);

-- The audit is sealed with its encrypted texts. A row that was re-encrypted since has here its new hash, and a proof by the master
-- key that it stands for the sealed one (operators/seals.ts).
create table audit_reencrypted (
  audit_id bigint primary key references audit (id),
  content  bytea  not null,
  proof    bytea  not null
);

grant select, insert (old_key, new_key) on key_rotations to cloverleaf_system;
grant select on audit_reencrypted to cloverleaf_system;

-- Encrypted texts stand in append-only tables, too. Only the tables' owner may re-encrypt them, and only where it says so for its
-- transaction; both roles of the server are refused as before.
create or replace function refuse_change() returns trigger
language plpgsql as $$
begin
  if tg_op = 'UPDATE' and current_setting('cloverleaf.reencrypting', true) = 'on'
    and pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
    return new;
  end if;
  raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

-- Erasure of customers: their ids, amounts and orders stay, what is personal goes (src/erasure).
alter table customers add column erased_at timestamptz;

create table erasures (
  customer_id    text        primary key references customers (id),
  ordered_at     timestamptz not null,
  ordered_by     text        not null,
  -- Null until its id is in the list outside the database, and everything personal is gone.
  erased_at      timestamptz,
  -- When the last backup that has it is deleted, by the setting of that day.
  backups_end_at timestamptz
);
create index erasures_unfinished on erasures (ordered_at) where erased_at is null;

-- A legal hold: while one is placed, the customer is not erased.
create table legal_holds (
  id          bigint      generated always as identity primary key,
  customer_id text        not null references customers (id),
  placed_at   timestamptz not null,
  placed_by   text        not null,
  reason      text        not null check (length(reason) between 1 and 8000),
  lifted_at   timestamptz,
  lifted_by   text,
  lifted_why  text        check (length(lifted_why) between 1 and 8000),
  check (num_nulls(lifted_at, lifted_by, lifted_why) in (0, 3))
);
create unique index legal_holds_placed on legal_holds (customer_id) where lifted_at is null;
create index legal_holds_customer on legal_holds (customer_id);

grant select, insert on erasures to cloverleaf_system;
grant update (erased_at, backups_end_at) on erasures to cloverleaf_system;
grant select, insert (customer_id, placed_at, placed_by, reason), update (lifted_at, lifted_by, lifted_why) on legal_holds
  to cloverleaf_system;
grant delete on customer_details, customer_keys, submission_files, customer_destinations to cloverleaf_system;
grant update (details, details_index, hint) on fiat_accounts to cloverleaf_system;

-- Events and notes of cases never change, but for personal texts that an erasure takes out. Nothing else passes, not even then.
create function without_personal(body jsonb) returns jsonb
language sql immutable parallel safe
as $$ select body
  || case when body ? 'clientCustomerId' then '{"clientCustomerId": null}'::jsonb else '{}'::jsonb end
  || case when body ? 'failedReason' then '{"failedReason": null}'::jsonb else '{}'::jsonb end $$;
drop trigger append_only on events;
create trigger append_only before delete on events for each row execute function refuse_change();
create trigger only_erased before update on events for each row
  when (row(new.id, new.partner_id, new.type, new.subject, new.subject_seq, new.at, new.body)
    is distinct from row(old.id, old.partner_id, old.type, old.subject, old.subject_seq, old.at, without_personal(old.body)))
  execute function refuse_change();
grant update (body) on events to cloverleaf_system;

-- What operators typed, taken out of a text.
create function without_typed(said text) returns text
language sql immutable parallel safe
as $$ select regexp_replace(said, 'enc:op1:[A-Za-z0-9_-]{38,}\.', 'erased', 'g') $$;

drop trigger append_only on case_actions;
create trigger append_only before delete on case_actions for each row execute function refuse_change();
create trigger only_erased before update on case_actions for each row
  when (row(new.id, new.case_id, new.at, new.by, new.what, new.note)
    is distinct from row(old.id, old.case_id, old.at, old.by, old.what, without_typed(old.note)))
  execute function refuse_change();
grant update (note) on case_actions to cloverleaf_system;

drop trigger append_only on audit;
create trigger append_only before delete on audit for each row execute function refuse_change();
create trigger only_erased before update on audit for each row
  when (row(new.id, new.at, new.operator, new.role, new.address, new.via, new.action, new.subject, new.outcome, new.proposal,
      new.written_in, new.reason, new.before, new.after)
    is distinct from row(old.id, old.at, old.operator, old.role, old.address, old.via, old.action, old.subject, old.outcome, old.proposal,
      old.written_in, without_typed(old.reason), without_typed(old.before::text)::jsonb, without_typed(old.after::text)::jsonb))
  execute function refuse_change();
grant update (reason, before, after) on audit to cloverleaf_system;
grant insert on audit_reencrypted to cloverleaf_system;
grant update (content, proof) on audit_reencrypted to cloverleaf_system;

drop trigger append_only on proposal_approvals;
create trigger append_only before delete on proposal_approvals for each row execute function refuse_change();
create trigger only_erased before update on proposal_approvals for each row
  when (row(new.proposal_id, new.operator_id, new.at, new.reason)
    is distinct from row(old.proposal_id, old.operator_id, old.at, without_typed(old.reason)))
  execute function refuse_change();
grant update (reason) on proposal_approvals to cloverleaf_system;

drop trigger append_only on order_history;
create trigger append_only before delete on order_history for each row execute function refuse_change();
create trigger only_erased before update on order_history for each row
  when (row(new.order_id, new.version, new.partner_id, new.state_from, new.event, new.state_to, new.at, new.facts)
    is distinct from row(old.order_id, old.version, old.partner_id, old.state_from, old.event, old.state_to, old.at,
      without_typed(old.facts::text)::jsonb))
  execute function refuse_change();
grant update (facts) on order_history to cloverleaf_system;
