-- Erasing what was typed about a cancelled refund, and lists that are older than the version in use.
--
-- A cancelled refund could not be changed at all, so an erasure that reached one failed: the customer stayed blocked and was never erased.
-- What was typed for it may now be erased, as in the append-only tables, and nothing else of it changes.
--
-- An older copy of a list waits for people as one that lacks many entries does, and may lack none.

set search_path = cloverleaf;

create or replace function count_refunds() returns trigger
language plpgsql as $$
declare
  delta numeric(78,0);
begin
  if tg_op = 'UPDATE' then
    if old.state = 'cancelled' and new.why = cloverleaf.without_typed(old.why) and to_jsonb(new) - 'why' = to_jsonb(old) - 'why' then
      return new;
    end if;
    if new.deposit_id <> old.deposit_id or new.gross_units <> old.gross_units or old.state = 'cancelled' then
      raise exception 'refund %: what it refunds of which deposit stands, and cancelled is final', old.id
        using errcode = 'restrict_violation';
    end if;
    if new.state <> 'cancelled' then return new; end if;
    delta := -old.gross_units;
  else
    delta := new.gross_units;
  end if;
  update cloverleaf.deposits
     set refund_units = refund_units + delta,
         taken_units = taken_units - case when new.source = 'order' then delta else 0 end
   where id = new.deposit_id;
  return new;
end $$;

alter table sanctions_shrunken drop constraint sanctions_shrunken_removed_check;
alter table sanctions_shrunken add constraint sanctions_shrunken_removed_check check (removed >= 0 and removed + changed > 0);
