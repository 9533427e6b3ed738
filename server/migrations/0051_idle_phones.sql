-- Numbers are given to new people. A number that was idle for long opens the customer behind it only with answers that a new holder of
-- the number does not know: wrong tries are counted here. A server of the version before asks for none and counts none.

set search_path = cloverleaf;

alter table customers add column proof_tries smallint not null default 0;
alter table customers add column proof_tried_at timestamptz;
grant update (proof_tries, proof_tried_at) on customers to cloverleaf_partner;
