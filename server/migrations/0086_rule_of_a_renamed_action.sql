-- Ends the approval rules of an action that has another name since 0083.
--
-- Their copies under the new name decide. The old ones decided nothing, but were shown as in force, could not be removed by an
-- operator, and counted among the rules that people have to be able to meet. No server that asks for the old name still runs:
-- 0082 is breaking.

set search_path = cloverleaf;

delete from people_rules where action = 'bank.hand_out_file';
