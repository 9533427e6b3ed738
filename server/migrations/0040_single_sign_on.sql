-- Single sign-on of operators: which account at the provider is which operator, logins that are under way there, and sessions that
-- began so.

set search_path = cloverleaf;

-- Bound by operators, never by a login. An ended one stays: sessions name it.
create table operator_identities (
  id          bigint      generated always as identity primary key,
  operator_id bigint      not null references operators (id),
  issuer      text        not null,
  kind        text        not null check (kind in ('subject', 'email')),
  -- The `sub`, or the e-mail address in small letters, encrypted so that equal ones are equal.
  value       text        not null,
  created_at  timestamptz not null,
  ended_at    timestamptz
);
create unique index operator_identities_value on operator_identities (issuer, kind, value) where ended_at is null;
create index operator_identities_operator on operator_identities (operator_id);

-- By the SHA-256 of the secret that the browser has in its cookie; state, nonce and PKCE verifier follow from that secret. With an
-- identity the provider has answered, and a passkey is asked for. Deleted by whoever uses it.
create table operator_sso_logins (
  hash        bytea       primary key,
  identity_id bigint      references operator_identities (id),
  expires_at  timestamptz not null
);
create index operator_sso_logins_expires on operator_sso_logins (expires_at);

-- A session has begun by a passkey, or by an account at the provider.
alter table operator_sessions alter column passkey_id drop not null;
alter table operator_sessions add column identity_id bigint references operator_identities (id);
-- When its person proved who they are as recently as money takes; of a passkey, when the session began. Null: a passkey is asked for.
alter table operator_sessions add column fresh_at timestamptz;
alter table operator_sessions add constraint operator_sessions_began_by
  check (num_nonnulls(passkey_id, identity_id) = 1) not valid;
create index operator_sessions_identity on operator_sessions (identity_id);

grant select, insert, update on operator_identities to cloverleaf_system;
grant select, insert, delete on operator_sso_logins to cloverleaf_system;
