/**
 * Channels of alerts and senders of login codes. Which are used, and with which accounts, are settings of the server, because
 * they contain secrets of other services: here they are listed and tested.
 */
import { alertRules, newestMessages, testChannel } from '../../alerts/index.ts';
import { Refusal, Unavailable } from '../../base/errors.ts';
import { openTyped } from '../../base/typed.ts';
import { type Action, action } from './action.ts';
import { stateOf } from './alerts.ts';
import { CHANNELS } from './declared/channels.ts';
import { type Read, read } from './read.ts';

/** Valid for no login: a login compares a code with the one that it has sent. */
const TEST_CODE = '000000';

export const CHANNEL_ACTIONS: readonly Action[] = [
  action({
    ...CHANNELS.test,
    subject: ({ channel }) => `channel:${channel}`,
    look: async () => null,
    perform: async ({ alertChannels = [] }, tx, { channel }, { now }) => ({
      message: await testChannel(tx, channel, { channels: alertChannels, now }),
    }),
  }),
  action({
    ...CHANNELS.testCode,
    subject: () => 'code-sender',
    look: async () => null,
    async outside({ sendCode, vault }, { phone }) {
      if (sendCode === undefined) throw new Refusal('code_not_sent', { why: 'this server has no sender of codes' });
      try {
        await sendCode(openTyped(vault, phone), TEST_CODE);
      } catch (error) {
        if (error instanceof Unavailable) throw new Refusal('code_not_sent', { why: error.message });
        throw error;
      }
    },
  }),
];

export const CHANNEL_READS: readonly Read[] = [
  read({
    ...CHANNELS.list,
    async answer({ messengers = [] }, tx) {
      const rules = await alertRules(tx);
      const alerts = messengers.filter(({ what }) => what === 'alerts').map(({ code }) => code);
      const newest = new Map((await newestMessages(tx, alerts)).map((one) => [one.channel, one]));
      const channels = messengers.map((one) => {
        const isAlerts = one.what === 'alerts';
        const last = isAlerts ? newest.get(one.code) : undefined;
        return {
          ...one,
          rules: isAlerts ? rules.filter(({ channel }) => channel === one.code).length : 0,
          newest: last === undefined ? null : shown(last),
        };
      });
      return { channels };
    },
  }),
];

const shown = (one: Awaited<ReturnType<typeof newestMessages>>[number]) => ({
  ...{ id: one.id, state: stateOf(one), createdAt: one.createdAt, sentAt: one.sentAt },
  ...{ attempts: one.attempts, lastError: one.lastError },
});
