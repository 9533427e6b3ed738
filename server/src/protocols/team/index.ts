/**
 * Signing in to the partners' console, as JSON under /partner/v1: a member's own passkeys, sessions, invitation and recovery
 * codes. Everything else that the console shows comes from the partner API (/v1), which accepts the same session.
 *
 * A session begins with a passkey. An invitation code or a recovery code lets its member enrol one passkey, once; the member's
 * earlier passkeys and sessions then end. There are no passwords.
 *
 * The endpoints are declared in declared.ts. Neither the CLI nor the SDK has them, because programs use a key.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { later } from '../../base/clock.ts';
import type { Database, Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { describeError, type Log } from '../../base/log.ts';
import { findPartner, type Partner, recordActivity } from '../../partners/index.ts';
import {
  type AtWork,
  type Member,
  memberOfCode,
  newRecoveryCodes,
  recoveryCodesLeft,
  rightsOf,
  teamSignIn as signIn,
  spendCode,
} from '../../team/index.ts';
import { cookieNamed, requireOwnSite, STEP_UP_MS, siteOf } from '../browser.ts';
import { givenBy, readFields } from '../declaration/fields.ts';
import { networkOf, openLimiter } from '../limit.ts';
import type { Protocol } from '../protocol.ts';
import { type Declared, ENDPOINTS, type InputOf, type Name, PREFIX, type ReplyOf } from './declared.ts';
import { failureOf, unknownPath } from './reasons.ts';

export interface TeamDeps {
  db: Database;
  clock: Clock;
  log: Log;
  publicUrl: () => string;
  /** Production by default. */
  profile?: 'sandbox' | 'production';
  /** Login requests per network; 30 by default. */
  loginsPerMinute?: number;
}

const COOKIE = cookieNamed('partner');
const LOGINS_PER_MINUTE = 30;
const MAX_BODY_BYTES = 64 * 1024;

interface Here extends AtWork {
  readonly partner: Partner;
}
interface Http {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}
type Open = { [N in Name]: (typeof ENDPOINTS)[N] extends { isOpen: true } ? N : never }[Name];
/** The handlers of endpoints; a missing handler does not compile. */
type OpenHandlers = {
  [N in Open]: (input: InputOf<(typeof ENDPOINTS)[N]>, http: Http) => Promise<ReplyOf<(typeof ENDPOINTS)[N]>>;
};
type OwnHandlers = {
  [N in Exclude<Name, Open>]: (
    here: Here,
    input: InputOf<(typeof ENDPOINTS)[N]>,
    http: Http,
  ) => Promise<ReplyOf<(typeof ENDPOINTS)[N]>>;
};

const PATHS = Object.values(ENDPOINTS).map(({ method, path }) => ({ method, path: `${PREFIX}${path}` }));

export const team: Protocol<TeamDeps> = (deps) => async (app) => {
  const limiter = openLimiter();
  const handlers: Readonly<Record<string, unknown>> = { ...openHandlers(deps), ...ownHandlers(deps) };
  await app.register(
    async (inside) => {
      inside.addHook('onRequest', (request, reply, done) => {
        reply.header('cache-control', 'no-store').header('x-request-id', request.id);
        done();
      });
      inside.setErrorHandler(async (error, request, reply) => {
        const { status, body } = failureOf(error);
        if (status >= 500) {
          const path = request.routeOptions.url;
          deps.log.error({ requestId: request.id, path, ...describeError(error) }, 'request of a team failed');
        }
        return reply.code(status).send(body);
      });
      // Unknown paths get a suggestion: all paths are public (docs/openapi-partner.json). Mounted as a route, so that the pages
      // under /partner do not answer.
      const refuse = async (request: FastifyRequest) => {
        throw unknownPath(request.url.split('?', 1)[0] ?? '', PATHS);
      };
      for (const url of ['/', '/*'])
        inside.route({ method: inside.supportedMethods, url, onRequest: refuse, handler: refuse });
      for (const [name, declared] of Object.entries<Declared>(ENDPOINTS))
        inside.route({
          ...{ method: declared.method, url: declared.path, bodyLimit: MAX_BODY_BYTES },
          async handler(request, reply) {
            const http = { request, reply };
            if (declared.isOpen !== true) {
              const here = await hereOf(deps, request);
              const input = inputOf(declared, request);
              if (declared.isFresh === true) requireFresh(deps, here);
              return await (handlers[name] as OwnHandlers['logout'])(here, input, http);
            }
            requireOwnSite(deps, request);
            const { allowed, retryAfterMs } = limiter.take(
              networkOf(request.ip),
              deps.loginsPerMinute ?? LOGINS_PER_MINUTE,
            );
            if (!allowed) throw new Refusal('too_many_requests', { retryAfterMs });
            return await (handlers[name] as OpenHandlers['loginOptions'])(inputOf(declared, request), http);
          },
        });
    },
    { prefix: PREFIX },
  );
};

