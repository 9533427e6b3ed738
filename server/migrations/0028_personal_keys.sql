-- Exchange of the master key: how far it has come, and proofs for audit rows whose encrypted texts it has changed.

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
