/** Channels of alerts and senders of login codes: which there are, whether they work, and a test of each. */
import { Type } from 'typebox';
import { about, text, typed } from '../../declaration/fields.ts';
import { declareAction, declareRead } from '../declare.ts';
import { done, many, maybe, rows } from '../replies.ts';

export const CHANNELS = {
  list: declareRead({
    path: '/channels',
    says: 'Lists the channels of alerts and the senders of login codes: which are used, which settings they lack, and the newest message of each channel.',
    fields: {},
    gives: rows('channels', [
      {
        what: Type.String({ description: 'alerts: a channel of alerts; codes: a sender of login codes' }),
        code: Type.String({ description: 'Its name in the settings' }),
        about: Type.String({ description: 'What it does' }),
        isUsed: Type.Boolean({ description: 'Whether this server uses it' }),
        sandboxOnly: Type.Boolean({ description: 'Whether production refuses to start with it' }),
        chosenBy: Type.String({ description: 'The setting that names what is used' }),
        settings: many(
          [
            { name: Type.String({ description: 'Name of the setting' }) },
            { about: Type.String({ description: 'What it is for' }) },
            { isSet: Type.Boolean({ description: 'Whether the process that answers has it; its value is not shown' }) },
            { isDemanded: Type.Boolean({ description: 'Whether it must be set where the channel is used' }) },
          ],
          'Its settings',
        ),
        rules: Type.Integer({ description: 'Number of alert rules that send through it' }),
        newest: maybe(
          Type.Object(
            {
              id: Type.String({ description: 'Number of the message' }),
              state: Type.String({ description: 'waiting, sent or failed' }),
              createdAt: Type.String({ description: 'When it was written: ISO 8601 in UTC' }),
              sentAt: maybe(Type.String({ description: 'When the channel accepted it: ISO 8601 in UTC' })),
              attempts: Type.Integer({ description: 'How many attempts were made' }),
              lastError: maybe(Type.String({ description: 'Why the channel did not accept it' })),
            },
            { description: 'Its newest message; null for a sender of codes, which keeps none' },
          ),
        ),
      },
    ]),
    command: { words: 'channels', list: 'channels', columns: ['what', 'code', 'isUsed', 'rules', 'about'] },
  }),
  test: declareAction({
    name: 'channel.test',
    path: '/channels/test',
    says: 'Sends a test message through a channel of alerts. No rule is needed.',
    right: 'operators',
    people: 'one',
    fields: { channel: about(text(20, /^[a-z]+$/, 'a word'), 'A channel that ALERT_CHANNELS names', 'email') },
    gives: done(null, [{ message: Type.String({ description: 'Number of the message' }) }]),
    command: { words: 'channel test', args: ['channel'] },
  }),
  testCode: declareAction({
    name: 'code-sender.test',
    path: '/code-sender/test',
    says: 'Sends the code 000000 to a phone through the sender of login codes. The code is valid for no login.',
    right: 'operators',
    isFresh: true,
    people: 'one',
    fields: {
      phone: about(
        typed(16, /^\+[1-9][0-9]{6,14}$/, 'a phone number with its country, such as +919812345678'),
        'A phone of yours',
        '+919812345678',
      ),
    },
    refuses: ['code_not_sent'],
    gives: done(null),
    command: { words: 'code-sender test', args: ['phone'] },
  }),
};
