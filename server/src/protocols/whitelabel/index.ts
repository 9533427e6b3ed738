/**
 * The white-label API: the interface that partners' programs are written against.
 *
 * One table lists the endpoints (table.ts and table/). One function, `answerer`, fixes the order in which a request is checked:
 * signature, format of the body, signed against sent body, rate limit, rights, fields, and then the endpoint. The HTTP server
 * below has already checked path, method, content type and size. A refusal at any step changes nothing.
 *
 * Every failure has the envelope of errors.ts. A request whose key is known has a line in the request log (log.ts). Not here:
 * listening, health and metrics (composition/http.ts), the HTTP server's settings for this API (server.ts).
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { describeError } from '../../base/log.ts';
import { noteToldBy } from '../../customers/index.ts';
import { cutOff } from '../../partners/index.ts';
import { authorize } from '../authorize.ts';
import { frameworkCode, isBare, isPath, lastOfEach, readBodiesAsBytes } from '../http.ts';
import { openLimiter, openStrangers, type Strangers } from '../limit.ts';
import { nearestPath } from '../nearest.ts';
import type { Call, Protocol, Reply } from '../protocol.ts';
import { openRequestLog } from '../request-log.ts';
import { readUpload, takeUploads, UPLOAD_LIMITS, type UploadedFile } from '../uploads.ts';
import { authenticate, CLOCK_WINDOW, isSigned, signingHeader } from './auth.ts';
import { type Body, bodyKind, readBody, sameMeaning, signedTextsAgree } from './body.ts';
import { allowedOrigin, originAllowed, preflightHeaders } from './cors.ts';
import { withLoginLink } from './endpoints/customers.ts';
import { gasFees } from './endpoints/public.ts';
import { failureOf } from './errors.ts';
import { type About, openLines } from './log.ts';
import { readMultipart } from './multipart.ts';
import { type MaybeSigned, type Route, type WhitelabelDeps, withIgnored } from './route.ts';
import { ROUTES } from './table.ts';

export { eraseReplies, purgeIdempotencyRecords } from '../idempotency.ts';
export type { BankFault, PayHow, SandboxControls, SandboxDriver } from '../sandbox.ts';
export type { UploadLimits } from '../uploads.ts';
export { CLOCK_WINDOW } from './auth.ts';
export { diagnose, type Finding, type KnownKey } from './diagnose.ts';
export { flatFormat } from './flat.ts';
export type { WhitelabelDeps } from './route.ts';
export { createServer } from './server.ts';
export { CONTROLS, type Control } from './table/controls.ts';
export { ROUTES } from './table.ts';
export { verificationWords } from './verification.ts';
export { whitelabelFormat } from './webhooks.ts';

/** All paths below these belong to this API, including unknown ones. */
const PREFIXES = ['/onramp', '/onramp-bank', '/v1/events', '/v1/webhooks', '/sandbox'];
export const MAX_BODY_BYTES = 64 * 1024;

/** The path of this API that a mistyped one, of whatever prefix, most likely means. */
export const nearestEndpoint = (url: string): string | undefined =>
  nearestPath(
    url.split('?', 1)[0] ?? '',
    ROUTES.flatMap(({ paths }) => paths),
  );

const served = (route: Route, deps: WhitelabelDeps): boolean =>
  (!route.sandbox || deps.sandbox !== undefined) &&
  (!route.control || deps.sandbox?.controls !== undefined) &&
  (route.answer !== gasFees || deps.withdrawalFee !== undefined);

