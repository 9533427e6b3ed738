-- A rule says how many people an action takes, and could not say who: an operator who wants a compliance officer among those who
-- approve had to trust that one would be. A rule may now name roles. Each takes one of the people; a role that is named twice takes two.
--
-- A proposal keeps the roles that it takes, as it keeps the number of people: a rule that is relaxed later does not relax it. An approved
-- amount keeps the roles of those who approved it: what nobody of a role approved counts against a limit that asks for that role.

set search_path = cloverleaf;

alter table people_rules add column roles text[] not null default '{}'
  check (roles <@ array['night', 'support', 'compliance', 'treasury', 'finance', 'admin'] and cardinality(roles) <= people);
alter table proposals add column roles text[] not null default '{}';
alter table alone_amounts add column roles text[] not null default '{}';

-- Who proposes and has none of the roles is one more than the rule's number.
alter table proposals drop constraint proposals_people_check;
alter table proposals add constraint proposals_people_check check (people >= 2);
