/**
 * A minimal partner receiver for webhooks: one endpoint per format on this machine (`standard` as /v1 has it, the others are the
 * white-label wire's), with signatures checked as a partner would: by `verifyWebhook` of the SDK. It imports nothing of the
 * server.
 *
 * Endpoints of receivers that died before removing them are removed by the next one.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Cloverleaf, hasReason, verifyWebhook, WebhookError } from '../../../sdk/src/index.ts';

export interface Partner {
  name: string;
  apiKey: string;
  apiSecret: string;
}

export interface Heard {
  format: (typeof FORMATS)[number];
  /** Such as `OFFRAMP TRADE_COMPLETED` or `order.paying_out`. */
  what: string;
  /** The order or customer it is about. */
  subject: string;
  sequence: number;
  eventId: string;
  isGenuine: boolean;
  text: string;
}

const FORMATS = ['whitelabel', 'flat', 'standard'] as const;
const PATH = '/cloverleaf-receiver';
const MAX_BYTES = 256 * 1024;

export async function openReceiver(
  { whitelabel, webhooks }: Cloverleaf,
  partner: Partner,
  told: (heard: Heard) => void,
  formats: readonly Heard['format'][] = FORMATS,
): Promise<{ url: string; close(): Promise<void> }> {
  let secret = '';
  const server = createServer((request, response) => {
    void textOf(request).then(
      (text) => {
        const format = FORMATS.find((one) => request.url === `${PATH}/${one}`) ?? 'whitelabel';
        // The message arrived before the reply that contains its secret. After a 503 it is delivered again.
        if (format === 'standard' && secret === '') return void response.writeHead(503).end();
        const secrets = format === 'standard' ? secret : partner.apiSecret;
        void read(format, { headers: request.headers, body: text }, secrets).then((heard) => {
          response.writeHead(heard.isGenuine ? 200 : 401).end();
          told(heard);
        });
      },
      () => response.writeHead(400).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;

  for (const { id, url: other, failures } of (await webhooks.list()).data)
    if (other.includes(PATH) && failures > 0) await remove(id);
  const made: string[] = [];
  for (const format of formats) {
    const address = `${url}/${format}`;
    if (format === 'standard') {
      const endpoint = await webhooks.create({ url: address });
      made.push(endpoint.id);
      secret = endpoint.secret;
    } else made.push((await whitelabel.post('v1/webhooks', { url: address, format }, { repeat: true })).id);
  }
  return {
    url,
    async close() {
      for (const id of made) await remove(id);
      server.close();
      server.closeAllConnections();
    },
  };

  async function remove(id: string): Promise<void> {
    try {
      await webhooks.remove(id);
    } catch (error) {
      // An earlier attempt whose answer was lost may have removed the endpoint.
      if (!hasReason(error, 'unknown_endpoint')) throw error;
    }
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

type Format = Heard['format'];

/** Reads and checks a message. A forged one is shown too, so that the user sees what it claims. */
async function read(
  format: Format,
  message: { headers: IncomingMessage['headers']; body: string },
  secret: string,
): Promise<Heard> {
  let isGenuine = true;
  try {
    await verifyWebhook(message, { secret, formats: [format] });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    isGenuine = false;
  }
  return { format, ...WORDS[format](objectIn(message.body), message), isGenuine, text: message.body };
}

type Words = Pick<Heard, 'what' | 'subject' | 'sequence' | 'eventId'>;
type Said = Record<string, unknown> & { metadata?: Record<string, unknown> };

const WORDS: Record<Format, (said: Said, message: { headers: IncomingMessage['headers'] }) => Words> = {
  whitelabel: ({ eventType, status, referenceId, metadata = {} }) => ({
    what: `${eventType} ${status}`,
    subject: String(referenceId ?? metadata.customerId ?? ''),
    sequence: Number(metadata.sequence),
    eventId: String(metadata.eventId),
  }),
  flat: ({ eventType, status, orderId }) => ({
    what: `${eventType} ${status}`,
    subject: String(orderId),
    sequence: 1,
    eventId: `order ${orderId}`,
  }),
  standard: ({ type, subject, sequence }, { headers }) => ({
    what: String(type),
    subject: String(subject),
    sequence: Number(sequence),
    eventId: String(headers['webhook-id']),
  }),
};

function objectIn(text: string): Said {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Said) : {};
  } catch {
    return {};
  }
}
