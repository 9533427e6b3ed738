/**
 * The transport of the partner API: authentication, signatures, idempotency, errors and the request log. Over HTTP, in a sandbox
 * and in a second server with the requirements of production.
 *
 * Long because its requests share one server.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Refusal } from '../../../src/base/errors.ts';
import { bearerToken, createKey, setExposureCap, setUnsignedWrites } from '../../../src/partners/index.ts';
import { declare } from '../../../src/protocols/v1/declare.ts';
import { ENDPOINTS } from '../../../src/protocols/v1/declared/index.ts';
import { reads } from '../../../src/protocols/v1/handler.ts';
import { HANDLERS } from '../../../src/protocols/v1/handlers/index.ts';
import { purgeRequestLog } from '../../../src/protocols/v1/index.ts';
import { problemOf } from '../../../src/protocols/v1/problems.ts';
import { REASONS } from '../../../src/protocols/v1/reasons.ts';
import { listOf, Money } from '../../../src/protocols/v1/schemas/parts.ts';
import { NEWEST } from '../../../src/protocols/v1/version.ts';
import type { Came, Keys } from '../../support/client.ts';
import { fetchDeclared } from '../../support/declared.fetch.ts';
import { openStory, type Story } from '../../support/story.ts';
import { openV1, signed, type V1Client } from '../../support/v1.ts';
import { besideStory } from './environment.ts';

let s: Story;
let keys: Keys;
let api: V1Client;
/** The same installation with the requirements of production. */
let strict: { baseUrl: string; close(): Promise<void> };

/** An endpoint with an end in 2027, for this test alone. */
const OLD = declare({
  name: 'old.get',
  method: 'GET',
  path: '/old',
  scope: 'read',
  says: 'Answers nothing any more.',
  fields: {},
  gives: listOf(Money),
  deprecated: {
    since: new Date('2026-11-01T00:00:00Z'),
    sunset: new Date('2027-05-01T00:00:00Z'),
    instead: 'https://ramp.example/v1/new',
  },
});

before(async () => {
  s = await openStory();
  const [first] = s.server.sandbox.partners;
  assert.ok(first);
  keys = first;
  api = openV1(s.server.baseUrl, keys);
  strict = await besideStory(s, { beside: [reads(OLD, async () => ({ data: [] }))] });
});
after(async () => {
  await strict?.close();
  await s?.close();
});

const QUOTE = { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '100' };

/** A key of the first partner with scopes of its own. */
async function keyWith(over: Partial<Parameters<typeof createKey>[2]> = {}): Promise<Keys> {
  const partnerId = (await api.does('GET', '/key')).partner.id;
  return await s.read((tx) =>
    createKey(tx, s.vault, {
      ...{ partnerId: BigInt(partnerId), label: 'test', scopes: ['read', 'trade'], now: s.clock.now() },
      ...over,
    }),
  );
}

describe('declarations', () => {
  test('every declared endpoint is served, and every served endpoint is declared', () => {
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).toSorted();
    assert.deepEqual(names(HANDLERS.map(({ declared }) => declared)), names(ENDPOINTS));
    for (const { kind, declared } of HANDLERS) assert.equal(kind === 'read', declared.method === 'GET', declared.name);
  });
});

