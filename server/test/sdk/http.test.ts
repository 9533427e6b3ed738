/** Requests of the SDK: signed as the wire requires, retried when that is harmless, and their failures typed. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { ApiError, Cloverleaf, hasReason, NoAnswerError, signWhitelabel, UsageError } from '../../../sdk/src/index.ts';

const KEY = { apiKey: 'key-1', apiSecret: 'the-secret' };

interface Seen {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}
/** The server's handling of a request: it answers, or carries it out and closes the connection. */
type Step = 'lose' | { status: number; body?: unknown; text?: string; headers?: Record<string, string> };

const servers: { close(): void }[] = [];
after(() => {
  for (const one of servers) one.close();
});

/** A server that follows a script, and counts effects by idempotency key as the real one does. */
async function scripted(steps: Step[]) {
  const seen: Seen[] = [];
  const effects = new Set<string>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    effects.add(String(request.headers['idempotency-key'] ?? seen.length));
    const step = steps.shift() ?? { status: 200, body: { status: 1, code: 200, data: { transactionId: '17' } } };
    if (step === 'lose') return void request.socket.destroy();
    response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers });
    response.end(step.text ?? JSON.stringify(step.body ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push({
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: new Cloverleaf({ baseUrl, ...KEY }), seen, effects, baseUrl };
}

const SALE = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100', customerId: 'c' };

describe('signatures of the white-label wire', () => {
  test('a known vector', async () => {
    assert.deepEqual(await signWhitelabel({ name: 'Zoë' }, KEY, 1_767_607_200_000), {
      'x-onramp-apikey': 'key-1',
      'x-onramp-payload': 'eyJib2R5Ijp7Im5hbWUiOiJab8OrIn0sInRpbWVzdGFtcCI6IjE3Njc2MDcyMDAwMDAifQ==',
      'x-onramp-signature':
        'd49807040e328b17ae30a7b612942118f16680a0c6f1988ed3ca29a1015f68e365a5603529c8f68dbdb4fc9dac309d87a797d474e3f46916c7087fc87d556d1b',
    });
  });

  test('a request is signed over its exact body, under the time of its attempt', async () => {
    const { client, seen } = await scripted([{ status: 503, headers: { 'retry-after': '0' } }]);
    await client.whitelabel.post('offramp/createTransaction', SALE);
    assert.equal(seen.length, 2);
    for (const { method, url, headers, body } of seen) {
      assert.deepEqual([method, url], ['POST', '/onramp/api/v2/whiteLabel/offramp/createTransaction']);
      const payload = String(headers['x-onramp-payload']);
      const signed = JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as {
        body: unknown;
        timestamp: string;
      };
      assert.deepEqual(signed.body, JSON.parse(body));
      assert.ok(Math.abs(Number(signed.timestamp) - Date.now()) < 60_000);
      const expected = createHmac('sha512', KEY.apiSecret).update(payload).digest('hex');
      assert.equal(headers['x-onramp-signature'], expected);
    }
  });

  test('names in a path are escaped, the other fields of a GET are in its query', async () => {
    const { client, seen } = await scripted([]);
    await client.whitelabel.get('v1/webhooks/{id}/deliveries', { id: 'a/b?c', limit: 5 });
    assert.equal(seen[0]?.url, '/v1/webhooks/a%2Fb%3Fc/deliveries?limit=5');
    assert.equal(seen[0]?.body, '');
    await assert.rejects(client.whitelabel.get('v1/webhooks/{id}', { id: '' }), UsageError);
  });
});

describe('lost answers', () => {
  test('a request with an idempotency key is repeated under that key: one effect', async () => {
    const { client, seen, effects } = await scripted(['lose', 'lose', { status: 502 }]);
    const sale = await client.whitelabel.post('offramp/createTransaction', SALE);
    assert.equal(sale.transactionId, '17');
    assert.deepEqual([seen.length, effects.size], [4, 1]);
  });

  test('your own key is the one that is sent', async () => {
    const { client, effects } = await scripted(['lose']);
    await client.whitelabel.post('offramp/createTransaction', SALE, { idempotencyKey: 'mine' });
    assert.deepEqual([...effects], ['mine']);
  });

  test('a success that is no JSON is none of the server: it is a lost answer, and never a result', async () => {
    const page = { status: 200, text: '<html>Please log in</html>', headers: { 'content-type': 'text/html' } };
    const { client, seen, effects } = await scripted([page, { ...page, text: '' }]);
    assert.equal((await client.whitelabel.post('offramp/createTransaction', SALE)).transactionId, '17');
    assert.deepEqual([seen.length, effects.size], [3, 1]);
    const captive = await scripted([page]);
    await assert.rejects(
      captive.client.key.get({ patienceMs: 0 }),
      (error) => error instanceof NoAnswerError && /no JSON/.test(String(error.cause)),
    );
  });

  test('a redirect that the runtime hides is no success', async () => {
    const hidden = { status: 0, headers: new Headers(), text: async () => '' } as unknown as Response;
    const client = new Cloverleaf({ baseUrl: 'https://ramp.example', ...KEY, fetch: async () => hidden });
    await assert.rejects(client.key.get({ patienceMs: 0 }), (error) => error instanceof NoAnswerError);
  });

  test('a request that the server does not know by its key is not repeated: the caller decides', async () => {
    const { client, seen, baseUrl } = await scripted(['lose', 'lose', { status: 503 }]);
    const add = (more = {}) =>
      client.whitelabel.post('v1/webhooks', { url: 'https://a.example/' }, { patienceMs: 5_000, ...more });
    await assert.rejects(
      add(),
      (error) => error instanceof NoAnswerError && error.attempts === 1 && error.message.includes('unknown'),
    );
    assert.equal(seen.length, 1);
    await add({ repeat: true });
    assert.equal(seen.length, 4);
    assert.ok(baseUrl.startsWith('http://127.0.0.1'));
  });

  test('reads are repeated, until the patience is over', async () => {
    const { client, seen } = await scripted(['lose']);
    await client.whitelabel.post('offramp/transaction', { customerId: 'c', transactionId: '17' });
    assert.equal(seen.length, 2);
    const dead = await scripted(Array.from({ length: 9 }, (): Step => 'lose'));
    await assert.rejects(dead.client.whitelabel.get('v1/events', {}, { patienceMs: 0 }), NoAnswerError);
    assert.equal(dead.seen.length, 1);
  });

  test('an answer that does not arrive in time counts as lost', async () => {
    const baseUrl = 'https://ramp.example';
    let calls = 0;
    const slow: typeof fetch = (_, init) => {
      calls += 1;
      return new Promise((_done, stop) =>
        init?.signal?.addEventListener('abort', () => stop(init.signal?.reason as Error)),
      );
    };
    const client = new Cloverleaf({ baseUrl, ...KEY, fetch: slow, timeoutMs: 5, patienceMs: 0 });
    await assert.rejects(client.whitelabel.get('v1/events'), NoAnswerError);
    const stopped = AbortSignal.abort(new Error('mine'));
    await assert.rejects(client.whitelabel.get('v1/events', {}, { signal: stopped }), /mine/);
    assert.equal(calls, 1);
  });
});

describe('typed errors', () => {
  const declined = {
    status: 0,
    code: 400,
    error: 'Invalid.',
    reason: 'malformed_field',
    fields: { chain: 'is unknown' },
  };

  test('a refusal has reason, fields, status and the id of the request, and is not repeated', async () => {
    const { client, seen } = await scripted([{ status: 400, body: declined, headers: { 'x-request-id': 'req-7' } }]);
    await assert.rejects(client.whitelabel.post('offramp/createTransaction', SALE), (error) => {
      assert.ok(error instanceof ApiError);
      assert.ok(hasReason(error, 'malformed_field', 'missing_fields'));
      assert.ok(!hasReason(error, 'price_moved'));
      assert.deepEqual([error.status, error.fields, error.requestId], [400, { chain: 'is unknown' }, 'req-7']);
      return true;
    });
    assert.equal(seen.length, 1);
  });

  test('too many requests, and a request still being worked on, are waited for', async () => {
    const busy = { status: 0, code: 409, error: 'Wait.', reason: 'idempotency_in_flight' };
    const { client, seen, effects } = await scripted([{ status: 429 }, { status: 409, body: busy }]);
    await client.whitelabel.post('offramp/createTransaction', SALE);
    assert.deepEqual([seen.length, effects.size], [3, 1]);
  });

  test('a redirect is not followed: it would take the signed request elsewhere', async () => {
    const { client, seen } = await scripted([{ status: 302, headers: { location: '/elsewhere' } }]);
    await assert.rejects(client.whitelabel.get('v1/events'), ApiError);
    assert.equal(seen.length, 1);
  });

  test('no error and no printed client contains the secret', async () => {
    const { client } = await scripted([{ status: 401, body: { reason: 'unauthenticated', error: 'no' } }, 'lose']);
    const errors = [
      await client.whitelabel.get('v1/events').catch((error: unknown) => error),
      await client.whitelabel.get('v1/events', {}, { patienceMs: 0 }).catch((error: unknown) => error),
    ];
    const printed = inspect([client, ...errors], { depth: 9, showHidden: true }) + JSON.stringify(client);
    assert.ok(!printed.includes(KEY.apiSecret));
    assert.ok(errors.every((error) => error instanceof Error));
  });

  test('a base URL without TLS is only one of this machine', () => {
    for (const baseUrl of ['http://ramp.example', 'ftp://localhost', 'ramp.example', 'https://a:b@ramp.example'])
      assert.throws(() => new Cloverleaf({ baseUrl }), UsageError, baseUrl);
    assert.equal(new Cloverleaf({ baseUrl: 'https://ramp.example/api/' }).baseUrl, 'https://ramp.example/api');
    // As a variable of the environment that is not set; a value is not echoed, because it may be a secret in the wrong place.
    assert.throws(() => new Cloverleaf({ baseUrl: process.env.NOT_SET as string }), /and is undefined/);
    assert.throws(
      () => new Cloverleaf({ baseUrl: KEY.apiSecret }),
      (error: Error) => !error.message.includes(KEY.apiSecret),
    );
  });

  test('a request that is signed needs both key and secret', async () => {
    const client = new Cloverleaf({ baseUrl: 'https://ramp.example', apiKey: 'k' });
    await assert.rejects(client.whitelabel.get('v1/events'), /apiKey and apiSecret must be given/);
  });
});
