/**
 * A session of an owner is stolen. The thief invites a member, enrols a passkey, makes recovery codes and links, gives a member more
 * rights, rotates one old key and widens another. The partner is suspended since then: after it is resumed, none of this works
 * until operators release it, item by item. What is older works as before.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inviteAgain } from '../../../src/team/index.ts';
import { authenticator } from '../../support/authenticator.ts';
import type { Came } from '../../support/client.ts';
import { until } from '../../support/until.ts';
import { openV1 } from '../../support/v1.ts';
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

let world: V1Environment;
let team: Teamed;
let beside: Awaited<ReturnType<typeof besideStory>>;
let operator: Person;
let partnerId = 0n;
let olga: MemberClient;
let dora: MemberClient;
let vera: MemberClient;

before(async () => {
  world = await v1Environment();
  const { db } = world.s.server;
  beside = await besideStory(world.s, { profile: 'sandbox', loginsPerMinute: 10_000 });
  team = { db, baseUrl: beside.baseUrl, clock: world.s.clock };
  operator = await operatorNamed({ ...team, baseUrl: world.s.server.baseUrl }, 'op', 'admin');
  const [row] = await db.asSystem((tx) =>
    tx.rows<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [world.keys.apiKey]),
  );
  partnerId = row?.partnerId ?? 0n;
  olga = await memberNamed(team, partnerId, 'olga', 'owner');
  dora = await memberNamed(team, partnerId, 'dora', 'developer');
  vera = await memberNamed(team, partnerId, 'vera', 'viewer');
});
after(async () => {
  await beside?.close();
  await world?.s.close();
});

const codeIn = (url: string): string => url.split('#')[1] ?? '';
const path = (more: string) => `/partners/${partnerId}/${more}`;
async function does(more: string, body: Record<string, unknown> = {}): Promise<Came> {
  const said = await operator.does(path(more), body);
  assert.equal(said.status, 200, JSON.stringify(said.body));
  return said.body;
}
const statusBy = async (cookie: string): Promise<number> =>
  (await signing(team, 'GET', '/session', undefined, { ...OURS, cookie })).status;
const itemsOf = (said: Came): string[] => said.stillHeld.map(({ kind, why }: Came) => `${kind}: ${why}`).sort();
const works = async (key: { apiKey: string; apiSecret: string }): Promise<number> =>
  (await openV1(team.baseUrl, key).get('/orders')).status;

/** Enrols a passkey for the member of a session. */
async function enrols(cookie: string) {
  const key = authenticator();
  const headers = { ...OURS, cookie };
  const { body } = await signing(team, 'POST', '/passkeys/options', {}, headers);
  const credential = key.enrol({ ...siteOf(team.baseUrl), options: body.options });
  const { status } = await signing(team, 'POST', '/passkeys', { credential }, headers);
  assert.equal(status, 200);
  return key;
}

