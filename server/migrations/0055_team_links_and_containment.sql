-- A link that admits a member of a team is shown to the operator who proposed it, and never to the one who confirmed: until the
-- first one collects it, the member's row names that operator. The link's code is created when it is collected, so it is stored
-- nowhere before.

set search_path = cloverleaf;

alter table partner_members add column link_for text;
alter table partner_members add column link_until timestamptz;
alter table partner_members add constraint partner_members_link check (num_nulls(link_for, link_until) in (0, 2)) not valid;
alter table partner_members validate constraint partner_members_link;

-- A containment holds what a thief may have left in a team, too: members, passkeys, sessions and codes made since. What is held
-- signs nobody in.
alter table held_items drop constraint held_items_kind_check;
alter table held_items add constraint held_items_kind_check
  check (kind in ('key', 'endpoint', 'link', 'account', 'destination', 'member', 'passkey', 'session', 'code'));

alter table partner_members add column held_at timestamptz;
alter table member_passkeys add column held_at timestamptz;
alter table member_sessions add column held_at timestamptz;
alter table member_codes add column held_at timestamptz;
grant update (held_at) on member_codes to cloverleaf_system;

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
      and m.held_at is null
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