/** Handles a request from the signature check on. Throws refusals. */
function answerer(deps: WhitelabelDeps, strangers: Strangers) {
  const limiter = openLimiter();
  return async (route: Route, call: Call, about: About): Promise<Reply> => {
    const path = route.paths[0] ?? '';
    // Fields of a GET are in its query. Any other body is read below, once the signature is checked.
    const input = { deps, call, path, values: {}, body: route.method === 'GET' ? queryOf(call) : new Map() };
    if (route.auth === 'public' || (route.auth === 'optional' && !isSigned(call.headers)))
      return await answerUnsigned(route, input);

    const caller = await authenticate(call.headers, {
      async credential(key) {
        const found = await deps.partners.credential(key, () => strangers.mayLookUp(call.address));
        if (found !== undefined) about.credential = found;
        return found;
      },
      nowMs: Date.now(),
      window: deps.clockWindow ?? CLOCK_WINDOW,
    });
    about.isProved = true;
    await deps.partners.noteUse(caller.credential.key);
    // A GET has no body to compare (some programs sign an empty object for it).
    const { body, files } = await contentOf(route, call, deps);
    const agree = call.upload === undefined ? sameMeaning : (sent: Body, of: Body) => signedTextsAgree(of, sent);
    if (route.method !== 'GET' && !agree(body, caller.signedBody)) {
      throw new Refusal('unauthenticated', { why: 'the request body differs from the signed one' });
    }
    const allowance =
      deps.sandbox === undefined ? limiter.take(caller.credential.key, caller.partner.requestsPerMinute) : undefined;
    const limits = allowance?.headers ?? {};
    const signedRequest = {
      ...input,
      body,
      caller,
      files,
      inTx: <T>(work: (tx: Tx) => Promise<T>) => deps.db.asPartner(caller.partner.id, work),
      readOnly: <T>(work: (tx: Tx) => Promise<T>) => deps.db.readOnlyAsPartner(caller.partner.id, work),
    };
    try {
      // PostgreSQL cannot store such text, so it cannot be an id of ours.
      if (Object.values(call.params).some((value) => /\p{Cc}/u.test(value) || !value.isWellFormed()))
        throw new Refusal('unknown_path');
      if (allowance?.allowed === false)
        throw new Refusal('too_many_requests', { retryAfterMs: allowance.retryAfterMs });
      authorize(caller.credential, { address: call.address, scope: route.scope });
      const answered = await route.answer(signedRequest);
      about.isReplay = answered.isReplay === true;
      const reply = withIgnored(answered, route, signedRequest);
      return { ...reply, headers: { ...limits, ...reply.headers } };
    } catch (error) {
      const refused = error instanceof Refusal ? error : cutOff(error);
      if (refused === undefined) throw error;
      await noteToldBy(signedRequest.inTx, refused, deps.clock.now());
      const reply = withIgnored(failureOf(await withLoginLink(signedRequest, refused)), route, signedRequest);
      return { ...reply, headers: { ...limits, ...reply.headers } };
    }
  };
}

async function answerUnsigned(route: Route, input: MaybeSigned): Promise<Reply> {
  try {
    return withIgnored(await route.answer(input), route, input);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return withIgnored(failureOf(error), route, input);
  }
}

const queryOf = ({ query }: Call): Body => new Map(Object.entries(query ?? {}));

async function contentOf(
  route: Route,
  call: Call,
  deps: WhitelabelDeps,
): Promise<{ body: Body; files: readonly UploadedFile[] }> {
  if (route.method === 'GET') return { body: queryOf(call), files: [] };
  if (call.upload === undefined) return { body: await bodyOf(call), files: [] };
  return await readUpload(call.upload, call.headers['content-type'] ?? '', deps.uploadLimits ?? UPLOAD_LIMITS);
}

async function bodyOf({ body, headers }: Call): Promise<Body> {
  const type = headers['content-type'];
  const kind = bodyKind(type) ?? 'json';
  if (kind === 'multipart') return body.length === 0 ? new Map() : await readMultipart(body, type ?? '');
  return readBody(body, kind);
}