/**
 * The fields of a request: in the body of a POST, in the query of other methods. The other place must be empty.
 *
 * @throws Refusal 'malformed_body' | 'missing_fields' | 'malformed_field'
 */
function inputOf(declared: Declared, { body, query, params }: FastifyRequest): Record<string, never> {
  const [said, other] = declared.method === 'POST' ? [body ?? {}, query] : [query, body ?? {}];
  readFields({}, givenBy(other, {}));
  return readFields(declared.fields, givenBy(said, params)) as Record<string, never>;
}

/** @throws Refusal 'step_up_required' */
function requireFresh({ clock }: TeamDeps, { session }: Here): void {
  if (clock.now() > later(session.begunAt, STEP_UP_MS)) throw new Refusal('step_up_required');
}

/** @throws Refusal 'unauthenticated' | 'cross_site' */
async function hereOf(deps: TeamDeps, request: FastifyRequest): Promise<Here> {
  const secret = COOKIE.in(deps, request);
  const found =
    secret === undefined
      ? undefined
      : await deps.db.asSystem(async (tx) => {
          const known = await signIn.personOfSession(tx, secret, deps.clock.now());
          return known === undefined ? undefined : await withPartner(tx, known.person, known.session);
        });
  if (found === undefined) throw new Refusal('unauthenticated');
  if (request.method !== 'GET') requireOwnSite(deps, request);
  return found;
}

async function withPartner(tx: Tx, member: Member, session: AtWork['session']): Promise<Here> {
  const partner = await findPartner(tx, { id: member.partnerId });
  if (partner === undefined) throw new Refusal('unauthenticated');
  return { member, session, partner };
}

const shown = async (deps: TeamDeps, tx: Tx, { member, session, partner }: Here) => ({
  ...{ id: String(member.id), name: member.name, role: member.role, rights: [...rightsOf(member)] },
  partner: { id: String(partner.id), name: partner.name, suspended: partner.suspended },
  profile: deps.profile ?? ('production' as const),
  session: String(session.id),
  since: session.begunAt.toISOString(),
  expires: session.expiresAt.toISOString(),
  stepUpUntil: later(session.begunAt, STEP_UP_MS).toISOString(),
  recoveryCodes: await recoveryCodesLeft(tx, member.id),
});

/** The account as an authenticator shows it. */
const accountOf = (member: Member, partner: Partner) => ({
  id: member.id,
  name: `${member.name} · ${partner.name}`,
});

const note = (
  tx: Tx,
  member: Member,
  action:
    | 'member.joined'
    | 'member.recovered'
    | 'member.passkey_enrolled'
    | 'member.passkey_revoked'
    | 'member.codes_made',
  now: Date,
): void =>
  recordActivity(
    tx,
    { partnerId: member.partnerId, apiKey: null, member: member.id },
    { action, subject: `member:${member.id}`, facts: { name: member.name }, now },
  );

