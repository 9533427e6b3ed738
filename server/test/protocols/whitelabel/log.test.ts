/** The request log of this wire: requests of a key with what came of them, and nothing of what was sent. On a real server. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Credential } from '../../../src/partners/index.ts';
import type { Line } from '../../../src/protocols/request-log.store.ts';
import { openRequestLog } from '../../../src/protocols/request-log.ts';
import { openLines } from '../../../src/protocols/whitelabel/log.ts';
import { ROUTES } from '../../../src/protocols/whitelabel/table.ts';
import { type Answer, type Came, openClient } from '../../support/client.ts';
import { fetchDeclared } from '../../support/declared.fetch.ts';
import { operatorNamed } from '../operator/people.ts';
import { type V1Environment, v1Environment } from '../v1/environment.ts';

const WIRE = 'protocol=white-label';
let world: V1Environment;

before(async () => {
  world = await v1Environment();
});
after(() => world?.s.close());

const PAIR = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
const lines = async (filter = ''): Promise<Came[]> =>
  (await world.api.does('GET', `/request-log?${WIRE}${filter}&limit=100`)).data;
const idOf = ({ headers }: Answer): string => headers.get('x-request-id') ?? '';
const lineOf = ({ ...answer }: Answer): Promise<Came> =>
  world.s.until(`request ${idOf(answer)} is in the log`, async () => {
    const { status, body } = await world.api.get(`/request-log/${idOf(answer)}`);
    return status === 200 && body;
  });
/** Everything that is stored about requests. */
const stored = async (): Promise<string> =>
  (await world.s.read((tx) => tx.rows<{ all: string }>('select request_log::text as all from request_log')))
    .map((row) => row.all)
    .join('\n');

describe('a request of the white-label wire', () => {
  test('has a line with endpoint, outcome and key, and neither body nor reply', async () => {
    const quoted = await world.s.partner.post('offramp/quote', PAIR);
    assert.equal(quoted.status, 200, quoted.text);
    const line = await lineOf(quoted);
    const { id: _id, at: _at, tookMs, ...shown } = line;
    assert.deepEqual(shown, {
      ...{ clientRequestId: null, key: world.keys.apiKey, protocol: 'white-label', operation: 'offramp/quote' },
      ...{ method: 'POST', path: '/onramp/api/v2/whiteLabel/offramp/quote', status: 200, reason: null, why: null },
      ...{ replayed: false, version: null, idempotencyKey: null, request: null, reply: null },
    });
    assert.ok(tookMs >= 0 && tookMs < 60_000, String(tookMs));
  });

  test('that is declined has its reason, also if its body cannot be read', async () => {
    const declined = await world.s.partner.post('offramp/quote', { ...PAIR, toCurrency: 'XXX' });
    const { status, reason } = await lineOf(declined);
    assert.deepEqual([status, reason], [declined.status, declined.body.reason]);
    const astray = await world.s.partner.post('offramp/quote', PAIR, { signedBody: { other: 1 } });
    const other = await lineOf(astray);
    assert.deepEqual([other.status, other.reason, other.why], [401, 'unauthenticated', null]);
    const { data } = await world.api.does('GET', `/request-log?${WIRE}&reason=unauthenticated`);
    assert.ok(data.some(({ id }: Came) => id === idOf(astray)));
  });

  test('that is repeated says that an earlier answer was given again', async () => {
    const { id: customerId, fiatAccountId } = await world.s.verifiedCustomer();
    const { data: quote } = (await world.s.partner.post('offramp/quote', PAIR)).body;
    const key = { headers: { 'Idempotency-Key': randomUUID() } };
    const sale = { ...PAIR, customerId, fiatAccountId, rate: quote.rate, toAmount: quote.toAmount };
    const [first, again] = [
      await world.s.partner.post('offramp/createTransaction', sale, key),
      await world.s.partner.post('offramp/createTransaction', sale, key),
    ];
    assert.equal(first.status, 200, first.text);
    assert.deepEqual(again.body, first.body);
    assert.deepEqual([(await lineOf(first)).replayed, (await lineOf(again)).replayed], [false, true]);
    assert.ok(!(await stored()).includes(key.headers['Idempotency-Key']), 'the Idempotency-Key is kept');
  });

  test('leaves nothing of what was sent: body, query, path, headers', async () => {
    const secret = `ada-lovelace-${randomUUID()}`;
    const sent = [
      await world.s.partner.post('offramp/quote', { ...PAIR, merchantRecognitionId: secret, [secret]: '1' }),
      await world.s.partner.post('kyc/status', { customerId: secret }, { headers: { 'x-client-request-id': secret } }),
      await world.s.partner.get(`/v1/webhooks/${secret}/deliveries?below=${secret}`),
      await world.s.partner.get(`/v1/events?after=${secret}`),
    ];
    for (const answer of sent) assert.equal((await lineOf(answer)).protocol, 'white-label');
    assert.ok(!(await stored()).includes(secret), 'what was sent is kept');
    assert.ok((await lines()).every(({ path }) => !path.includes('?')));
    const paths = (await lines()).map(({ path }) => path);
    assert.ok(paths.includes('/v1/webhooks/:id/deliveries'), paths.join(', '));
  });

  test('is found by its interface and endpoint, by its own partner and the operator alone', async () => {
    const answer = await world.s.partner.post('offramp/quote', PAIR);
    await lineOf(answer);
    const has = (data: Came[]) => data.some(({ id, requestId }) => (requestId ?? id) === idOf(answer));
    assert.ok(has(await lines('&operation=offramp/quote')));
    assert.ok(!has(await lines('&operation=onramp/quote')));
    assert.ok(!has((await world.api.does('GET', '/request-log?protocol=v1&limit=100')).data));
    assert.equal((await world.api.get('/request-log?protocol=carrier-pigeon')).status, 400);
    assert.equal((await world.other.get(`/request-log/${idOf(answer)}`)).body.reason, 'unknown_request');
    assert.deepEqual((await world.other.does('GET', `/request-log?${WIRE}`)).data, []);
    const team = { db: world.s.server.db, baseUrl: world.s.server.baseUrl, clock: world.s.clock };
    const operator = await operatorNamed(team, 'op', 'admin');
    const listed = await operator.reads(`/partners/1/requests?${WIRE}&operation=offramp/quote`);
    assert.ok(has(listed.body.requests), JSON.stringify(listed.body).slice(0, 500));
  });
});

