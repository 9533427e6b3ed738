/**
 * The format `standard`: Standard Webhooks (standardwebhooks.com), with the whole resource.
 *
 * The signature is HMAC-SHA256 over `id.timestamp.body`. During a rotation there are two signatures, one per secret, and a
 * receiver that knows either accepts. The message is the feed's representation (`resource`).
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Format, Happened } from './format.ts';

const PREFIX = 'whsec_';
/** The specification allows 24 to 64. */
const SECRET_BYTES = 32;

export const newSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/** An event as delivered and as returned by the feed. */
export const resource = (event: Happened) => ({
  id: event.id,
  type: event.type,
  timestamp: event.at.toISOString(),
  subject: event.subject,
  sequence: event.sequence,
  data: event.body,
});

/** @param timestampS Unix seconds */
export function signature(secret: string, id: string, timestampS: number, body: string): string {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')}`;
}

export const standard: Format = {
  concerns: () => true,
  async message(event, { secrets, sentAt }) {
    const body = JSON.stringify(resource(event));
    const timestampS = Math.floor(sentAt.getTime() / 1000);
    return {
      body,
      headers: {
        'webhook-id': event.id,
        'webhook-timestamp': String(timestampS),
        'webhook-signature': secrets.map((secret) => signature(secret, event.id, timestampS, body)).join(' '),
      },
    };
  },
};
