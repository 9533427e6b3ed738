/**
 * Signing in to the partners' console, as JSON under /partner/v1: passkeys, sessions, invitations and recovery codes of one's
 * own. Everything else that the console shows comes from the partner API (/v1), which accepts the same session.
 *
 * A session begins with a passkey. The code of an invitation, or of recovery, lets its member enrol one, once; the member's
 * earlier passkeys and sessions end then. There are no passwords.
 *
 * No command and no client has these: a program has a key.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { later } from '../../base/clock.ts';
import type { Database, Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { Refusal } from '../../base/errors.ts';
import { describeError, type Log } from '../../base/log.ts';
import { cutOff, findPartner, type Partner, recordActivity } from '../../partners/index.ts';
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
import { type Fields, givenBy, id, object, readFields, text, type Values } from '../declaration/fields.ts';
import { networkOf, openLimiter } from '../limit.ts';
import { isOutage } from '../outage.ts';
import type { Protocol } from '../protocol.ts';

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

const PREFIX = '/partner/v1';
const COOKIE = cookieNamed('partner');
const LOGINS_PER_MINUTE = 30;
const MAX_BODY_BYTES = 64 * 1024;

/** Status and sentence of what may be declined here. */
const WORDS: Readonly<Record<string, readonly [status: number, says: string]>> = {
  unauthenticated: [401, 'The session, passkey or code is missing, wrong, used, expired or ended.'],
  step_up_required: [401, 'This takes a login of the last ten minutes: sign in again with the passkey.'],
  cross_site: [403, 'A change by session needs the header x-console: 1, from a page of this server.'],
  partner_suspended: [403, 'The partner is suspended: ask the operator.'],
  too_many_requests: [429, 'Too many logins came from this network: wait a minute.'],
  unknown_session: [404, 'There is no such session.'],
  unknown_passkey: [404, 'There is no such passkey.'],
  unknown_path: [404, 'There is nothing at this path.'],
  last_passkey: [409, 'This is your last passkey: enrol another one first.'],
  malformed_body: [400, 'The body must be a JSON object.'],
  missing_fields: [400, 'A field is missing.'],
  malformed_field: [400, 'A field is wrong.'],
};

const code = text(64, /^[\w -]+$/, 'the code of an invitation, or a recovery code');
const credential = { credential: object };

interface Here extends AtWork {
  readonly partner: Partner;
}

export const team: Protocol<TeamDeps> = (deps) => async (app) => {
  await app.register(
    async (inside) => {
      inside.addHook('onRequest', (request, reply, done) => {
        reply.header('cache-control', 'no-store').header('x-request-id', request.id);
        done();
      });
      inside.setErrorHandler(async (error, request, reply) => {
        const refusal = cutOff(error) ?? translated(error);
        const [status, says] = (refusal && WORDS[refusal.code]) ?? (isOutage(error) ? AWAY : BROKEN);
        if (status >= 500) {
          const path = request.routeOptions.url;
          deps.log.error({ requestId: request.id, path, ...describeError(error) }, 'request of a team failed');
        }
        const { fields, names } = refusal?.facts ?? {};
        const reason = status === 503 ? 'unavailable' : status >= 500 ? 'internal' : refusal?.code;
        return reply.code(status).send({
          error: says,
          reason,
          ...defined({ fields, names }),
        });
      });
      inside.setNotFoundHandler(() => {
        throw new Refusal('unknown_path');
      });
      openRoutes(deps, inside);
      ownRoutes(deps, inside);
    },
    { prefix: PREFIX },
  );
};

const AWAY = [503, 'The database is away: ask again in a few seconds.'] as const;
const BROKEN = [500, 'Something went wrong on our side.'] as const;

