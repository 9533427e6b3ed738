/** Help for programs with a misspelling: the name of an ignored or refused field, and the nearest path. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { edits, nearestPath } from '../../../src/protocols/nearest.ts';
import { ask, openClient } from '../../support/client.ts';
import { type Environment, wireEnvironment } from './environment.ts';

const QUOTE = { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '10', chain: 'erc20' };
const MISSPELT = { ...QUOTE, paymentMethod: 'UPI', redirectURL: 'https://wallet.example/' };

describe('the sandbox', () => {
  let world: Environment;
  before(async () => {
    world = await wireEnvironment({ controls: true });
  });
  after(async () => await world.stop());

  test('names each unused field in a header, and still carries out the request', async () => {
    const acme = await world.partner('acme');
    const misspelt = await acme.post('offramp/quote', MISSPELT);
    assert.equal(misspelt.status, 200, misspelt.text);
    assert.equal(misspelt.headers.get('x-ignored-fields'), 'paymentMethod, redirectURL');
    const right = await acme.post('offramp/quote', QUOTE);
    assert.equal(right.headers.get('x-ignored-fields'), null);
  });

  test('names it in a refusal, too, because the missing field may be the misspelt one', async () => {
    const acme = await world.partner('carl');
    const { fromAmount: formAmount, ...rest } = QUOTE;
    const quote = await acme.post('offramp/quote', { ...rest, formAmount });
    assert.deepEqual([quote.status, quote.body.fields], [400, { fromAmount: 'is missing' }]);
    assert.equal(quote.headers.get('x-ignored-fields'), 'formAmount');
    // The fields of an account depend on the request.
    const account = await acme.post('bank/addFiatAccount', { customerID: acme.customerId });
    assert.deepEqual([account.status, account.headers.get('x-ignored-fields')], [400, 'customerID']);
  });

  test('names it for an endpoint without a signature, too', async () => {
    const acme = await world.partner('edna');
    const ignored = async (path: string, how?: 'unsigned') => {
      const { status, headers } = await acme.get(path, how);
      return [status, headers.get('x-ignored-fields')];
    };
    assert.deepEqual(await ignored('public/listSupportedFiat?fiatTyp=1', 'unsigned'), [200, 'fiatTyp']);
    assert.deepEqual(await ignored('kyb/requirements?contry=LU', 'unsigned'), [200, 'contry']);
    assert.deepEqual(await ignored('kyb/requirements?contry=LU'), [200, 'contry']);
    assert.deepEqual(await ignored('kyb/requirements?country=LU', 'unsigned'), [200, null]);
    assert.deepEqual(await ignored('kyb/requirements?country=Luxembourg&contry=LU', 'unsigned'), [200, 'contry']);
  });

  test('names at most ten of them, and only valid names', async () => {
    const acme = await world.partner('bolt');
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`extra${at}`, 'x']));
    const answer = await acme.post('offramp/quote', { ...QUOTE, 'a\r\nb': 'x', naïve: 'x', ...many });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('x-ignored-fields')?.split(', ').length, 10);
    assert.doesNotMatch(answer.headers.get('x-ignored-fields') ?? '', /a\W*b|na/);
  });

  test('refuses an unknown field on our own paths, and lists the known ones', async () => {
    const { partner } = await world.partner('dora');
    const acme = openClient(world.baseUrl, await world.keyOf(partner, { scopes: ['admin', 'read'] }));
    const made = await acme.post('/v1/webhooks', { url: 'https://wallet.example/', event: 'order.*' });
    assert.deepEqual(
      [made.status, made.body.reason, made.body.fields],
      [400, 'malformed_field', { event: 'is not one of url, format, events, payloadForm' }],
    );
    const read = await acme.get('/v1/events?form=1');
    assert.deepEqual([read.status, read.body.fields], [400, { form: 'is not one of after, limit' }]);
    const none = await acme.get('/v1/webhooks?all=1');
    assert.deepEqual([none.status, none.body.fields], [400, { all: 'is no field: there are none here' }]);
    const moved = await acme.post('/sandbox/v1/clock', { advance: '1h', by: '2' });
    assert.deepEqual([moved.status, moved.body.fields], [400, { by: 'is not one of advance' }]);
  });

  test('names the nearest path when a path is unknown', async () => {
    const { status, body } = await ask(world.baseUrl, '/onramp/api/v2/whitelabel/offramp/quote', { method: 'POST' });
    assert.equal(status, 404);
    assert.equal(
      body.message,
      'There is nothing at this path. The nearest is /onramp/api/v2/whiteLabel/offramp/quote.',
    );
    const prefix = await ask(world.baseUrl, '/onrmp/api/v2/whiteLabel/offramp/quote?x=1', { method: 'POST' });
    assert.deepEqual(
      [prefix.status, prefix.body.message],
      [404, 'There is nothing at this path. The nearest is /onramp/api/v2/whiteLabel/offramp/quote.'],
    );
    const far = await ask(world.baseUrl, '/onramp/nothing-of-the-kind-at-all', { method: 'POST' });
    assert.equal(far.body.message, 'There is nothing at this path.');
  });
});

test('production names neither unused fields nor near paths', async () => {
  const world = await wireEnvironment({ production: true });
  try {
    const acme = await world.partner('acme');
    const misspelt = await acme.post('offramp/quote', MISSPELT);
    assert.equal(misspelt.headers.get('x-ignored-fields'), null);
    assert.equal((await acme.get('kyb/requirements?contry=LU', 'unsigned')).headers.get('x-ignored-fields'), null);
    for (const path of ['/onramp/api/v2/whitelabel/offramp/quote', '/onrmp/api/v2/whiteLabel/offramp/quote']) {
      const { body } = await ask(world.baseUrl, path, { method: 'POST' });
      assert.equal(body.message, 'There is nothing at this path.');
    }
  } finally {
    await world.stop();
  }
});

test('the distance of two paths counts insertions, removals and replacements', () => {
  for (const [one, other, distance] of [
    ['/v1/events', '/v1/events', 0],
    ['/v1/event', '/v1/events', 1],
    ['/V1/EVENTS', '/v1/events', 0],
    ['/v1/evnets', '/v1/events', 2],
    ['', 'abc', 3],
  ] as const)
    assert.equal(edits(one, other), distance, `${one} and ${other}`);
  assert.equal(nearestPath('/v1/evnets', ['/v1/webhooks', '/v1/events']), '/v1/events');
  assert.equal(
    nearestPath('/v1/webhooks/whe_4pQ9aXbT7mK2vN8c/rotat', ['/v1/webhooks', '/v1/webhooks/:id/rotate']),
    '/v1/webhooks/:id/rotate',
  );
  assert.equal(nearestPath(`/${'x'.repeat(200)}`, ['/v1/events']), undefined);
});
