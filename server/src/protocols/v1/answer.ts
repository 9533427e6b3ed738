/**
 * The order in which a request to /v1 is checked: key, version, rate limit, rights, Idempotency-Key, fields, and then the
 * endpoint. A refusal at any step changes nothing; a signed write that was refused stays refused (refused.ts). Request and
 * reply are recorded in the request log.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { noteToldBy } from '../../customers/index.ts';
import { type Credential, cutOff } from '../../partners/index.ts';
import { authorize } from '../authorize.ts';
import { readFields } from '../declaration/fields.ts';
import { isInPath } from '../declaration/openapi.ts';
import { idempotencyRecords } from '../idempotency.store.ts';
import { hashOf, KEPT_FOR_MS, once } from '../idempotency.ts';
import { openLimiter, openStrangers } from '../limit.ts';
import type { Reply } from '../protocol.ts';
import type { Line } from '../request-log.store.ts';
import { type openRequestLog, shownReply, shownRequest } from '../request-log.ts';
import { digestOfFiles, readUpload, UPLOAD_LIMITS, type UploadedFile } from '../uploads.ts';
import { authenticate } from './auth.ts';
import { type Declared, isWrite } from './declare.ts';
import type { Asked, Caller, Handled, V1Deps } from './handler.ts';
import { authorizeMember, memberOfRequest } from './member.ts';
import type { Failed } from './problems.ts';
import { keepRefused, refusedBefore } from './refused.ts';
import { isSigned, requireDigest } from './signature.ts';
import { NEWEST, versionFor } from './version.ts';

export const PREFIX = '/v1';
const KEY = /^[\x21-\x7e]{1,255}$/;
const CLIENT_REQUEST_ID = /^[A-Za-z0-9_.-]{1,64}$/;

type Headers = Readonly<Record<string, string | undefined>>;
type Given = Readonly<Record<string, unknown>>;

/** A request under way, with the parts of its reply known so far. */
interface Underway {
  readonly one: Handled;
  readonly request: FastifyRequest;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly caller: Caller;
  readonly now: Date;
  /** Headers of every reply. */
  readonly about: Record<string, string>;
  /** The fields that were parsed. */
  given: Given;
  /** False until the digest of a body with files was compared: until then the signature does not cover the body. */
  isProved: boolean;
  replayed: boolean;
}

/**
 * @param note      adds the request to the log
 * @param problemOf an error as the reply to a request
 * @returns a function that answers a request whose key is known, including refused ones
 */
export function answerer(
  deps: V1Deps,
  note: ReturnType<typeof openRequestLog>['add'],
  problemOf: (error: unknown, request: FastifyRequest) => Failed,
): (one: Handled, request: FastifyRequest) => Promise<Reply> {
  const { clock, partners, profile } = deps;
  const limiter = openLimiter();
  const unproved = openLimiter();
  const strangers = openStrangers({ isLimited: profile === 'production' });

  return async (one, request) => {
    const { declared } = one;
    const beganMs = performance.now();
    const headers = request.headers as Headers;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const isBodyLater = request.body instanceof Readable;
    const message = {
      ...{ method: request.method, url: request.url, headers, body, isBodyLater },
      isWrite: isWrite(declared),
    };
    const caller = (await memberOfRequest(deps, request)) ?? (await keyOf(one, request, message, beganMs));
    const underway: Underway = {
      ...{ one, request, headers, body, caller, now: clock.now() },
      ...{ about: {}, given: {}, isProved: !isBodyLater, replayed: false },
    };
    let reply: Reply;
    try {
      reply = await answered(underway);
    } catch (error) {
      const inTx = <T>(work: (tx: Tx) => Promise<T>) => deps.db.asPartner(caller.partner.id, work);
      await noteToldBy(inTx, error, underway.now);
      const { status, body: problem, headers: of } = problemOf(cutOff(error) ?? error, request);
      if (isWrite(declared) && underway.isProved)
        await keepRefused(deps, caller, { reply: { status, body: problem, headers: of }, now: underway.now });
      // The unread rest of a body with files is not awaited.
      const closes = isBodyLater ? { connection: 'close' } : {};
      reply = { status, body: problem, headers: { ...underway.about, ...of, ...closes } };
    }
    note(lineOf(underway, reply, performance.now() - beganMs));
    return reply;
  };

  /**
   * The caller of a request with a key. A request with a known key and no valid proof gets a line in the log, with the fault.
   */
  async function keyOf(
    one: Handled,
    request: FastifyRequest,
    message: Parameters<typeof authenticate>[0],
    beganMs: number,
  ): Promise<Caller> {
    let claimed: Credential | undefined;
    try {
      const caller = await authenticate(message, {
        credential: async (key) => (claimed = await partners.credential(key, () => strangers.mayLookUp(request.ip))),
        profile,
        nowMs: Date.now(),
      });
      await partners.noteUse(caller.credential.key);
      return caller;
    } catch (error) {
      if (claimed !== undefined && unproved.take(claimed.key, UNPROVED_PER_MINUTE, UNPROVED_AT_ONCE).allowed)
        note(unprovedLine(one, request, claimed, { error, now: clock.now(), tookMs: performance.now() - beganMs }));
      throw error;
    }
  }

  async function answered(underway: Underway): Promise<Reply> {
    const { one, request, headers, body, caller, now, about } = underway;
    const { declared } = one;
    const { credential, partner } = caller;
    // In the sandbox the limit of production is shown but not enforced. Members are counted by id, because members of two
    // partners may have the same name.
    const whose = caller.member === undefined ? credential.key : `member ${caller.member.member.id}`;
    const allowance = limiter.take(whose, partner.requestsPerMinute);
    Object.assign(about, allowance.headers);
    const version = versionFor(headers['cloverleaf-version'], credential.apiVersion);
    about['cloverleaf-version'] = version;
    if (credential.apiVersion === null && caller.member === undefined)
      await partners.pinVersion(credential.key, version);
    if (!allowance.allowed && profile === 'production')
      throw new Refusal('too_many_requests', { retryAfterMs: allowance.retryAfterMs });
    if (caller.member !== undefined) authorizeMember(caller.member, { declared, suspended: partner.suspended, now });
    else {
      authorize(credential, { address: request.ip, scope: declared.scope });
      if (declared.person === true) throw new Refusal('session_required');
    }
    const key = headers['idempotency-key'];
    if (isWrite(declared) && (key === undefined || !KEY.test(key))) throw new Refusal('idempotency_key_missing');
    const upload = declared.files === true ? await uploadOf(request, deps) : undefined;
    underway.isProved = true;
    underway.given = fieldsOf(request, body, declared);
    const asked: Asked = {
      ...{
        deps,
        caller,
        now,
        files: upload?.files ?? [],
        address: request.ip,
        idempotencyKey: ownKey(caller, key ?? ''),
        values: readFields(declared.fields, underway.given),
      },
      inTx: (work) => deps.db.asPartner(partner.id, work),
      readOnly: (work) => deps.db.readOnlyAsPartner(partner.id, work),
    };
    const refused = isWrite(declared) ? await refusedBefore(deps, caller, request.id) : undefined;
    underway.replayed = refused !== undefined;
    const reply = refused ?? (await carriedOut(underway, asked, upload?.content));
    if (underway.replayed) about['idempotency-replayed'] = 'true';
    return { ...reply, headers: { ...about, ...deprecation(declared), ...reply.headers } };
  }
}

