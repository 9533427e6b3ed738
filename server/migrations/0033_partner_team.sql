-- The team of a partner: who may sign in to the partners' console, with what role, by which passkey; and what they did there. Their
-- requests are in the activity and in the request log beside those of keys.

set search_path = cloverleaf;

-- A member who is removed stays: activity and sessions name it, and its name is not given to somebody else.
create table partner_members (
  id          bigint      generated always as identity primary key,
  partner_id  bigint      not null references partners (id),
  -- A short name that the team chooses, such as `ada`.
  name        text        not null check (name ~ '^[a-z][a-z0-9._-]{1,39}$'),
  role        text        not null check (role in ('owner', 'developer', 'support', 'finance', 'viewer')),
  -- `operator ada` or `member bob`.
  invited_by  text        not null,
  created_at  timestamptz not null,
  -- When the first passkey was enrolled.
  joined_at   timestamptz,
  disabled_at timestamptz,
  unique (partner_id, name)
);
call protect('partner_members');

-- What lets a member enrol a passkey, once: the code of an invitation, or of recovery. 256 and 100 random bits; only their SHA-256
-- is stored. Deleted by whoever uses it.
create table member_codes (
  hash       bytea       primary key,
  member_id  bigint      not null references partner_members (id),
  kind       text        not null check (kind in ('invitation', 'recovery')),
  created_at timestamptz not null,
  -- Recovery codes have none.
  expires_at timestamptz check (kind = 'recovery' or expires_at is not null)
);
create index member_codes_member on member_codes (member_id);
create index member_codes_expires on member_codes (expires_at);

-- As those of operators (0024).
create table member_passkeys (
  id            bigint      generated always as identity primary key,
  member_id     bigint      not null references partner_members (id),
  credential_id bytea       not null unique,
  public_key    bytea       not null,
  counter       bigint      not null check (counter >= 0),
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  revoked_at    timestamptz
);
create index member_passkeys_member on member_passkeys (member_id);

create table member_sessions (
  id           bigint      generated always as identity primary key,
  member_id    bigint      not null references partner_members (id),
  passkey_id   bigint      not null references member_passkeys (id),
  hash         bytea       not null unique,
  address      text        not null,
  begun_at     timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at   timestamptz not null,
  ended_at     timestamptz
);
create index member_sessions_member on member_sessions (member_id);
create index member_sessions_expires on member_sessions (expires_at);

create table member_challenges (
  hash       bytea       primary key,
  member_id  bigint      references partner_members (id),
  expires_at timestamptz not null
);
create index member_challenges_expires on member_challenges (expires_at);

-- The member who did it, where no key did.
alter table partner_activity add column member_id bigint;
alter table partner_activity drop constraint partner_activity_check;
alter table partner_activity add constraint partner_activity_through
  check (api_key is not null or link is not null or member_id is not null) not valid;

create or replace function partner_is_active() returns trigger
language plpgsql as $$
declare
  is_suspended boolean;
  is_of_use boolean;
begin
  perform pg_advisory_xact_lock_shared(1702194543, hashint8(new.partner_id));
  -- A separate statement: it sees what was committed while the lock was awaited.
  select p.suspended_at is not null, k.key is not null or m.id is not null into is_suspended, is_of_use
    from cloverleaf.partners p
    left join cloverleaf.api_keys k on k.key = new.api_key and k.partner_id = p.id and k.revoked_at is null and k.held_at is null
    left join cloverleaf.partner_members m on m.id = new.member_id and m.partner_id = p.id and m.disabled_at is null
   where p.id = new.partner_id;
  if not found then
    raise exception 'there is no partner %', new.partner_id using errcode = 'foreign_key_violation';
  elsif is_suspended then
    raise exception 'partner % is suspended', new.partner_id using errcode = 'CL001';
  elsif new.link is null and not is_of_use then
    raise exception 'the key is revoked or held' using errcode = 'CL002';
  end if;
  return null;
end $$;

-- Why a signature was not accepted: a sentence of ours, nothing of what was sent.
alter table request_log add column why text check (length(why) <= 300);

-- What waits for a partner's answer.
create index information_requests_open on information_requests (partner_id, due_at) where state = 'open';

grant select on partner_members to cloverleaf_partner;
grant insert (member_id) on partner_activity to cloverleaf_partner;
grant insert (why) on request_log to cloverleaf_partner;
grant select, insert, update on partner_members, member_passkeys to cloverleaf_system;
grant select, insert, update, delete on member_sessions to cloverleaf_system;
grant select, insert, delete on member_codes, member_challenges to cloverleaf_system;
