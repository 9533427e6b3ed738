-- A test message to a channel of alerts that no rule uses yet, and the newest message of each channel.

set search_path = cloverleaf;

-- Servers of the version before do not find a message without a rule, and send none.
alter table alert_messages alter column rule_id drop not null;
alter table alert_messages add constraint alert_messages_ruled check (rule_id is not null or about = 'test');
create index alert_messages_channel on alert_messages (channel, id);
