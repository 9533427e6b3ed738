/**
 * A minimal partner receiver for webhooks: one endpoint per format on this machine, with signatures checked as a partner
 * would. It imports nothing of the server.
 *
 * Endpoints of receivers that died before removing them are removed by the next one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Partner, partnerClient } from './client.ts';

export interface Heard {
  format: (typeof FORMATS)[number];
  /** `OFFRAMP TRADE_COMPLETED`, `order.paying_out`. */
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
/** How old a signature may be. */
const TOLERANCE_MS = 300_000;

interface Endpoint {
  id: string;
  url: string;
  failures: number;
  secret?: string;
}

export async function openReceiver(
  call: ReturnType<typeof partnerClient>,
  partner: Partner,
  told: (heard: Heard) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  let secret = '';
  const server = createServer((request, response) => {
    void textOf(request).then(
      (text) => {
        const format = FORMATS.find((one) => request.url === `${PATH}/${one}`) ?? 'whitelabel';
        // Earlier than the reply that contains its secret: it will be delivered again.
        if (format === 'standard' && secret === '') return void response.writeHead(503).end();
        const heard =
          format === 'standard' ? readStandard(request, text, secret) : READERS[format](request, text, partner);
        response.writeHead(heard.isGenuine ? 200 : 401).end();
        told(heard);
      },
      () => response.writeHead(400).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;

  for (const { id, url: other, failures } of await call<Endpoint[]>('/v1/webhooks', {}, 'GET'))
    if (other.includes(PATH) && failures > 0) await call(`/v1/webhooks/${id}`, {}, 'DELETE');
  const made: string[] = [];
  for (const format of FORMATS) {
    const endpoint = await call<Endpoint>('/v1/webhooks', { url: `${url}/${format}`, format });
    made.push(endpoint.id);
    if (format === 'standard') secret = endpoint.secret ?? '';
  }
  return {
    url,
    async close() {
      for (const id of made) await call(`/v1/webhooks/${id}`, {}, 'DELETE');
      server.close();
      server.closeAllConnections();
    },
  };
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

const header = (request: IncomingMessage, name: string): string => String(request.headers[name] ?? '');

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const isFresh = (atMs: number): boolean => Math.abs(Date.now() - atMs) <= TOLERANCE_MS;

/** The signature covers the header's text, which is base64 of the exact body. */
function isSigned(request: IncomingMessage, text: string, { apiSecret }: Partner): boolean {
  const payload = header(request, 'x-onramp-payload');
  const expected = createHmac('sha512', apiSecret).update(payload).digest('hex');
  return same(header(request, 'x-onramp-signature'), expected) && same(payload, Buffer.from(text).toString('base64'));
}

function readWire(request: IncomingMessage, text: string, partner: Partner): Heard {
  const body = JSON.parse(text) as {
    referenceId?: number;
    eventType: string;
    status: string;
    metadata: { eventId: number; sequence: number; timestamp: number; customerId?: string };
  };
  return {
    format: 'whitelabel',
    what: `${body.eventType} ${body.status}`,
    subject: String(body.referenceId ?? body.metadata.customerId ?? ''),
    sequence: body.metadata.sequence,
    eventId: String(body.metadata.eventId),
    isGenuine: isSigned(request, text, partner) && isFresh(body.metadata.timestamp),
    text,
  };
}

/** It contains no signed time: what prevents replays is that an order is completed once. */
function readFlat(request: IncomingMessage, text: string, partner: Partner): Heard {
  const body = JSON.parse(text) as { orderId: number; eventType: string; status: number };
  return {
    format: 'flat',
    what: `${body.eventType} ${body.status}`,
    subject: String(body.orderId),
    sequence: 1,
    eventId: `order ${body.orderId}`,
    isGenuine: isSigned(request, text, partner),
    text,
  };
}

const READERS = { whitelabel: readWire, flat: readFlat } as const;

/** Any of the signatures may match our secret: there are two during a rotation. */
function readStandard(request: IncomingMessage, text: string, secret: string): Heard {
  const [id, timestamp] = [header(request, 'webhook-id'), header(request, 'webhook-timestamp')];
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')}`;
  const body = JSON.parse(text) as { type: string; subject: string; sequence: number };
  return {
    format: 'standard',
    what: body.type,
    subject: body.subject,
    sequence: body.sequence,
    eventId: id,
    isGenuine:
      header(request, 'webhook-signature')
        .split(' ')
        .some((one) => same(one, expected)) && isFresh(Number(timestamp) * 1000),
    text,
  };
}
