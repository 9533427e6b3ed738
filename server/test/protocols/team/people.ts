/** Members of a partner's team as HTTP clients, each with a passkey and the session that it began. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/base/db.ts';
import { inviteMember, type MemberRole } from '../../../src/team/index.ts';
import { authenticator } from '../../support/authenticator.ts';
import type { Came } from '../../support/client.ts';
import { assertDeclaredTeam } from '../../support/declared.team.ts';
import { assertDeclaredV1 } from '../../support/v1.ts';

export interface Teamed {
  db: Database;
  baseUrl: string;
  clock: { now(): Date };
}
export interface Answered {
  status: number;
  body: Came;
  /** `name=value` of the cookie that was set. */
  cookie: string;
  set: string;
}

/** A page of this server. */
export const OURS = { 'x-console': '1', 'sec-fetch-site': 'same-origin' };
export const siteOf = (baseUrl: string) => {
  const url = new URL(baseUrl);
  url.hostname = 'localhost';
  return { origin: url.origin, host: url.hostname };
};

async function sent(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Answered & { headers: Headers }> {
  const reply = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const set = reply.headers.get('set-cookie') ?? '';
  const came: Came = await reply.json();
  return { status: reply.status, body: came, set, cookie: set.split(';')[0] ?? '', headers: reply.headers };
}

/** Signing in, sessions and passkeys. */
export async function signing(
  { baseUrl }: Pick<Teamed, 'baseUrl'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = OURS,
): Promise<Answered> {
  const answer = await sent(`${baseUrl}/partner/v1${path}`, method, headers, body);
  assertDeclaredTeam({ method, path }, answer.status, answer.body);
  return answer;
}

/** The partner API, by session. */
export async function asking(
  { baseUrl }: Pick<Teamed, 'baseUrl'>,
  method: string,
  path: string,
  { cookie, body, headers = OURS }: { cookie: string; body?: unknown; headers?: Record<string, string> },
): Promise<Answered> {
  const all = { ...headers, cookie, ...(method === 'GET' ? {} : { 'idempotency-key': randomUUID() }) };
  const answer = await sent(`${baseUrl}/v1${path}`, method, all, body);
  assertDeclaredV1({ method, path, status: answer.status, body: answer.body, headers: answer.headers });
  return answer;
}

export type Key = ReturnType<typeof authenticator>;

/** Uses the code of an invitation or of recovery. */
export async function joins(world: Teamed, code: string, key: Key = authenticator()): Promise<Answered> {
  const begun = await signing(world, 'POST', '/join/options', { code });
  if (begun.status !== 200) return begun;
  const credential = key.enrol({ ...siteOf(world.baseUrl), options: begun.body.options });
  return await signing(world, 'POST', '/join', { code, credential });
}

export async function signsIn(world: Teamed, key: Key, headers: Record<string, string> = OURS): Promise<Answered> {
  const { body } = await signing(world, 'POST', '/session/options', {});
  const credential = key.login({ ...siteOf(world.baseUrl), options: body.options });
  return await signing(world, 'POST', '/session', { credential }, headers);
}

export type MemberClient = Awaited<ReturnType<typeof memberNamed>>;

/** A member of a partner's team who has joined. */
export async function memberNamed(world: Teamed, partnerId: bigint, name: string, role: MemberRole) {
  const now = world.clock.now();
  const made = await world.db.asSystem((tx) => inviteMember(tx, { partnerId, name, role, by: 'operator test', now }));
  const key = authenticator();
  const joined = await joins(world, made.code, key);
  assert.equal(joined.status, 200, JSON.stringify(joined.body));
  let { cookie } = joined;
  return {
    ...{ id: made.member.id, name, role, key, partnerId },
    codes: joined.body.newRecoveryCodes as string[],
    cookie: () => cookie,
    async signsIn(): Promise<void> {
      const answer = await signsIn(world, key);
      assert.equal(answer.status, 200);
      cookie = answer.cookie;
    },
    asks: (method: string, path: string, body?: unknown) => asking(world, method, path, { cookie, body }),
    /** The body of a success. */
    async does(method: string, path: string, body?: unknown): Promise<Came> {
      const answer = await asking(world, method, path, { cookie, body });
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    signing: (method: string, path: string, body?: unknown) => signing(world, method, path, body, { ...OURS, cookie }),
  };
}
