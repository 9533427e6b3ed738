-- When a partner was last told the id of a customer because somebody signed up with the customer's number.
--
-- The next link in which the partner names that customer was made for whoever has the number now, so after a long pause it asks for
-- more than the code. A server of the version before does neither.

set search_path = cloverleaf;

alter table customers add column id_told_at timestamptz;
grant update (id_told_at) on customers to cloverleaf_partner;
