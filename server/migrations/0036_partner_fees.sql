-- Fees owed to a partner may become negative: an order is undone, or its fee paid back, after the partner was paid its fees. The
-- customer's refund does not wait for the partner's next fees, which cover it.
--
-- A server of the previous version that runs at the same time creates such accounts as before; none of them is settled by it.

set search_path = cloverleaf;

update accounts set side = 'either' where kind = 'fee_partner';
