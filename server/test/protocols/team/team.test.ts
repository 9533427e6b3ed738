/** Teams of partners: invitations, passkeys, sessions, roles, keys; and a member of one partner sees nothing of another. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findPartner } from '../../../src/partners/index.ts';
import { ENDPOINTS } from '../../../src/protocols/v1/declared/index.ts';
import { exampleParts } from '../../../src/protocols/v1/examples.ts';
import { memberRightOf } from '../../../src/protocols/v1/member.ts';
import { MEMBER_ROLES, type MemberRight, purgeTeams, RIGHTS_OF } from '../../../src/team/index.ts';
import { authenticator } from '../../support/authenticator.ts';
import { fetchDeclared } from '../../support/declared.fetch.ts';
import { openV1, signed } from '../../support/v1.ts';
import { operatorNamed, type Person } from '../operator/people.ts';
import { besideStory, type V1Environment, v1Environment } from '../v1/environment.ts';
import {
  asking,
  joins,
  type MemberClient,
  memberNamed,
  OURS,
  signing,
  signsIn,
  siteOf,
  type Teamed,
} from './people.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let world: V1Environment;
/** A server of the same installation where many may log in at once. */
let team: Teamed;
let beside: Awaited<ReturnType<typeof besideStory>>;
let operator: Person;
let partnerId = 0n;
let otherId = 0n;
let owner: MemberClient;
let stranger: MemberClient;

before(async () => {
  world = await v1Environment();
  const { db } = world.s.server;
  beside = await besideStory(world.s, { profile: 'sandbox', loginsPerMinute: 10_000 });
  team = { db, baseUrl: beside.baseUrl, clock: world.s.clock };
  operator = await operatorNamed({ ...team, baseUrl: world.s.server.baseUrl }, 'op', 'admin');
  const idOf = async (apiKey: string): Promise<bigint> => {
    const row = await db.asSystem((tx) =>
      tx.row<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [apiKey]),
    );
    return row?.partnerId ?? 0n;
  };
  partnerId = await idOf(world.keys.apiKey);
  otherId = await idOf(world.otherKeys.apiKey);
  owner = await memberNamed(team, partnerId, 'olga', 'owner');
  stranger = await memberNamed(team, otherId, 'sven', 'owner');
});
after(async () => {
  await beside?.close();
  await world?.s.close();
});

const statusBy = async (cookie: string): Promise<number> =>
  (await signing(team, 'GET', '/session', undefined, { cookie })).status;
const codeIn = (url: string): string => url.split('#')[1] ?? '';

