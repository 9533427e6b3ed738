/** Alerts: the cases that people are notified about, by which channel, and the sent messages. */
import { Type } from 'typebox';
import { ABOUT, MAX_MESSAGES } from '../../../alerts/index.ts';
import { about, amount, id, listOf, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { act, limit, look } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';

const name = about(
  text(40, /^[a-z0-9][a-z0-9._-]*$/, 'a name of small letters, digits, dots and hyphens'),
  'Name of the rule',
  'night-money',
);
const hour = whole(0, 23);
const RULE = [
  'name',
  {
    channel: Type.String({ description: 'Channel through which it notifies' }),
    about: Type.String({ description: 'About which cases it notifies: opened, unclaimed, overdue; or a digest' }),
    kinds: Type.Array(Type.String(), { description: 'Kinds of case; none is every kind' }),
    asset: maybe(Type.String({ description: 'Asset of the least amount' })),
    least: maybe(Type.String({ description: 'Least amount, a plain decimal of the asset' })),
    afterMinutes: Type.Integer({ description: 'Minutes before it notifies' }),
    fromHour: Type.Integer({ description: 'Hour of the day from which it notifies' }),
    untilHour: Type.Integer({ description: 'Hour of the day at which it ends telling' }),
    zone: Type.String({ description: 'Time zone of the hours' }),
    createdBy: Type.String({ description: 'Operator who set it' }),
  },
  'createdAt',
];
const AFTER = [
  ...['name', 'on'],
  {
    'channel?': Type.String({ description: 'Channel through which it notifies' }),
    'about?': Type.String({ description: 'About which cases it notifies' }),
    'kinds?': Type.Array(Type.String(), { description: 'Kinds of case; none is every kind' }),
    'asset?': maybe(Type.String({ description: 'Asset of the least amount' })),
    'leastUnits?': maybe(Type.String({ description: 'Least amount, a plain decimal of the asset' })),
    'afterMinutes?': Type.Integer({ description: 'Minutes before it notifies' }),
    'fromHour?': Type.Integer({ description: 'Hour from which it notifies' }),
    'untilHour?': Type.Integer({ description: 'Hour at which it ends telling' }),
    'zone?': Type.String({ description: 'Time zone of the hours' }),
  },
];
const ONE = { name, channel: about(text(20, /^[a-z]+$/, 'a word'), 'Channel, of ALERT_CHANNELS', 'email') };

export const ALERTS = {
  list: look({
    path: '/alerts',
    says: 'Lists the rules of notifications, and the available channels.',
    fields: {},
    gives: rows('rules', RULE, [
      { channels: Type.Array(Type.String(), { description: 'Channels that this server has' }) },
    ]),
    command: {
      words: 'alerts',
      list: 'rules',
      columns: ['name', 'channel', 'about', 'kinds', 'afterMinutes', 'fromHour', 'untilHour', 'zone'],
    },
  }),
  messages: look({
    path: '/alerts/messages',
    says: 'Lists the notifications, newest first.',
    fields: { below: optional(id), limit: limit(MAX_MESSAGES) },
    gives: pages('messages', [
      'id',
      {
        rule: Type.String({ description: 'Name of the rule' }),
        channel: Type.String({ description: 'Channel' }),
        about: Type.String({ description: 'cases, digest or test' }),
        title: Type.String({ description: 'Its title' }),
        lines: Type.Array(Type.String(), { description: 'Its text' }),
        state: Type.String({ description: 'waiting, sent or failed' }),
        attempts: Type.Integer({ description: 'How often it was tried' }),
        lastError: maybe(Type.String({ description: 'Why it was not taken' })),
        sentAt: maybe(Type.String({ description: 'When it was taken: ISO 8601 in UTC' })),
      },
      'createdAt',
    ]),
    command: {
      words: 'alert messages',
      list: 'messages',
      columns: ['id', 'createdAt', 'rule', 'channel', 'state', 'attempts', 'title', 'lastError'],
    },
  }),
  set: act({
    name: 'alert.set',
    path: '/alerts',
    says: 'Sets a rule of notifications, replacing the one with the same name.',
    right: 'operators',
    people: 'one',
    fields: {
      ...ONE,
      about: about(oneOf(ABOUT), 'Cases when they are opened, stay unclaimed, or become overdue; or a daily digest'),
      kinds: optional(about(listOf(text(60), 60), 'Kinds of case; all kinds if it is left out', ['payout_unknown'])),
      asset: optional(about(text(40), 'With least: only cases about this asset', 'inr')),
      least: optional(about(amount, 'With asset: only cases about at least this much', '1000')),
      afterMinutes: optional(about(whole(0, 43_200), 'Minutes to wait; none if it is left out', 15)),
      fromHour: optional(
        about(hour, 'Hour of the day from which it notifies; for a digest, the hour at which it is sent', 22),
      ),
      untilHour: optional(
        about(hour, 'Hour of the day at which it ends telling; the whole day where both are equal', 6),
      ),
      zone: optional(about(text(60), 'Time zone of the hours; UTC if it is left out', 'Asia/Kolkata')),
    },
    refuses: ['malformed_amount'],
    gives: done(AFTER),
    command: { words: 'alert set', args: ['name', 'channel', 'about'] },
  }),
  remove: act({
    name: 'alert.remove',
    path: '/alerts/remove',
    says: 'Removes a rule of notifications.',
    right: 'operators',
    people: 'one',
    fields: { name },
    refuses: ['unknown_alert'],
    gives: done(AFTER),
    command: { words: 'alert remove', args: ['name'] },
  }),
  test: act({
    name: 'alert.test',
    path: '/alerts/test',
    says: 'Sends a message that says it is a test.',
    right: 'operators',
    people: 'one',
    fields: { name },
    refuses: ['unknown_alert'],
    gives: done(AFTER, [{ message: Type.String({ description: 'Number of the message' }) }]),
    command: { words: 'alert test', args: ['name'] },
  }),
};
