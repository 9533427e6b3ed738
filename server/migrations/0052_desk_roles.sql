-- Two more roles of operators: compliance, which moves no money, and treasury, which moves only our own and works at the bank desk.
-- Their rights are taken out of `terms` and `money`: a rule about how many people an action takes, which names one of these two
-- rights, still holds for the actions that have left it. Servers of the previous version go on reading the old rule.

set search_path = cloverleaf;

alter table operators drop constraint operators_role_check;
alter table operators add constraint operators_role_check
  check (role in ('viewer', 'night', 'support', 'compliance', 'treasury', 'finance', 'admin'));

insert into people_rules (action, for_right, asset, above_units, people)
select action, 'treasury', asset, above_units, people from people_rules
where for_right = 'money' and (action = '*' or split_part(action, '.', 1) in ('bank', 'movement', 'debit', 'break', 'own-address', 'transfer'))
on conflict do nothing;

insert into people_rules (action, for_right, asset, above_units, people)
select action, 'compliance', asset, above_units, people from people_rules
where for_right = 'terms' and (action = '*' or split_part(action, '.', 1) in ('travel', 'monitoring'))
on conflict do nothing;
