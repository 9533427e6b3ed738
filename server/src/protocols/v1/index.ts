/**
 * The partner API under /v1: REST and JSON, beside the white-label wire.
 *
 * declared/ lists the endpoints, handlers/ says what they do; one function fixes the order in which a request is checked (`answer`):
 * key, version, allowance, rights, Idempotency-Key, fields, and then the endpoint. A refusal at any step changes nothing, and is a
 * problem of RFC 9457 (problems.ts). What was asked and answered is in the request log (request-log.ts).
 *
 * The paths /v1/events and /v1/webhooks are the white-label wire's and older than this API.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../base/errors.ts';
import { describeError } from '../../base/log.ts';
import { cutOff } from '../../partners/index.ts';
import { authorize } from '../authorize.ts';
import { readFields } from '../declaration/fields.ts';
import { isInPath } from '../declaration/openapi.ts';
import { idempotencyRecords } from '../idempotency.store.ts';
import { hashOf, KEPT_FOR_MS, once } from '../idempotency.ts';
import { openLimiter, openStrangers } from '../limit.ts';
import type { Protocol, Reply } from '../protocol.ts';
import { authenticate } from './auth.ts';
import { type Declared, isWrite } from './declare.ts';
import type { Asked, Handled, V1Deps } from './handler.ts';
import { HANDLERS } from './handlers/index.ts';
import { problemOf, problemPage } from './problems.ts';
import { isReason } from './reasons.ts';
import { openRequestLog, shownReply, shownRequest } from './request-log.ts';
import { NEWEST, versionFor } from './version.ts';

export type { V1Deps } from './handler.ts';
export { purgeRequestLog } from './request-log.ts';

const PREFIX = '/v1';
const MAX_BODY_BYTES = 64 * 1024;
const KEY = /^[\x21-\x7e]{1,255}$/;
const CLIENT_REQUEST_ID = /^[A-Za-z0-9_.-]{1,64}$/;

export const v1: Protocol<V1Deps> = (deps) => async (app) => {
  await app.register(
    async (inside) => {
      const log = openRequestLog(deps);
      const answer = answerer(deps, log.add);
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
      for (const one of handled) {
        const { method, path } = one.declared;
        inside.route({
          method,
          url: path,
          bodyLimit: MAX_BODY_BYTES,
          ...(isWrite(one.declared) ? { onRequest: checkMediaType } : {}),
          handler: async (request, reply) => send(reply, await answer(one, request)),
        });
      }
      inside.route({
        method: 'GET',
        url: '/problems/:reason',
        handler: async (request, reply) => {
          const { reason } = request.params as { reason: string };
          if (!isReason(reason)) throw new Refusal('unknown_path');
          return reply.type('text/html; charset=utf-8').send(problemPage(reason));
        },
      });
      nothingElse(inside, handled);
    },
    { prefix: PREFIX },
  );

  function problemFor(error: unknown, request: FastifyRequest) {
    const failed = problemOf(translated(error), { baseUrl: deps.publicUrl(), requestId: request.id });
    if (failed.status >= 500) {
      const level = failed.reason === 'internal' ? 'error' : 'warn';
      deps.log[level](
        { requestId: request.id, path: request.routeOptions.url, ...describeError(error) },
        'request failed',
      );
    }
    return failed;
  }

  /** Answers a request from its key on. Never throws for what a caller may do wrong. */
  function answerer({ db, clock, partners, profile }: V1Deps, note: ReturnType<typeof openRequestLog>['add']) {
    const limiter = openLimiter();
    const strangers = openStrangers({ isLimited: profile === 'production' });
    return async (one: Handled, request: FastifyRequest): Promise<Reply> => {
      const { declared } = one;
      const beganMs = performance.now();
      const headers = request.headers as Readonly<Record<string, string | undefined>>;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const message = { method: request.method, url: request.url, headers, body, isWrite: isWrite(declared) };
      const caller = await authenticate(message, {
        credential: (key) => partners.credential(key, () => strangers.mayLookUp(request.ip)),
        profile,
        nowMs: Date.now(),
      });
      const { credential, partner } = caller;
      await partners.noteUse(credential.key);
      // In the sandbox the limit of production is shown, and does not stop anybody.
      const allowance = limiter.take(credential.key, partner.requestsPerMinute);
      const about: Record<string, string> = { ...allowance.headers };
      const now = clock.now();
      const key = headers['idempotency-key'];
      let given: Readonly<Record<string, unknown>> = {};
      let replayed = false;
      let reply: Reply;
      try {
        const version = versionFor(headers['cloverleaf-version'], credential.apiVersion);
        about['cloverleaf-version'] = version;
        if (credential.apiVersion === null) await partners.pinVersion(credential.key, version);
        if (!allowance.allowed && profile === 'production')
          throw new Refusal('too_many_requests', { retryAfterMs: allowance.retryAfterMs });
        authorize(credential, { address: request.ip, scope: declared.scope });
        if (isWrite(declared) && (key === undefined || !KEY.test(key))) throw new Refusal('idempotency_key_missing');
        given = fieldsOf(request, body, declared);
        const asked: Asked = {
          ...{ deps, caller, now, address: request.ip, values: readFields(declared.fields, given) },
          inTx: (work) => db.asPartner(partner.id, work),
          readOnly: (work) => db.readOnlyAsPartner(partner.id, work),
        };
        const status = declared.status ?? 200;
        if (one.kind === 'read') reply = { status, body: await one.answer(asked) };
        else ({ reply, replayed } = await write(one, asked, { key: key ?? '', given }));
        about['idempotency-replayed'] = String(replayed);
        if (!replayed) delete about['idempotency-replayed'];
        reply = { ...reply, headers: { ...about, ...deprecation(declared), ...reply.headers } };
      } catch (error) {
        const failed = problemFor(cutOff(error) ?? error, request);
        reply = { status: failed.status, body: failed.body, headers: { ...about, ...failed.headers } };
      }
      const { reason } = reply.body as { reason?: unknown };
      note({
        ...{ partnerId: partner.id, requestId: request.id, clientRequestId: clientRequestId(request) },
        ...{ apiKey: credential.key, operation: declared.name, method: declared.method },
        path: shownPath(declared, given),
        ...{ status: reply.status, reason: reply.status >= 400 && typeof reason === 'string' ? reason : null },
        tookMs: Math.round(performance.now() - beganMs),
        ...{
          replayed,
          version: about['cloverleaf-version'] ?? NEWEST,
          idempotencyKey: isWrite(declared) ? (key ?? null) : null,
        },
        request: shownRequest(declared.fields, given),
        reply: declared.name.startsWith('requests.') ? null : shownReply(reply.body, declared.fields),
        at: now,
      });
      return reply;
    };
  }
};

