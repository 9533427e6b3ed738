/**
 * Operators set rules with as many people as terms take, test them, and read their findings; an invalid rule is refused by its
 * field.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { oneOrTwoDo, operatorNamed, type Person } from '../protocols/operator/people.ts';
import { type Environment, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { operatorApi } from '../support/operatorapi.ts';

let world: Environment;
let ada: Person;
let bea: Person;
let vic: Person;
before(async () => {
  world = await wireEnvironment({ beside: (fixture) => operatorApi(fixture) });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  vic = await operatorNamed(world, 'vic', 'viewer');
});
after(async () => await world?.stop());

const set = (body: Record<string, unknown>) =>
  oneOrTwoDo(ada, bea, '/monitoring/rules', { name: 'many', kind: 'velocity', ...body });

test('a rule is set by two, changed by a version, and switched off', async () => {
  const alone = await ada.does('/monitoring/rules', { name: 'alone', kind: 'country_mismatch' });
  assert.equal(alone.status, 202);
  const fiat = { fiat: 'inr', days: 1 };
  assert.equal((await set({ ...fiat, count: 5 })).status, 200);
  assert.equal((await set({ ...fiat, worth: '50000.50' })).status, 200);
  assert.equal((await set({ ...fiat, worth: '50000.50', isOn: false })).status, 200);
  const { rules } = (await vic.reads('/monitoring/rules')).body;
  assert.deepEqual(
    rules.map(({ name, version, isOn, worth, count, by }: Record<string, unknown>) => [
      name,
      version,
      isOn,
      worth,
      count,
      by,
    ]),
    [['many', 3, false, '50000.5', null, 'ada, bea']],
  );
  const { versions } = (await vic.reads('/monitoring/rules/versions?name=many')).body;
  assert.deepEqual(
    versions.map(({ version }: { version: number }) => version),
    [3, 2, 1],
  );
});

test('a wrong rule is refused by the field that is wrong', async () => {
  for (const [body, field] of [
    [{ fiat: 'inr', days: 1 }, 'count'],
    [{ fiat: 'usdc', days: 1, count: 1 }, 'fiat'],
    [{ days: 1, worth: '5' }, 'worth'],
    [{ fiat: 'inr', days: 31, count: 1 }, 'days'],
    [{ kind: 'country_mismatch', days: 1 }, 'days'],
    [{ kind: 'gut-feeling' }, 'kind'],
  ] as const) {
    const refused = await ada.does('/monitoring/rules', { name: 'wrong', kind: 'velocity', ...body });
    assert.equal(refused.status, 400, JSON.stringify(body));
    assert.ok(JSON.stringify(refused.body).includes(field), JSON.stringify(refused.body));
  }
});

test('a dry run returns a rule’s matches, and a span that ends before it begins is refused', async () => {
  const query = 'kind=first_large&fiat=inr&worth=1&from=2026-01-01T00:00:00Z';
  const tried = await vic.reads(`/monitoring/try?${query}&until=2036-01-01T00:00:00Z`);
  assert.deepEqual(tried.body, { found: [], looked: 0, next: null, after: null });
  assert.equal((await vic.reads(`/monitoring/try?${query}&until=2025-01-01T00:00:00Z`)).status, 400);
  assert.deepEqual((await vic.reads('/monitoring/findings')).body, { findings: [], next: null });
});
