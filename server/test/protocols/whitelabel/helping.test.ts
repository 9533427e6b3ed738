/** What the sandbox says to a program that misspells: the field that was ignored, and the path that is near. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { edits, nearestPath } from '../../../src/protocols/nearest.ts';
import { ask } from '../../support/client.ts';
import { type World, wireWorld } from './world.ts';

const QUOTE = { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '10', chain: 'erc20' };
const MISSPELT = { ...QUOTE, paymentMethod: 'UPI', redirectURL: 'https://wallet.example/' };

describe('the sandbox', () => {
  let world: World;
  before(async () => {
    world = await wireWorld();
  });
  after(async () => await world.stop());

  test('names in a header each field that nobody reads, and does what was asked all the same', async () => {
    const acme = await world.partner('acme');
    const misspelt = await acme.post('offramp/quote', MISSPELT);
    assert.equal(misspelt.status, 200, misspelt.text);
    assert.equal(misspelt.headers.get('x-ignored-fields'), 'paymentMethod, redirectURL');
    const right = await acme.post('offramp/quote', QUOTE);
    assert.equal(right.headers.get('x-ignored-fields'), null);
  });

  test('names no more than ten of them, and none that is no name', async () => {
    const acme = await world.partner('bolt');
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`extra${at}`, 'x']));
    const answer = await acme.post('offramp/quote', { ...QUOTE, 'a\r\nb': 'x', naïve: 'x', ...many });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('x-ignored-fields')?.split(', ').length, 10);
    assert.doesNotMatch(answer.headers.get('x-ignored-fields') ?? '', /a\W*b|na/);
  });

  test('names the path that is near to one that is not there', async () => {
    const { status, body } = await ask(world.baseUrl, '/onramp/api/v2/whitelabel/offramp/quote', { method: 'POST' });
    assert.equal(status, 404);
    assert.equal(
      body.message,
      'There is nothing at this path. The nearest is /onramp/api/v2/whiteLabel/offramp/quote.',
    );
    const far = await ask(world.baseUrl, '/onramp/nothing-of-the-kind-at-all', { method: 'POST' });
    assert.equal(far.body.message, 'There is nothing at this path.');
  });
});

test('production names neither', async () => {
  const world = await wireWorld({ production: true });
  try {
    const acme = await world.partner('acme');
    const misspelt = await acme.post('offramp/quote', MISSPELT);
    assert.equal(misspelt.headers.get('x-ignored-fields'), null);
    const { body } = await ask(world.baseUrl, '/onramp/api/v2/whitelabel/offramp/quote', { method: 'POST' });
    assert.equal(body.message, 'There is nothing at this path.');
  } finally {
    await world.stop();
  }
});

test('the distance of two paths counts what is inserted, removed and replaced', () => {
  for (const [one, other, distance] of [
    ['/v1/events', '/v1/events', 0],
    ['/v1/event', '/v1/events', 1],
    ['/V1/EVENTS', '/v1/events', 0],
    ['/v1/evnets', '/v1/events', 2],
    ['', 'abc', 3],
  ] as const)
    assert.equal(edits(one, other), distance, `${one} and ${other}`);
  assert.equal(nearestPath('/v1/evnets', ['/v1/webhooks', '/v1/events']), '/v1/events');
  assert.equal(nearestPath(`/${'x'.repeat(200)}`, ['/v1/events']), undefined);
});