describe('a request without a valid signature', () => {
  test('has a line with the fault if its key is known, and a stranger has few of them', async () => {
    const wrong = openClient(world.s.server.baseUrl, { ...world.otherKeys, apiSecret: 'x'.repeat(40) });
    const first = await wrong.post('offramp/quote', PAIR);
    assert.equal(first.status, 401);
    const lineOfOther = () => world.other.get(`/request-log/${idOf(first)}`);
    const line = await world.s.until('it is in the log', async () => {
      const { status, body } = await lineOfOther();
      return status === 200 && body;
    });
    assert.deepEqual([line.status, line.reason, line.why], [401, 'unauthenticated', 'the signature does not match']);
    let last = first;
    for (let count = 0; count < 60; count += 1) last = await wrong.post('offramp/quote', PAIR);
    // A line that is written after the others would be.
    const proved = openClient(world.s.server.baseUrl, world.otherKeys);
    const marked = await proved.post('offramp/quote', PAIR);
    await world.s.until(
      'what waited is written',
      async () => (await world.other.get(`/request-log/${idOf(marked)}`)).status === 200,
    );
    const { data } = await world.other.does('GET', `/request-log?${WIRE}&status=401&limit=100`);
    assert.ok(data.length >= 30 && data.length <= 40, `${data.length} lines of 61 requests`);
    assert.equal((await world.other.get(`/request-log/${idOf(last)}`)).status, 404);
  });

  test('has none if its key is unknown, or if it needs no signature', async () => {
    const stranger = openClient(world.s.server.baseUrl, { apiKey: 'clv_nobody', apiSecret: 'x'.repeat(40) });
    const strange = await stranger.post('offramp/quote', PAIR);
    const open = await fetchDeclared(`${world.s.server.baseUrl}/onramp/api/v2/common/transaction/allConfigMapping`);
    await lineOf(await world.s.partner.post('offramp/quote', PAIR));
    const all = await stored();
    for (const id of [idOf(strange), open.headers.get('x-request-id') ?? '-']) assert.ok(!all.includes(id), id);
  });
});

describe('the log', () => {
  test('has at most 600 lines a minute of a key', () => {
    const kept: Line[] = [];
    const note = openLines(
      (line) => kept.push(line),
      () => new Date(),
    );
    const [route] = ROUTES;
    assert.ok(route);
    const about = {
      credential: { key: 'clv_a', partner: { id: 1n } } as unknown as Credential,
      ...{ isProved: true, isReplay: false },
    };
    const of = { request: { id: 'a', routeOptions: {} }, reply: { elapsedTime: 1 }, answer: { status: 200, body: {} } };
    for (let count = 0; count < 2_000; count += 1) note(route, about, of as never);
    assert.ok(kept.length >= 600 && kept.length < 700, `${kept.length} lines`);
    note(route, { ...about, credential: { ...about.credential, key: 'clv_b' } }, of as never);
    assert.equal(kept.at(-1)?.apiKey, 'clv_b', 'a busy key takes the lines of another');
  });

  test('writes what came together in one transaction and one statement, and a request writes none itself', async () => {
    const { db, vault, orders } = world.s.server;
    const log = openRequestLog({ db, vault, log: orders.log });
    const marked = await world.s.partner.post('offramp/quote', PAIR);
    const shown = await lineOf(marked);
    const of = `together-${randomUUID()}`;
    for (let count = 0; count < 150; count += 1)
      log.add({
        ...{ partnerId: 1n, protocol: 'white-label', requestId: of, clientRequestId: null, apiKey: world.keys.apiKey },
        ...{ operation: 'offramp/quote', method: 'POST', path: shown.path, status: 200, reason: null, tookMs: count },
        ...{ replayed: false, version: '', idempotencyKey: null, request: null, reply: null, why: null },
        at: world.s.clock.now(),
      });
    await log.close();
    const written = await world.s.read((tx) =>
      tx.rows<{ tx: string; tookMs: number }>(
        'select xmin::text as tx, took_ms from request_log where request_id = $1 order by id',
        [of],
      ),
    );
    assert.deepEqual(
      written.map(({ tookMs }) => tookMs),
      Array.from({ length: 150 }, (_, count) => count),
    );
    assert.equal(new Set(written.map(({ tx }) => tx)).size, 1);
    const [quote] = await world.s.read((tx) =>
      tx.rows<{ same: string }>(
        `select count(*)::text as same from quotes q join request_log l on l.xmin = q.xmin where l.operation = 'offramp/quote'`,
      ),
    );
    assert.equal(quote?.same, '0', 'the transaction of a quote writes its line');
  });
});
