-- Two look-ups about a customer that had no index.
--
-- A deposit without an order belongs to the customer to whose account it is refunded. The customer's erasure and its export look for
-- such refunds by the account.
--
-- A placeholder, such as for the back of a passport, may be a document of all customers of a partner. The first others in the order of
-- their ids are read, and not all. The indexes without the id stay for servers of the version before.

set search_path = cloverleaf;

create index refunds_account on refunds (fiat_account_id) where order_id is null and fiat_account_id is not null;
create index compared_documents_same on compared_documents (partner_id, value_index, customer_id);
create index customer_details_same on customer_details (partner_id, identity_index, customer_id) where identity_index is not null;
