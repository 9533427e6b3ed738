/** Alerts: the cases that people are notified about, by which channel, and the sent messages. */
import { Type } from 'typebox';
import { ABOUT, MAX_MESSAGES } from '../../../alerts/index.ts';
import { about, amount, id, listOf, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { declareAction, declareRead, limit } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';

const name = about(
  text(40, /^[a-z0-9][a-z0-9._-]*$/, 'a name of lower-case letters, digits, dots and hyphens'),
  'Name of the rule',
  'night-money',
);
const hour = whole(0, 23);
const RULE = [
  'name',
  {
    channel: Type.String({ description: 'Channel of the notifications' }),
    about: Type.String({ description: 'What it notifies about: opened, unclaimed or overdue cases; or a digest' }),
    kinds: Type.Array(Type.String(), { description: 'Kinds of case; an empty list means every kind' }),
    asset: maybe(Type.String({ description: 'Asset of the minimum amount' })),
    least: maybe(Type.String({ description: 'Minimum amount, a plain decimal of the asset' })),
    afterMinutes: Type.Integer({ description: 'Minutes before it notifies' }),
    fromHour: Type.Integer({ description: 'Hour of the day at which notifications start' }),
    untilHour: Type.Integer({ description: 'Hour of the day at which notifications end' }),
    zone: Type.String({ description: 'Time zone of the hours' }),
    createdBy: Type.String({ description: 'Operator who set the rule' }),
  },
  'createdAt',
];
const AFTER = [
  ...['name', 'on'],
  {
    'channel?': Type.String({ description: 'Channel of the notifications' }),
    'about?': Type.String({ description: 'What it notifies about' }),
    'kinds?': Type.Array(Type.String(), { description: 'Kinds of case; an empty list means every kind' }),
    'asset?': maybe(Type.String({ description: 'Asset of the minimum amount' })),
    'leastUnits?': maybe(Type.String({ description: 'Minimum amount, a plain decimal of the asset' })),
    'afterMinutes?': Type.Integer({ description: 'Minutes before it notifies' }),
    'fromHour?': Type.Integer({ description: 'Hour of the day at which notifications start' }),
    'untilHour?': Type.Integer({ description: 'Hour of the day at which notifications end' }),
    'zone?': Type.String({ description: 'Time zone of the hours' }),
  },
];
const ONE = { name, channel: about(text(20, /^[a-z]+$/, 'a word'), 'A channel that ALERT_CHANNELS names', 'email') };

export const ALERTS = {
  list: declareRead({
    path: '/alerts',
    says: 'Lists the rules that notify operators of cases, and the available channels.',
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
  messages: declareRead({
    path: '/alerts/messages',
    says: 'Lists the notifications, newest first.',
    fields: { below: optional(id), limit: limit(MAX_MESSAGES) },
    gives: pages('messages', [
      'id',
      {
        rule: maybe(Type.String({ description: 'Name of the rule; null for the test of a channel' })),
        channel: Type.String({ description: 'Channel' }),
        about: Type.String({ description: 'cases, digest, test, or change: the rule was replaced or removed' }),
        title: Type.String({ description: 'Title of the message' }),
        lines: Type.Array(Type.String(), { description: 'Text of the message' }),
        state: Type.String({ description: 'waiting, sent or failed' }),
        attempts: Type.Integer({ description: 'How many attempts were made' }),
        lastError: maybe(Type.String({ description: 'Why the channel did not accept it' })),
        sentAt: maybe(Type.String({ description: 'When the channel accepted it: ISO 8601 in UTC' })),
      },
      'createdAt',
    ]),
    command: {
      words: 'alert messages',
      list: 'messages',
      columns: ['id', 'createdAt', 'rule', 'channel', 'state', 'attempts', 'title', 'lastError'],
    },
  }),
  set: declareAction({
    name: 'alert.set',
    path: '/alerts',
    says: 'Sets a rule that notifies operators, replacing the rule with the same name.',
    right: 'operators',
    people: 'one',
    fields: {
      ...ONE,
      about: about(
        oneOf(ABOUT),
        'What it notifies about: cases that are opened, stay unclaimed or become overdue; or a daily digest',
      ),
      kinds: optional(about(listOf(text(60), 60), 'Kinds of case; all kinds by default', ['payout_unknown'])),
      asset: optional(about(text(40), 'With least: only cases about this asset', 'inr')),
      least: optional(about(amount, 'With asset: only cases about at least this much', '1000')),
      afterMinutes: optional(about(whole(0, 43_200), 'Minutes to wait before it notifies; 0 by default', 15)),
      fromHour: optional(
        about(hour, 'Hour of the day at which notifications start; for a digest, the hour at which it is sent', 22),
      ),
      untilHour: optional(
        about(hour, 'Hour of the day at which notifications end; if both hours are equal, it notifies all day', 6),
      ),
      zone: optional(about(text(60), 'Time zone of the hours; UTC by default', 'Asia/Kolkata')),
    },
    refuses: ['malformed_amount'],
    gives: done(AFTER),
    command: { words: 'alert set', args: ['name', 'channel', 'about'] },
  }),
  remove: declareAction({
    name: 'alert.remove',
    path: '/alerts/remove',
    says: 'Removes a rule that notifies operators.',
    right: 'operators',
    people: 'one',
    fields: { name },
    refuses: ['unknown_alert'],
    gives: done(AFTER),
    command: { words: 'alert remove', args: ['name'] },
  }),
  test: declareAction({
    name: 'alert.test',
    path: '/alerts/test',
    says: 'Sends a test message to a channel.',
    right: 'operators',
    people: 'one',
    fields: { name },
    refuses: ['unknown_alert'],
    gives: done(AFTER, [{ message: Type.String({ description: 'Number of the message' }) }]),
    command: { words: 'alert test', args: ['name'] },
  }),
};
