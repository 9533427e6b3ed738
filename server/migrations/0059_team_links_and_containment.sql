-- A link that admits a member of a team is shown to the operator who proposed it, and never to the one who confirmed: until the
-- first one collects it, the member's row names that operator. The link's code is created when it is collected, so it is stored
-- nowhere before.

set search_path = cloverleaf;

alter table partner_members add column link_for text;
alter table partner_members add column link_until timestamptz;
alter table partner_members add constraint partner_members_link check (num_nulls(link_for, link_until) in (0, 2)) not valid;
alter table partner_members validate constraint partner_members_link;
