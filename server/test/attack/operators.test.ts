/**
 * Operators against their own limits: every action by every role, with otherwise valid requests; and networks that operators may
 * not come from.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { may, ROLES, type Role } from '../../src/operators/index.ts';
import type { DeclaredAction } from '../../src/protocols/operator/declare.ts';
import { ENDPOINTS } from '../../src/protocols/operator/declared/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { type World, wireWorld } from '../protocols/whitelabel/world.ts';
import { operatorApi } from '../support/operatorapi.ts';

const ACTIONS = ENDPOINTS.filter(
  (one): one is DeclaredAction =>
    one.method === 'POST' && 'name' in one && !(one as DeclaredAction).path.startsWith('/bank/'),
);
const pathOf = ({ path }: DeclaredAction): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) =>
    name === 'payout' ? 'pay_1_1' : name === 'operator' ? 'nobody' : '1',
  );

describe('a role', () => {
  let world: World;
  const people = new Map<Role, Person>();
  before(async () => {
    world = await wireWorld({ production: true, beside: (fixture) => operatorApi(fixture) });
    for (const role of ROLES) people.set(role, await operatorNamed(world, `the-${role}`, role));
  });
  after(async () => await world?.stop());

  test('there are actions of every right to try', () => {
    assert.ok(ACTIONS.length > 60, `only ${ACTIONS.length} actions`);
  });

  for (const role of ROLES)
    test(`${role} is refused every action whose right it lacks, before anything of the request is looked at`, async () => {
      const person = people.get(role);
      assert.ok(person);
      for (const action of ACTIONS) {
        const isAllowed = may({ role }, action.right);
        // With a fault that every role would make: a role without the right is told that, and one with it is told the fault.
        const { status, body } = await person.sends(pathOf(action), { reason: 'an attack', nonsense: 'x' });
        const where: string = `${role} does ${action.name}: ${status} ${JSON.stringify(body)}`;
        if (isAllowed) assert.notEqual(body.reason, 'role_missing', where);
        else assert.deepEqual([status, body.reason], [403, 'role_missing'], where);
        assert.ok(status >= 400, `${where}: it was done`);
      }
    });

  test('a refused action leaves no audit row and no proposal', async () => {
    const vic = people.get('viewer');
    const { audit } = (await vic?.reads('/audit?operator=the-viewer'))?.body ?? {};
    const { proposals } = (await vic?.reads('/proposals'))?.body ?? {};
    assert.deepEqual([audit, proposals], [[], []]);
  });
});

test('operators are admitted only from the configured networks: neither token nor login works from elsewhere', async () => {
  const inside = await wireWorld({ beside: (fixture) => operatorApi(fixture, { networks: ['127.0.0.0/8', '::1'] }) });
  const outside = await wireWorld({ beside: (fixture) => operatorApi(fixture, { networks: ['203.0.113.0/24'] }) });
  try {
    const ada = await operatorNamed(inside, 'ada', 'admin');
    assert.equal((await ada.reads('/self')).status, 200);
    const bea = await operatorNamed(outside, 'bea', 'admin');
    for (const said of [
      await bea.reads('/self'),
      await bea.does('/cases/1/note'),
      await bea.sends('/session/options', {}),
    ])
      assert.deepEqual([said.status, said.body.reason], [403, 'address_not_allowed']);
  } finally {
    await inside.stop();
    await outside.stop();
  }
});
