/** Sessions of the console: passkeys, cookies, requests from other sites, and the actions that need a fresh login. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { purgeSessions } from '../../../src/operators/index.ts';
import { cookieNamed, siteOf } from '../../../src/protocols/browser.ts';
import { authenticator } from '../../support/authenticator.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person } from './people.ts';
import { bearer, by, consoleClient, OURS, SITE } from './signing.ts';

const MINUTE_MS = 60_000;

let world: Environment;
let ada: Person;
let bob: Person;

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) => operatorApi(fixture, { publicUrl: () => SITE.origin, loginsPerMinute: 200 }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bob = await operatorNamed(world, 'bob', 'admin');
});
after(async () => await world?.stop());

const { ask, enrolled, loginOptions, login, loggedIn, statusBy } = consoleClient(() => world);

describe('a login', () => {
  test('begins a session with a cookie that no script reads, and stores no more than its hash', async () => {
    const key = await enrolled(ada);
    const { set, cookie, body } = await login(key);
    assert.match(set, /^__Host-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    assert.equal(body.name, 'ada');
    assert.equal(body.profile, 'production');
    const { body: who } = await ask('GET', '/session', { cookie });
    assert.deepEqual([who.name, who.role, who.rights.includes('money')], ['ada', 'admin', true]);
    const secret = cookie.split('=')[1] ?? '';
    const rows = await world.db.asSystem((tx) =>
      tx.rows<{ kept: string }>('select s::text as kept from operator_sessions s'),
    );
    const hex = Buffer.from(secret).toString('hex');
    assert.ok(rows.length > 0 && rows.every(({ kept }) => !kept.includes(secret) && !kept.includes(hex)));
  });

  test('is refused for another origin, another site, a user who is not verified, and a key that is not enrolled', async () => {
    const key = await enrolled(ada);
    for (const asked of [
      { ...SITE, origin: 'https://evil.test' },
      { ...SITE, host: 'evil.test' },
    ]) {
      const credential = key.login({ ...asked, options: await loginOptions() });
      assert.equal((await ask('POST', '/session', OURS, { credential })).status, 401);
    }
    assert.equal((await login(authenticator())).status, 401);
    const careless = authenticator({ isVerified: false });
    const { body } = await ask('POST', '/session/passkeys/options', bearer(ada));
    const credential = careless.enrol({ ...SITE, options: body.options });
    assert.equal((await ask('POST', '/session/passkeys', bearer(ada), { credential })).body.reason, 'malformed_field');
    assert.equal((await ask('POST', '/session', OURS, { credential: { id: 7 } })).status, 401);
  });

  test('takes a challenge once, even after a wrong answer, and for five minutes', async () => {
    const key = await enrolled(ada);
    const options = await loginOptions();
    const credential = key.login({ ...SITE, options });
    assert.equal((await ask('POST', '/session', OURS, { credential })).status, 200);
    assert.equal((await ask('POST', '/session', OURS, { credential: key.login({ ...SITE, options }) })).status, 401);
    const spoilt = await loginOptions();
    const wrong = key.login({ ...SITE, origin: 'https://evil.test', options: spoilt });
    assert.equal((await ask('POST', '/session', OURS, { credential: wrong })).status, 401);
    const right = key.login({ ...SITE, options: spoilt });
    assert.equal((await ask('POST', '/session', OURS, { credential: right })).status, 401);
    const late = await loginOptions();
    world.clock.advance(5 * MINUTE_MS);
    assert.equal(
      (await ask('POST', '/session', OURS, { credential: key.login({ ...SITE, options: late }) })).status,
      401,
    );
  });

  test('is refused when the counter goes back, and when the passkey names another person', async () => {
    const key = await enrolled(ada);
    assert.equal((await login(key)).status, 200);
    key.setCounter(0);
    assert.equal((await login(key)).status, 401);
    key.setCounter(10);
    const as = Buffer.from('operator:999').toString('base64url');
    const credential = key.login({ ...SITE, options: await loginOptions() }, as);
    assert.equal((await ask('POST', '/session', OURS, { credential })).status, 401);
    assert.equal((await login(key)).status, 200);
  });

  test('has a new id each time: one that was planted does not become a session, and the old one ends', async () => {
    const key = await enrolled(ada);
    const planted = `__Host-console=${'A'.repeat(43)}`;
    const first = await login(key, by(planted));
    assert.equal(first.status, 200);
    assert.notEqual(first.cookie, planted);
    assert.equal(await statusBy(planted), 401);
    const second = await login(key, by(first.cookie));
    assert.notEqual(second.cookie, first.cookie);
    assert.deepEqual([await statusBy(first.cookie), await statusBy(second.cookie)], [401, 200]);
  });
});

describe('a passkey', () => {
  test('is enrolled with the options of its own operator, and by one operator only', async () => {
    const key = authenticator();
    const { body } = await ask('POST', '/session/passkeys/options', bearer(ada));
    const stolen = key.enrol({ ...SITE, options: body.options });
    assert.equal((await ask('POST', '/session/passkeys', bearer(bob), { credential: stolen })).status, 400);
    await enrolled(ada, key);
    const own = await ask('POST', '/session/passkeys/options', bearer(bob));
    const credential = key.enrol({ ...SITE, options: own.body.options });
    assert.equal((await ask('POST', '/session/passkeys', bearer(bob), { credential })).status, 400);
  });

  test('is revoked by its owner alone, and its sessions end', async () => {
    const key = await enrolled(ada);
    const cookie = await loggedIn(key);
    const { body } = await ask('GET', '/session/passkeys', bearer(ada));
    const { id } = body.passkeys.at(-1);
    assert.equal((await ask('DELETE', `/session/passkeys/${id}`, bearer(bob))).body.reason, 'unknown_passkey');
    assert.equal(await statusBy(cookie), 200);
    assert.equal((await ask('DELETE', `/session/passkeys/${id}`, bearer(ada))).status, 200);
    assert.equal(await statusBy(cookie), 401);
    assert.equal((await login(key)).status, 401);
  });
});

describe('a session', () => {
  test('ends after half an hour without a request, and after twelve hours', async () => {
    const key = await enrolled(ada);
    const idle = await loggedIn(key);
    world.clock.advance(30 * MINUTE_MS);
    assert.equal(await statusBy(idle), 401);
    const busy = await loggedIn(key);
    for (let minutes = 0; minutes < 700; minutes += 25) {
      world.clock.advance(25 * MINUTE_MS);
      assert.equal(await statusBy(busy), 200, `after ${minutes} minutes`);
    }
    world.clock.advance(20 * MINUTE_MS);
    assert.equal(await statusBy(busy), 401);
  });

  test('is ended by its operator, from the same or another session, and not by another person', async () => {
    const key = await enrolled(ada);
    const [one, other] = [await loggedIn(key), await loggedIn(key)];
    const { body } = await ask('GET', '/sessions', { cookie: one });
    const theirs = body.sessions.find((each: { current: boolean }) => !each.current);
    assert.equal((await ask('DELETE', `/sessions/${theirs.id}`, bearer(bob))).body.reason, 'unknown_session');
    assert.equal((await ask('DELETE', `/sessions/${theirs.id}`, by(one))).status, 200);
    assert.deepEqual([await statusBy(one), await statusBy(other)], [200, 401]);
    const { status, set } = await ask('DELETE', '/session', by(one));
    assert.equal(status, 200);
    assert.match(set, /^__Host-console=; .*Max-Age=0$/);
    assert.equal(await statusBy(one), 401);
  });

  test('reads its operator at each request: another role takes effect at once, and so does disabling, permanently', async () => {
    const temp = await operatorNamed(world, 'temp', 'viewer');
    const key = await enrolled(temp);
    const cookie = await loggedIn(key);
    await world.db.asSystem((tx) => tx.run("update operators set role = 'night' where name = 'temp'"));
    assert.equal((await ask('GET', '/session', { cookie })).body.role, 'night');
    assert.equal((await ada.does('/operators/temp/disable')).status, 200);
    assert.equal(await statusBy(cookie), 401);
    assert.equal((await login(key)).status, 401);
    await world.db.asSystem((tx) => tx.run("update operators set disabled_at = null where name = 'temp'"));
    assert.equal(await statusBy(cookie), 401);
    assert.equal((await login(key)).status, 401);
    assert.equal((await temp.reads('/self')).status, 200);
  });

  test('changes nothing for a page of another site', async () => {
    const cookie = await loggedIn(await enrolled(ada));
    const body = { label: 'x', days: 1, reason: 'a test' };
    for (const headers of [
      { 'sec-fetch-site': 'same-origin' },
      { 'x-console': '1' },
      { 'x-console': '1', 'sec-fetch-site': 'cross-site', origin: SITE.origin },
      { 'x-console': '1', 'sec-fetch-site': 'same-site' },
      { 'x-console': '1', origin: 'https://evil.test' },
    ] as Record<string, string>[]) {
      for (const [method, path] of [
        ['POST', '/self/token'],
        ['DELETE', '/session'],
      ] as const) {
        const { status, body: came } = await ask(
          method,
          path,
          { ...headers, cookie },
          method === 'POST' ? body : undefined,
        );
        assert.deepEqual([status, came.reason], [403, 'cross_site'], JSON.stringify(headers));
      }
      assert.equal((await ask('POST', '/session/options', headers)).status, 403);
    }
    assert.equal(await statusBy(cookie), 200);
    assert.equal(
      (await ask('POST', '/self/token', { 'x-console': '1', origin: SITE.origin, cookie }, body)).status,
      200,
    );
  });

  test('makes no token and no passkey and gives no right ten minutes after its login, until a fresh one', async () => {
    const key = await enrolled(ada);
    const cookie = await loggedIn(key);
    world.clock.advance(10 * MINUTE_MS + 1);
    for (const [path, body] of [
      ['/self/token', { label: 'x', days: 1, reason: 'a test' }],
      ['/orders/1/release', { reason: 'a test' }],
      ['/operators', { operator: 'eve', role: 'admin', tokenSha256: '0'.repeat(64), reason: 'a test' }],
      ['/kill-switches/lift', { kind: 'payouts', subject: 'all', reason: 'a test' }],
      ['/session/passkeys/options', {}],
    ] as const) {
      const { status, body: came } = await ask('POST', path, by(cookie), body);
      assert.deepEqual([status, came.reason], [401, 'step_up_required'], path);
    }
    assert.equal(await statusBy(cookie), 200);
    const { cookie: fresh } = await login(key, by(cookie));
    const { status } = await ask('POST', '/self/token', by(fresh), { label: 'x', days: 1, reason: 'a test' });
    assert.equal(status, 200);
    const { body } = await ada.reads('/audit?action=self.token');
    assert.match(body.audit[0].via, /^session:\d+$/);
    assert.equal((await ada.does('/self/token', { label: 'y', days: 1 })).status, 200);
    assert.equal((await ada.reads('/audit?action=self.token')).body.audit[0].via, 'token');
  });

  test('is no second person: another session of the same operator cannot confirm its proposal', async () => {
    const key = await enrolled(ada);
    const [one, other] = [await loggedIn(key), await loggedIn(key)];
    const rule = { action: 'order.release', people: 1, reason: 'a test' };
    const { status, body } = await ask('POST', '/rules', by(one), rule);
    assert.equal(status, 202);
    const confirm = `/proposals/${body.proposal}/confirm`;
    const own = await ask('POST', confirm, by(other), { reason: 'a test' });
    assert.deepEqual([own.status, own.body.reason], [403, 'own_proposal']);
    const theirs = await loggedIn(await enrolled(bob));
    world.clock.advance(10 * MINUTE_MS + 1);
    assert.equal((await ask('POST', confirm, by(theirs), { reason: 'a test' })).body.reason, 'step_up_required');
    assert.equal((await bob.does(confirm)).status, 200);
  });

  test('is deleted when it has expired, together with unused challenges', async () => {
    await loggedIn(await enrolled(ada));
    await loginOptions();
    world.clock.advance(13 * 60 * MINUTE_MS);
    await purgeSessions(world.db, world.clock.now());
    for (const table of ['operator_sessions', 'operator_challenges'])
      assert.equal((await world.db.asSystem((tx) => tx.rows(`select 1 from ${table}`))).length, 0, table);
  });
});

test('the number of logins from one network is limited', async () => {
  let status = 200;
  for (let asked = 0; asked < 300 && status === 200; asked += 1)
    ({ status } = await ask('POST', '/session/options', OURS));
  assert.equal(status, 429);
  assert.equal((await ada.reads('/self')).status, 200);
});

test('only a sandbox on the local machine gets a cookie without TLS, under a host name that a passkey supports', () => {
  const local = { publicUrl: () => 'http://127.0.0.1:8080' };
  const cookie = cookieNamed('console');
  assert.deepEqual(siteOf(local), { origin: 'http://localhost:8080', host: 'localhost' });
  assert.equal(cookie.of({ ...local, profile: 'sandbox' }, 'x'), 'console=x; Path=/; HttpOnly; SameSite=Strict');
  assert.match(cookie.of({ ...local, profile: 'production' }, 'x'), /^__Host-console=x; .*Secure$/);
  assert.match(cookie.of({ publicUrl: () => 'http://ramp.test', profile: 'sandbox' }, 'x'), /Secure$/);
});
