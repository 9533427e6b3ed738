/** The second operator: one person creates the first operators, and cannot become a second person beside them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, beforeEach, describe, test } from 'node:test';
import type { Role } from '../../../src/operators/index.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person } from './people.ts';

let world: Environment | undefined;
let ada: Person;
const opened = (): Environment => {
  assert.ok(world, 'the world is not open');
  return world;
};

beforeEach(async () => {
  await world?.stop();
  world = await wireEnvironment({ production: true, beside: (fixture) => operatorApi(fixture) });
  ada = await operatorNamed(world, 'ada', 'admin');
});
after(async () => await world?.stop());

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const made = (operator: string, role: Role) =>
  ada.does('/operators', { operator, role, tokenSha256: sha256(operator) });

describe('the only admin', () => {
  test('creates the second operator alone', async () => {
    assert.equal((await made('a-viewer', 'viewer')).status, 200);
    assert.equal((await made('bea', 'admin')).status, 200, 'an operator who confirms nothing counted as a second one');
    assert.equal((await made('cleo', 'finance')).status, 202);
  });

  for (const role of ['treasury', 'compliance', 'support'] as const)
    test(`beside an operator of the role ${role} creates, promotes or admits nobody alone, and so is not two people`, async () => {
      await operatorNamed(opened(), 'tom', role);
      await operatorNamed(opened(), 'vera', 'viewer');
      const alone: [string, number][] = [
        ['creates', (await made('puppet', 'finance')).status],
        ['promotes', (await ada.does('/operators/vera/role', { role: 'finance' })).status],
        [
          'admits',
          (await ada.does('/operators/tom/token', { label: 'new', days: 1, tokenSha256: sha256('own') })).status,
        ],
        ['demotes', (await ada.does('/operators/tom/role', { role: 'viewer' })).status],
      ];
      assert.deepEqual(
        alone.filter(([, status]) => status !== 202),
        [],
      );
      // A disabled operator counts, so that disabling the others opens nothing.
      assert.equal((await ada.does('/operators/tom/disable')).status, 200);
      assert.equal((await made('puppet2', 'finance')).status, 202);
    });
});
