/** Operators who sign in to the console over HTTP, each with a passkey in software. Every reply is compared with its declaration. */
import assert from 'node:assert/strict';
import { authenticator } from '../../support/authenticator.ts';
import type { Came } from '../../support/client.ts';
import { assertDeclaredOperator } from '../../support/declared.operator.ts';
import type { Person } from './people.ts';

export const SITE = { origin: 'https://ramp.test', host: 'ramp.test' };
/** A page of this server. */
export const OURS = { 'x-console': '1', 'sec-fetch-site': 'same-origin' };
export const bearer = ({ token }: Person) => ({ authorization: `Bearer ${token}` });
export const by = (cookie: string) => ({ ...OURS, cookie });
export type Key = ReturnType<typeof authenticator>;

/** @param world whose server is opened with `publicUrl: () => SITE.origin` */
export function consoleClient(world: () => { baseUrl: string }) {
  async function ask(method: string, path: string, headers: Record<string, string>, body?: unknown) {
    const reply = await fetch(`${world().baseUrl}/operator/v1${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const came: Came = await reply.json();
    assertDeclaredOperator({ method, path }, reply.status, came);
    const set = reply.headers.get('set-cookie') ?? '';
    return { status: reply.status, body: came, set, cookie: set.split(';')[0] ?? '' };
  }

  async function enrolled(person: Person, key = authenticator()): Promise<Key> {
    const { body } = await ask('POST', '/session/passkeys/options', bearer(person));
    const credential = key.enrol({ ...SITE, options: body.options });
    const { status } = await ask('POST', '/session/passkeys', bearer(person), { credential });
    assert.equal(status, 200);
    return key;
  }

  const loginOptions = async () => (await ask('POST', '/session/options', OURS)).body.options;
  async function login(key: Key, headers: Record<string, string> = OURS) {
    const credential = key.login({ ...SITE, options: await loginOptions() });
    return await ask('POST', '/session', headers, { credential });
  }
  async function loggedIn(key: Key): Promise<string> {
    const { status, cookie } = await login(key);
    assert.equal(status, 200);
    return cookie;
  }
  const statusBy = async (cookie: string) => (await ask('GET', '/session', { cookie })).status;
  return { ask, enrolled, loginOptions, login, loggedIn, statusBy };
}
