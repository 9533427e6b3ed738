/** Limits and policies of a market as an operator reads them: what holds, where it comes from, and who changed it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Came } from '../../support/client.ts';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person, takes } from './people.ts';

let world: Environment;
let ada: Person;
let market = '';
let partner = '';

before(async () => {
  world = await wireEnvironment({ production: true, beside: (fixture) => operatorApi(fixture, { rails: silentBank }) });
  ada = await operatorNamed(world, 'ada', 'admin');
  await world.db.asSystem((tx) => takes(tx, 1, { right: 'terms' }));
  await world.partner('Shop');
  const { markets } = (await ada.reads('/markets')).body;
  market = markets.find((one: Came) => one.crypto === 'usdc.matic20' && one.direction === 'offramp').id;
  const { partners } = (await ada.reads('/partners')).body;
  partner = partners.find(({ name }: Came) => name === 'Shop').id;
});
after(async () => await world?.stop());

async function does(path: string, body: Record<string, unknown>): Promise<void> {
  const said = await ada.does(path, body);
  assert.equal(said.body.outcome, 'done', JSON.stringify(said.body));
}
const limits = async (): Promise<Came[]> => (await ada.reads(`/markets/${market}/limits`)).body.limits;
const policy = async (question: string, of = ''): Promise<Came> => {
  const { policies } = (await ada.reads(`/markets/${market}/policies${of}`)).body;
  return policies.find((one: Came) => one.question === question);
};

test('a level has its own limit, or that of the next level, and never more than the market', async () => {
  const { max } = (await ada.reads(`/markets/${market}`)).body;
  for (const [level, amount] of [
    [1, '10'],
    [3, '250.5'],
    [4, '999999999'],
  ] as const)
    await does(`/markets/${market}/limits`, { level, max: amount, reason: `level ${level}` });
  const now = await limits();
  assert.deepEqual(
    now.map((one) => [one.level, one.max, one.inForce]),
    [
      [0, null, '10'],
      [1, '10', '10'],
      [2, null, '250.5'],
      [3, '250.5', '250.5'],
      [4, '999999999', max],
      [5, null, max],
    ],
  );
  assert.deepEqual(
    now.map(({ by, why }) => (by === null ? null : `${by}: ${why}`)),
    [null, 'ada: level 1', null, 'ada: level 3', 'ada: level 4', null],
  );
});

test('a limit that was removed says who removed it', async () => {
  await does(`/markets/${market}/limits`, { level: 1, max: 'none', reason: 'a new rule' });
  const [zero, one] = await limits();
  assert.deepEqual([zero?.inForce, one?.max, one?.inForce, one?.why], ['250.5', null, '250.5', 'a new rule']);
});

test('a policy says which fields the market and a partner have of their own, and what holds', async () => {
  const path = `/markets/${market}/policies`;
  await does(path, { question: 'underpaid', answer: { acceptBps: 50 } });
  await does(path, { question: 'underpaid', partner, answer: { beyond: 'refund' } });
  const builtIn = { acceptBps: 0, beyond: 'hold' };
  assert.deepEqual(await policy('underpaid'), {
    ...{ question: 'underpaid', ofMarket: { acceptBps: 50 }, ofPartner: null, builtIn },
    inForce: { acceptBps: 50, beyond: 'hold' },
  });
  assert.deepEqual(await policy('underpaid', `?partner=${partner}`), {
    ...{ question: 'underpaid', ofMarket: { acceptBps: 50 }, ofPartner: { beyond: 'refund' }, builtIn },
    inForce: { acceptBps: 50, beyond: 'refund' },
  });
  const { policy: whole } = (await ada.reads(`/markets/${market}?partner=${partner}`)).body;
  assert.deepEqual(whole.underpaid, { acceptBps: 50, beyond: 'refund' }, 'an order would get another answer');
  assert.equal((await policy('late')).ofMarket, null);
});

test('another market or partner is named as unknown', async () => {
  for (const [path, reason] of [
    ['/markets/999999/limits', 'unknown_market'],
    ['/markets/999999/policies', 'unknown_market'],
    [`/markets/${market}/policies?partner=999999`, 'unknown_partner'],
  ] as const)
    assert.equal((await ada.reads(path)).body.reason, reason, path);
});

test('an answer that no policy has is declined with the field and its rule', async () => {
  const path = `/markets/${market}/policies`;
  const said = await ada.does(path, { question: 'underpaid', answer: { acceptBps: 20_000 } });
  assert.deepEqual(said.body.fields, {
    'underpaid.acceptBps': 'must be basis points: a whole number from 0 to 10000',
  });
});
