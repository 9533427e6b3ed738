/**
 * Single sign-on of operators, at a provider that lies where a test wants it to: who gets in, what a login there is worth, and the
 * answers that begin no session. The login in a real browser, at a real provider: console/signin.test.ts.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { openOidc } from '../../../src/base/oidc.ts';
import { authenticator } from '../../support/authenticator.ts';
import { CLIENT, type LyingProvider, lyingProvider, type Signed } from '../../support/oidc.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person, twoDo } from './people.ts';
import { by, consoleClient, OURS, SITE } from './signing.ts';

const MINUTE_MS = 60_000;

let provider: LyingProvider;
let world: Environment;
let ada: Person;
let bob: Person;
const policy = { strong: ['amr=hwk', 'acr=phr'], isFresh: false };
/** Lines of the log. */
const logged: string[] = [];
const note = (...line: unknown[]) => void logged.push(JSON.stringify(line));

before(async () => {
  provider = await lyingProvider();
  const client = openOidc({ issuer: provider.issuer, ...CLIENT });
  world = await wireEnvironment({
    production: true,
    beside: (fixture) =>
      operatorApi(fixture, {
        ...{ publicUrl: () => SITE.origin, loginsPerMinute: 2_000 },
        sso: { name: 'Bank login', client, policy },
        log: { debug: note, info: note, warn: note, error: note },
      }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bob = await operatorNamed(world, 'bob', 'admin');
});
after(async () => {
  await world?.stop();
  await provider?.stop();
});
afterEach(() => {
  Object.assign(provider.state, { says: {}, signed: 'well', answers: undefined, mood: 'well' });
  policy.isFresh = false;
});

const { ask, enrolled, loginOptions, login, loggedIn, statusBy } = consoleClient(() => world);

/** A browser that has gone to the provider. */
async function goes(headers: Record<string, string> = OURS, input: object = {}) {
  const { status, body, cookie, set } = await ask('POST', '/session/sso', headers, input);
  assert.equal(status, 200, JSON.stringify(body));
  const url = new URL(body.url);
  const asked = Object.fromEntries(url.searchParams) as Record<string, string>;
  return { url, asked, cookie, set };
}
type Gone = Awaited<ReturnType<typeof goes>>;

/** The browser comes back. @param says claims of the token, besides the nonce */
async function comesBack(
  gone: Gone,
  says: Record<string, unknown>,
  { answer = {}, cookie = gone.cookie }: { answer?: Record<string, string>; cookie?: string } = {},
) {
  provider.state.says = { nonce: gone.asked.nonce, ...says };
  const query = new URLSearchParams({ code: 'a-code', state: gone.asked.state ?? '', ...answer });
  return await ask('POST', '/session/sso/answer', by(cookie), { answer: String(query) });
}
const signsIn = async (says: Record<string, unknown>, headers?: Record<string, string>) =>
  await comesBack(await goes(headers), says);
const STRONG = { amr: ['pwd', 'hwk'] };

/** An operator whose account is bound by two others. */
async function bound(name: string, account: { account: string } | { email: string } = { account: `sub-${name}` }) {
  const person = await operatorNamed(world, name, 'admin');
  await twoDo(ada, bob, `/operators/${name}/bind`, account);
  return person;
}
const rowsOf = (table: string) => world.db.asSystem((tx) => tx.rows(`select * from ${table}`));
const release = (cookie: string) => ask('POST', '/orders/1/release', by(cookie), { reason: 'a test' });

describe('a login at the provider', () => {
  test('begins a session of the bound operator, which money does not accept without a passkey', async () => {
    await bound('amy');
    const { status, body, cookie } = await signsIn({ sub: 'sub-amy', ...STRONG });
    assert.deepEqual([status, body.signedIn.name, body.options], [200, 'amy', null]);
    assert.match(cookie, /^__Host-console=[\w-]{43}$/);
    const { body: who } = await ask('GET', '/session', { cookie });
    assert.deepEqual([who.name, who.role, who.stepUpUntil], ['amy', 'admin', null]);
    assert.equal((await release(cookie)).body.reason, 'step_up_required');
    assert.equal((await ask('POST', '/session/passkeys/options', by(cookie), {})).body.reason, 'step_up_required');
    const { sessions } = (await ask('GET', '/sessions', { cookie })).body;
    assert.deepEqual(
      sessions.map((one: { passkey: string | null; current: boolean }) => [one.passkey, one.current]),
      [[null, true]],
    );
    const [line] = (await bob.reads('/audit?action=session.begin')).body.audit;
    assert.deepEqual([line.operator, line.reason, line.after.proof], ['amy', 'single sign-on', 'amr=hwk']);
    assert.match(line.via, /^session:\d+$/);
  });

  test('proves the challenge of PKCE, and goes nowhere but to our own page', async () => {
    await bound('ann');
    const gone = await goes();
    const { asked } = gone;
    assert.equal(`${gone.url.origin}${gone.url.pathname}`, `${provider.issuer}/auth`);
    assert.deepEqual(
      [asked.response_type, asked.client_id, asked.redirect_uri, asked.code_challenge_method, asked.acr_values],
      ['code', CLIENT.clientId, `${SITE.origin}/console/sso`, 'S256', 'phr'],
    );
    assert.match(gone.set, /^__Host-console-sso=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    assert.ok(!gone.url.href.includes(gone.cookie.split('=')[1] ?? ''), 'the secret of the browser is in an address');
    assert.equal((await comesBack(gone, { sub: 'sub-ann', ...STRONG })).status, 200);
    assert.ok(provider.isProvedBy(asked.code_challenge ?? null));
    assert.equal(provider.state.form.get('redirect_uri'), asked.redirect_uri);
    assert.equal(provider.state.form.get('client_secret'), CLIENT.clientSecret);
    const parameter = { next: 'https://evil.test', redirect_uri: 'https://evil.test' };
    const { status, body } = await ask('POST', '/session/sso', OURS, parameter);
    assert.deepEqual([status, body.reason], [400, 'malformed_field']);
  });

  test('of an account that nobody bound creates nothing', async () => {
    const before = [await rowsOf('operators'), await rowsOf('operator_identities')].map((rows) => rows.length);
    const { status, body, set } = await signsIn({ sub: 'a stranger', email: 'ada@bank.test', email_verified: true });
    assert.deepEqual([status, body.reason, set], [403, 'sso_unbound', '']);
    const after = [await rowsOf('operators'), await rowsOf('operator_identities')].map((rows) => rows.length);
    assert.deepEqual(after, before);
  });

  test('by e-mail address needs one that the provider has verified', async () => {
    await bound('bea', { email: 'Bea@Bank.test' });
    const email = 'BEA@bank.test';
    for (const says of [{ email }, { email, email_verified: false }, { email, email_verified: 'true' }])
      assert.equal((await signsIn({ sub: 'x', ...STRONG, ...says })).body.reason, 'sso_unbound', JSON.stringify(says));
    const { body } = await signsIn({ sub: 'x', ...STRONG, email, email_verified: true });
    assert.equal(body.signedIn.name, 'bea');
  });

  test('is declined where account and address are bound to different operators', async () => {
    await bound('cat', { account: 'sub-cat' });
    await bound('cleo', { email: 'cleo@bank.test' });
    const says = { sub: 'sub-cat', email: 'cleo@bank.test', email_verified: true, ...STRONG };
    assert.equal((await signsIn(says)).body.reason, 'sso_unbound');
  });

  test('replaces the session that it came with, and never takes over one that was planted', async () => {
    await bound('dan');
    const planted = `__Host-console=${'A'.repeat(43)}`;
    const gone = await goes(by(planted));
    const first = await comesBack(gone, { sub: 'sub-dan', ...STRONG }, { cookie: `${planted}; ${gone.cookie}` });
    assert.notEqual(first.cookie, planted);
    assert.equal(await statusBy(planted), 401);
    const again = await goes(by(first.cookie));
    const second = await comesBack(
      again,
      { sub: 'sub-dan', ...STRONG },
      { cookie: `${first.cookie}; ${again.cookie}` },
    );
    assert.deepEqual([await statusBy(first.cookie), await statusBy(second.cookie)], [401, 200]);
  });

  test('ends with its operator and with its binding, for good', async () => {
    await bound('eve');
    const { cookie } = await signsIn({ sub: 'sub-eve', ...STRONG });
    assert.equal((await ada.does('/operators/eve/disable')).status, 200);
    assert.equal(await statusBy(cookie), 401);
    assert.equal((await signsIn({ sub: 'sub-eve', ...STRONG })).body.reason, 'sso_unbound');
    await twoDo(ada, bob, '/operators/eve/enable');
    assert.equal(await statusBy(cookie), 401);
    assert.equal((await signsIn({ sub: 'sub-eve', ...STRONG })).body.reason, 'sso_unbound');

    await twoDo(ada, bob, '/operators/eve/bind', { account: 'sub-eve' });
    const { cookie: other } = await signsIn({ sub: 'sub-eve', ...STRONG });
    const [one] = (await ada.reads('/operators/eve/identities')).body.identities;
    assert.equal((await ada.does('/operators/bob/unbind', { identity: one.id })).body.reason, 'unknown_identity');
    assert.equal(await statusBy(other), 200);
    assert.equal((await ada.does('/operators/eve/unbind', { identity: one.id })).status, 200);
    assert.equal(await statusBy(other), 401);
    assert.equal((await signsIn({ sub: 'sub-eve', ...STRONG })).body.reason, 'sso_unbound');
  });
});

describe('a login that shows no more than a password', () => {
  const weak = { sub: 'sub-fay', amr: ['pwd'] };

  test('begins no session until a passkey of the same operator is shown', async () => {
    const key = await enrolled(await bound('fay'));
    for (const says of [weak, { sub: 'sub-fay' }, { sub: 'sub-fay', acr: '1', amr: 'hwk' }]) {
      const { status, body, cookie, set } = await signsIn(says);
      assert.deepEqual([status, body.signedIn], [200, null], JSON.stringify(says));
      assert.doesNotMatch(set, /__Host-console=/);
      const credential = key.login({ ...SITE, options: body.options });
      const shown = await ask('POST', '/session/sso/passkey', by(cookie), { credential });
      assert.deepEqual([shown.status, shown.body.name], [200, 'fay']);
      assert.notEqual(shown.body.stepUpUntil, null, 'a passkey was shown, and money asks for it again');
      assert.equal(await statusBy(shown.cookie), 200);
      assert.equal((await ask('POST', '/session/sso/passkey', by(cookie), { credential })).body.reason, 'sso_expired');
    }
  });

  test('takes no passkey of another operator, and none without the login', async () => {
    const others = await enrolled(bob);
    const { body, cookie } = await signsIn(weak);
    const credential = others.login({ ...SITE, options: body.options });
    const { status, body: said, set } = await ask('POST', '/session/sso/passkey', by(cookie), { credential });
    assert.deepEqual([status, said.reason, set], [403, 'sso_other_operator', '']);
    const key = await enrolled(await bound('gil'));
    const begun = await goes();
    const early = key.login({ ...SITE, options: await loginOptions() });
    const skipped = await ask('POST', '/session/sso/passkey', by(begun.cookie), { credential: early });
    assert.equal(skipped.body.reason, 'sso_expired', 'the answer of the provider was skipped');
    const unproved = await signsIn({ sub: 'sub-gil' });
    const wrong = authenticator().login({ ...SITE, options: unproved.body.options });
    assert.equal((await ask('POST', '/session/sso/passkey', by(unproved.cookie), { credential: wrong })).status, 401);
  });

  test('is not repeated as an answer, and does not outlive its operator', async () => {
    const key = await enrolled(await bound('hal'));
    const { body, cookie } = await signsIn({ sub: 'sub-hal' });
    const again = await ask('POST', '/session/sso/answer', by(cookie), { answer: 'code=a&state=b' });
    assert.equal(again.body.reason, 'sso_expired');
    const other = await signsIn({ sub: 'sub-hal' });
    const credential = key.login({ ...SITE, options: other.body.options });
    const [one] = (await ada.reads('/operators/hal/identities')).body.identities;
    await ada.does('/operators/hal/unbind', { identity: one.id });
    const late = await ask('POST', '/session/sso/passkey', by(other.cookie), { credential });
    assert.equal(late.body.reason, 'sso_unbound');
    assert.ok(body.options);
  });
});

describe('a fresh login by the provider, where the installation says so', () => {
  const now = () => Math.floor(Date.now() / 1_000);

  test('counts for ten minutes from when the person proved who they are', async () => {
    await bound('ida');
    policy.isFresh = true;
    const gone = await goes();
    assert.equal(gone.asked.max_age, '600');
    const { cookie } = await comesBack(gone, { sub: 'sub-ida', ...STRONG, auth_time: now() - 300 });
    assert.equal((await release(cookie)).body.reason, 'unknown_order');
    world.clock.advance(4 * MINUTE_MS);
    assert.equal((await release(cookie)).body.reason, 'unknown_order');
    world.clock.advance(2 * MINUTE_MS);
    assert.equal((await release(cookie)).body.reason, 'step_up_required');
    assert.deepEqual((await ask('GET', '/session/sso', OURS)).body, { provider: 'Bank login', stepUp: true });
    // Asked for in the middle of an action: the provider asks the person, although it remembers them.
    assert.equal(gone.asked.prompt, undefined);
    const again = await goes({ ...OURS, cookie }, { again: true });
    assert.deepEqual([again.asked.prompt, again.asked.max_age], ['login', '600']);
    const fresh = await comesBack(again, { sub: 'sub-ida', ...STRONG, auth_time: now() });
    assert.equal((await release(fresh.cookie)).body.reason, 'unknown_order');
  });

  test('does not count without a strong proof, without its time, or with an old one', async () => {
    policy.isFresh = true;
    const told = { sub: 'sub-ida', auth_time: now() };
    assert.equal((await signsIn({ ...told, amr: ['pwd'] })).body.signedIn, null);
    assert.equal((await signsIn({ sub: 'sub-ida', ...STRONG })).body.reason, 'sso_unproved');
    assert.equal((await signsIn({ ...told, ...STRONG, auth_time: now() - 3_600 })).body.reason, 'sso_unproved');
    const { cookie } = await signsIn({ ...told, ...STRONG, auth_time: now() + 3_600 });
    assert.equal((await release(cookie)).body.reason, 'step_up_required', 'a proof of the future counts');
  });

  test('does not count where the installation does not say so, and a passkey makes it fresh', async () => {
    const { cookie } = await signsIn({ sub: 'sub-ida', ...STRONG, auth_time: now() });
    assert.equal((await release(cookie)).body.reason, 'step_up_required');
    const key = await enrolled(await operatorNamed(world, 'jon', 'admin'));
    const { cookie: fresh } = await login(key, by(cookie));
    assert.equal((await release(fresh)).body.reason, 'unknown_order');
    assert.equal(await statusBy(cookie), 401);
  });
});

describe('an answer begins no session', () => {
  const seconds = () => Math.floor(Date.now() / 1_000);
  const good = { sub: 'sub-kim', ...STRONG };
  const refused = (came: { status: number; body: { reason?: string }; set: string }, reason: string) => {
    assert.equal(came.body.reason, reason);
    assert.ok(came.status >= 400);
    assert.doesNotMatch(came.set, /__Host-console=[\w-]/);
  };
  before(() => bound('kim'));

  for (const [why, says] of Object.entries<() => Record<string, unknown>>({
    'with the nonce of another login': () => ({ nonce: 'of another login' }),
    'without a nonce': () => ({ nonce: undefined }),
    'of another issuer': () => ({ iss: 'https://evil.test' }),
    'for another audience': () => ({ aud: 'another client' }),
    'for several audiences and another party': () => ({ aud: [CLIENT.clientId, 'x'], azp: 'x' }),
    'that has expired': () => ({ exp: seconds() - 120, iat: seconds() - 400 }),
    'that is not valid yet': () => ({ nbf: seconds() + 3_600 }),
    'without an end': () => ({ exp: undefined }),
    'without an account': () => ({ sub: undefined }),
  }))
    test(`${why}`, async () => refused(await signsIn({ ...good, ...says() }), 'sso_unproved'));

  for (const signed of ['by another key', 'by the secret', 'not at all'] as const satisfies readonly Signed[])
    test(`signed ${signed}`, async () => {
      provider.state.signed = signed;
      refused(await signsIn(good), 'sso_unproved');
    });

  for (const [why, answer] of Object.entries<Record<string, string>>({
    'with another state': { state: 'x'.repeat(43) },
    'without a state': { state: '' },
    'of another issuer in the address': { iss: 'https://evil.test' },
    'without a code': { code: '' },
  }))
    test(why, async () => refused(await comesBack(await goes(), good, { answer }), 'sso_unproved'));

  test('without a token, or with a code that was used before', async () => {
    provider.state.answers = { status: 200, body: { access_token: 'x', token_type: 'Bearer' } };
    refused(await signsIn(good), 'sso_unproved');
    provider.state.answers = { status: 400, body: { error: 'invalid_grant' } };
    refused(await signsIn(good), 'sso_unproved');
  });

  test('with an error of the provider', async () => {
    const gone = await goes();
    const answer = `error=access_denied&error_description=%3Cimg%3E&state=${gone.asked.state}`;
    const came = await ask('POST', '/session/sso/answer', by(gone.cookie), { answer });
    refused(came, 'sso_declined');
    assert.ok(!JSON.stringify(came.body).includes('img'));
  });

  test('and leaves the word of the protocol in the log, and nothing else of it', async () => {
    logged.length = 0;
    provider.state.answers = {
      status: 400,
      body: { error: 'invalid_client', error_description: 'the secret is wrong', hint: 'a hint' },
    };
    refused(await signsIn({ ...good, email: 'kim@bank.test' }), 'sso_unproved');
    provider.state.answers = undefined;
    refused(await signsIn({ ...good, email: 'kim@bank.test', nonce: 'another' }), 'sso_unproved');
    assert.equal(logged.length, 2);
    assert.match(logged[0] ?? '', /"why":"invalid_client"/);
    assert.match(logged[1] ?? '', /"why":"OAUTH_\w+"/);
    for (const secret of ['kim', 'a-code', 'secret', 'hint', 'access token', '__Host', 'another'])
      assert.ok(!logged.join().includes(secret), `the log has ${secret}`);
  });

  test('twice, in another browser, or after ten minutes', async () => {
    const gone = await goes();
    assert.equal((await comesBack(gone, good)).status, 200);
    refused(await comesBack(gone, good), 'sso_expired');
    const [one, other] = [await goes(), await goes()];
    refused(await comesBack(one, good, { cookie: other.cookie }), 'sso_unproved');
    refused(await comesBack(await goes(), good, { cookie: '' }), 'sso_expired');
    refused(await comesBack(await goes(), good, { cookie: `__Host-console-sso=${'B'.repeat(43)}` }), 'sso_expired');
    const late = await goes();
    world.clock.advance(10 * MINUTE_MS);
    refused(await comesBack(late, good), 'sso_expired');
    // Two at once.
    const raced = await goes();
    const both = await Promise.all([comesBack(raced, good), comesBack(raced, good)]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 401]);
  });

  test('from a page of another site', async () => {
    const gone = await goes();
    const headers = { 'x-console': '1', 'sec-fetch-site': 'cross-site', cookie: gone.cookie };
    for (const [path, body] of [
      ['/session/sso', {}],
      ['/session/sso/answer', { answer: 'code=a&state=b' }],
      ['/session/sso/passkey', { credential: {} }],
    ] as const)
      refused(await ask('POST', path, headers, body), 'cross_site');
  });
});

describe('a provider that is down', () => {
  test('leaves the passkey, and the next login works once it is back', async () => {
    await bound('lea');
    const key = await enrolled(await operatorNamed(world, 'max', 'admin'));
    const gone = await goes();
    for (const mood of ['broken', 'endless'] as const) {
      provider.state.mood = mood;
      const came = await comesBack(await goes(), { sub: 'sub-lea', ...STRONG });
      assert.deepEqual([came.status, came.body.reason], [503, 'sso_unavailable'], mood);
      assert.match(came.body.error, /Sign in with your passkey/);
      assert.equal(await statusBy(await loggedIn(key)), 200);
    }
    provider.state.mood = 'well';
    assert.equal((await comesBack(gone, { sub: 'sub-lea', ...STRONG })).status, 200);
  });

  test('is waited for four seconds, and its description is not remembered as missing', async () => {
    const other = await lyingProvider();
    try {
      const client = openOidc({ issuer: other.issuer, ...CLIENT });
      const attempt = { secret: 's'.repeat(43), redirectUri: `${SITE.origin}/console/sso` };
      const begins = () => client.begin(attempt, { proofs: [] });
      other.state.mood = 'silent';
      await assert.rejects(begins(), { name: 'Unavailable', message: /no whole answer in time/ });
      other.state.mood = 'well';
      for (const describes of [{ issuer: 'https://evil.test' }, { authorization_endpoint: 'javascript:alert(1)' }]) {
        other.state.describes = describes;
        const fresh = openOidc({ issuer: other.issuer, ...CLIENT });
        await assert.rejects(fresh.begin(attempt, { proofs: [] }), { name: 'Unavailable' }, JSON.stringify(describes));
      }
      other.state.describes = {};
      other.state.asked.clear();
      await Promise.all([begins(), begins(), begins()]);
      await begins();
      assert.deepEqual([...other.state.asked.values()], [1], 'the description is read for every login');
    } finally {
      await other.stop();
    }
  });
});

describe('binding an account', () => {
  test('takes two people, and stores the account encrypted everywhere', async () => {
    await operatorNamed(world, 'nia', 'viewer');
    const asked = { email: 'Nia.Quagmire@bank.test' };
    const proposed = await ada.does('/operators/nia/bind', asked);
    assert.equal(proposed.status, 202);
    assert.equal((await ada.does(`/proposals/${proposed.body.proposal}/confirm`)).body.reason, 'own_proposal');
    assert.deepEqual((await ada.reads('/operators/nia/identities')).body.identities, []);
    const shown = await bob.reads(`/proposals/${proposed.body.proposal}`);
    assert.equal(shown.body.input.email, 'nia.quagmire@bank.test');
    assert.equal((await bob.does(`/proposals/${proposed.body.proposal}/confirm`)).status, 200);
    const [one] = (await ada.reads('/operators/nia/identities')).body.identities;
    assert.deepEqual([one.issuer, one.kind, one.value], [provider.issuer, 'email', 'nia.quagmire@bank.test']);
    for (const table of ['operator_identities', 'audit', 'proposals'])
      assert.doesNotMatch(JSON.stringify(await rowsOf(table), jsonable), /quagmire/i, table);
    const { audit } = (await ada.reads('/audit?action=operator.bind')).body;
    assert.match(JSON.stringify(audit[0].after), /nia\.quagmire@bank\.test/);
  });

  test('needs one account, of nobody else, and a provider', async () => {
    await operatorNamed(world, 'oda', 'viewer');
    const binds = (body: Record<string, string>) => ada.does('/operators/oda/bind', body);
    for (const wrong of [{}, { account: 'a', email: 'a@b.test' }, { email: 'no address' }, { account: 'two words' }])
      assert.equal(
        (await binds(wrong as Record<string, string>)).body.reason,
        'malformed_field',
        JSON.stringify(wrong),
      );
    await bound('pia', { account: 'taken' });
    const { body } = await ada.does('/operators/oda/bind', { account: 'taken' });
    assert.equal((await bob.does(`/proposals/${body.proposal}/confirm`)).body.reason, 'identity_bound');
    assert.equal((await ada.does('/operators/nobody/bind', { account: 'x' })).body.reason, 'unknown_operator');
    for (const role of ['finance', 'viewer'] as const) {
      const other = await operatorNamed(world, `no-${role}`, role);
      assert.equal((await other.does('/operators/oda/bind', { account: 'x' })).body.reason, 'role_missing');
    }
    for (let n = 0; n < 5; n += 1) await twoDo(ada, bob, '/operators/oda/bind', { account: `oda-${n}` });
    const { body: sixth } = await ada.does('/operators/oda/bind', { account: 'oda-5' });
    assert.equal((await bob.does(`/proposals/${sixth.proposal}/confirm`)).body.reason, 'too_many_identities');
  });

  test('and every login at a provider is declined where there is none', async () => {
    const plain = await wireEnvironment({
      production: true,
      beside: (fixture) => operatorApi(fixture, { publicUrl: () => SITE.origin }),
    });
    try {
      const there = consoleClient(() => plain);
      assert.deepEqual((await there.ask('GET', '/session/sso', {})).body, { provider: null, stepUp: false });
      assert.equal((await there.ask('POST', '/session/sso', OURS, {})).body.reason, 'sso_off');
      const answer = { answer: 'code=a&state=b' };
      assert.equal((await there.ask('POST', '/session/sso/answer', OURS, answer)).body.reason, 'sso_off');
      const person = await operatorNamed(plain, 'ada', 'admin');
      assert.equal((await person.does('/operators/ada/bind', { account: 'x' })).body.reason, 'sso_off');
    } finally {
      await plain.stop();
    }
    assert.deepEqual((await ask('GET', '/session/sso', {})).body, { provider: 'Bank login', stepUp: false });
  });
});

const jsonable = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