describe('what was made with the stolen session of an owner', () => {
  let cookie = '';
  let mallory: Awaited<ReturnType<typeof joins>>;
  let malloryKey: ReturnType<typeof authenticator>;
  /** A session begun with the thief's own passkey. */
  let another = '';
  let since = '';
  let passkey: ReturnType<typeof authenticator>;
  let rotated = { apiKey: '', apiSecret: '' };
  let widened = { apiKey: '', apiSecret: '' };
  let made = { apiKey: '', apiSecret: '' };
  let link = '';
  let doraLink = '';
  let doraCode = '';
  let codes: string[] = [];
  const thief = async (method: string, to: string, body?: unknown): Promise<Came> => {
    const answer = await asking(team, method, to, { cookie, body });
    assert.ok(answer.status < 300, `${method} ${to}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  before(async () => {
    const older = async (label: string) => {
      const { key: apiKey, secret: apiSecret } = await olga.does('POST', '/keys', { label, scopes: ['read'] });
      return { apiKey, apiSecret };
    };
    [rotated, widened] = [await older('rotated'), await older('widened')];
    const late = await olga.does('POST', '/team', { name: 'late', role: 'viewer' });
    world.s.clock.advance(10_000);
    since = world.s.clock.now().toISOString();

    cookie = (await signsIn(team, olga.key)).cookie;
    const invited = await thief('POST', '/team', { name: 'mallory', role: 'owner' });
    malloryKey = authenticator();
    mallory = await joins(team, codeIn(invited.url), malloryKey);
    passkey = await enrols(cookie);
    another = (await signsIn(team, passkey)).cookie;
    codes = (await signing(team, 'POST', '/recovery-codes', {}, { ...OURS, cookie })).body.codes;
    link = (await thief('POST', `/team/${late.member.id}/invitation`)).url;
    await thief('PATCH', `/team/${vera.id}`, { role: 'developer' });
    rotated.apiSecret = (await thief('POST', `/keys/${rotated.apiKey}/rotate`, { overlapSeconds: 3_600 })).secret;
    await thief('PATCH', `/keys/${widened.apiKey}`, { scopes: ['read', 'trade', 'customers', 'admin'] });
    const mine = await thief('POST', '/keys', { label: 'made', scopes: ['read'] });
    made = { apiKey: mine.key, apiSecret: mine.secret };
    const now = world.s.clock.now();
    const again = await team.db.asSystem((tx) => inviteAgain(tx, { partnerId, id: dora.id, now, evenJoined: true }));
    [doraLink] = [again.code];
    doraCode = (await dora.signing('POST', '/recovery-codes', {})).body.codes[0];
    assert.deepEqual(await admitted(), ALL, 'a probe does not show what it is there to show');
  });

  test('is listed when the partner is suspended since then', async () => {
    const said = await does('suspend', { since });
    assert.deepEqual(itemsOf(said), [
      'code: a link and recovery codes for dora made since then',
      'code: a link for late made since then',
      'code: recovery codes of olga made since then',
      'key: changed since then',
      'key: made since then',
      'key: rotated since then',
      'member: mallory was invited since then',
      'member: the role of vera was changed since then, from viewer to developer',
      'passkey: enrolled since then, by olga',
      'session: begun since then, by olga',
    ]);
  });

  /** Each way in that the thief made, and what it answers now. */
  const tried = async (): Promise<[string, number][]> => {
    const joining = async (code: string | undefined) => (await signing(team, 'POST', '/join/options', { code })).status;
    return [
      ['key that was rotated', await works(rotated)],
      ['key that was widened', await works(widened)],
      ['key that was made', await works(made)],
      ['member who was invited', await statusBy(mallory.cookie)],
      ['passkey of that member', (await signsIn(team, malloryKey)).status],
      ['recovery code of that member', await joining(mallory.body.newRecoveryCodes[0])],
      ['session', await statusBy(cookie)],
      ['passkey', (await signsIn(team, passkey)).status],
      ['session of that passkey', await statusBy(another)],
      ['link', await joining(codeIn(link))],
      ['recovery code', await joining(codes[0])],
      ['link of a member who has joined', await joining(doraLink)],
      ['recovery code of that one', await joining(doraCode)],
      ['member with another role', await statusBy(vera.cookie())],
    ];
  };
  const admitted = async (): Promise<string[]> =>
    (await tried()).filter(([, status]) => status === 200).map(([what]) => what);
  const ALL = [
    ...['key that was rotated', 'key that was widened', 'key that was made'],
    ...['member who was invited', 'passkey of that member', 'recovery code of that member'],
    ...['session', 'passkey', 'session of that passkey'],
    ...['link', 'recovery code', 'link of a member who has joined', 'recovery code of that one'],
    'member with another role',
  ];

  test('is not revived when the partner is resumed, and what is older works as before', async () => {
    await does('resume');
    await until('the partner is let in', async () => (await works(world.keys)) === 200);
    // A server may remember a key for three seconds.
    for (const key of [rotated, widened, made])
      await until('a held key is unknown', async () => (await works(key)) === 401);
    assert.deepEqual(await admitted(), []);
    for (const member of [olga, dora])
      assert.equal(await statusBy(member.cookie()), 200, `${member.name} is locked out`);
    assert.equal((await signsIn(team, olga.key)).status, 200, 'an older passkey is locked out');
    const { body } = await operator.reads(path('team'));
    const isHeld = (name: string) => body.team.find((one: Came) => one.name === name).heldAt !== null;
    assert.deepEqual(['mallory', 'vera', 'olga'].map(isHeld), [true, true, false]);
  });

  test('does not count for its member: not as another passkey, a session or another owner', async () => {
    const { passkeys } = (await olga.signing('GET', '/passkeys')).body;
    assert.equal(passkeys.length, 1, 'a held passkey is listed as one that signs in');
    const revoked = await olga.signing('DELETE', `/passkeys/${passkeys[0].id}`);
    assert.equal(revoked.body.reason, 'last_passkey');
    const { sessions } = (await olga.signing('GET', '/sessions')).body;
    const { held } = (await operator.reads(path('held?kind=session'))).body;
    assert.equal(held.length, 1);
    assert.ok(!sessions.some(({ id }: Came) => id === held[0].subject), 'a held session is listed as one that is open');
    const left = await olga.asks('PATCH', `/team/${olga.id}`, { role: 'viewer' });
    assert.equal(left.body.reason, 'last_owner', 'a held owner counts as the other owner');
  });

  test('is not revived by releasing all: sessions end, and everything else waits to be named', async () => {
    const said = await does('held/release', { items: 'all' });
    assert.deepEqual(said.stillHeld.map(({ kind }: Came) => kind).sort(), [
      'code',
      'code',
      'code',
      'key',
      'key',
      'member',
      'member',
      'passkey',
    ]);
    assert.deepEqual(await admitted(), []);
  });

  test('works again item by item once it is released, and is removed for good once it is rejected', async () => {
    const { held } = (await operator.reads(path('held?state=held'))).body;
    const numbered = (...about: string[]): string[] =>
      held.filter(({ why }: Came) => about.some((one) => why.includes(one))).map(({ id }: Came) => id);
    await does('held/reject', { items: numbered('mallory', 'enrolled', 'recovery codes of olga', 'rotated') });
    const left = await does('held/release', {
      items: numbered('changed since then', 'role of vera', 'link for late', 'for dora'),
    });
    assert.deepEqual(left.stillHeld, []);
    await until('the released key is let in', async () => (await works(widened)) === 200);
    const released = ['link of a member who has joined', 'recovery code of that one', 'member with another role'];
    assert.deepEqual(await admitted(), ['key that was widened', 'link', ...released]);
    const { body } = await operator.reads(path('team'));
    assert.notEqual(body.team.find(({ name }: Came) => name === 'mallory').disabledAt, null);
    const { cases } = (await operator.reads('/cases?kind=partner_contained')).body;
    assert.ok(!cases.some(({ subject }: Came) => subject === `partner:${partnerId}`), 'the case is open');
  });

  test('is not held where only one key is distrusted, because a key cannot change the team', async () => {
    world.s.clock.advance(10_000);
    const later = world.s.clock.now().toISOString();
    const again = await signsIn(team, olga.key);
    const said = await does('suspend', { since: later, key: world.keys.apiKey });
    assert.deepEqual(itemsOf(said), ['key: named as leaked']);
    await does('resume');
    assert.equal(await statusBy(again.cookie), 200);
  });

  test('is ended for good when an owner signs the member out, and does not come back with its release', async () => {
    world.s.clock.advance(10_000);
    const later = world.s.clock.now().toISOString();
    await dora.signsIn();
    await does('suspend', { since: later });
    await does('resume');
    await until('the owner is let in', async () => (await statusBy(olga.cookie())) === 200);
    await olga.does('POST', `/team/${dora.id}/sign-out`);
    const { held } = (await operator.reads(path('held?state=held'))).body;
    const [session] = held.filter(({ kind, why }: Came) => kind === 'session' && why.includes('dora'));
    await does('held/release', { items: [session.id] });
    assert.equal(await statusBy(dora.cookie()), 401, 'a session that its owner ended signs in again');
  });
});