export const whitelabel: Protocol<WhitelabelDeps> = (deps) => async (app) => {
  const strangers = openStrangers({ isLimited: deps.sandbox === undefined });
  const answer = answerer(deps, strangers);
  const log = openRequestLog(deps);
  const note = openLines(log.add, () => deps.clock.now());
  app.addHook('onClose', () => log.close());
  const routes = ROUTES.filter((route) => served(route, deps));
  const maxBytes = deps.maxBodyBytes ?? MAX_BODY_BYTES;

  readBodiesAsBytes(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const origin = request.headers.origin;
    if (origin === undefined) done();
    else nameOrigin(origin, request, reply).then(() => done(), done);
  });
  app.setErrorHandler(async (error, request, reply) => {
    const answered = failureOf(translated(error, maxBytes));
    if (answered.status >= 500) {
      const level = answered.status === 500 ? 'error' : 'warn';
      deps.log[level](
        { requestId: request.id, path: request.routeOptions.url, ...describeError(error) },
        'request failed',
      );
    }
    send(reply, answered);
    return reply;
  });

  mount(
    app,
    routes.filter(({ files }) => !files),
  );
  await takeUploads(app, (uploads) =>
    mount(
      uploads,
      routes.filter(({ files }) => files),
    ),
  );
  nothingElse(app, routes, deps.sandbox !== undefined);

  function mount(on: FastifyInstance, some: readonly Route[]): void {
    for (const route of some)
      for (const url of route.paths)
        on.route({
          method: route.method,
          url,
          bodyLimit: maxBytes,
          config: { openToAll: route.auth !== 'signed' },
          ...(route.method === 'GET' ? {} : { onRequest: checkMediaType }),
          handler: async (request, reply) => {
            const about: About = { isProved: false, isReplay: false };
            let answered: Reply;
            try {
              answered = await answer(route, callOf(request), about);
            } catch (error) {
              note(route, about, { request, reply, answer: failureOf(error), error });
              throw error;
            }
            send(reply, answered);
            note(route, about, { request, reply, answer: answered });
            return reply;
          },
        });
  }

  /** Names the origin in the reply if the key's partner allows it; with an invalid key no origin is allowed. */
  async function nameOrigin(origin: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.header('vary', 'Origin');
    const { openToAll } = request.routeOptions.config as { openToAll?: boolean };
    let allowed = deps.sandbox !== undefined || openToAll === true;
    if (!allowed) {
      const key = signingHeader(request.headers as Call['headers'], 'key');
      const credential =
        key === undefined ? undefined : await deps.partners.credential(key, () => strangers.mayLookUp(request.ip));
      allowed = credential !== undefined && originAllowed(origin, credential.partner.corsOrigins);
    }
    if (allowed) reply.headers(allowedOrigin(origin));
  }
};

const callOf = (request: FastifyRequest): Call => ({
  method: request.method,
  params: request.params as Record<string, string>,
  query: lastOfEach(request.query),
  headers: request.headers as Call['headers'],
  body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
  ...(request.body instanceof Readable ? { upload: request.body } : {}),
  address: request.ip,
});

function send(reply: FastifyReply, { status, body, headers }: Reply): void {
  reply.code(status).headers(headers ?? {});
  if (headers?.['content-type'] !== undefined) {
    reply.send(body);
    return;
  }
  reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}

/** Throws 'unsupported_media_type'. A request without a body may have any content type. */
function checkMediaType(request: FastifyRequest, _reply: FastifyReply, done: (refused?: Refusal) => void): void {
  const { headers } = request;
  if (isBare(headers)) {
    // Otherwise the framework would refuse an invalid content type before it sees that there is no body.
    delete headers['content-type'];
    return done();
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (bodyKind(headers['content-type']) === undefined || encoding.toLowerCase() !== 'identity') {
    return done(new Refusal('unsupported_media_type'));
  }
  done();
}

/**
 * Answers everything outside the table: another method of a known path, a preflight, or an unknown path. Runs before any body
 * is read.
 */
function nothingElse(app: FastifyInstance, routes: readonly Route[], isSandbox: boolean): void {
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    for (const path of route.paths) {
      const both = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
      methods.set(path, [...(methods.get(path) ?? []), ...both]);
    }
  }
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    const origin = request.headers.origin;
    if (
      request.method === 'OPTIONS' &&
      origin !== undefined &&
      request.headers['access-control-request-method'] !== undefined
    ) {
      return reply.code(204).headers(preflightHeaders(origin)).send();
    }
    const url = request.url.split('?', 1)[0] ?? '';
    const allow = methods.get(url) ?? [...methods].find(([path]) => path.includes(':') && isPath(path, url))?.[1];
    // A known path with the right method gets here only if one of its values is longer than any of our ids.
    const nearest = isSandbox ? nearestPath(url, [...methods.keys()]) : undefined;
    throw allow === undefined || allow.includes(request.method)
      ? new Refusal('unknown_path', nearest === undefined ? {} : { nearest })
      : new Refusal('method_not_allowed', { allow });
  };
  for (const prefix of PREFIXES) {
    for (const url of [prefix, `${prefix}/*`]) {
      const taken = methods.get(url) ?? [];
      const method = app.supportedMethods.filter((one) => !taken.includes(one));
      app.route({ method, url, onRequest: refuse, handler: refuse });
    }
  }
}

/** Maps the framework's own errors to refusals. */
const FRAMEWORK: Readonly<Record<string, (maxBytes: number) => Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (maxBytes) => new Refusal('body_too_large', { maxBytes }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Refusal('unsupported_media_type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Refusal('malformed_body', { why: 'is not as long as was said' }),
};

const translated = (error: unknown, maxBytes: number): unknown => FRAMEWORK[frameworkCode(error)]?.(maxBytes) ?? error;