describe('authentication', () => {
  test('a read needs nothing but the token', async () => {
    const answer = await fetchDeclared(`${s.server.baseUrl}/v1/key`, {
      headers: { authorization: `Bearer ${bearerToken(keys.apiKey, keys.apiSecret)}` },
    });
    const body = (await answer.json()) as Came;
    assert.deepEqual([answer.status, body.key, body.environment], [200, keys.apiKey, 'sandbox']);
  });

  test('the word Bearer is read in any case, and a token of another key than the signature is refused', async () => {
    const token = bearerToken(keys.apiKey, keys.apiSecret);
    for (const scheme of ['bearer', 'BEARER', 'Bearer  '])
      assert.equal((await api.get('/key', { headers: { authorization: `${scheme} ${token}` } })).status, 200, scheme);
    const other = await keyWith();
    const headers = {
      ...{ 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      authorization: `Bearer ${bearerToken(other.apiKey, other.apiSecret)}`,
    };
    const text = JSON.stringify(QUOTE);
    const url = `${strict.baseUrl}/v1/quotes`;
    const mixed = await signed({ method: 'POST', url, headers, text }, keys);
    const answer = await fetchDeclared(url, { method: 'POST', headers: mixed, body: text });
    const { detail } = (await answer.json()) as Came;
    assert.deepEqual([answer.status, /names another key/.test(detail)], [401, true], detail);
  });

  test('no token, a wrong one, the secret itself and an unknown key are refused in the same form', async () => {
    const right = bearerToken(keys.apiKey, keys.apiSecret);
    for (const authorization of [
      '',
      'Bearer',
      `Bearer ${right}x`,
      `Bearer ${right.slice(0, -2)}zz`,
      `Bearer ${keys.apiKey}.${keys.apiSecret}`,
      `Bearer nobody.${right.split('.').at(-1)}`,
      `Basic ${right}`,
    ]) {
      const answer = await api.get('/key', { headers: { authorization } });
      assert.deepEqual([answer.status, answer.body.reason], [401, 'unauthenticated'], authorization);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    }
  });

  test('a key allows exactly its scopes', async () => {
    const reader = openV1(s.server.baseUrl, await keyWith({ scopes: ['read'] }));
    assert.equal((await reader.get('/orders')).status, 200);
    assert.equal((await reader.post('/quotes', QUOTE)).body.reason, 'scope_missing');
    assert.equal(
      (await reader.post('/webhook-endpoints', { url: 'http://127.0.0.1:1/' })).body.reason,
      'scope_missing',
    );
  });

  test('a key works only from its networks', async () => {
    const elsewhere = openV1(s.server.baseUrl, await keyWith({ addresses: ['203.0.113.0/24'] }));
    assert.equal((await elsewhere.get('/orders')).body.reason, 'address_not_allowed');
  });
});

describe('signatures', () => {
  test('production declines a write with a token alone, and accepts it signed', async () => {
    const bearer = openV1(strict.baseUrl, keys);
    assert.equal((await bearer.get('/markets')).status, 200);
    assert.equal((await bearer.post('/quotes', QUOTE)).body.reason, 'signature_required');
    const signer = openV1(strict.baseUrl, keys, { signs: true });
    assert.equal((await signer.post('/quotes', QUOTE)).status, 201);
  });

  test('a key that the operator allows to write without a signature can do so', async () => {
    const own = await keyWith();
    await s.read((tx) => setUnsignedWrites(tx, own.apiKey, true));
    const bearer = openV1(strict.baseUrl, own);
    assert.equal((await bearer.get('/key')).body.writes, 'bearer');
    assert.equal((await bearer.post('/quotes', QUOTE)).status, 201);
  });

  test('a signature that is altered, incomplete, old, ahead, of another key or of another request is declined', async () => {
    const text = JSON.stringify(QUOTE);
    const path = '/v1/quotes';
    const send = async (headers: Record<string, string>, body = text, to = path) => {
      const answer = await fetchDeclared(`${strict.baseUrl}${to}`, { method: 'POST', headers, body });
      return { status: answer.status, ...((await answer.json()) as Came) };
    };
    const plain = () => ({ 'content-type': 'application/json', 'idempotency-key': randomUUID() });
    const make = (over: Parameters<typeof signed>[2] = {}, headers: Record<string, string> = plain(), of = text) =>
      signed({ method: 'POST', url: `${strict.baseUrl}${path}`, headers, text: of }, keys, over);
    assert.equal((await send(await make())).status, 201);

    const other = await keyWith();
    const digestless = await make();
    delete digestless['content-digest'];
    const twice = await make();
    twice['signature-input'] += ', two=("@method");created=1;keyid="x"';
    const parameterised = await make();
    parameterised['signature-input'] = parameterised['signature-input']?.replace('"@method"', '"@method";req') ?? '';
    const cases: readonly [what: string, headers: Record<string, string>, body?: string, to?: string][] = [
      ['another body', await make(), text.replace('100', '900')],
      ['another key in the header', { ...(await make()), 'idempotency-key': randomUUID() }],
      ['another path', await make(), text, '/v1/orders'],
      ['without the digest', digestless],
      ['without covering the digest', await make({ fields: ['@method', '@path', 'idempotency-key'] })],
      ['without covering the key', await make({ fields: ['@method', '@path', 'content-digest'] })],
      ['without covering the method', await make({ fields: ['@path', 'content-digest', 'idempotency-key'] })],
      ['a query that is not covered', await make(), text, `${path}?x=1`],
      ['too old', await make({ created: new Date(Date.now() - 301_000) })],
      ['ahead', await make({ created: new Date(Date.now() + 60_000) })],
      ['another key of the partner', await make({ keyid: other.apiKey })],
      ['a key that is not there', await make({ keyid: 'nobody' })],
      ['another algorithm', await make({ alg: 'hmac-sha512' })],
      ['two signatures', twice],
      ['a part with a parameter', parameterised],
      ['a signature of nothing', { ...(await make()), signature: 'sig=::' }],
      ['no signature beside its input', { ...(await make()), signature: '' }],
    ];
    for (const [what, headers, body, to] of cases) {
      const answer = await send(headers, body, to);
      assert.deepEqual([answer.status, answer.reason], [401, 'unauthenticated'], `${what}: ${JSON.stringify(answer)}`);
      // The answer says what is wrong, and nothing that would help to guess a secret.
      assert.ok(!JSON.stringify(answer).includes(keys.apiSecret));
    }
  });

  test('a signature that has expired, or covers parts that a proxy rewrites, is declined with its reason', async () => {
    const text = JSON.stringify(QUOTE);
    const url = `${strict.baseUrl}/v1/quotes`;
    const ask = async (over: Parameters<typeof signed>[2]) => {
      const plain = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
      const headers = await signed({ method: 'POST', url, headers: plain, text }, keys, over);
      const answer = await fetchDeclared(url, { method: 'POST', headers, body: text });
      return { status: answer.status, ...((await answer.json()) as Came) };
    };
    const fields = ['@method', '@path', 'content-digest', 'idempotency-key'];
    assert.equal((await ask({ expires: new Date(Date.now() + 60_000) })).status, 201);
    assert.match((await ask({ expires: new Date(Date.now() - 10_000) })).detail, /has expired/);
    assert.match((await ask({ fields: [...fields, '@authority'] })).detail, /must not cover @authority/);
  });

  test('a repeated signed request gets the same reply, and takes effect once', async () => {
    const text = JSON.stringify(QUOTE);
    const headers = await signed(
      {
        ...{ method: 'POST', url: `${strict.baseUrl}/v1/quotes`, text },
        headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      },
      keys,
    );
    const ask = async () => {
      const answer = await fetchDeclared(`${strict.baseUrl}/v1/quotes`, { method: 'POST', headers, body: text });
      return { replayed: answer.headers.get('idempotency-replayed'), body: (await answer.json()) as Came };
    };
    const [first, second] = [await ask(), await ask()];
    assert.deepEqual([first.replayed, second.replayed], [null, 'true']);
    assert.deepEqual(second.body, first.body);
  });

  test('a signed write that was declined does nothing when it is sent again, however its headers are written', async () => {
    const { partner } = await api.does('GET', '/key');
    const cap = (maxUnits: bigint | null) =>
      s.read((tx) => setExposureCap(tx, { partnerId: BigInt(partner.id), fiat: 'inr', maxUnits }));
    const text = JSON.stringify(QUOTE);
    const url = `${strict.baseUrl}/v1/quotes`;
    const plain = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const make = (created: Date) => signed({ method: 'POST', url, headers: plain, text }, keys, { created });
    const send = async (headers: Record<string, string>) => {
      const answer = await fetchDeclared(url, { method: 'POST', headers, body: text });
      return { replayed: answer.headers.get('idempotency-replayed'), ...((await answer.json()) as Came) };
    };
    const copy = await make(new Date(Date.now() - 60_000));
    await cap(1n);
    try {
      const first = await send(copy);
      assert.deepEqual([first.reason, first.replayed], ['exposure_exceeded', null]);
    } finally {
      await cap(null);
    }
    const renamed = {
      ...copy,
      'signature-input': copy['signature-input']?.replace('sig=', 'other=') ?? '',
      signature: copy.signature?.replace('sig=', 'other=') ?? '',
    };
    for (const headers of [copy, renamed, { ...copy, 'cloverleaf-version': NEWEST }]) {
      const again = await send(headers);
      assert.deepEqual([again.reason, again.replayed], ['exposure_exceeded', 'true']);
    }
    // The owner of the secret may repeat the request under the same key.
    const second = await send(await make(new Date()));
    assert.deepEqual([second.reason, second.state], [undefined, 'open']);
  });
});

describe('idempotency', () => {
  test('a write without a key, or with a malformed one, is refused', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)]) {
      const answer = await api.post('/quotes', QUOTE, { key });
      assert.deepEqual([answer.status, answer.body.reason], [400, 'idempotency_key_missing'], key.slice(0, 5));
    }
  });

  test('the same key and body get the same answer, another body is a conflict, and keys are separate for each endpoint', async () => {
    const key = randomUUID();
    const first = await api.post('/quotes', QUOTE, { key });
    const again = await api.post('/quotes', { ...QUOTE }, { key });
    assert.equal(first.headers.get('idempotency-replayed'), null);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(again.body, first.body);
    assert.equal(
      (await api.post('/quotes', { ...QUOTE, payAmount: '101' }, { key })).body.reason,
      'idempotency_conflict',
    );
    const other = await api.post(
      '/customers',
      { reference: randomUUID(), kind: 'individual', phone: phone() },
      { key },
    );
    assert.equal(other.status, 201);
  });

  test('a key used for one path does not answer for another path of the same endpoint', async () => {
    const key = randomUUID();
    const admin = openV1(s.server.baseUrl, await keyWith({ scopes: ['admin', 'read'] }));
    const [one, two] = await Promise.all(
      ['a', 'b'].map((name) => admin.does('POST', '/webhook-endpoints', { url: `http://127.0.0.1:1999/${name}` })),
    );
    assert.equal((await admin.post(`/webhook-endpoints/${one.id}/test`, undefined, { key })).status, 200);
    assert.equal(
      (await admin.post(`/webhook-endpoints/${one.id}/test`, undefined, { key })).headers.get('idempotency-replayed'),
      'true',
    );
    assert.equal(
      (await admin.post(`/webhook-endpoints/${two.id}/test`, undefined, { key })).body.reason,
      'idempotency_conflict',
    );
    for (const { id } of [one, two]) await admin.does('DELETE', `/webhook-endpoints/${id}`);
  });

  test('a removal sent again under its key gets its reply, although its subject is gone', async () => {
    const admin = openV1(s.server.baseUrl, await keyWith({ scopes: ['admin', 'read'] }));
    const [one, two] = await Promise.all(
      ['c', 'd'].map((name) => admin.does('POST', '/webhook-endpoints', { url: `http://127.0.0.1:1999/${name}` })),
    );
    const key = randomUUID();
    const first = await admin.remove(`/webhook-endpoints/${one.id}`, { key });
    const again = await admin.remove(`/webhook-endpoints/${one.id}`, { key });
    assert.deepEqual([again.status, again.body], [200, first.body]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    // The key answers for no other subject.
    assert.equal((await admin.remove(`/webhook-endpoints/${two.id}`, { key })).body.reason, 'idempotency_conflict');
    assert.equal((await admin.remove(`/webhook-endpoints/${one.id}`)).body.reason, 'unknown_endpoint');
    await admin.does('DELETE', `/webhook-endpoints/${two.id}`);
  });

  test('one of ten requests at once under one key takes effect, and the others wait or get its answer', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.post('/quotes', QUOTE, { key })));
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id));
    assert.equal(made.size, 1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.equal(answer.body.reason, 'idempotency_in_flight');
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
    }
  });

  test('a refused request is not stored: corrected or repeated later, it is processed again', async () => {
    const key = randomUUID();
    assert.equal(
      (await api.post('/quotes', { ...QUOTE, payAmount: '0.000001' }, { key })).body.reason,
      'amount_outside_limits',
    );
    assert.equal((await api.post('/quotes', QUOTE, { key })).status, 201);
  });

  test('a key answers for a day, also for a new webhook endpoint; afterwards the request takes effect again', async () => {
    const admin = openV1(s.server.baseUrl, await keyWith({ scopes: ['admin', 'read'] }));
    const key = randomUUID();
    const create = () => admin.post('/webhook-endpoints', { url: 'http://127.0.0.1:1999/day' }, { key });
    const first = await create();
    assert.equal(first.status, 201);
    s.clock.advance(24 * 3_600_000 - 60_000);
    const again = await create();
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.body], ['true', first.body]);
    s.clock.advance(60_000);
    const second = await create();
    assert.deepEqual([second.status, second.headers.get('idempotency-replayed')], [201, null]);
    assert.notEqual(second.body.id, first.body.id);
    for (const { id } of [first.body, second.body]) await admin.does('DELETE', `/webhook-endpoints/${id}`);
  });
});