/** Handlers of logins, and of using codes. */
const openHandlers = (deps: TeamDeps): OpenHandlers => {
  const { db, clock } = deps;
  return {
    loginOptions: async () => ({
      options: await db.asSystem((tx) => signIn.loginOptions(tx, siteOf(deps), clock.now())),
    }),
    async login(input, { request, reply }) {
      const { person, begin } = await signIn.checkLogin(db, { ...input, site: siteOf(deps), now: clock.now() });
      const at = { address: request.ip, replaces: COOKIE.in(deps, request) };
      return await db.asSystem(async (tx) => {
        const { secret, ...session } = await begin(tx, at);
        reply.header('set-cookie', COOKIE.of(deps, secret));
        return await shown(deps, tx, await withPartner(tx, person, session));
      });
    },
    async joinOptions(input) {
      const now = clock.now();
      return await db.asSystem(async (tx) => {
        const { member, kind } = await memberOfCode(tx, input.code, now);
        const partner = await findPartner(tx, { id: member.partnerId });
        if (partner === undefined || partner.suspended) throw new Refusal('partner_suspended');
        const options = await signIn.enrolOptions(tx, accountOf(member, partner), siteOf(deps), now);
        return { options, kind, name: member.name, role: member.role, partner: partner.name };
      });
    },
    async join(input, { request, reply }) {
      const now = clock.now();
      const { member, kind } = await db.asSystem((tx) => memberOfCode(tx, input.code, now));
      const asked = { credential: input.credential, personId: member.id, site: siteOf(deps), now };
      const keep = await signIn.checkEnrolment(db, asked);
      const at = { address: request.ip, replaces: COOKIE.in(deps, request), personId: member.id, now };
      return await db.asSystem(async (tx) => {
        await spendCode(tx, { typed: input.code, member, now });
        const { secret, ...session } = await signIn.begin(tx, { ...at, by: { passkeyId: await keep(tx) } });
        const codes = kind === 'invitation' ? await newRecoveryCodes(tx, member.id, now) : null;
        const here = await withPartner(tx, member, session);
        note(tx, member, kind === 'invitation' ? 'member.joined' : 'member.recovered', now);
        const body = { ...(await shown(deps, tx, here)), newRecoveryCodes: codes };
        reply.header('set-cookie', COOKIE.of(deps, secret));
        return body;
      });
    },
  };
};

/** Handlers for a member's own session, sessions, passkeys and recovery codes. */
const ownHandlers = (deps: TeamDeps): OwnHandlers => {
  const { db, clock } = deps;
  const end = (member: Member, session: bigint): Promise<void> =>
    db.asSystem((tx) => signIn.endSession(tx, { personId: member.id, session, now: clock.now() }));
  return {
    self: (here) => db.asSystem((tx) => shown(deps, tx, here)),
    async logout({ member, session }, _input, { reply }) {
      await end(member, session.id);
      reply.header('set-cookie', COOKIE.ended(deps));
      return { ended: true };
    },
    sessions: async ({ member, session }) => ({
      sessions: (await db.asSystem((tx) => signIn.sessionsOf(tx, member.id, clock.now()))).map((one) => ({
        ...{ id: String(one.id), address: one.address, passkey: String(one.passkeyId) },
        ...{ since: one.begunAt.toISOString(), seen: one.lastSeenAt.toISOString() },
        ...{ expires: one.expiresAt.toISOString(), current: one.id === session.id },
      })),
    }),
    async endSession({ member }, input) {
      await end(member, input.session);
      return { ended: true };
    },
    passkeys: async ({ member }) => ({
      passkeys: (await db.asSystem((tx) => signIn.passkeysOf(tx, member.id))).map((one) => ({
        ...{ id: String(one.id), since: one.createdAt.toISOString(), used: one.lastUsedAt?.toISOString() ?? null },
      })),
    }),
    enrolOptions: async ({ member, partner }) => ({
      options: await db.asSystem((tx) =>
        signIn.enrolOptions(tx, accountOf(member, partner), siteOf(deps), clock.now()),
      ),
    }),
    async enrol({ member }, { credential }) {
      const now = clock.now();
      const keep = await signIn.checkEnrolment(db, { credential, personId: member.id, site: siteOf(deps), now });
      return await db.asSystem(async (tx) => {
        const passkey = String(await keep(tx));
        note(tx, member, 'member.passkey_enrolled', now);
        return { passkey };
      });
    },
    async revoke({ member }, { passkey }) {
      const now = clock.now();
      return await db.asSystem(async (tx) => {
        if ((await signIn.passkeysOf(tx, member.id)).length < 2) throw new Refusal('last_passkey');
        await signIn.revokePasskey(tx, { personId: member.id, passkey, now });
        note(tx, member, 'member.passkey_revoked', now);
        return { ended: true };
      });
    },
    async newCodes({ member }) {
      const now = clock.now();
      return await db.asSystem(async (tx) => {
        const codes = await newRecoveryCodes(tx, member.id, now);
        note(tx, member, 'member.codes_made', now);
        return { codes };
      });
    },
  };
};
