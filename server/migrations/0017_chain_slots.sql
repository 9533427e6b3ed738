-- Chains whose sends have no nonce: what makes a send happen once is a slot that it uses up, or a deadline after which no
-- block can include it. A nonce is the slot of an account chain. Rows of such chains are written as before.

set search_path = cloverleaf;

alter table chain_sends
  -- Null on a chain without ordered nonces.
  alter column nonce drop not null,
  -- What this version uses up, in the family's spelling: `<hash>:<output>`. Empty where it has a nonce, which is its slot.
  add column slots text[] not null default '{}',
  -- After this, in the chain's time, no block can include it; null when it stays valid.
  add column deadline timestamptz,
  -- What is signed, where it cannot be built again from the call.
  add column body bytea,
  drop constraint chain_sends_state_check,
  drop constraint chain_sends_check,
  -- absent: no final block holds it and none ever can; `why` is the proof. Another version may follow.
  add constraint chain_sends_state_check
    check (state in ('reserved', 'signed', 'mined', 'confirmed', 'failed', 'replaced', 'absent')),
  add constraint chain_sends_check check (raw is not null or found or state in ('reserved', 'replaced', 'absent')),
  add constraint chain_sends_one_kind check (nonce is null or (slots = '{}' and deadline is null));

-- Each slot belongs to one send for ever; its versions share it. A reservation that is released gives its slots back.
create table chain_slots (
  rail    text    not null,
  wallet  text    not null,
  slot    text    not null,
  key     text    not null,
  -- The version that took it.
  version integer not null,
  primary key (rail, wallet, slot),
  foreign key (rail, key, version) references chain_sends (rail, key, version) on delete cascade
);
create index chain_slots_send on chain_slots (rail, key, version);

insert into chain_slots (rail, wallet, slot, key, version)
select distinct on (rail, wallet, nonce) rail, wallet, nonce::text, key, version
  from chain_sends where nonce is not null order by rail, wallet, nonce, id;

-- By trigger, because servers of the previous version write nonces and no slots.
create function nonce_is_slot() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.chain_slots (rail, wallet, slot, key, version)
  values (new.rail, new.wallet, new.nonce::text, new.key, new.version) on conflict do nothing;
  if not exists (select from cloverleaf.chain_slots
                  where rail = new.rail and wallet = new.wallet and slot = new.nonce::text and key = new.key) then
    raise exception 'nonce % of wallet % belongs to another send than %', new.nonce, new.wallet, new.key
      using errcode = 'unique_violation';
  end if;
  return new;
end $$;
create trigger nonce_is_slot after insert on chain_sends for each row when (new.nonce is not null)
  execute function nonce_is_slot();

-- A reservation may be released whatever its version, if every version before it is proved absent.
create or replace function delete_unsigned() returns trigger
language plpgsql as $$
begin
  if old.state <> 'reserved' or old.raw is not null or old.signing_at is not null
     or exists (select from cloverleaf.chain_sends s
                 where s.rail = old.rail and s.key = old.key and s.id <> old.id and s.state <> 'absent') then
    raise exception 'send % may have been signed', old.key using errcode = 'restrict_violation';
  end if;
  return old;
end $$;

-- What was found by its hash on such a chain has no nonce.
alter table found_movements
  drop constraint found_movements_check1,
  add constraint found_movements_check1
    check (state = 'unread' or num_nulls(hash, block, block_at, succeeded, cost_units, target, data, value, fee) = 0);

grant select, insert on chain_slots to cloverleaf_system;
