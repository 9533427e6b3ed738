/** PagerDuty: Events API v2. The message's id is the key by which a repeated event is the same incident. */
import { adapter } from '../../base/adapter.ts';
import { demanded, secret, webAddress } from '../../base/env.ts';
import { type Channel, type ChannelContext, post } from '../channel.ts';

export const pagerdutyChannel = adapter({
  code: 'pagerduty',
  about: 'Opens an incident of PagerDuty, by its Events API v2',
  settings: {
    key: demanded(
      secret('ALERT_PAGERDUTY_KEY', 'integration key of the service in PagerDuty'),
      'which service of PagerDuty is called',
    ),
    url: webAddress(
      'ALERT_PAGERDUTY_URL',
      'address to which events of PagerDuty are sent',
      'https://events.pagerduty.com',
    ),
  },
  create: ({ key = '', url }, { deadlineMs }: ChannelContext): Channel => ({
    code: 'pagerduty',
    send: async (message) =>
      await post('pagerduty', {
        url: `${url}/v2/enqueue`,
        deadlineMs,
        body: JSON.stringify({
          routing_key: key,
          event_action: 'trigger',
          dedup_key: message.id,
          payload: {
            summary: message.title.slice(0, 1_024),
            source: 'cloverleaf',
            severity: message.isUrgent ? 'critical' : 'info',
            custom_details: { lines: message.lines },
          },
          ...(message.link === null ? {} : { links: [{ href: message.link, text: 'Open in the console' }] }),
        }),
      }),
  }),
});