describe('problems', () => {
  test('all wrong fields are named at once with their rules, and undeclared fields are refused', async () => {
    const { body } = await api.post('/quotes', { payAsset: 'USDC!', payAmount: 100, receiveAsset: 'inr', surplus: 1 });
    assert.deepEqual(Object.keys(body.fields).toSorted(), ['payAmount', 'payAsset', 'surplus']);
    assert.match(body.detail, /payAmount must be an amount such as/);
    const { body: lacking } = await api.post('/orders', {});
    assert.deepEqual(lacking.fields, { quoteId: 'is missing', customerId: 'is missing', destinationId: 'is missing' });
  });

  test('a pair that is not traded is answered with the pairs of its assets', async () => {
    const { status, body } = await api.post('/quotes', { payAsset: 'usdc', payAmount: '100', receiveAsset: 'inr' });
    assert.deepEqual([status, body.reason], [422, 'unsupported_pair'], JSON.stringify(body));
    assert.ok(body.supported.includes('usdc.matic20/inr'), `supported is ${body.supported}`);
    assert.ok(
      body.supported.every((pair: string) => pair.endsWith('/inr')),
      `supported is ${body.supported}`,
    );
  });

  test('a filter without a value or with two is refused, and does not list everything', async () => {
    const refused = async (query: string) => {
      const { status, body } = await api.get(`/orders?${query}`);
      return [status, body.fields];
    };
    assert.deepEqual(await refused('customerId='), [400, { customerId: 'has no value' }]);
    assert.deepEqual(await refused('limit=1&limit=2'), [400, { limit: 'is given more than once' }]);
  });

  test('a path that cannot be decoded is a problem like every other', async () => {
    const { status, headers, body } = await api.get('/orders/%ff');
    assert.deepEqual([status, body.reason, body.requestId], [404, 'unknown_path', headers.get('x-request-id')]);
    assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
  });

  test('a body that is no JSON object, too large or of another type is refused as a problem', async () => {
    for (const [body, type, reason] of [
      ['[]', 'application/json', 'malformed_body'],
      ['{', 'application/json', 'malformed_body'],
      ['{"__proto__":{"a":1}}', 'application/json', 'malformed_body'],
      ['a=1', 'application/x-www-form-urlencoded', 'unsupported_media_type'],
      [`{"payAmount":"${'1'.repeat(70_000)}"}`, 'application/json', 'body_too_large'],
    ] as const)
      assert.equal(
        (await api.post('/quotes', body, { headers: { 'content-type': type } })).body.reason,
        reason,
        body.slice(0, 20),
      );
  });

  test('unknown paths and methods are answered as problems, and the white-label API keeps its own form', async () => {
    assert.equal((await api.get('/nothing')).body.reason, 'unknown_path');
    assert.equal((await api.get('/orders/1/nothing')).body.reason, 'unknown_path');
    assert.match((await api.get('/ordres')).body.detail, /no such path\. The nearest is \/v1\/orders\.$/);
    assert.doesNotMatch((await api.get('/nothing-like-any-of-them')).body.detail, /nearest/);
    const other = await api.send('PUT', '/orders', {});
    assert.deepEqual([other.body.reason, other.headers.get('allow')], ['method_not_allowed', 'POST, GET, HEAD']);
    // Signed as before, and answered in its own envelope.
    const { body } = await s.partner.get('/v1/webhooks');
    assert.deepEqual([body.status, body.code], [1, 200]);
    const unsigned = (await (await fetchDeclared(`${s.server.baseUrl}/v1/events`)).json()) as Came;
    assert.deepEqual([unsigned.status, unsigned.code], [0, 401]);
  });

  test('every reason links to its page, in the served docs or otherwise to a page of its own', async () => {
    assert.equal((await api.get('/nothing')).body.type, `${s.server.baseUrl}/docs/errors/unknown_path`);
    for (const baseUrl of [s.server.baseUrl, strict.baseUrl])
      for (const reason of Object.keys(REASONS)) {
        const { type } = problemOf(new Refusal(reason as never), { baseUrl, requestId: '0' }).body;
        const answer = await fetch(String(type), { redirect: 'error' });
        assert.deepEqual(
          [answer.status, answer.headers.get('content-type')],
          [200, 'text/html; charset=utf-8'],
          reason,
        );
        assert.ok((await answer.text()).includes(reason), reason);
      }
    for (const baseUrl of [s.server.baseUrl, strict.baseUrl])
      assert.equal((await fetch(`${baseUrl}/docs/errors/constructor`)).status, 404);
  });

  test('behind a public address a problem links there', () => {
    const { type } = problemOf(new Refusal('quote_over'), { baseUrl: 'https://ramp.example', requestId: '0' }).body;
    assert.equal(type, 'https://ramp.example/docs/errors/quote_over');
  });
});

