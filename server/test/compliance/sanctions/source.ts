/** A publisher of lists on loopback, with https and a behaviour that the test sets; and the client that trusts it. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { ask, type Http } from '../../../src/base/http.ts';

const tls = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;
export type Publisher = Awaited<ReturnType<typeof openPublisher>>;

export async function openPublisher() {
  /** Requests in the order of arrival: path and headers. */
  const asked: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const on = new Map<string, Behaviour>();
  const sockets = new Set<Duplex>();
  const server = createServer({ key: tls('key'), cert: tls('cert') }, (request, response) => {
    const path = request.url ?? '';
    asked.push({ path, headers: request.headers });
    response.on('error', () => {});
    const behaviour = on.get(path);
    if (behaviour === undefined) response.writeHead(404).end();
    else behaviour(response, request);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ ca: tls('cert'), keepAlive: false });
  const lookup: LookupFunction = (_host, options, answer) => {
    if (options.all) answer(null, [{ address: '127.0.0.1', family: 4 }]);
    else answer(null, '127.0.0.1', 4);
  };
  const via = { agent, lookup };
  /** The one HTTP client, which finds this publisher and trusts its certificate. */
  const client: Http = (request) => ask({ via, ...request });
  return {
    asked,
    client,
    via,
    url: (path: string) => `https://localhost:${port}${path}`,
    /** What the publisher does when asked for a path. */
    at(path: string, behaviour: Behaviour) {
      on.set(path, behaviour);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends a text, with an ETag; a request that names it gets 304. */
export const sends =
  (text: string, { etag, modified }: { etag?: string; modified?: string } = {}): Behaviour =>
  (response, { headers }) => {
    const isKnown = etag === undefined ? modified !== undefined : headers['if-none-match'] === etag;
    if (isKnown && (etag !== undefined || headers['if-modified-since'] === modified))
      return void response.writeHead(304).end();
    response.writeHead(200, {
      ...(etag === undefined ? {} : { etag }),
      ...(modified === undefined ? {} : { 'last-modified': modified }),
    });
    response.end(text);
  };
