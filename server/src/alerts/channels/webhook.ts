/**
 * Webhook: one signed POST per message, to a program of the operator's.
 *
 * The headers are those of Standard Webhooks: `webhook-id` (the same at every attempt), `webhook-timestamp`, and
 * `webhook-signature`, which is `v1,` and the HMAC-SHA256 in base64 of `id.timestamp.body` under the secret.
 */
import { createHmac } from 'node:crypto';
import { adapter } from '../../base/adapter.ts';
import { demanded, sharedSecret, webAddress } from '../../base/env.ts';
import { type Channel, type ChannelContext, post } from '../channel.ts';

export const webhookChannel = adapter({
  code: 'webhook',
  about: "Posts each message, signed, to a program of the operator's",
  settings: {
    url: demanded(
      webAddress('ALERT_WEBHOOK_URL', 'address to which alerts are posted', undefined),
      'address to which alerts are posted',
    ),
    secret: demanded(
      sharedSecret('ALERT_WEBHOOK_SECRET', 'signs the posted alerts, at least 32 characters'),
      'signs alerts that are posted',
    ),
  },
  create: ({ url = '', secret = '' }, { deadlineMs }: ChannelContext): Channel => ({
    code: 'webhook',
    async send({ id, ...message }) {
      const body = JSON.stringify({ id, ...message });
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const signed = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
      await post('alert webhook', {
        ...{ url, body, deadlineMs },
        headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signed}` },
      });
    },
  }),
});
