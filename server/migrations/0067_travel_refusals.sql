-- The travel rule's policy `refuse`: at the deadline an order without its data is not carried out any more. Before, a rule could only
-- hold the payout, send it without the data, or return the deposit.

set search_path = cloverleaf;

alter table travel_rules drop constraint travel_rules_policy_check;
alter table travel_rules add constraint travel_rules_policy_check check (policy in ('hold', 'send', 'return', 'refuse'));

-- Since when the order is refused, and by which version of a rule. Set once.
alter table travel_waits
  add column refused_at timestamptz,
  add column refused_by bigint references travel_rules (id),
  add constraint travel_waits_refused check ((refused_at is null) = (refused_by is null));
grant update (refused_at, refused_by) on travel_waits to cloverleaf_system;
