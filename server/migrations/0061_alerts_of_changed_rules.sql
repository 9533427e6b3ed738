-- A message about a change of its own rule: a rule that is replaced or removed says so on its channel, so that nobody silences
-- the notices of an installation unnoticed. A server of the previous version sends such a message like any other.

set search_path = cloverleaf;

alter table alert_messages drop constraint alert_messages_about_check;
alter table alert_messages add constraint alert_messages_about_check check (about in ('cases', 'digest', 'test', 'change'));