describe('headers', () => {
  test('the sandbox shows the limit of production and does not enforce it; production does', async () => {
    const own = await keyWith();
    await s.read((tx) =>
      tx.run(
        'update partners set requests_per_minute = 3 where id = (select partner_id from api_keys where key = $1)',
        [own.apiKey],
      ),
    );
    try {
      const [free, bound] = [openV1(s.server.baseUrl, own), openV1(strict.baseUrl, own)];
      await s.until('the limit is known', async () => (await free.get('/key')).headers.get('ratelimit-limit') === '3');
      for (let n = 0; n < 5; n += 1) {
        const { status, headers } = await free.get('/markets');
        assert.equal(status, 200);
        assert.match(headers.get('ratelimit-remaining') ?? '', /^[0-2]$/);
      }
      const refused = await s.until('production declines', async () => {
        const answer = await bound.get('/markets');
        return answer.status === 429 && answer;
      });
      assert.equal(refused.body.reason, 'too_many_requests');
      assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    } finally {
      await s.read((tx) => tx.run('update partners set requests_per_minute = 6000'));
      await s.until(
        'the limit has its former value',
        async () => (await api.get('/key')).headers.get('ratelimit-limit') === '6000',
      );
    }
  });

  test('a version is pinned to a key at its first request; a request may name another one, and an unknown one is refused', async () => {
    const own = await keyWith();
    const client = openV1(s.server.baseUrl, own);
    assert.equal((await client.get('/key')).headers.get('cloverleaf-version'), NEWEST);
    const row = await s.read((tx) =>
      tx.row<{ v: string }>('select api_version as v from api_keys where key = $1', [own.apiKey]),
    );
    assert.equal(row?.v, NEWEST);
    assert.equal((await client.get('/key', { headers: { 'cloverleaf-version': NEWEST } })).status, 200);
    const answer = await client.get('/key', { headers: { 'cloverleaf-version': '2020-01-01' } });
    assert.deepEqual([answer.status, answer.body.reason, answer.body.supported], [400, 'unknown_version', [NEWEST]]);
  });

  test('a deprecated endpoint says since when, until when, and what replaces it', async () => {
    const client = openV1(strict.baseUrl, keys);
    const { status, headers } = await client.get('/old', { isUndeclared: true });
    assert.equal(status, 200);
    assert.equal(headers.get('deprecation'), `@${Date.parse('2026-11-01T00:00:00Z') / 1_000}`);
    assert.equal(headers.get('sunset'), 'Sat, 01 May 2027 00:00:00 GMT');
    assert.equal(headers.get('link'), '<https://ramp.example/v1/new>; rel="successor-version"');
    assert.equal((await client.get('/markets')).headers.get('deprecation'), null);
  });

  test('an answer has the id of the request and echoes the caller’s own id', async () => {
    const own = randomUUID();
    const { headers } = await api.get('/key', { headers: { 'x-client-request-id': own } });
    assert.equal(headers.get('x-client-request-id'), own);
    assert.notEqual(headers.get('x-request-id'), own);
    assert.equal(
      (await api.get('/key', { headers: { 'x-client-request-id': 'a b' } })).headers.get('x-client-request-id'),
      null,
    );
  });
});

