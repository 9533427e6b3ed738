/** Recovery codes of operators: one of them enrols a passkey, once, and does nothing else; others are told. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { authenticator } from '../../support/authenticator.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person } from './people.ts';
import { bearer, by, consoleClient, type Key, OURS, SITE } from './signing.ts';

const MINUTE_MS = 60_000;

let world: Environment;
let ada: Person;
let bob: Person;

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) => operatorApi(fixture, { publicUrl: () => SITE.origin, loginsPerMinute: 500 }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bob = await operatorNamed(world, 'bob', 'admin');
});
after(async () => await world?.stop());

const { ask, enrolled, login, loggedIn, statusBy } = consoleClient(() => world);

async function codesOf(cookie: string): Promise<string[]> {
  const { status, body } = await ask('POST', '/session/recovery-codes', by(cookie), {});
  assert.equal(status, 200);
  return body.codes;
}
const begins = (code: string) => ask('POST', '/session/recovery/options', OURS, { code });
/** The answer of an authenticator to the options of a code. */
async function made(code: string, key: Key): Promise<object> {
  const { status, body } = await begins(code);
  assert.equal(status, 200);
  return key.enrol({ ...SITE, options: body.options });
}
const recover = (code: string, credential: object) => ask('POST', '/session/recovery', OURS, { code, credential });
async function recovers(code: string, key: Key = authenticator()): Promise<Key> {
  const { status, set, body } = await recover(code, await made(code, key));
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(set, '', 'a recovery code began a session');
  return key;
}
const newest = async (action: string) => (await bob.reads(`/audit?action=${action}`)).body.audit[0];

/** An operator of this test alone, with a passkey, a session and codes. */
async function someone(name: string) {
  const person = await operatorNamed(world, name, 'admin');
  const key = await enrolled(person);
  const cookie = await loggedIn(key);
  return { person, key, cookie, codes: await codesOf(cookie) };
}

describe('recovery codes', () => {
  test('are ten, shown once, and stored as hashes alone', async () => {
    const { codes, cookie } = await someone('amy');
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) assert.match(code, /^([0-9a-hj-km-np-tv-z]{5}-){3}[0-9a-hj-km-np-tv-z]{5}$/);
    const rows = await world.db.asSystem((tx) =>
      tx.rows<{ kept: string }>(`select c::text as kept from operator_codes c
        union all select a::text from audit a union all select c::text from cases c`),
    );
    for (const code of codes)
      for (const { kept } of rows) {
        const plain = code.replaceAll('-', '');
        assert.ok(!kept.includes(code) && !kept.includes(plain) && !kept.includes(Buffer.from(plain).toString('hex')));
      }
    assert.equal((await ask('GET', '/session', { cookie })).body.recoveryCodes, 10);
    assert.deepEqual((await newest('recovery.codes')).after, { codes: 10 });
  });

  test('are made by a session with a fresh login: neither a token nor an old login makes any', async () => {
    const { person, key, cookie, codes } = await someone('ben');
    const byToken = await ask('POST', '/session/recovery-codes', bearer(person), {});
    assert.deepEqual([byToken.status, byToken.body.reason], [403, 'session_required']);
    world.clock.advance(10 * MINUTE_MS + 1);
    const late = await ask('POST', '/session/recovery-codes', by(cookie), {});
    assert.deepEqual([late.status, late.body.reason], [401, 'step_up_required']);
    const fresh = await codesOf((await login(key, by(cookie))).cookie);
    assert.equal((await begins(codes[0] ?? '')).status, 401, 'an earlier code still works');
    assert.equal((await begins(fresh[0] ?? '')).status, 200);
  });

  test('enrol a passkey and begin no session; earlier passkeys and sessions end', async () => {
    const { person, key, cookie, codes } = await someone('cat');
    const [code = ''] = codes;
    const other = await recovers(code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'l'));
    assert.equal(await statusBy(cookie), 401);
    assert.equal((await login(key)).status, 401);
    const after = await loggedIn(other);
    assert.equal((await ask('GET', '/session', { cookie: after })).body.recoveryCodes, 9);
    assert.equal((await person.reads('/self')).status, 200, 'a token does not end with a code');
    const { via, subject, reason, outcome } = await newest('passkey.recover');
    assert.deepEqual([via, subject, reason, outcome], ['recovery', 'operator:cat', 'a recovery code', 'done']);
  });

  test('work once, also when two use one at the same moment', async () => {
    const { codes } = await someone('dan');
    const [used = '', raced = ''] = codes;
    await recovers(used);
    assert.equal((await begins(used)).status, 401);
    const [one, two] = [authenticator(), authenticator()];
    const answers = [await made(raced, one), await made(raced, two)];
    const both = await Promise.all(answers.map((credential) => recover(raced, credential)));
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 401]);
    const logins = [await login(one), await login(two)].map(({ status }) => status);
    assert.deepEqual(logins.toSorted(), [200, 401], 'one code enrolled two passkeys');
  });

  test('do not count for another operator, nor with the options of another', async () => {
    const { codes: eves } = await someone('eve');
    const { codes: fays, key } = await someone('fay');
    const credential = await made(eves[0] ?? '', authenticator());
    assert.equal((await recover(fays[0] ?? '', credential)).body.reason, 'malformed_field');
    assert.equal((await begins(fays[0] ?? '')).status, 200, 'a declined answer used the code up');
    assert.equal((await login(key)).status, 200, 'a declined answer ended a passkey');
    assert.equal((await begins('00000-00000-00000-00000')).status, 401);
    assert.equal((await begins('short')).body.reason, 'malformed_field');
  });

  test('end when their operator is disabled, for good', async () => {
    const { codes } = await someone('gus');
    const credential = await made(codes[0] ?? '', authenticator());
    assert.equal((await ada.does('/operators/gus/disable')).status, 200);
    assert.equal((await recover(codes[0] ?? '', credential)).status, 401);
    await world.db.asSystem((tx) => tx.run("update operators set disabled_at = null where name = 'gus'"));
    for (const code of codes) assert.equal((await begins(code)).status, 401);
  });

  test('cannot be used from a page of another site', async () => {
    const { codes } = await someone('hal');
    const headers = { 'x-console': '1', 'sec-fetch-site': 'cross-site' };
    for (const path of ['/session/recovery/options', '/session/recovery'])
      assert.equal((await ask('POST', path, headers, { code: codes[0], credential: {} })).body.reason, 'cross_site');
  });

  test('open a case at each use, which another operator closes', async () => {
    const { person, codes } = await someone('ida');
    const before = (await ada.reads('/cases?kind=recovery_code_used')).body.cases.length;
    await recovers(codes[0] ?? '');
    await recovers(codes[1] ?? '');
    const { cases } = (await ada.reads('/cases?kind=recovery_code_used')).body;
    assert.equal(cases.length, before + 2);
    const { id, reason, facts } = cases.at(-1);
    assert.match(reason, /^ida enrolled a passkey with a recovery code, from /);
    assert.deepEqual([facts.operator, facts.left], ['ida', 8]);
    const own = await person.does(`/cases/${id}/close`, { outcome: 'it was me' });
    assert.deepEqual([own.status, own.body.reason], [403, 'own_recovery']);
    assert.equal((await bob.does(`/cases/${id}/close`, { outcome: 'ida says it was her' })).status, 200);
  });
});
