-- A deposit without an order belongs to the customer to whose account it is refunded. The customer's erasure and its export look for
-- such refunds by the account.
set search_path = cloverleaf;

create index refunds_account on refunds (fiat_account_id) where order_id is null and fiat_account_id is not null;
