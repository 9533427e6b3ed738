/**
 * A session of an owner is stolen. The thief invites a member, enrols a passkey, makes recovery codes and links, gives a member more
 * rights, rotates one old key and widens another. The partner is suspended since then: after it is resumed, none of this works
 * until operators release it, item by item. What is older works as before.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { authenticator } from '../../support/authenticator.ts';
import type { Came } from '../../support/client.ts';
import { until } from '../../support/until.ts';
import { openV1 } from '../../support/v1.ts';
import { operatorNamed, type Person } from '../operator/people.ts';
import { besideStory, type V1World, v1World } from '../v1/world.ts';
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

let world: V1World;
let team: Teamed;
let beside: Awaited<ReturnType<typeof besideStory>>;
let operator: Person;
let partnerId = 0n;
let olga: MemberClient;
let dora: MemberClient;
let vera: MemberClient;

before(async () => {
  world = await v1World();
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
  let mallory = '';
  let since = '';
  let passkey: ReturnType<typeof authenticator>;
  let rotated = { apiKey: '', apiSecret: '' };
  let widened = { apiKey: '', apiSecret: '' };
  let link = '';
  let codes: string[] = [];
  const thief = async (method: string, to: string, body?: unknown): Promise<Came> => {
    const answer = await asking(team, method, to, { cookie, body });
    assert.ok(answer.status < 300, `${method} ${to}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  before(async () => {
    const made = async (label: string) => {
      const { key: apiKey, secret: apiSecret } = await olga.does('POST', '/keys', { label, scopes: ['read'] });
      return { apiKey, apiSecret };
    };
    [rotated, widened] = [await made('rotated'), await made('widened')];
    const late = await olga.does('POST', '/team', { name: 'late', role: 'viewer' });
    world.s.clock.advance(10_000);
    since = world.s.clock.now().toISOString();

    cookie = (await signsIn(team, olga.key)).cookie;
    const invited = await thief('POST', '/team', { name: 'mallory', role: 'owner' });
    mallory = (await joins(team, codeIn(invited.url))).cookie;
    passkey = await enrols(cookie);
    codes = (await signing(team, 'POST', '/recovery-codes', {}, { ...OURS, cookie })).body.codes;
    link = (await thief('POST', `/team/${late.member.id}/invitation`)).url;
    await thief('PATCH', `/team/${vera.id}`, { role: 'developer' });
    rotated.apiSecret = (await thief('POST', `/keys/${rotated.apiKey}/rotate`, { overlapSeconds: 3_600 })).secret;
    await thief('PATCH', `/keys/${widened.apiKey}`, { scopes: ['read', 'trade', 'customers', 'admin'] });
    assert.deepEqual([await works(rotated), await works(widened), await statusBy(mallory)], [200, 200, 200]);
  });

  test('is listed when the partner is suspended since then', async () => {
    const said = await does('suspend', { since });
    assert.deepEqual(itemsOf(said), [
      'code: a link for late made since then',
      'code: recovery codes of olga made since then',
      'key: changed since then',
      'key: rotated since then',
      'member: mallory was invited since then',
      'member: the role of vera was changed since then',
      'passkey: enrolled since then, by olga',
      'session: begun since then, by olga',
    ]);
  });

  const admitted = async (): Promise<string[]> => {
    const said: [string, number][] = [
      ['key that was rotated', await works(rotated)],
      ['key that was widened', await works(widened)],
      ['member who was invited', await statusBy(mallory)],
      ['session', await statusBy(cookie)],
      ['passkey', (await signsIn(team, passkey)).status],
      ['link', (await signing(team, 'POST', '/join/options', { code: codeIn(link) })).status],
      ['recovery code', (await signing(team, 'POST', '/join/options', { code: codes[0] })).status],
      ['member with another role', await statusBy(vera.cookie())],
    ];
    return said.filter(([, status]) => status === 200).map(([what]) => what);
  };

  test('is not revived when the partner is resumed, and what is older works as before', async () => {
    await does('resume');
    await until('the partner is let in', async () => (await works(world.keys)) === 200);
    // A server may remember a key for three seconds.
    for (const key of [rotated, widened]) await until('a held key is unknown', async () => (await works(key)) === 401);
    assert.deepEqual(await admitted(), []);
    for (const member of [olga, dora])
      assert.equal(await statusBy(member.cookie()), 200, `${member.name} is locked out`);
    assert.equal((await signsIn(team, olga.key)).status, 200, 'an older passkey is locked out');
    const { body } = await operator.reads(path('team'));
    const isHeld = (name: string) => body.team.find((one: Came) => one.name === name).heldAt !== null;
    assert.deepEqual(['mallory', 'vera', 'olga'].map(isHeld), [true, true, false]);
  });

  test('is not revived by releasing all: sessions end, and everything else waits to be named', async () => {
    const said = await does('held/release', { items: 'all' });
    assert.deepEqual(said.stillHeld.map(({ kind }: Came) => kind).sort(), [
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
    await does('held/reject', { items: numbered('mallory', 'enrolled', 'recovery codes', 'rotated') });
    const left = await does('held/release', { items: numbered('changed since then', 'role of vera', 'link for late') });
    assert.deepEqual(left.stillHeld, []);
    await until('the released key is let in', async () => (await works(widened)) === 200);
    assert.deepEqual(await admitted(), ['key that was widened', 'link', 'member with another role']);
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
});
