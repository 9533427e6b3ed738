-- Corrections of the ledger are a finding with rules of their own (`entry.correct`), and two actions that make them have left the
-- right `money` for `treasury` (0052_desk_roles.sql). A rule about corrections that names `money` still holds for them.

set search_path = cloverleaf;

insert into people_rules (action, for_right, asset, above_units, people)
select action, 'treasury', asset, above_units, people from people_rules
where for_right = 'money' and split_part(action, '.', 1) = 'entry'
on conflict do nothing;