let phones = 0;
const phone = (): string =>
  `+91-8${String(process.pid % 1_000).padStart(3, '0')}${String((phones += 1)).padStart(6, '0')}`;

describe('the request log', () => {
  const found = (id: string): Promise<Came> =>
    s.until(`request ${id} is in the log`, async () => {
      const { status, body } = await api.get(`/request-log/${id}`);
      return status === 200 && body;
    });

  test('shows request, answer and reason, found by our id or the caller’s', async () => {
    const own = randomUUID();
    const declined = await api.post(
      '/quotes',
      { ...QUOTE, payAmount: '0.000001' },
      { headers: { 'x-client-request-id': own } },
    );
    const line = await found(declined.headers.get('x-request-id') ?? '');
    assert.deepEqual(
      [line.operation, line.method, line.path, line.status, line.reason],
      ['quotes.create', 'POST', '/v1/quotes', 422, 'amount_outside_limits'],
    );
    assert.deepEqual(line.request, { ...QUOTE, payAmount: '0.000001' });
    assert.equal(line.reply.reason, 'amount_outside_limits');
    assert.deepEqual(await found(own), line);
    const { data } = await api.does('GET', '/request-log?operation=quotes.create&status=422&limit=1');
    assert.equal(data[0].operation, 'quotes.create');
  });

  test('is read page by page, newest first', async () => {
    const marked = await api.get('/markets');
    await found(marked.headers.get('x-request-id') ?? '');
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 3; pages += 1) {
      const { data, nextCursor } = await api.does('GET', `/request-log?limit=2${cursor}`);
      seen.push(...data.map(({ id }: { id: string }) => id));
      cursor = `&cursor=${nextCursor}`;
    }
    assert.equal(new Set(seen).size, 6);
  });

  test('has no personal data and no secret, whatever field it was typed into', async () => {
    const [name, number, mail] = [`Ada Lovelace ${randomUUID()}`, phone(), `ada.${randomUUID()}@example.org`];
    const made = await api.post('/customers', { reference: name, kind: 'individual', phone: number, email: mail });
    // A number and a name in place of an amount are refused, and not stored.
    const astray = await api.post('/quotes', { payAsset: name, payAmount: number, receiveAsset: mail });
    // The same as the name of a field.
    const named = await api.post('/quotes', { ...QUOTE, [`${name}\0`]: 1 });
    const hook = await openV1(s.server.baseUrl, await keyWith({ scopes: ['admin', 'read'] })).post(
      '/webhook-endpoints',
      {
        url: `http://127.0.0.1:1999/${randomUUID()}`,
      },
    );
    const link = await api.post(`/customers/${made.body.id}/verification-link`);
    for (const answer of [made, astray, named, hook, link]) await found(answer.headers.get('x-request-id') ?? '');
    const rows = await s.read((tx) => tx.rows<{ all: string }>('select request_log::text as all from request_log'));
    const all = rows.map((row) => row.all).join('\n');
    for (const secret of [name, number, number.slice(3), mail, hook.body.secret, link.body.url])
      assert.ok(!all.includes(secret), `${secret} is in the log`);
  });

  test('is visible to its own partner only', async () => {
    const answer = await api.get('/markets');
    const id = answer.headers.get('x-request-id') ?? '';
    await found(id);
    const [, otherKeys] = s.server.sandbox.partners;
    assert.ok(otherKeys);
    const other = openV1(s.server.baseUrl, otherKeys);
    assert.equal((await other.get(`/request-log/${id}`)).body.reason, 'unknown_request');
    const { data } = await other.does('GET', '/request-log?limit=100');
    assert.ok(data.every(({ key }: { key: string }) => key === otherKeys.apiKey));
  });

  test('forgets after thirty days', async () => {
    const answer = await api.get('/chains');
    await found(answer.headers.get('x-request-id') ?? '');
    // The oldest request is already a day old.
    assert.equal(await purgeRequestLog(s.server.db, new Date(s.clock.now().getTime() + 28 * 86_400_000)), 0);
    assert.ok((await purgeRequestLog(s.server.db, new Date(s.clock.now().getTime() + 31 * 86_400_000))) > 0);
  });
});
