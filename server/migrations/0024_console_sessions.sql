-- Sessions of the operators' console: passkeys, sessions and the challenges that they sign; and by what an operator acted.

set search_path = cloverleaf;

-- A revoked passkey stays: the audit and sessions name it.
create table operator_passkeys (
  id            bigint      generated always as identity primary key,
  operator_id   bigint      not null references operators (id),
  credential_id bytea       not null unique,
  public_key    bytea       not null,
  -- Zero for authenticators that do not count.
  counter       bigint      not null check (counter >= 0),
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  revoked_at    timestamptz
);
create index operator_passkeys_operator on operator_passkeys (operator_id);

-- The id in the cookie is 256 random bits; only its SHA-256 is stored.
create table operator_sessions (
  id           bigint      generated always as identity primary key,
  operator_id  bigint      not null references operators (id),
  passkey_id   bigint      not null references operator_passkeys (id),
  hash         bytea       not null unique,
  address      text        not null,
  begun_at     timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at   timestamptz not null,
  ended_at     timestamptz
);
create index operator_sessions_operator on operator_sessions (operator_id);
create index operator_sessions_expires on operator_sessions (expires_at);

-- Deleted by whoever uses it, so each is used once. Without an operator it is for a login.
create table operator_challenges (
  hash        bytea       primary key,
  operator_id bigint      references operators (id),
  expires_at  timestamptz not null
);
create index operator_challenges_expires on operator_challenges (expires_at);

-- `token` or `session:<number>`; null in rows from before, and for the machine. Sealed where it is there.
alter table audit add column via text check (via ~ '^(token|session:[0-9]+)$');

grant select, insert, update on operator_passkeys to cloverleaf_system;
grant select, insert, update, delete on operator_sessions to cloverleaf_system;
grant select, insert, delete on operator_challenges to cloverleaf_system;
