-- Messages about the end of a rule: when an operator replaces or removes a rule, its channel gets a last message, so that one operator
-- cannot silence an installation's alerts unnoticed. A server of the previous version sends such a message like any other.

set search_path = cloverleaf;

alter table alert_messages drop constraint alert_messages_about_check;
alter table alert_messages add constraint alert_messages_about_check check (about in ('cases', 'digest', 'test', 'change'));
