/**
 * The HTTP server of this API.
 *
 * - A payload repeats the body in a header, so headers may have 128 KiB: a body of 11 KiB already exceeds Node's default of
 *   16 KiB.
 * - Paths are exact: case counts, and a trailing slash is another path.
 * - Errors of the parser or the router before any route get the same envelope as everything else.
 * - It closes once running requests are answered, even if clients keep connections open.
 */
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { defined } from '../../base/defined.ts';
import { Refusal } from '../../base/errors.ts';
import { randomHex } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Reply } from '../protocol.ts';
import { failure, failureOf } from './errors.ts';

export const MAX_HEADER_BYTES = 128 * 1024;
/** A hosted page's token contains a return URL. */
const MAX_PARAM_CHARS = 4_096;
export const REQUEST_TIMEOUT_MS = 30_000;
/** Less than Docker's ten seconds, after which it kills the process. */
const LAST_ANSWERS_MS = 5_000;

export interface ServerOptions {
  log: Log;
  /** One line per request; off by default, because it costs a third of the throughput. */
  logRequests?: boolean;
  /** Proxies whose X-Forwarded-For is trusted. */
  trustProxy?: boolean | string | string[];
  /** Answers a request whose path cannot be decoded and does not belong to this wire. */
  unreadable?: (request: { url: string; id: string }) => Reply | undefined;
  /** The known path that an unknown one most likely means, named in the reply. */
  nearest?: ((url: string) => string | undefined) | undefined;
  /** How long a closing server waits for running requests, in milliseconds. */
  lastAnswersMs?: number;
}

const nothingHere = failureOf(new Refusal('unknown_path'));
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
  unreadable,
  nearest,
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
    frameworkErrors: (_error, request, reply) => {
      const { status, body, headers } = unreadable?.({ url: request.raw.url ?? '', id: request.id }) ?? nothingHere;
      const plain = reply as unknown as FastifyReply;
      plain
        .code(status)
        .headers({ 'content-type': 'application/json; charset=utf-8', ...headers })
        .send(JSON.stringify(body));
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || socket.destroyed) return;
      socket.end(rawReply(PARSER[String((error as { code?: string }).code)] ?? notHttp));
    },
  });
  // Registers all methods, so that a wrong method of a known path is refused as such and not as an unknown path.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  endInTime(app, lastAnswersMs);
  app.setNotFoundHandler({}, async (request, reply) => {
    reply.code(404).header('x-request-id', request.id).header('content-type', 'application/json; charset=utf-8');
    const { body } = failureOf(new Refusal('unknown_path', defined({ nearest: nearest?.(request.url) })));
    return reply.send(JSON.stringify(body));
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
 * On closing, Node ends idle connections. It does not count a connection without any request as idle, and it keeps a connection
 * open after a running request was answered: it would wait a minute for either. So this ends connections itself, and gives
 * unfinished requests `lastAnswersMs`.
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

/** A random prefix per process and a counter: random ids per request would cost as much as answering some of them. */
function requestIds(): () => string {
  const process = randomHex(5);
  let count = 0;
  return () => `${process}${(count += 1).toString(16).padStart(6, '0')}`;
}

/** Errors of the HTTP parser, by their codes. */
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
