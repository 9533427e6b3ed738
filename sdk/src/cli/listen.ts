/**
 * `webhooks listen`: shows events as they happen, and optionally posts them to a program on this machine.
 *
 * If the server runs on this machine, it delivers real webhooks: the command opens a receiver, adds an endpoint for it, and
 * removes the endpoint at the end. A server elsewhere cannot reach this machine, so events are pulled from the feed, and every
 * line says `pulled`: it is the event, not a delivery. Forwarded pulled events are signed here, with the receiver's secret.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Cloverleaf } from '../client.ts';
import { hasReason } from '../errors.ts';
import type { Event } from '../generated/v1.ts';
import { signWebhook, verifyWebhook, WebhookError } from '../webhooks.ts';
import { clientOf, type Given, readSecret } from './given.ts';
import { Misuse } from './misuse.ts';
import { plain } from './output.ts';

const LONGEST_BODY = 1024 * 1024;
const FORWARD_MS = 5_000;

export async function listen(given: Given): Promise<number> {
  const client = clientOf(given);
  const { forward, poll } = given.options;
  if (typeof forward === 'string' && !/^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/.test(forward))
    throw new Misuse(
      '--forward must be an address on this machine: endpoints elsewhere are added with webhooks create',
    );
  const isHere = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])/.test(client.baseUrl);
  const ended = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => ended.abort());
  await (isHere && poll !== true ? receive(client, given, ended.signal) : pull(client, given, ended.signal));
  return 0;
}

async function pull(client: Cloverleaf, given: Given, signal: AbortSignal): Promise<void> {
  const file = given.options['secret-file'];
  const { forward } = given.options;
  if (typeof forward === 'string' && typeof file !== 'string')
    throw new Misuse(
      '--forward of pulled events needs --secret-file: they are signed here, with a secret that your receiver knows',
    );
  const secret = typeof file === 'string' ? readSecret(file) : '';
  given.say(
    given.json
      ? JSON.stringify({ pulling: client.baseUrl })
      : `Pulling the events of ${client.baseUrl}, from now on. These are no deliveries. Ctrl-C ends it.`,
  );
  let cursor: string | undefined;
  for await (const page of client.events.list({ limit: 100 }).pages()) cursor = page.nextCursor ?? cursor;
  for await (const { event } of client.events.follow({ cursor, signal })) {
    const answered =
      typeof forward === 'string' ? await post(forward, await signWebhook(event, { secret })) : undefined;
    print(given, event, 'pulled', answered);
  }
}

async function receive(client: Cloverleaf, given: Given, signal: AbortSignal): Promise<void> {
  const { forward } = given.options;
  let secret = '';
  const server = createServer((request, response) => {
    void textOf(request).then(
      async (body) => {
        // The message arrived before the reply that contains the secret. After a 503 it is delivered again.
        if (secret === '') return void response.writeHead(503).end();
        try {
          const { event } = await verifyWebhook({ headers: request.headers, body }, { secret, formats: ['standard'] });
          const headers = Object.fromEntries(
            ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
              name,
              String(request.headers[name]),
            ]),
          );
          const message = { headers: { 'content-type': 'application/json', ...headers }, body };
          const answered = typeof forward === 'string' ? await post(forward, message) : undefined;
          // Passes on the program's own answer, so that a refused message is retried as it would be without this command.
          response.writeHead(answered === undefined ? 204 : (answered.status ?? 502)).end();
          print(given, event as unknown as Event, 'signature valid', answered);
        } catch (error) {
          if (!(error instanceof WebhookError)) throw error;
          response.writeHead(401).end();
          given.say(
            given.json ? JSON.stringify({ notGenuine: error.reason }) : `${time()}  NOT GENUINE: ${error.reason}`,
          );
        }
      },
      () => response.writeHead(400).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/cloverleaf-listen`;
  await removeLeft(client);
  const endpoint = await client.webhooks.create({ url });
  ({ secret } = endpoint);
  given.say(
    given.json
      ? JSON.stringify({ listening: url, endpoint: endpoint.id })
      : `Listening at ${url} as the endpoint ${endpoint.id}. Ctrl-C ends it.`,
  );
  if (!signal.aborted) await once(signal, 'abort');
  try {
    await client.webhooks.remove(endpoint.id);
  } catch (error) {
    if (!hasReason(error, 'unknown_endpoint')) throw error;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/**
 * Removes endpoints of listeners that were killed: nothing answers there any more, and they count towards a partner's maximum.
 */
async function removeLeft(client: Cloverleaf): Promise<void> {
  const { data } = await client.webhooks.list();
  for (const { id, url } of data) {
    const [, port] = /^http:\/\/127\.0\.0\.1:([0-9]+)\/cloverleaf-listen$/.exec(url) ?? [];
    if (port === undefined || (await isOpen(Number(port)))) continue;
    await client.webhooks.remove(id).catch((error: unknown) => {
      if (!hasReason(error, 'unknown_endpoint')) throw error;
    });
  }
}

/** Whether anything listens on a port of this machine. Sends nothing, because the port may belong to another program by now. */
const isOpen = (port: number): Promise<boolean> =>
  new Promise((known) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('connect', () => known(true))
      .once('error', ({ code }: NodeJS.ErrnoException) => known(code !== 'ECONNREFUSED'));
    socket.once('connect', () => socket.destroy());
  });

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LONGEST_BODY) throw new Error('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Answered {
  status: number | undefined;
  says: string;
}

async function post(url: string, message: { headers: Record<string, string>; body: string }): Promise<Answered> {
  try {
    const { status } = await fetch(url, {
      method: 'POST',
      ...message,
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_MS),
    });
    return { status, says: `your receiver answered ${status}` };
  } catch (error) {
    return { status: undefined, says: unanswered(error) };
  }
}

function unanswered(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: unknown; message?: unknown } };
  if (name === 'TimeoutError') return `your receiver did not answer within ${FORWARD_MS / 1000} s`;
  if (cause?.code === 'ECONNREFUSED') return 'nothing listens at the address of --forward';
  return `your receiver was not reached: ${plain(cause?.code ?? cause?.message ?? message)}`;
}

const time = (): string => new Date().toISOString().slice(11, 23);

function print(given: Given, event: Event, how: string, answered: Answered | undefined): void {
  if (given.json) return given.say(JSON.stringify({ event, how, ...(answered === undefined ? {} : { answered }) }));
  const { id, type, subject, sequence } = event;
  const line = `${time()}  ${plain(type).padEnd(26)} ${plain(subject)} #${sequence}  ${plain(id)}  ${how}`;
  given.say(answered === undefined ? line : `${line}; ${answered.says}`);
  if (given.options.bodies === true) given.say(JSON.stringify(event, null, 2));
}
