/** A partner's own terms over HTTP: changed in part, by as many people as the rules ask, now or at a time, and kept in its history. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { takeEffect } from '../../../src/protocols/operator/index.ts';
import type { Came } from '../../support/client.ts';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { until } from '../../support/until.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { confirmedBy, operatorNamed, type Person, twoDo } from './people.ts';

const HOUR_MS = 3_600_000;

let world: Environment;
let ada: Person;
let bea: Person;
let sue: Person;
let shop: TestPartner;
let partner = '';

before(async () => {
  world = await wireEnvironment({ production: true, beside: (fixture) => operatorApi(fixture, { rails: silentBank }) });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  sue = await operatorNamed(world, 'sue', 'support');
  shop = await world.partner('Shop');
  const { partners } = (await ada.reads('/partners')).body;
  partner = partners.find(({ name }: Came) => name === 'Shop').id;
});
after(async () => await world?.stop());

const deps = () => ({ db: world.db, vault: world.vault, clock: world.clock, log: world.log });
const terms = async () => {
  const { quoteShape, toleranceBps, tradeLevel, requestsPerMinute } = (await ada.reads(`/partners/${partner}`)).body;
  return { quoteShape, toleranceBps, tradeLevel, requestsPerMinute };
};
const changes = async (): Promise<Came[]> =>
  (await ada.reads(`/changes?partner=${partner}&what=partner&limit=20`)).body.changes;
const sets = (body: Record<string, unknown>) => twoDo(ada, bea, `/partners/${partner}`, body);

describe('the terms of a partner', () => {
  test('change in part, by two people, and the history has both values and the reason', async () => {
    const before = await terms();
    const said = await sets({ toleranceBps: 75, reason: 'agreed in the contract' });
    assert.equal(said.after.tolerance_bps, 75);
    assert.deepEqual(await terms(), { ...before, toleranceBps: '75' });
    const [change, ...others] = await changes();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [change.what, change.partnerId, change.marketId, change.by, change.changed],
      ['partner', partner, null, 'bea', 'tolerance_bps 50 → 75'],
    );
    assert.match(change.why, /agreed in the contract/);
  });

  test('hold for its requests soon, as its quotes show', async () => {
    const input = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    const form = async () => JSON.stringify(Object.keys((await shop.post('offramp/quote', input)).body.data));
    const before = await form();
    await sets({ quoteShape: (await terms()).quoteShape === 'A' ? 'B' : 'A' });
    await until('its quotes have the other form', async () => (await form()) !== before);
  });

  test('set to their present values leave no row', async () => {
    const rows = (await changes()).length;
    await sets({ toleranceBps: 75, tradeLevel: (await terms()).tradeLevel });
    assert.equal((await changes()).length, rows);
  });

  test('can wait for a time, and then change once', async () => {
    const at = new Date(world.clock.now().getTime() + HOUR_MS).toISOString();
    const said = await confirmedBy(bea, await ada.does(`/partners/${partner}`, { tradeLevel: 2, effectiveAt: at }));
    assert.equal(said.body.outcome, 'planned');
    assert.equal((await terms()).tradeLevel, 1);
    world.clock.advance(HOUR_MS + 1);
    await takeEffect(deps());
    await takeEffect(deps());
    assert.equal((await terms()).tradeLevel, 2);
    const [change] = await changes();
    assert.equal(change.changed, 'trade_level 1 → 2');
  });

  test('are not overwritten by a proposal that was made before another change took effect', async () => {
    const at = new Date(world.clock.now().getTime() + HOUR_MS).toISOString();
    await confirmedBy(bea, await ada.does(`/partners/${partner}`, { requestsPerMinute: 800, effectiveAt: at }));
    const proposed = await ada.does(`/partners/${partner}`, { requestsPerMinute: 700 });
    world.clock.advance(HOUR_MS + 1);
    await takeEffect(deps());
    const stale = await confirmedBy(bea, proposed);
    assert.equal(stale.status, 409);
    assert.equal((await terms()).requestsPerMinute, 800);
  });

  test('decline what is outside the rules, and name the field', async () => {
    for (const [body, field, rule] of [
      [{ toleranceBps: 10_001 }, 'toleranceBps', /0 to 10000/],
      [{ tradeLevel: 9 }, 'tradeLevel', /0 to/],
      [{ quoteShape: 'C' }, 'quoteShape', /one of A, B/],
      [{ requestsPerMinute: -1 }, 'requestsPerMinute', /0 to/],
      [{ name: 'Other' }, 'name', /./],
      [{ corsOrigins: ['https://shop.example'] }, 'corsOrigins', /./],
    ] as const) {
      const said = await ada.does(`/partners/${partner}`, body);
      assert.equal(said.status, 400, JSON.stringify(said.body));
      assert.match(said.body.fields[field], rule);
    }
    assert.equal((await ada.does('/partners/999', { tradeLevel: 1 })).body.reason, 'unknown_partner');
    assert.equal((await sue.does(`/partners/${partner}`, { tradeLevel: 0 })).status, 403);
  });
});
