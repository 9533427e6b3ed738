/**
 * A partner's receiver of webhooks: a real HTTP or HTTPS server whose behaviour a test sets.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Came } from './client.ts';
import { assertDeclaredWebhook } from './declared.ts';

export interface Received {
  headers: Record<string, string>;
  text: string;
  body: Came;
}

/** Answers a request; the caller of `takes` records the messages answered with 2xx. */
export type Behaviour = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

/** @param options.anything accepts other bodies than our webhooks, and does not compare them with their declarations */
export async function openReceiver(options: { tls?: { key: string; cert: string }; anything?: boolean } = {}) {
  /** All requests, and those answered with 2xx, in the order of arrival. */
  const seen: Received[] = [];
  const taken: Received[] = [];
  const takes: Behaviour = (received, response) => {
    taken.push(received);
    response.writeHead(200).end('thank you');
  };
  let behaviour: Behaviour = takes;
  const sockets = new Set<Socket>();

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const received = { headers: request.headers as Record<string, string>, text, body: JSON.parse(text) };
      const isSigned = 'x-onramp-payload' in received.headers || 'webhook-id' in received.headers;
      if (isSigned && options.anything !== true) assertDeclaredWebhook(received.body);
      seen.push(received);
      behaviour(received, response, request);
    });
  };
  const server = options.tls === undefined ? createServer(answer) : createTlsServer(options.tls, answer);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  let port = 0;
  async function up(): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }
  async function down(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }
  await up();
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://localhost:${port}/hook`,
    port,
    seen,
    taken,
    takes,
    behaves(as: Behaviour): void {
      behaviour = as;
    },
    /** Connections that are open now. */
    connections: () => sockets.size,
    up,
    down,
  };
}
