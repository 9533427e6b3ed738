/**
 * The HTTP server this wire needs.
 *
 * - A payload repeats the body in a header, so headers may take 128 KiB; Node's own 16 KiB end at a body of 11 KiB.
 * - Paths are exact: case counts, a slash at the end is another path.
 * - What the parser or the router refuses before any route is reached gets the same envelope as everything else.
 * - It ends when what was asked is answered, whoever else holds a connection open.
 */
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { randomHex } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Reply } from '../protocol.ts';
import { failure } from './errors.ts';

const MAX_HEADER_BYTES = 128 * 1024;
/** A token of a hosted page holds an address to return to. */
const MAX_PARAM_CHARS = 4_096;
const REQUEST_TIMEOUT_MS = 30_000;
/** Before Docker's ten seconds, after which it kills. */
const LAST_ANSWERS_MS = 5_000;

export interface ServerOptions {
  log: Log;
  /** One line per request; off by default, because it costs a third of the throughput. */
  logRequests?: boolean;
  /** Proxies whose X-Forwarded-For is believed. */
  trustProxy?: boolean | string | string[];
  /** How long a server that ends waits for requests that have begun. */
  lastAnswersMs?: number;
}

const nothingHere = failure(404, 'unknown_path', 'There is nothing at this path.');
const headersTooLarge = failure(
  431,
  'headers_too_large',
  `The request headers are larger than ${MAX_HEADER_BYTES} bytes.`,
);
const tooSlow = failure(408, 'request_timeout', 'The request did not arrive in time.');
const notHttp = failure(400, 'malformed_request', 'This is not an HTTP request.');

export function createServer({
  log,
  logRequests = false,
  trustProxy = false,
  lastAnswersMs = LAST_ANSWERS_MS,
}: ServerOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    trustProxy,
    genReqId: requestIds(),
    requestIdHeader: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    routerOptions: {
      caseSensitive: true,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      maxParamLength: MAX_PARAM_CHARS,
    },
    frameworkErrors: (_error, _request, reply) => {
      const plain = reply as unknown as FastifyReply;
      plain.code(404).header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(nothingHere.body));
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || socket.destroyed) return;
      socket.end(rawReply(PARSER[String((error as { code?: string }).code)] ?? notHttp));
    },
  });
  // So that a method nobody serves is refused as such, on a path that is served, and not as a path that is not there.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  endInTime(app, lastAnswersMs);
  app.setNotFoundHandler({}, async (request, reply) => {
    reply.code(404).header('x-request-id', request.id).header('content-type', 'application/json; charset=utf-8');
    return reply.send(JSON.stringify(nothingHere.body));
  });
  if (logRequests) {
    app.addHook('onResponse', async (request, reply) => {
      const { method, id, routeOptions } = request;
      log.info(
        { requestId: id, method, path: routeOptions.url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
        'request',
      );
    });
  }
  return app;
}

/**
 * Node closes what is idle when it ends. To it a connection that has asked nothing yet is not idle, and one whose answer is
 * under way is kept alive after it: either would be waited for a minute. A request that does not come to its end is waited for
 * as long as an answer may take, and no longer.
 */
function endInTime(app: FastifyInstance, lastAnswersMs: number): void {
  let isEnding = false;
  const silent = new Set<Socket>();
  app.server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', ({ socket }) => silent.delete(socket));
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isEnding) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => {
    isEnding = true;
    for (const socket of silent) socket.destroy();
    setTimeout(() => app.server.closeAllConnections(), lastAnswersMs).unref();
  });
}

/** Random per process and counted from there: drawn anew for each request they would cost as much as answering some. */
function requestIds(): () => string {
  const process = randomHex(5);
  let count = 0;
  return () => `${process}${(count += 1).toString(16).padStart(6, '0')}`;
}

/** What the HTTP parser refuses, by its own codes. */
const PARSER: Readonly<Record<string, Reply>> = {
  HPE_HEADER_OVERFLOW: headersTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: tooSlow,
};

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function rawReply({ status, body }: Reply): string {
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${PHRASES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
    '',
    text,
  ].join('\r\n');
}
