/** The wire of partners' teams: what it says about a request that it does not understand. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { authenticator } from '../../support/authenticator.ts';
import { besideStory, type V1Environment, v1Environment } from '../v1/environment.ts';
import { type MemberClient, memberNamed, signing, siteOf, type Teamed } from './people.ts';

let world: V1Environment;
let team: Teamed;
let owner: MemberClient;

before(async () => {
  world = await v1Environment();
  const { db, baseUrl } = world.s.server;
  team = { db, baseUrl, clock: world.s.clock };
  const known = await db.asSystem((tx) =>
    tx.row<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [world.keys.apiKey]),
  );
  owner = await memberNamed(team, known?.partnerId ?? 0n, 'olga', 'owner');
});
after(async () => await world?.s.close());

test('a request with an undeclared field is declined with its name, in a body, a query and where there are no fields', async () => {
  const key = authenticator();
  const { body } = await signing(team, 'POST', '/session/options', {});
  const credential = key.login({ ...siteOf(team.baseUrl), options: body.options });
  const tried: [string, string, object | undefined, string][] = [
    ['POST', '/session/options', { remember: true }, 'remember'],
    ['POST', '/session', { credential, keep: 1 }, 'keep'],
    ['POST', '/session/options?code=abc', {}, 'code'],
    ['POST', '/join/options', { code: 'abc', Code: 'abc' }, 'Code'],
    ['GET', '/sessions?page=2', undefined, 'page'],
    ['DELETE', '/sessions/1', { session: '2' }, 'session'],
    ['POST', '/recovery-codes', { count: 3 }, 'count'],
  ];
  for (const [method, path, sent, name] of tried) {
    const answer = await owner.signing(method, path, sent);
    assert.deepEqual([answer.status, answer.body.reason], [400, 'malformed_field'], `${method} ${path}`);
    assert.match(answer.body.fields[name], /^is not (one of|a field)/, `${method} ${path}`);
  }
  const bare = await signing(team, 'POST', '/join', {});
  assert.deepEqual(
    [bare.body.reason, bare.body.fields],
    ['missing_fields', { code: 'is missing', credential: 'is missing' }],
  );
  assert.equal((await signing(team, 'POST', '/session', [])).body.reason, 'malformed_body');
});

test('a request to an unknown path names the nearest, also in production', async () => {
  const production = await besideStory(world.s);
  try {
    for (const at of [team, production]) {
      const plural = await signing(at, 'GET', '/passkey');
      assert.deepEqual([plural.status, plural.body.reason], [404, 'unknown_path']);
      assert.match(plural.body.error, /The nearest is GET or POST \/partner\/v1\/passkeys\.$/);
      const root = await signing(at, 'GET', '');
      assert.deepEqual([root.status, root.body.reason], [404, 'unknown_path']);
      const method = await signing(at, 'PUT', '/recovery-codes', {});
      assert.match(method.body.error, /The nearest is POST \/partner\/v1\/recovery-codes\.$/);
      assert.doesNotMatch((await signing(at, 'GET', '/something-else-entirely')).body.error, /nearest/);
    }
  } finally {
    await production.close();
  }
});
