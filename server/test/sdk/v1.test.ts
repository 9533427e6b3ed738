/**
 * The native API in the SDK: each method sends what its declaration says, writes are signed, lists are read to their end.
 */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { ApiError, bearerToken, Cloverleaf, hasReason, signRequest, UsageError } from '../../../sdk/src/index.ts';
import { bearerToken as serversToken } from '../../src/partners/index.ts';
import { describedServer, type Instead, NAMES } from './described.ts';

const KEY = { bearerToken: 'the-token', apiKey: 'clv_1', apiSecret: 'the-secret' };
const closing: (() => void)[] = [];
after(() => {
  for (const close of closing) close();
});

async function served(instead?: Instead, key: object = KEY) {
  const server = await describedServer(instead);
  closing.push(server.close);
  return { ...server, client: new Cloverleaf({ baseUrl: server.baseUrl, ...key }) };
}

test('each endpoint has a method that reaches it', async () => {
  const { client, asked } = await served();
  const groups = client as unknown as Record<string, Record<string, (...given: unknown[]) => unknown>>;
  for (const name of NAMES) {
    const [group = '', verb = ''] = name.split('.');
    const got = groups[group]?.[verb]?.('1', '2', {});
    await (typeof (got as { first?: unknown }).first === 'function' ? (got as { first(): unknown }).first() : got);
    assert.equal(asked.at(-1)?.name, name);
  }
  assert.ok(NAMES.length > 40);
  for (const { headers, method } of asked) {
    assert.equal(headers.authorization, 'Bearer the-token');
    assert.match(String(headers['cloverleaf-version']), /^\d{4}-\d\d-\d\d$/);
    assert.equal(headers['idempotency-key'] !== undefined, method !== 'GET');
    assert.equal(headers.signature !== undefined, method !== 'GET');
  }
});

describe('signatures of writes (RFC 9421)', () => {
  const request = { method: 'POST', path: '/v1/orders?a=b', body: '{"quoteId":"1"}', idempotencyKey: 'one' };

  test('a known vector', async () => {
    const digest = 'sha-256=:YvWadasOw5IEsOWP4mmgKYHKqTcpxDUF7MpxirUZF2Q=:';
    const params =
      '("@method" "@path" "@query" "content-digest" "idempotency-key");created=1795600000;keyid="clv_1";alg="hmac-sha256"';
    assert.deepEqual(await signRequest(request, KEY, 1_795_600_000_123), {
      'content-digest': digest,
      'signature-input': `sig=${params}`,
      signature: 'sig=:V30oytVUqpfZt5TbDeKFFI2r898q+xB68l2jGetBNOk=:',
    });
    // The same by hand, line by line as section 2.5 of the RFC requires.
    const base = [
      '"@method": POST',
      '"@path": /v1/orders',
      '"@query": ?a=b',
      `"content-digest": sha-256=:${createHash('sha256').update(request.body).digest('base64')}:`,
      '"idempotency-key": one',
      `"@signature-params": ${params}`,
    ].join('\n');
    const signature = createHmac('sha256', KEY.apiSecret).update(base).digest('base64');
    assert.equal((await signRequest(request, KEY, 1_795_600_000_123)).signature, `sig=:${signature}:`);
  });

  test('the bearer token of reads follows from key and secret', async () => {
    assert.equal(await bearerToken(KEY), serversToken(KEY.apiKey, KEY.apiSecret));
    const { client, asked } = await served(undefined, { apiKey: KEY.apiKey, apiSecret: KEY.apiSecret });
    await client.orders.get('17');
    assert.equal(asked[0]?.headers.authorization, `Bearer ${await bearerToken(KEY)}`);
  });

  test('with a token alone nothing is signed; without one nothing is sent', async () => {
    const { client, asked } = await served(undefined, { bearerToken: 't' });
    await client.orders.cancel('17');
    assert.equal(asked[0]?.headers['signature-input'], undefined);
    const without = await served(undefined, {});
    await assert.rejects(without.client.orders.get('17'), UsageError);
    assert.equal(without.asked.length, 0);
  });
});

