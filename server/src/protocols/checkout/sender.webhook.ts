/**
 * Codes sent by HTTP: one signed POST to a URL of the operator's, which sends them as text messages. Every provider has its
 * own API, so the operator writes a few lines in between.
 *
 * The body is `{"phone":"+91…","code":"123456","sentAt":"…"}`. `X-Cloverleaf-Signature` is its HMAC-SHA256 in hex under the
 * shared secret; `Idempotency-Key` is different for each. Any 2xx means accepted. Nothing is retried here: the customer
 * requests another code. Phone and code are only in the body, never in a URL, an error or a log.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { adapter } from '../../base/adapter.ts';
import { demanded, sharedSecret, text } from '../../base/env.ts';
import { Unavailable } from '../../base/errors.ts';
import { ask } from '../../base/http.ts';
import type { CodeSender } from './sender.ts';

const DEADLINE_MS = 5_000;

export function webhookSender(options: { url: string; secret: string; deadlineMs?: number }): CodeSender {
  const { url, secret, deadlineMs = DEADLINE_MS } = options;
  return {
    async sendCode(phone, code) {
      const body = JSON.stringify({ phone, code, sentAt: new Date().toISOString() });
      let status: number;
      try {
        const answer = await ask({
          url,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-cloverleaf-signature': createHmac('sha256', secret).update(body).digest('hex'),
            'idempotency-key': randomUUID(),
          },
          body,
          deadline: AbortSignal.timeout(deadlineMs),
          longestBytes: 0,
          wants: () => 'none',
        });
        status = answer.status;
      } catch {
        // Thrown without the cause, which may quote the message.
        throw new Unavailable('code sender', 'it did not answer');
      }
      if (status < 200 || status > 299) throw new Unavailable('code sender', `it answered ${status}`);
    },
  };
}

export const webhookCodes = adapter({
  code: 'webhook',
  about: 'Posts each code, signed, to an address of the operator, which sends it as a text message',
  settings: {
    url: demanded(
      text(
        'CODE_SENDER_URL',
        'address to which login codes are posted, for a service that sends them as text messages',
        undefined,
      ),
      'address to which login codes are posted, for a service that sends them to phones',
    ),
    secret: demanded(
      sharedSecret('CODE_SENDER_SECRET', 'signs the requests to CODE_SENDER_URL, at least 32 characters'),
      'signs the requests to CODE_SENDER_URL',
    ),
  },
  create: ({ url = '', secret = '' }) => webhookSender({ url, secret }),
});
