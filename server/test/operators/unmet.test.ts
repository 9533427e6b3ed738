/** Rules that name a role which too few operators have. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createOperator, type Role, unmetRules } from '../../src/operators/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
  const now = fixture.clock.now();
  await fixture.db.asSystem(async (tx) => {
    for (const [name, role] of [
      ['carol', 'compliance'],
      ['finn', 'finance'],
      ['fay', 'finance'],
    ] as const)
      await createOperator(tx, { name, role, now });
  });
});
after(async () => await fixture?.stop());

const rule = (...roles: Role[]) => ({
  ...{ action: 'customer.unblock', right: '*', asset: '*', aboveUnits: 0n },
  ...{ people: 3, roles },
});
/** Each role of this rule that too few have. */
const unmet = async (...roles: Role[]) =>
  (await fixture.db.asSystem((tx) => unmetRules(tx, [rule(), rule(...roles)]))).map(
    ({ rule: of, role, needs, has }) => [of.roles.length, role, needs, has],
  );

test('a role is compared with those who have it, whatever other roles the rule names', async () => {
  assert.deepEqual(await unmet('compliance'), []);
  assert.deepEqual(await unmet('compliance', 'finance', 'finance'), []);
  assert.deepEqual(await unmet('compliance', 'compliance', 'finance'), [[3, 'compliance', 2, 1]]);
  assert.deepEqual(await unmet('admin', 'finance'), [[2, 'admin', 1, 0]]);
  assert.deepEqual(await unmet('finance', 'finance', 'finance', 'admin'), [
    [4, 'finance', 3, 2],
    [4, 'admin', 1, 0],
  ]);
});
