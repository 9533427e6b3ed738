-- An order's place among all of its partner's is taken as its row is written, and not at commit by writing the row again. That
-- second row went into every index once more and had every foreign key looked at twice, for a good third of what PostgreSQL
-- spent on an order. Orders are now made by one batch of statements that ends in the commit, so the count is locked hardly
-- longer than it was (docs/decisions/0029-round-trips.md). The places are still in the order of commits: the lock ends with them.

set search_path = cloverleaf;

drop trigger take_positions on orders;

create or replace function take_positions() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.order_lists as l (partner_id, direction, fiat_asset, count) values (new.partner_id, new.direction, '', 1)
    on conflict (partner_id, direction, fiat_asset) do update set count = l.count + 1
    returning count into new.partner_seq;
  insert into cloverleaf.order_lists as l (partner_id, direction, fiat_asset, count)
    values (new.partner_id, new.direction, new.fiat_asset, 1)
    on conflict (partner_id, direction, fiat_asset) do update set count = l.count + 1
    returning count into new.fiat_seq;
  return new;
end $$;

create trigger take_positions before insert on orders for each row execute function take_positions();