/** Does a write once per Idempotency-Key. */
async function write(
  one: Handled & { kind: 'write' },
  asked: Asked,
  { key, given }: { key: string; given: Readonly<Record<string, unknown>> },
): Promise<{ reply: Reply; replayed: boolean }> {
  const { declared, as, check, before, work, after } = one;
  const { deps, caller, now, inTx } = asked;
  const partnerId = caller.partner.id;
  if (check !== undefined) await inTx((tx) => check(tx, asked));
  const sorted = Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const record = { partnerId, path: `v1 ${declared.name}`, key: hashOf(`header ${key}`) };
  if (before !== undefined) {
    const kept = await inTx((tx) => idempotencyRecords.find(tx, record));
    if (kept === undefined || now.getTime() - kept.kept_at.getTime() >= KEPT_FOR_MS) await before(asked);
  }
  const { reply, isReplay } = await once(
    deps,
    { ...record, body: hashOf(JSON.stringify(sorted)), now, as },
    async (tx) => ({ status: declared.status ?? 200, body: await work(tx, asked) }),
  );
  if (!isReplay && after !== undefined)
    try {
      await after(asked, reply.body as never);
    } catch (error) {
      // What follows outside failed: the same request may be sent again, and begins anew.
      await deps.db.asSystem((tx) => idempotencyRecords.drop(tx, record));
      throw error;
    }
  return { reply, replayed: isReplay };
}

