/**
 * The HTTP server this wire needs.
 *
 * - A payload repeats the body in a header, so headers may take 128 KiB; Node's own 16 KiB end at a body of 11 KiB.
 * - Paths are exact: case counts, a slash at the end is another path.
 * - What the parser or the router refuses before any route is reached gets the same envelope as everything else.
 */
import { METHODS } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { randomHex } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Reply } from '../protocol.ts';
import { failure } from './errors.ts';

const MAX_HEADER_BYTES = 128 * 1024;
/** A token of a hosted page holds an address to return to. */
const MAX_PARAM_CHARS = 4_096;
const REQUEST_TIMEOUT_MS = 30_000;

export interface ServerOptions {
  log: Log;
  /** One line per request; off by default, because it costs a third of the throughput. */
  logRequests?: boolean;
  /** Proxies whose X-Forwarded-For is believed. */
  trustProxy?: boolean | string | string[];
}

const nothingHere = failure(404, 'unknown_path', 'There is nothing at this path.');
const headersTooLarge = failure(
  431,
  'headers_too_large',
  `The request headers are larger than ${MAX_HEADER_BYTES} bytes.`,
);
const tooSlow = failure(408, 'request_timeout', 'The request did not arrive in time.');
const notHttp = failure(400, 'malformed_request', 'This is not an HTTP request.');

export function createServer({ log, logRequests = false, trustProxy = false }: ServerOptions): FastifyInstance {
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