async function carriedOut(underway: Underway, asked: Asked, content: string | undefined): Promise<Reply> {
  const { one, given } = underway;
  if (one.kind === 'read') return { status: one.declared.status ?? 200, body: await one.answer(asked) };
  // The same fields with other files are another request.
  const whole = content === undefined ? given : { ...given, files: content };
  const { reply, replayed } = await write(one, asked, whole);
  underway.replayed = replayed;
  return reply;
}

/** Maximum log lines per key of unproved requests: anyone who knows a key could otherwise fill its partner's log. */
const UNPROVED_PER_MINUTE = 2;
const UNPROVED_AT_ONCE = 30;

/**
 * Idempotency keys of a member are separate: the reply to a colleague's request, or to a program's, is not repeated to another
 * caller.
 */
const ownKey = ({ member }: Caller, key: string): string =>
  member === undefined ? `header ${key}` : `member ${member.member.id} ${key}`;

/** The log line of a request whose key is known but whose secret is not proved: it contains none of the content. */
function unprovedLine(
  { declared }: Handled,
  request: FastifyRequest,
  credential: Credential,
  { error, now, tookMs }: { error: unknown; now: Date; tookMs: number },
): Line {
  const isRefused = error instanceof Refusal;
  const { why } = isRefused ? error.facts : {};
  return {
    ...{
      partnerId: credential.partner.id,
      protocol: 'v1',
      requestId: request.id,
      clientRequestId: null,
      apiKey: credential.key,
    },
    ...{ operation: declared.name, method: declared.method, path: `${PREFIX}${declared.path}` },
    ...{ status: isRefused ? 401 : 500, reason: isRefused ? error.code : 'internal', tookMs: Math.round(tookMs) },
    ...{ replayed: false, version: credential.apiVersion ?? NEWEST, idempotencyKey: null, request: null, reply: null },
    ...{ why: typeof why === 'string' ? why.slice(0, 300) : null, at: now },
  };
}

/** The line of the request log. */
function lineOf({ one, request, headers, caller, now, about, given, replayed }: Underway, reply: Reply, ms: number) {
  const { declared } = one;
  const { reason } = reply.body as { reason?: unknown };
  return {
    ...{ partnerId: caller.partner.id, protocol: 'v1' as const, requestId: request.id },
    clientRequestId: clientRequestId(request),
    ...{ apiKey: caller.credential.key, operation: declared.name, method: declared.method },
    path: shownPath(declared, given),
    ...{ status: reply.status, reason: reply.status >= 400 && typeof reason === 'string' ? reason : null },
    tookMs: Math.round(ms),
    ...{
      replayed,
      version: about['cloverleaf-version'] ?? NEWEST,
      idempotencyKey: isWrite(declared) ? (headers['idempotency-key'] ?? null) : null,
    },
    request: shownRequest(declared.fields, given),
    reply: declared.name.startsWith('requests.') ? null : shownReply(reply.body, declared.fields),
    why: null,
    at: now,
  };
}