/** RFC 9745 and RFC 8594. */
function deprecation({ deprecated }: Declared): Record<string, string> {
  if (deprecated === undefined) return {};
  const { since, sunset, instead } = deprecated;
  return {
    deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
    sunset: sunset.toUTCString(),
    link: `<${instead}>; rel="successor-version"`,
  };
}

const clientRequestId = ({ headers }: FastifyRequest): string | null => {
  const own = headers['x-client-request-id'];
  return typeof own === 'string' && CLIENT_REQUEST_ID.test(own) ? own : null;
};

/** With the parts that were understood. */
const shownPath = (declared: Declared, given: Readonly<Record<string, unknown>>): string =>
  `${PREFIX}${declared.path.replaceAll(/:(\w+)/g, (whole, name: string) =>
    declared.fields[name]?.read(given[name]) === undefined ? whole : String(given[name]),
  )}`;

/** The fields of a request, from its path and its query or body. @throws Refusal 'malformed_body' | 'malformed_field' */
function fieldsOf(request: FastifyRequest, body: Buffer, declared: Declared): Record<string, unknown> {
  const said = declared.method === 'GET' ? queryOf(request) : bodyOf(body);
  const inPath = Object.keys(said).filter((name) => isInPath(declared, name));
  if (inPath.length > 0)
    throw new Refusal('malformed_field', {
      fields: Object.fromEntries(inPath.map((name) => [name, 'stands in the path'])),
    });
  return { ...said, ...(request.params as Record<string, string>) };
}

/** Of a repeated name the last value counts. */
const queryOf = ({ query }: FastifyRequest): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query as Record<string, string | string[]>).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.at(-1) : value,
    ]),
  );

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function bodyOf(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(UTF8.decode(body));
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.hasOwn(value, '__proto__'))
      return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new Refusal('malformed_body');
}

function send(reply: FastifyReply, { status, body, headers }: Reply): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': 'application/json; charset=utf-8', ...headers })
    .send(JSON.stringify(body));
}

/** Bodies stay raw bytes: a signature covers them as they were sent. */
function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** Throws 'unsupported_media_type'. A request without a body may have any content type. */
function checkMediaType(request: FastifyRequest, _reply: FastifyReply, done: (refused?: Refusal) => void): void {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') {
    delete headers['content-type'];
    return done();
  }
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const encoding = headers['content-encoding'] ?? 'identity';
  done(type === 'application/json' && encoding === 'identity' ? undefined : new Refusal('unsupported_media_type'));
}

/** Everything that is no endpoint: another method of a known path, or an unknown path. Before any body is read. */
function nothingElse(app: FastifyInstance, handled: readonly Handled[]): void {
  const methods = new Map<string, string[]>();
  for (const { declared } of handled) {
    const form = declared.path.replaceAll(/:\w+/g, ':');
    methods.set(form, [...(methods.get(form) ?? []), declared.method, ...(declared.method === 'GET' ? ['HEAD'] : [])]);
  }
  const refuse = async (request: FastifyRequest) => {
    const parts = (request.url.split('?', 1)[0] ?? '').slice(PREFIX.length).split('/');
    const allow = [...methods].find(([form]) => {
      const known = form.split('/');
      return (
        known.length === parts.length &&
        known.every((part, at) => (part === ':' ? parts[at] !== '' : part === parts[at]))
      );
    })?.[1];
    throw allow === undefined || allow.includes(request.method)
      ? new Refusal('unknown_path')
      : new Refusal('method_not_allowed', { allow });
  };
  for (const url of ['/', '/*']) app.route({ method: app.supportedMethods, url, onRequest: refuse, handler: refuse });
}

/** The framework's own errors, in our terms. */
const FRAMEWORK: Readonly<Record<string, () => Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Refusal('body_too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Refusal('unsupported_media_type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Refusal('malformed_body'),
};
const translated = (error: unknown): unknown =>
  FRAMEWORK[String((error as { code?: unknown } | null)?.code ?? '')]?.() ?? error;
