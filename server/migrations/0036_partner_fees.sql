-- Fees owed to a partner may become negative: an order is undone, or its fee paid back, after the partner was paid its fees. The
-- customer's refund does not wait for the partner's next fees, which cover it.
--
-- A server of the previous version that runs at the same time creates such accounts as before: the trigger corrects them.

set search_path = cloverleaf;

create function partner_may_owe() returns trigger language plpgsql as $$
begin
  new.side := 'either';
  return new;
end $$;
create trigger partner_may_owe before insert on accounts
  for each row when (new.kind = 'fee_partner' and new.side <> 'either') execute function partner_may_owe();

update accounts set side = 'either' where kind = 'fee_partner';