function translated(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const known = String((error as { code?: unknown }).code ?? '');
  return known.startsWith('FST_ERR_CTP') || error instanceof SyntaxError ? new Refusal('malformed_body') : undefined;
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
  ...{ id: String(member.id), name: member.name, role: member.role, rights: rightsOf(member) },
  partner: { id: String(partner.id), name: partner.name, suspended: partner.suspended },
  profile: deps.profile ?? 'production',
  ...{ session: String(session.id), since: session.begunAt, expires: session.expiresAt },
  stepUpUntil: later(session.begunAt, STEP_UP_MS),
  recoveryCodes: await recoveryCodesLeft(tx, member.id),
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

/** Logins, and the use of codes. */
function openRoutes(deps: TeamDeps, inside: FastifyInstance): void {
  const { db, clock } = deps;
  const limiter = openLimiter();

  /** Open to all: it begins a session, or comes before one. */
  const open = <F extends Fields>(
    url: string,
    fields: F,
    answer: (input: Values<F>, request: FastifyRequest, reply: FastifyReply) => Promise<object>,
  ): void => {
    inside.route({
      ...{ method: 'POST', url, bodyLimit: MAX_BODY_BYTES },
      async handler(request, reply) {
        requireOwnSite(deps, request);
        const most = deps.loginsPerMinute ?? LOGINS_PER_MINUTE;
        const { allowed, retryAfterMs } = limiter.take(networkOf(request.ip), most);
        if (!allowed) throw new Refusal('too_many_requests', { retryAfterMs });
        return await answer(readFields(fields, givenBy(request.body ?? {}, {})), request, reply);
      },
    });
  };
  open('/session/options', {}, async () => ({
    options: await db.asSystem((tx) => signIn.loginOptions(tx, siteOf(deps), clock.now())),
  }));
  open('/session', credential, async (input, request, reply) => {
    const { person, begin } = await signIn.checkLogin(db, { ...input, site: siteOf(deps), now: clock.now() });
    const at = { address: request.ip, replaces: COOKIE.in(deps, request) };
    return await db.asSystem(async (tx) => {
      const { secret, ...session } = await begin(tx, at);
      reply.header('set-cookie', COOKIE.of(deps, secret));
      return await shown(deps, tx, await withPartner(tx, person, session));
    });
  });

  open('/join/options', { code }, async (input) => {
    const now = clock.now();
    return await db.asSystem(async (tx) => {
      const { member, kind } = await memberOfCode(tx, input.code, now);
      const partner = await findPartner(tx, { id: member.partnerId });
      if (partner === undefined || partner.suspended) throw new Refusal('partner_suspended');
      const options = await signIn.enrolOptions(
        tx,
        { id: member.id, name: `${member.name} · ${partner.name}` },
        siteOf(deps),
        now,
      );
      return { options, kind, name: member.name, role: member.role, partner: partner.name };
    });
  });
  open('/join', { code, ...credential }, async (input, request, reply) => {
    const now = clock.now();
    const { member, kind } = await db.asSystem((tx) => memberOfCode(tx, input.code, now));
    const asked = { credential: input.credential, personId: member.id, site: siteOf(deps), now };
    const keep = await signIn.checkEnrolment(db, asked);
    const at = { address: request.ip, replaces: COOKIE.in(deps, request), personId: member.id, now };
    return await db.asSystem(async (tx) => {
      await spendCode(tx, { typed: input.code, member, now });
      const { secret, ...session } = await signIn.begin(tx, { ...at, passkeyId: await keep(tx) });
      const codes = kind === 'invitation' ? await newRecoveryCodes(tx, member.id, now) : null;
      const here = await withPartner(tx, member, session);
      note(tx, member, kind === 'invitation' ? 'member.joined' : 'member.recovered', now);
      const body = { ...(await shown(deps, tx, here)), newRecoveryCodes: codes };
      reply.header('set-cookie', COOKIE.of(deps, secret));
      return body;
    });
  });
}

/** One's own session, sessions, passkeys and recovery codes. */
function ownRoutes(deps: TeamDeps, inside: FastifyInstance): void {
  const { db, clock } = deps;
  const own = <F extends Fields>(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    fields: F,
    answer: (here: Here, input: Values<F>, reply: FastifyReply) => Promise<object>,
  ): void => {
    inside.route({
      ...{ method, url, bodyLimit: MAX_BODY_BYTES },
      async handler(request, reply) {
        const here = await hereOf(deps, request);
        const said = method === 'POST' ? (request.body ?? {}) : {};
        return await answer(here, readFields(fields, givenBy(said, request.params)), reply);
      },
    });
  };
  const requireFresh = ({ session }: Here): void => {
    if (clock.now() > later(session.begunAt, STEP_UP_MS)) throw new Refusal('step_up_required');
  };

  own('GET', '/session', {}, (here) => db.asSystem((tx) => shown(deps, tx, here)));
  own('DELETE', '/session', {}, async ({ member, session }, _input, reply) => {
    await db.asSystem((tx) => signIn.endSession(tx, { personId: member.id, session: session.id, now: clock.now() }));
    reply.header('set-cookie', COOKIE.ended(deps));
    return { ended: true };
  });
  own('GET', '/sessions', {}, async ({ member, session }) => ({
    sessions: (await db.asSystem((tx) => signIn.sessionsOf(tx, member.id, clock.now()))).map((one) => ({
      ...{ id: String(one.id), address: one.address, passkey: String(one.passkeyId) },
      ...{ since: one.begunAt, seen: one.lastSeenAt, expires: one.expiresAt, current: one.id === session.id },
    })),
  }));
  own('DELETE', '/sessions/:session', { session: id }, async ({ member }, input) => {
    await db.asSystem((tx) => signIn.endSession(tx, { personId: member.id, session: input.session, now: clock.now() }));
    return { ended: true };
  });

  own('GET', '/passkeys', {}, async ({ member }) => ({
    passkeys: (await db.asSystem((tx) => signIn.passkeysOf(tx, member.id))).map((one) => ({
      ...{ id: String(one.id), since: one.createdAt, used: one.lastUsedAt },
    })),
  }));
  own('POST', '/passkeys/options', {}, async (here) => {
    requireFresh(here);
    const { id: memberId, name } = here.member;
    const person = { id: memberId, name: `${name} · ${here.partner.name}` };
    return { options: await db.asSystem((tx) => signIn.enrolOptions(tx, person, siteOf(deps), clock.now())) };
  });
  own('POST', '/passkeys', credential, async (here, input) => {
    requireFresh(here);
    const now = clock.now();
    const asked = { credential: input.credential, personId: here.member.id, site: siteOf(deps), now };
    const keep = await signIn.checkEnrolment(db, asked);
    return await db.asSystem(async (tx) => {
      const passkey = String(await keep(tx));
      note(tx, here.member, 'member.passkey_enrolled', now);
      return { passkey };
    });
  });
  own('DELETE', '/passkeys/:passkey', { passkey: id }, async (here, { passkey }) => {
    requireFresh(here);
    const now = clock.now();
    const personId = here.member.id;
    return await db.asSystem(async (tx) => {
      if ((await signIn.passkeysOf(tx, personId)).length < 2) throw new Refusal('last_passkey');
      await signIn.revokePasskey(tx, { personId, passkey, now });
      note(tx, here.member, 'member.passkey_revoked', now);
      return { ended: true };
    });
  });
  own('POST', '/recovery-codes', {}, async (here) => {
    requireFresh(here);
    const now = clock.now();
    return await db.asSystem(async (tx) => {
      const codes = await newRecoveryCodes(tx, here.member.id, now);
      note(tx, here.member, 'member.codes_made', now);
      return { codes };
    });
  });
}
