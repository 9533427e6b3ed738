-- Lists of all of a partner's orders, by position: of a direction, and of a direction and a fiat. A page of either is a
-- range, as in a customer's list (0005), so the last page costs what the first one costs.
--
-- The positions are taken when the order's transaction commits and not before: the row that counts is one for all of a
-- partner's customers, and is locked for nothing but the commit itself (docs/decisions/0013-lists-of-all-orders.md).

set search_path = cloverleaf;

alter table orders
  -- Both dense from 1, in the order of commits. Null only inside the transaction that makes the order.
  add column partner_seq bigint check (partner_seq > 0),
  add column fiat_seq    bigint check (fiat_seq > 0);

create table order_lists (
  partner_id bigint not null references partners (id),
  direction  text not null,
  -- '' for all fiats together.
  fiat_asset text not null,
  count      bigint not null,
  primary key (partner_id, direction, fiat_asset)
);
call protect('order_lists');

update orders set partner_seq = numbered.partner_seq, fiat_seq = numbered.fiat_seq
  from (select id, row_number() over (partition by partner_id, direction order by created_at, id) as partner_seq,
               row_number() over (partition by partner_id, direction, fiat_asset order by created_at, id) as fiat_seq
          from orders) as numbered
 where numbered.id = orders.id;
insert into order_lists (partner_id, direction, fiat_asset, count)
  select partner_id, direction, coalesce(fiat_asset, ''), count(*)
    from orders group by partner_id, direction, rollup (fiat_asset);

create unique index orders_partner_seq on orders (partner_id, direction, partner_seq);
create unique index orders_fiat_seq on orders (partner_id, direction, fiat_asset, fiat_seq);
-- For "since": from a time to a position.
create index orders_since on orders (partner_id, direction, created_at);
create index orders_fiat_since on orders (partner_id, direction, fiat_asset, created_at);
drop index orders_partner;

create function take_positions() returns trigger
language plpgsql as $$
declare
  of_all  bigint;
  of_fiat bigint;
begin
  insert into cloverleaf.order_lists as l (partner_id, direction, fiat_asset, count) values (new.partner_id, new.direction, '', 1)
    on conflict (partner_id, direction, fiat_asset) do update set count = l.count + 1
    returning count into of_all;
  insert into cloverleaf.order_lists as l (partner_id, direction, fiat_asset, count)
    values (new.partner_id, new.direction, new.fiat_asset, 1)
    on conflict (partner_id, direction, fiat_asset) do update set count = l.count + 1
    returning count into of_fiat;
  update cloverleaf.orders set partner_seq = of_all, fiat_seq = of_fiat where id = new.id;
  return null;
end $$;

-- Deferred: fires at commit.
create constraint trigger take_positions after insert on orders
  deferrable initially deferred for each row execute function take_positions();

grant select, insert, update on order_lists to cloverleaf_partner, cloverleaf_system;