test('a value of the path is escaped, and must be a text', async () => {
  const { client, asked } = await served();
  await client.orders.get('1/7').catch(() => {});
  await assert.rejects(async () => await client.orders.get(17 as unknown as string), UsageError);
  await assert.rejects(async () => await client.orders.get(''), UsageError);
  assert.equal(asked.length <= 1, true);
});

test('a write whose answer was lost is sent again under its key, and its body is the same', async () => {
  const { client, asked } = await served((_, times) =>
    times === 1 ? { status: 503, body: { reason: 'unavailable', status: 503, title: 'Later' } } : undefined,
  );
  const order = await client.orders.create({ quoteId: '1', customerId: 'c_1', destinationId: '2' });
  assert.equal(order.id, '747983292881815');
  assert.equal(asked.length, 2);
  assert.equal(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
  assert.deepEqual(new Set(asked.map(({ body }) => body)).size, 1);
});

test('a problem has its reason, fields and sentence', async () => {
  const problem = {
    ...{ type: 'https://ramp.example/problems/quote_over', title: 'The quote is over', status: 409 },
    ...{ detail: 'It expired a minute ago.', reason: 'quote_over', fields: { quoteId: 'is over' } },
  };
  const { client } = await served(() => ({ status: 409, body: problem }));
  await assert.rejects(client.orders.create({ quoteId: '1', customerId: 'c_1', destinationId: '2' }), (error) => {
    assert.ok(error instanceof ApiError && hasReason(error, 'quote_over'));
    assert.deepEqual(
      [error.message, error.fields, error.requestId],
      ['It expired a minute ago.', { quoteId: 'is over' }, '4f1c2a9d0e00001a'],
    );
    return true;
  });
});

describe('lists', () => {
  const paged: Instead = ({ name, query }) => {
    if (name !== 'orders.list') return undefined;
    const at = Number(query.cursor ?? 0);
    return {
      status: 200,
      body: { data: [{ id: `${at}` }, { id: `${at + 1}` }], nextCursor: at < 4 ? `${at + 2}` : null },
    };
  };

  test('every row of every page, in order, and no page that was not needed', async () => {
    const { client, asked } = await served(paged);
    const ids: string[] = [];
    for await (const { id } of client.orders.list({ state: 'settled' })) ids.push(id);
    assert.deepEqual(ids, ['0', '1', '2', '3', '4', '5']);
    assert.deepEqual(
      asked.map(({ query }) => query),
      [{ state: 'settled' }, { state: 'settled', cursor: '2' }, { state: 'settled', cursor: '4' }],
    );
    asked.length = 0;
    assert.equal((await client.orders.list().toArray(3)).length, 3);
    assert.equal(asked.length, 2);
  });

  test('one page is asked for as such', async () => {
    const { client } = await served(paged);
    assert.equal((await client.orders.list({ cursor: '4' }).first()).nextCursor, null);
  });
});

test('the feed is followed: nothing is left out, and a stored cursor continues after the processed events', async () => {
  const all = ['a', 'b', 'c', 'd', 'e'];
  let visible = 2;
  const { client } = await served(({ name, query }) => {
    if (name !== 'events.list') return undefined;
    const from = Number(query.cursor ?? 0);
    const data = all.slice(from, Math.min(visible, from + 2)).map((id) => ({ id }));
    visible = Math.min(all.length, visible + 1);
    return { status: 200, body: { data, nextCursor: `${from + data.length}` } };
  });
  const ended = new AbortController();
  const seen: string[] = [];
  let stored: string | undefined;
  for await (const { event, cursor } of client.events.follow({ signal: ended.signal, intervalMs: 1 })) {
    seen.push(event.id);
    stored = cursor;
    if (seen.length === 5) ended.abort();
  }
  assert.deepEqual(seen, all);
  assert.equal(stored, '5');
});
