-- Recovery codes of operators: each enrols a passkey, once, for an operator who has lost every one. Without them the way back
-- was a token that another operator admits, and nobody may be awake.

set search_path = cloverleaf;

-- 100 random bits, of which only the SHA-256 is stored. Deleted by whoever uses it, and replaced ten at a time.
create table operator_codes (
  hash        bytea       primary key,
  operator_id bigint      not null references operators (id),
  created_at  timestamptz not null
);
create index operator_codes_operator on operator_codes (operator_id);

-- `recovery`: by a recovery code, which is neither a token nor a session.
alter table audit drop constraint audit_via_check;
alter table audit add constraint audit_via_check check (via ~ '^(token|recovery|session:[0-9]+)$') not valid;

grant select, insert, delete on operator_codes to cloverleaf_system;
