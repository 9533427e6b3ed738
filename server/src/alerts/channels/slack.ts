/** Slack: an incoming webhook. It does not know our ids, so a message whose answer was lost may appear twice. */
import { adapter } from '../../base/adapter.ts';
import { demanded, secret } from '../../base/env.ts';
import { type Channel, type ChannelContext, post, textOf } from '../channel.ts';

/** Slack's own markup for users, channels and links begins with `<`. */
const plain = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const slackChannel = adapter({
  code: 'slack',
  about: 'Posts to a channel of Slack, through an incoming webhook',
  settings: {
    url: demanded(
      secret('ALERT_SLACK_URL', 'address of the incoming webhook of Slack; keep it secret: it lets anyone post'),
      'address to which alerts are posted',
    ),
  },
  create: ({ url = '' }, { deadlineMs }: ChannelContext): Channel => ({
    code: 'slack',
    send: async (message) =>
      await post('slack', {
        ...{ url, deadlineMs },
        body: JSON.stringify({ text: plain(`*${message.title}*\n${textOf(message)}`) }),
      }),
  }),
});