/** Runs a write once per Idempotency-Key. */
async function write(
  one: Handled & { kind: 'write' },
  asked: Asked,
  given: Given,
): Promise<{ reply: Reply; replayed: boolean }> {
  const { declared, as, check, before, work, after } = one;
  const { deps, caller, now, inTx } = asked;
  const partnerId = caller.partner.id;
  const sorted = Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const record = { partnerId, path: `v1 ${declared.name}`, key: hashOf(asked.idempotencyKey) };
  const body = hashOf(JSON.stringify(sorted));
  if (check !== undefined || before !== undefined) {
    // A repeated request gets its reply even if its subject is gone since: a removal, for example. Only for the same body: the
    // subject of another one has not been checked yet.
    const isKept = await inTx(async (tx) => {
      const kept = await idempotencyRecords.find(tx, record);
      const isSame = kept !== undefined && kept.body.equals(body);
      if (isSame && now.getTime() - kept.keptAt.getTime() < KEPT_FOR_MS) return true;
      await check?.(tx, asked);
      return false;
    });
    if (!isKept) await before?.(asked);
  }
  const { reply, isReplay } = await once(deps, { ...record, body, now, as }, async (tx) => ({
    status: declared.status ?? 200,
    body: await work(tx, asked),
  }));
  if (!isReplay && after !== undefined)
    try {
      await after(asked, reply.body as never);
    } catch (error) {
      // An external call after the commit failed: the record is dropped, so that the same request can be sent again and starts
      // over.
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

export const clientRequestId = ({ headers }: FastifyRequest): string | null => {
  const own = headers['x-client-request-id'];
  return typeof own === 'string' && CLIENT_REQUEST_ID.test(own) ? own : null;
};

/** The path with the values that were parsed. */
const shownPath = (declared: Declared, given: Readonly<Record<string, unknown>>): string =>
  `${PREFIX}${declared.path.replaceAll(/:(\w+)/g, (whole, name: string) =>
    declared.fields[name]?.read(given[name]) === undefined ? whole : String(given[name]),
  )}`;

/**
 * The files of a request, and a digest of them.
 *
 * @throws Refusal 'malformed_body' | 'body_too_large' | 'malformed_field'; 'unauthenticated' when the body is not the signed
 * one
 */
async function uploadOf(
  { headers: of, body }: FastifyRequest,
  { uploadLimits = UPLOAD_LIMITS }: V1Deps,
): Promise<{ files: readonly UploadedFile[]; content: string }> {
  if (!(body instanceof Readable)) return { files: [], content: '' };
  const headers = of as Headers;
  const hashes = { sha256: createHash('sha256'), sha512: createHash('sha512') };
  body.on('data', (chunk: Buffer) => {
    for (const hash of Object.values(hashes)) hash.update(chunk);
  });
  const { body: texts, files } = await readUpload(body, headers['content-type'] ?? '', uploadLimits);
  if (isSigned({ headers })) requireDigest(headers, (hash) => hashes[hash].digest());
  // The part is not named, because a name from outside may be anything.
  if (texts.size > 0)
    throw new Refusal('malformed_field', { fields: { files: 'must be the only parts, each with a file name' } });
  return { files, content: digestOfFiles(files) };
}

/** The fields of a request, from its path and its query or body. @throws Refusal 'malformed_body' | 'malformed_field' */
function fieldsOf(request: FastifyRequest, body: Buffer, declared: Declared): Record<string, unknown> {
  const said = declared.method === 'GET' ? queryOf(request.query) : bodyOf(body);
  const inPath = Object.keys(said).filter((name) => isInPath(declared, name));
  if (inPath.length > 0)
    throw new Refusal('malformed_field', {
      fields: Object.fromEntries(inPath.map((name) => [name, 'is already in the path'])),
    });
  return { ...said, ...(request.params as Record<string, string>) };
}

/**
 * A query must have each filter once and with a value: ignoring a faulty filter would return more than was asked for.
 *
 * @throws Refusal 'malformed_field'
 */
function queryOf(query: unknown): Record<string, string> {
  const said = Object.entries(query as Record<string, string | string[]>);
  const wrong = said.flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return [[name, 'is given more than once']];
    return value === '' ? [[name, 'has no value']] : [];
  });
  if (wrong.length > 0) throw new Refusal('malformed_field', { fields: Object.fromEntries(wrong) });
  return Object.fromEntries(said) as Record<string, string>;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function bodyOf(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(UTF8.decode(body));
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.hasOwn(value, '__proto__'))
      return value as Record<string, unknown>;
  } catch {
    // Thrown below.
  }
  throw new Refusal('malformed_body');
}