describe('an invitation', () => {
  test('of an operator enrols one passkey, begins a session and shows ten recovery codes; it works once', async () => {
    const { status, body } = await operator.does(`/partners/${partnerId}/team`, { name: 'ines', role: 'developer' });
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(body.url.startsWith(`${world.s.server.baseUrl}/partner/join#`), body.url);
    const code = codeIn(body.url);
    const joined = await joins(team, code);
    assert.equal(joined.status, 200, JSON.stringify(joined.body));
    assert.match(joined.set, /^partner=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.deepEqual(
      [joined.body.name, joined.body.role, joined.body.newRecoveryCodes.length],
      ['ines', 'developer', 10],
    );
    assert.equal((await joins(team, code)).status, 401);
    const listed = await operator.reads(`/partners/${partnerId}/team`);
    const ines = listed.body.team.find(({ name }: { name: string }) => name === 'ines');
    assert.deepEqual([ines.invitedBy, ines.invitedUntil], ['operator op', null]);
    const kept = await team.db.asSystem((tx) =>
      tx.rows<{
        row: string;
      }>(`select c::text as row from member_codes c union all select s::text from member_sessions s
        union all select a::text from audit a`),
    );
    const secrets = [code, joined.cookie.split('=')[1] ?? '', ...joined.body.newRecoveryCodes];
    for (const { row } of kept) for (const secret of secrets) assert.ok(!row.includes(secret), 'a secret is stored');
  });

  test('ends after three days, when another replaces it, and when its member is removed', async () => {
    const { member, url } = await owner.does('POST', '/team', { name: 'late', role: 'viewer' });
    const again = await owner.does('POST', `/team/${member.id}/invitation`);
    assert.equal((await joins(team, codeIn(url))).status, 401);
    const third = await owner.does('POST', '/team', { name: 'gone', role: 'viewer' });
    await owner.does('DELETE', `/team/${third.member.id}`);
    assert.equal((await joins(team, codeIn(third.url))).status, 401);
    world.s.clock.advance(3 * DAY_MS + 1);
    assert.equal((await joins(team, codeIn(again.url))).status, 401);
    await purgeTeams(team.db, team.clock.now());
    const left = await team.db.asSystem((tx) =>
      tx.rows(`select 1 from member_codes where kind = 'invitation' and expires_at < $1`, [team.clock.now()]),
    );
    assert.equal(left.length, 0);
    await owner.signsIn();
    await stranger.signsIn();
  });

  test('is made again by an owner only before its member has joined, by an operator at any time', async () => {
    const { member, url } = await owner.does('POST', '/team', { name: 'mona', role: 'viewer' });
    const joined = await joins(team, codeIn(url));
    assert.equal(joined.status, 200, JSON.stringify(joined.body));
    const refused = await owner.asks('POST', `/team/${member.id}/invitation`);
    assert.deepEqual([refused.status, refused.body.reason], [409, 'member_joined']);
    assert.equal(await statusBy(joined.cookie), 200, 'the member was signed out');
    const made = await operator.does(`/partners/${partnerId}/team/${member.id}/invitation`);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.equal((await joins(team, codeIn(made.body.url))).status, 200);
  });

  test('accepts a name once, and only a short plain one', async () => {
    assert.equal((await owner.asks('POST', '/team', { name: 'olga', role: 'viewer' })).body.reason, 'member_exists');
    for (const name of ['<b>', 'A', 'x', 'ö-team', "o'neil"])
      assert.equal((await owner.asks('POST', '/team', { name, role: 'viewer' })).body.reason, 'malformed_field');
  });

  test('belongs to one member: a passkey answers only for the member of its code', async () => {
    const one = await owner.does('POST', '/team', { name: 'one', role: 'viewer' });
    const two = await owner.does('POST', '/team', { name: 'two', role: 'owner' });
    const { body } = await signing(team, 'POST', '/join/options', { code: codeIn(one.url) });
    const credential = authenticator().enrol({ ...siteOf(team.baseUrl), options: body.options });
    const crossed = await signing(team, 'POST', '/join', { code: codeIn(two.url), credential });
    assert.equal(crossed.body.reason, 'malformed_field');
  });
});

describe('a session', () => {
  test('is new at each login, and the previous one ends', async () => {
    const before_ = owner.cookie();
    const answer = await signsIn(team, owner.key, { ...OURS, cookie: before_ });
    assert.equal(answer.status, 200);
    assert.notEqual(answer.cookie, before_);
    assert.equal(await statusBy(before_), 401);
    const planted = `partner=${'A'.repeat(43)}`;
    const fixed = await signsIn(team, owner.key, { ...OURS, cookie: planted });
    assert.notEqual(fixed.cookie, planted);
    assert.equal(await statusBy(planted), 401);
    await owner.signsIn();
  });

  test('is refused from another site, without the header of the page, and by a form', async () => {
    const cookie = owner.cookie();
    const from = [
      { 'x-console': '1', 'sec-fetch-site': 'cross-site' },
      { 'x-console': '1', 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'same-origin' },
      { 'x-console': '1', origin: 'https://evil.test' },
      {},
    ];
    for (const headers of from as Record<string, string>[]) {
      const posted = await asking(team, 'POST', '/keys', {
        ...{ cookie, headers },
        body: { label: 'stolen', scopes: ['admin'] },
      });
      assert.equal(posted.body.reason, 'cross_site', JSON.stringify(headers));
      const signing_ = await signing(team, 'POST', '/recovery-codes', {}, { ...headers, cookie });
      assert.equal(signing_.body.reason, 'cross_site');
      assert.equal((await signing(team, 'POST', '/session/options', {}, headers)).body.reason, 'cross_site');
    }
    assert.ok(!(await owner.does('GET', '/keys')).data.some(({ label }: { label: string }) => label === 'stolen'));
  });

  test('is no operator’s, and an operator’s passkey opens none', async () => {
    const asOperator = await fetchDeclared(`${world.s.server.baseUrl}/operator/v1/session`, {
      headers: { cookie: owner.cookie() },
    });
    assert.equal(asOperator.status, 401);
    const renamed = owner.cookie().replace(/^partner=/, 'console=');
    assert.equal(
      (await fetchDeclared(`${world.s.server.baseUrl}/operator/v1/session`, { headers: { cookie: renamed } })).status,
      401,
    );
    assert.equal((await signsIn(team, authenticator())).status, 401);
  });

  test('ends idle, at logout, when an owner ends it, and with its member', async () => {
    const vera = await memberNamed(team, partnerId, 'vera', 'viewer');
    await owner.does('POST', `/team/${vera.id}/sign-out`);
    assert.equal(await statusBy(vera.cookie()), 401);
    await vera.signsIn();
    assert.equal((await vera.signing('DELETE', '/session')).status, 200);
    assert.equal(await statusBy(vera.cookie()), 401);
    await vera.signsIn();
    const { sessions } = (await vera.signing('GET', '/sessions')).body;
    assert.deepEqual(
      sessions.map(({ current }: { current: boolean }) => current),
      [true],
    );
    await owner.does('DELETE', `/team/${vera.id}`);
    assert.equal((await vera.asks('GET', '/orders')).status, 401);
    assert.equal((await signsIn(team, vera.key)).status, 401);
    world.s.clock.advance(31 * MINUTE_MS);
    assert.equal(await statusBy(owner.cookie()), 401);
    await owner.signsIn();
    await stranger.signsIn();
  });

  test('needs a fresh login for secrets, the team and money, and none to read', async () => {
    world.s.clock.advance(11 * MINUTE_MS);
    for (const [method, path, body] of [
      ['POST', '/keys', { label: 'a', scopes: ['read'] }],
      ['POST', '/team', { name: 'abe', role: 'viewer' }],
      ['POST', '/orders/1/refund', { destinationId: '1' }],
    ] as const)
      assert.equal((await owner.asks(method, path, body)).body.reason, 'step_up_required', path);
    assert.equal((await owner.signing('POST', '/passkeys/options', {})).body.reason, 'step_up_required');
    assert.equal((await owner.asks('GET', '/orders')).status, 200);
    await owner.signsIn();
    assert.equal((await owner.asks('POST', '/orders/1/refund', { destinationId: '1' })).body.reason, 'unknown_order');
  });
});

describe('recovery', () => {
  test('a code enrols another passkey, ends the earlier ones with their sessions, and works once', async () => {
    const rita = await memberNamed(team, partnerId, 'rita', 'support');
    const [code = ''] = rita.codes;
    const found = authenticator();
    const typed = code.toUpperCase().replaceAll('-', ' ');
    const joined = await joins(team, typed, found);
    assert.equal(joined.status, 200, JSON.stringify(joined.body));
    assert.deepEqual([joined.body.name, joined.body.recoveryCodes, joined.body.newRecoveryCodes], ['rita', 9, null]);
    assert.equal(await statusBy(rita.cookie()), 401);
    assert.equal((await signsIn(team, rita.key)).status, 401);
    assert.equal((await signsIn(team, found)).status, 200);
    assert.equal((await joins(team, code)).status, 401);
  });

  test('new codes end the old ones, and the last passkey stays', async () => {
    const [code = ''] = owner.codes;
    const { codes } = (await owner.signing('POST', '/recovery-codes', {})).body;
    assert.equal(codes.length, 10);
    assert.equal((await joins(team, code)).status, 401);
    const [{ id }] = (await owner.signing('GET', '/passkeys')).body.passkeys;
    assert.equal((await owner.signing('DELETE', `/passkeys/${id}`)).body.reason, 'last_passkey');
  });
});

describe('roles', () => {
  test('every endpoint is open to the roles with its right, and to no other', async () => {
    const production = await besideStory(world.s);
    try {
      for (const role of MEMBER_ROLES) {
        const { cookie } = await memberNamed(team, otherId, `role-${role}`, role);
        const elsewhere = cookie().replace(/^partner=/, '__Host-partner=');
        for (const declared of ENDPOINTS) {
          const { path, body } = exampleParts(declared);
          const headers = { 'x-console': '1', 'sec-fetch-site': 'same-origin' };
          const { body: said } = await asking(production, declared.method, path, { cookie: elsewhere, body, headers });
          const right = memberRightOf(declared);
          const wanted =
            right === 'none'
              ? 'key_required'
              : RIGHTS_OF[role].includes(right as MemberRight)
                ? 'open'
                : 'role_missing';
          const got = ['key_required', 'role_missing'].includes(said.reason) ? said.reason : 'open';
          assert.equal(got, wanted, `${role} at ${declared.name}: ${JSON.stringify(said).slice(0, 200)}`);
        }
      }
    } finally {
      await production.close();
    }
  });

  test('a key is no person: it makes no key, admits no member, and changes no settings', async () => {
    for (const declared of ENDPOINTS.filter(({ person }) => person === true)) {
      const { path, body } = exampleParts(declared);
      const { body: said } = await world.api.send(declared.method, path, body);
      assert.equal(said.reason, 'session_required', declared.name);
    }
  });

  test('a change of role counts at the next request, and the last owner stays one', async () => {
    const dora = await memberNamed(team, partnerId, 'dora', 'developer');
    assert.equal((await dora.asks('GET', '/statement')).body.reason, 'role_missing');
    await owner.does('PATCH', `/team/${dora.id}`, { role: 'finance' });
    assert.equal((await dora.asks('GET', '/statement')).body.reason, 'missing_fields');
    assert.equal((await dora.asks('PATCH', `/team/${dora.id}`, { role: 'owner' })).body.reason, 'role_missing');
    assert.equal((await owner.asks('PATCH', `/team/${owner.id}`, { role: 'viewer' })).body.reason, 'last_owner');
    assert.equal((await owner.asks('DELETE', `/team/${owner.id}`)).body.reason, 'last_owner');
  });
});

describe('two partners', () => {
  test('a member sees and changes nothing of another: every id of the other is unknown', async () => {
    await owner.signsIn();
    await stranger.signsIn();
    const order = await world.sells('100');
    const hook = await world.api.does('POST', '/webhook-endpoints', { url: 'http://localhost:59999/hook' });
    const key = await owner.does('POST', '/keys', { label: 'mine', scopes: ['read'] });
    const requestId = (await world.api.get('/orders')).headers.get('x-request-id');
    for (const path of [
      '/orders',
      '/customers',
      '/webhook-endpoints',
      '/keys',
      '/team',
      '/activity',
      '/request-log',
      '/event-feed',
    ]) {
      const text = JSON.stringify((await stranger.asks('GET', path)).body);
      for (const id of [order.id, order.customerId, hook.id, key.key, '"olga"', String(requestId)])
        assert.ok(!text.includes(id), `${path} shows ${id} of another partner`);
    }
    const tried: [string, string, object?][] = [
      ['GET', `/orders/${order.id}`],
      ['GET', `/orders/${order.id}/trace`],
      ['GET', `/orders/${order.id}/deposits`],
      ['GET', `/orders/${order.id}/refunds`],
      ['POST', `/orders/${order.id}/cancel`],
      ['POST', `/orders/${order.id}/refund`, { destinationId: order.destination.id }],
      ['POST', `/orders/${order.id}/payout-destination`, { destinationId: order.destination.id }],
      ['POST', `/orders/${order.id}/payer-reference`, { payerReference: 'UTR1' }],
      ['GET', `/customers/${order.customerId}`],
      ['PATCH', `/customers/${order.customerId}`, { email: 'a@evil.example' }],
      ['POST', `/customers/${order.customerId}/verification-link`],
      ['GET', `/customers/${order.customerId}/destinations`],
      ['GET', `/customers/${order.customerId}/information-requests`],
      ['GET', `/webhook-endpoints/${hook.id}`],
      ['PATCH', `/webhook-endpoints/${hook.id}`, { enabled: false }],
      ['DELETE', `/webhook-endpoints/${hook.id}`],
      ['POST', `/webhook-endpoints/${hook.id}/rotate-secret`],
      ['POST', `/webhook-endpoints/${hook.id}/replay`, { from: '2026-01-01T00:00:00Z' }],
      ['GET', `/webhook-endpoints/${hook.id}/deliveries`],
      ['GET', `/request-log/${requestId}`],
      ['PATCH', `/keys/${key.key}`, { scopes: ['admin'] }],
      ['POST', `/keys/${key.key}/rotate`],
      ['POST', `/keys/${key.key}/revoke`],
      ['PATCH', `/team/${owner.id}`, { role: 'viewer' }],
      ['POST', `/team/${owner.id}/invitation`],
      ['POST', `/team/${owner.id}/sign-out`],
      ['DELETE', `/team/${owner.id}`],
    ];
    for (const [method, path, body] of tried) {
      const { status, body: said } = await stranger.asks(method, path, body);
      assert.equal(status, 404, `${method} ${path}: ${JSON.stringify(said)}`);
      assert.match(said.reason, /^unknown_/, path);
    }
    const { sessions } = (await owner.signing('GET', '/sessions')).body;
    const { status } = await stranger.signing('DELETE', `/sessions/${sessions[0].id}`);
    assert.equal(status, 404);
    assert.equal((await owner.asks('GET', `/orders/${order.id}`)).status, 200);
  });
});

describe('keys', () => {
  test('are made with scopes and networks, rotated with an overlap, changed and revoked', async () => {
    const made = await owner.does('POST', '/keys', { label: '<script>alert(1)</script>', scopes: ['read'] });
    const withKey = (apiSecret: string) => openV1(team.baseUrl, { apiKey: made.key, apiSecret });
    const statusWith = async (apiSecret: string) => (await withKey(apiSecret).get('/key')).status;
    assert.equal(await statusWith(made.secret), 200);
    assert.equal((await withKey(made.secret).post('/webhook-endpoints', {})).body.reason, 'scope_missing');
    const rotated = await owner.does('POST', `/keys/${made.key}/rotate`, { overlapSeconds: 600 });
    await world.s.until('the new secret counts', async () => (await statusWith(rotated.secret)) === 200);
    assert.equal(await statusWith(made.secret), 200);
    world.s.clock.advance(601_000);
    assert.equal(await statusWith(made.secret), 401);
    await owner.signsIn();
    await owner.does('PATCH', `/keys/${made.key}`, { networks: ['203.0.113.0/24'] });
    await world.s.until('the networks count', async () => (await statusWith(rotated.secret)) === 403);
    await owner.does('PATCH', `/keys/${made.key}`, { networks: [] });
    await world.s.until('no network counts', async () => (await statusWith(rotated.secret)) === 200);
    assert.equal((await owner.does('POST', `/keys/${made.key}/revoke`)).state, 'revoked');
    await world.s.until('it is revoked', async () => (await statusWith(rotated.secret)) === 401);
    const listed = await owner.does('GET', '/keys');
    assert.ok(!JSON.stringify(listed).includes(made.secret));
  });

  test('their secrets are in no log', async () => {
    const made = await owner.does('POST', '/keys', { label: 'quiet', scopes: ['read'] });
    const invited = await owner.does('POST', '/team', { name: 'quiet', role: 'viewer' });
    await world.s.until('the request is in the log', async () => {
      const { data } = await owner.does('GET', '/request-log?operation=team.invite');
      return data.length > 0 && data[0].key === 'member:olga';
    });
    const rows = await team.db.asSystem((tx) =>
      tx.rows<{
        row: string;
      }>(`select r::text as row from request_log r union all select a::text from partner_activity a
        union all select i::text from idempotency_records i`),
    );
    for (const { row } of rows)
      for (const secret of [made.secret, made.bearerToken, codeIn(invited.url)])
        assert.ok(!row.includes(secret), 'a secret is stored');
  });
});

test('a member’s changes are in the activity under its name, also for operators', async () => {
  await owner.does('PATCH', '/settings', { origins: ['https://shop.example'] });
  const { data } = await owner.does('GET', '/activity');
  const line = data.find(({ action }: { action: string }) => action === 'settings.changed');
  assert.equal(line.by, 'member olga');
  const { body } = await operator.reads(`/partners/${partnerId}/activity?action=settings.changed`);
  assert.equal(body.activity[0].member, String(owner.id));
  const partner = await team.db.asSystem((tx) => findPartner(tx, { id: partnerId }));
  assert.deepEqual(partner?.corsOrigins, ['https://shop.example']);
});

describe('the doctor', () => {
  const asked = { method: 'POST', path: '/v1/orders', body: '{"a":1}' };
  const headersOf = (over: Parameters<typeof signed>[2] = {}, apiSecret = world.keys.apiSecret) =>
    signed(
      { method: 'POST', url: `${team.baseUrl}/v1/orders`, headers: { 'idempotency-key': 'k1' }, text: asked.body },
      { apiKey: world.keys.apiKey, apiSecret },
      over,
    );
  const saidOf = async (headers: Record<string, string>): Promise<string> => {
    const { accepted, findings } = await owner.does('POST', '/request-log/diagnosis', { ...asked, headers });
    assert.equal(
      accepted,
      findings.every(({ ok }: { ok: boolean }) => ok),
    );
    return findings.map(({ ok, says }: { ok: boolean; says: string }) => `${ok ? '' : 'NO '}${says}`).join(' | ');
  };

  test('finds the fault of a signature, and accepts a valid one', async () => {
    assert.doesNotMatch(await saidOf(await headersOf()), /NO/);
    assert.match(
      await saidOf(await headersOf({ created: new Date(Date.now() - 600_000) })),
      /NO the signature is too old/,
    );
    assert.match(await saidOf(await headersOf({}, `${world.keys.apiSecret}\n`)), /NO .*newline at its end/);
    assert.match(await saidOf(await headersOf({ fields: ['@method', '@path'] })), /NO .*does not cover content-digest/);
    assert.match(await saidOf(await headersOf({}, world.keys.apiKey)), /NO .*the key was used as the secret/);
    const changed = { ...(await headersOf()), 'content-digest': 'sha-256=:AAAA:' };
    assert.match(await saidOf(changed), /NO Content-Digest/);
    assert.match(
      await saidOf({ authorization: `Bearer ${world.keys.apiKey}`, 'idempotency-key': 'a' }),
      /NO it is not the bearer token/,
    );
    assert.match(await saidOf({}), /NO a write needs the header Idempotency-Key.*NO neither/);
  });

  test('knows no key of another partner', async () => {
    const { findings } = await stranger.does('POST', '/request-log/diagnosis', {
      ...asked,
      headers: await headersOf(),
    });
    assert.match(JSON.stringify(findings), /no valid key of yours/);
  });

  test('a request that did not prove its key is in the log with the fault, and without its content', async () => {
    const headers = await headersOf({ created: new Date(Date.now() - 600_000) });
    const reply = await fetchDeclared(`${team.baseUrl}/v1/orders`, {
      ...{ method: 'POST', body: asked.body },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    assert.equal(reply.status, 401);
    const id = reply.headers.get('x-request-id');
    const line = await world.s.until('the line is there', async () => {
      const { status, body } = await owner.asks('GET', `/request-log/${id}`);
      return status === 200 && body;
    });
    assert.deepEqual(
      [line.reason, line.why, line.request, line.key],
      ['unauthenticated', 'the signature is too old', null, world.keys.apiKey],
    );
  });
});

test('a member pays an order of the sandbox, and the statement shows the settled amount and the fee', async () => {
  const order = await world.sells('100');
  const at = world.s.server;
  const paid = await asking(at, 'POST', `/sandbox/orders/${order.id}/pay`, { cookie: owner.cookie(), body: {} });
  assert.equal(paid.body.facts?.payments.length, 1, JSON.stringify(paid.body));
  const elsewhere = await owner.asks('POST', `/sandbox/orders/${order.id}/pay`, {});
  assert.equal(elsewhere.body.reason, 'sandbox_only');
  await world.becomes(order, 'settled');
  const now = team.clock.now();
  const span = `from=${new Date(now.getTime() - DAY_MS).toISOString()}&until=${new Date(now.getTime() + DAY_MS).toISOString()}`;
  const { data } = await owner.does('GET', `/statement?${span}`);
  const day = data.find(({ settled }: { settled: number }) => settled > 0);
  const settled = await world.get(order);
  assert.equal(day.received.amount, settled.receive.amount);
  const own = settled.fees.find(({ kind }: { kind: string }) => kind === 'partner');
  assert.equal(day.earned.amount, own?.amount.amount ?? day.earned.amount);
  for (const wrong of [
    '?from=2026-01-01T00:00:00Z&until=2026-12-01T00:00:00Z',
    '/books?from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
  ])
    assert.equal((await owner.asks('GET', `/statement${wrong}`)).body.reason, 'malformed_field', wrong);

  const books = await owner.does('GET', `/statement/books?${span}`);
  const [fees] = books.totals;
  assert.deepEqual([fees.opening.amount, fees.earned, fees.closing], ['0', day.earned, day.earned]);
  assert.deepEqual(books.lines.at(-1).owed, fees.closing);
  assert.deepEqual(books.lines.find(({ what }: { what: string }) => what === 'paid_out').amount, day.received);
});
