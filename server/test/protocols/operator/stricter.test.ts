/**
 * Whatever guards money is changed by the stricter of two rules: that of the moment of the proposal, and that of its confirmation.
 * Tried for a rule, a role, a credential, the use of price sources, a fee and a limit.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person, takes } from './people.ts';

let world: Environment;
let ada: Person;
let bea: Person;
let cleo: Person;
let shop: TestPartner;
let market = '';
let apiKey = '';

before(async () => {
  world = await wireEnvironment({ production: true, beside: (fixture) => operatorApi(fixture, { rails: silentBank }) });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  cleo = await operatorNamed(world, 'cleo', 'admin');
  await operatorNamed(world, 'vic', 'viewer');
  shop = await world.partner('Shop');
  market = String((await ada.reads('/markets')).body.markets[0].id);
  apiKey = (await ada.reads(`/partners/${shop.partner.id}`)).body.keys[0].key;
});
after(async () => await world?.stop());

const ruled = (action: string, people: number) => world.db.asSystem((tx) => takes(tx, people, { action }));
const confirms = (person: Person, proposal: unknown) => person.does(`/proposals/${proposal}/confirm`);
let tokens = 0;
const tokenSha256 = (): string =>
  createHash('sha256')
    .update(`token ${(tokens += 1)}`)
    .digest('hex');

/** Action → two changes of it. */
const CHANGES: Readonly<Record<string, () => [path: string, body: Record<string, unknown>][]>> = {
  'rule.set': () => [
    ['/rules', { action: 'dust.set', people: 2 }],
    ['/rules', { action: 'dust.set', people: 3 }],
  ],
  'operator.role': () => [
    ['/operators/vic/role', { role: 'finance' }],
    ['/operators/vic/role', { role: 'support' }],
  ],
  'operator.create': () => [
    ['/operators', { operator: 'one-more', role: 'finance', tokenSha256: tokenSha256() }],
    ['/operators', { operator: 'another', role: 'finance', tokenSha256: tokenSha256() }],
  ],
  'operator.token': () => [
    ['/operators/vic/token', { label: 'next', days: 7, tokenSha256: tokenSha256() }],
    ['/operators/vic/token', { label: 'next', days: 7, tokenSha256: tokenSha256() }],
  ],
  'key.create': () => [
    [`/partners/${shop.partner.id}/keys`, { label: 'a', scopes: 'read' }],
    [`/partners/${shop.partner.id}/keys`, { label: 'b', scopes: 'read' }],
  ],
  'key.rotate': () => [
    [`/keys/${apiKey}/rotate`, {}],
    [`/keys/${apiKey}/rotate`, {}],
  ],
  'market.set': () => [
    [`/markets/${market}`, { singleSource: true }],
    [`/markets/${market}`, { outlierBps: 321 }],
  ],
  'fee.set': () => [
    [`/markets/${market}/fees`, { kind: 'operator', bps: 78 }],
    [`/markets/${market}/fees`, { kind: 'operator', bps: 79 }],
  ],
  'limit.set': () => [
    [`/markets/${market}/limits`, { level: 1, max: '501' }],
    [`/markets/${market}/limits`, { level: 1, max: '502' }],
  ],
};

describe('takes as many people as the stricter of the rules at the proposal and at the confirmation', () => {
  for (const [action, changes] of Object.entries(CHANGES))
    test(action, async () => {
      const [[path, body], [againPath, again]] = changes() as [
        [string, Record<string, unknown>],
        [string, Record<string, unknown>],
      ];
      const first = await ada.does(path, body);
      assert.deepEqual([first.status, first.body.people], [202, 2], JSON.stringify(first.body));
      await ruled(action, 3);
      const waits = await confirms(bea, first.body.proposal);
      assert.deepEqual([waits.status, waits.body.people], [202, 3], 'a rule that became stricter was not applied');
      const done = await confirms(cleo, first.body.proposal);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      const strict = await ada.does(againPath, again);
      assert.deepEqual([strict.status, strict.body.people], [202, 3], JSON.stringify(strict.body));
      await ruled(action, 1);
      const one = await confirms(bea, strict.body.proposal);
      assert.deepEqual([one.status, one.body.people], [202, 3], 'a rule that was relaxed was applied');
      assert.equal((await ada.does(`/proposals/${strict.body.proposal}/decline`)).status, 200);
    });
});
