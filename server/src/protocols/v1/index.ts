/**
 * The partner API under /v1: REST and JSON, beside the white-label wire.
 *
 * declared/ lists the endpoints, handlers/ implements them; answer.ts fixes the order in which a request is checked. A refusal
 * changes nothing, and its reply is an RFC 9457 problem (problems.ts). Requests and replies are in the request log
 * (request-log.ts).
 *
 * The paths /v1/events and /v1/webhooks belong to the white-label wire and are older than this API.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { defined } from '../../base/defined.ts';
import { Refusal } from '../../base/errors.ts';
import { describeError } from '../../base/log.ts';
import { frameworkCode, isBare, isPath, readBodiesAsBytes } from '../http.ts';
import { nearestPath } from '../nearest.ts';
import type { Protocol, Reply } from '../protocol.ts';
import { openRequestLog } from '../request-log.ts';
import { takeUploads } from '../uploads.ts';
import { answerer, clientRequestId, PREFIX } from './answer.ts';
import { isWrite } from './declare.ts';
import type { Handled, V1Deps } from './handler.ts';
import { HANDLERS } from './handlers/index.ts';
import { ERRORS, type Failed, problemOf, problemPage } from './problems.ts';
import { isReason } from './reasons.ts';
import { NEWEST } from './version.ts';

export { eraseRequestLog, purgeRequestLog, requestDesk } from '../request-log.ts';
export type { V1Deps } from './handler.ts';

const MAX_BODY_BYTES = 64 * 1024;

export const v1: Protocol<V1Deps> = (deps) => async (app) => {
  const problemFor = problems(deps);
  await app.register(
    async (inside) => {
      const log = openRequestLog(deps);
      const answer = answerer(deps, log.add, problemFor);
      inside.addHook('onClose', () => log.close());
      readBodiesAsBytes(inside);
      inside.addHook('onRequest', (request, reply, done) => {
        reply.headers({ 'x-request-id': request.id, 'cloverleaf-version': NEWEST, 'cache-control': 'no-store' });
        const own = clientRequestId(request);
        if (own !== null) reply.header('x-client-request-id', own);
        done();
      });
      inside.setErrorHandler(async (error, request, reply) => {
        const { status, body, headers } = problemFor(error, request);
        return reply.code(status).headers(headers).send(JSON.stringify(body));
      });
      const handled = [...HANDLERS, ...(deps.beside ?? [])];
      const mount = (on: FastifyInstance, some: readonly Handled[]): void => {
        for (const one of some) {
          const { method, path, files, maxBodyBytes = MAX_BODY_BYTES } = one.declared;
          on.route({
            method,
            url: path,
            bodyLimit: maxBodyBytes,
            ...(isWrite(one.declared) ? { onRequest: files === true ? checkUpload : checkJson } : {}),
            handler: async (request, reply) => send(reply, await answer(one, request)),
          });
        }
      };
      mount(
        inside,
        handled.filter(({ declared }) => declared.files !== true),
      );
      await takeUploads(inside, (uploads) =>
        mount(
          uploads,
          handled.filter(({ declared }) => declared.files === true),
        ),
      );
      nothingElse(inside, handled);
    },
    { prefix: PREFIX },
  );
  if (!deps.hasDocs) pagesOfReasons(app);
};

/** Answers a request under our prefix whose path cannot be decoded, because the router matches none. */
export const unreadablePath =
  (baseUrl: () => string) =>
  ({ url, id }: { url: string; id: string }): Reply | undefined => {
    if (!url.startsWith(`${PREFIX}/`)) return undefined;
    const about = { 'x-request-id': id, 'cloverleaf-version': NEWEST, 'cache-control': 'no-store' };
    const failed = problemOf(new Refusal('unknown_path'), { baseUrl: baseUrl(), requestId: id });
    return { ...failed, headers: { ...about, ...failed.headers } };
  };

/** Converts an error to a reply, and logs our own bugs. */
const problems =
  (deps: V1Deps) =>
  (error: unknown, request: FastifyRequest): Failed => {
    const failed = problemOf(translated(error), { baseUrl: deps.publicUrl(), requestId: request.id });
    if (failed.status >= 500) {
      const level = failed.reason === 'internal' ? 'error' : 'warn';
      deps.log[level](
        { requestId: request.id, path: request.routeOptions.url, ...describeError(error) },
        'request failed',
      );
    }
    return failed;
  };

/** If the docs are not served, a problem links to a short page of each reason. */
function pagesOfReasons(app: FastifyInstance): void {
  app.get(`${ERRORS}/:reason`, async (request, reply) => {
    const { reason } = request.params as { reason: string };
    if (!isReason(reason)) return reply.code(404).type('text/plain; charset=utf-8').send('There is no such reason.\n');
    return reply.type('text/html; charset=utf-8').send(problemPage(reason));
  });
}

function send(reply: FastifyReply, { status, body, headers }: Reply): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': 'application/json; charset=utf-8', ...headers })
    .send(JSON.stringify(body));
}

type Check = (request: FastifyRequest, reply: FastifyReply, done: (refused?: Refusal) => void) => void;

/** Throws 'unsupported_media_type'. A request without a body may have any content type. */
const checkType =
  (accepted: string): Check =>
  (request, _reply, done) => {
    const { headers } = request;
    if (isBare(headers)) {
      // Otherwise the framework would refuse an invalid content type before it sees that there is no body.
      delete headers['content-type'];
      return done();
    }
    const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    const encoding = headers['content-encoding'] ?? 'identity';
    done(type === accepted && encoding === 'identity' ? undefined : new Refusal('unsupported_media_type'));
  };
const checkJson = checkType('application/json');
const checkUpload = checkType('multipart/form-data');

/**
 * Answers everything that is not an endpoint: another method of a known path, or an unknown path. Runs before any body is read.
 */
function nothingElse(app: FastifyInstance, handled: readonly Handled[]): void {
  const methods = new Map<string, string[]>();
  for (const { declared } of handled) {
    const form = `${PREFIX}${declared.path.replaceAll(/:\w+/g, ':')}`;
    methods.set(form, [...(methods.get(form) ?? []), declared.method, ...(declared.method === 'GET' ? ['HEAD'] : [])]);
  }
  const paths = handled.map(({ declared }) => `${PREFIX}${declared.path}`);
  const refuse = async (request: FastifyRequest) => {
    const url = request.url.split('?', 1)[0] ?? '';
    const allow = [...methods].find(([form]) => isPath(form, url))?.[1];
    throw allow === undefined || allow.includes(request.method)
      ? new Refusal('unknown_path', defined({ nearest: nearestPath(url, paths) }))
      : new Refusal('method_not_allowed', { allow });
  };
  for (const url of ['/', '/*']) app.route({ method: app.supportedMethods, url, onRequest: refuse, handler: refuse });
}

/** Maps the framework's own errors to refusals. */
const FRAMEWORK: Readonly<Record<string, () => Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Refusal('body_too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Refusal('unsupported_media_type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Refusal('malformed_body'),
};
const translated = (error: unknown): unknown => FRAMEWORK[frameworkCode(error)]?.() ?? error;
