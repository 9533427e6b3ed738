/** Certify passes an integration that follows the documentation, and names the faults of another one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dialectOf, type Told, whitelabelMessage } from '../../../sdk/src/certify.formats.ts';
import { type CertifyResult, certify } from '../../../sdk/src/certify.ts';
import { Cloverleaf, hasReason, verifyWebhook, type WebhookFormat } from '../../../sdk/src/index.ts';
import { whitelabelBody } from '../../src/protocols/whitelabel/webhooks.ts';
import { freshFolder } from '../support/folder.ts';
import { collect, run, type ServerProcess, startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const folder = freshFolder('certify');
let server: ServerProcess;
before(async () => {
  server = await startProcess({ dataDir: folder, port: 0 });
});
after(async () => {
  await server.interrupt();
});

interface Message {
  headers: Record<string, string | string[] | undefined>;
  body: string;
}
/** A partner's receiver: its answers, and its resulting view of an order. */
async function receiver(take: (message: Message) => Promise<number>, says: (orderId: string) => unknown) {
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method === 'GET') return void response.end(JSON.stringify(says((request.url ?? '').slice(1)) ?? null));
    response.writeHead(await take({ headers: request.headers, body })).end();
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close(): void {
      http.close();
      http.closeAllConnections();
    },
  };
}

/** As docs/webhooks.md requires. */
function carefulReceiver(format: WebhookFormat = 'standard', secret = SECRET) {
  const done = new Set<string>();
  const orders = new Map<string, { sequence: number; state: unknown; times: number }>();
  return receiver(
    async (message) => {
      const verified = await verifyWebhook(message, { secret, formats: [format] }).catch(() => undefined);
      if (verified === undefined) return 401;
      const { id, subject, sequence, event } = verified;
      const known = orders.get(subject);
      if (!done.has(id) && (known === undefined || known.sequence < sequence))
        orders.set(subject, {
          sequence,
          state: verified.format === 'standard' ? (event as { data: { state?: unknown } }).data.state : event,
          times: (known?.times ?? 0) + 1,
        });
      done.add(id);
      return 204;
    },
    (orderId) => orders.get(`order:${orderId}`),
  );
}

const partner = () => {
  const { baseUrl, partners } = server.sandbox();
  const { apiKey = '', apiSecret = '' } = partners[0] ?? {};
  return { baseUrl, apiKey, apiSecret };
};

/** A client that keeps polling, and a customer of its own who may trade. */
async function customerOf(fetch: typeof globalThis.fetch) {
  const client = new Cloverleaf({ ...partner(), fetch, patienceMs: 20_000 });
  const phone = `+91-8${String(Date.now()).slice(-9)}`;
  const { id: customerId } = await client.customers.create({
    reference: crypto.randomUUID(),
    kind: 'individual',
    phone,
  });
  await client.whitelabel.post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const { id: destinationId } = await client.destinations.create(customerId, {
    ...{ kind: 'account', asset: 'inr', accountNumber: '000111222333', ifsc: 'HDFC0000001' },
  });
  return { client, customerId, destinationId };
}

/** A program that sells through /v1, and requests a new quote when the old one has expired. */
async function sellsCarefully(fetch: typeof globalThis.fetch): Promise<void> {
  const { client, customerId, destinationId } = await customerOf(fetch);
  for (;;) {
    const { id } = await client.quotes.create({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '100' });
    try {
      await client.orders.create({ quoteId: id, customerId, destinationId });
      return;
    } catch (error) {
      if (!hasReason(error, 'quote_over')) throw error;
    }
  }
}

/** One of the white-label wire that does not handle a moved price, and after any failure retries under a new key. */
async function sellsCarelessly(fetch: typeof globalThis.fetch): Promise<void> {
  const { post } = new Cloverleaf({ ...partner(), fetch, patienceMs: 0 }).whitelabel;
  const { customerId } = await post('kyc/url', {
    clientCustomerId: crypto.randomUUID(),
    phoneNumber: `+91-8${String(Date.now()).slice(-9)}`,
    type: 'INDIVIDUAL',
  });
  await post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const account = { customerId, fiatAccount: '000111222333', ifsc: 'HDFC0000001' };
  const { fiatAccountId } = await post('bank/addFiatAccount', account);
  const sell = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
  const quote = await post('offramp/quote', sell);
  assert.ok('rate' in quote);
  const order = { ...sell, rate: quote.rate, toAmount: quote.toAmount, customerId, fiatAccountId };
  await post('offramp/createTransaction', order).catch(async (error: unknown) => {
    if (!hasReason(error, 'unavailable')) throw error;
    await post('offramp/createTransaction', order);
  });
}

test('an order whose answer was lost, twice, is asked for again under its key and created once', async () => {
  let lost = 0;
  const losing: typeof globalThis.fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!String(input).endsWith('/v1/orders') || init?.method !== 'POST' || lost === 2) return answer;
    lost += 1;
    throw new TypeError('the connection was closed');
  };
  const { client, customerId, destinationId } = await customerOf(losing);
  const { id: quoteId } = await client.quotes.create({
    payAsset: 'usdc.matic20',
    receiveAsset: 'inr',
    payAmount: '70',
  });
  const order = await client.orders.create({ quoteId, customerId, destinationId });
  assert.equal(lost, 2);
  assert.deepEqual(
    (await client.orders.list({ customerId }).toArray()).map(({ id }) => id),
    [order.id],
  );
});

const outcomes = (results: readonly CertifyResult[]) =>
  Object.fromEntries(results.map(({ situation, outcome }) => [situation, outcome]));
const whyOf = (results: readonly CertifyResult[], situation: string): string =>
  results.find((one) => one.situation === situation)?.why.join('\n') ?? '';

test('an integration that follows the documentation passes all ten', { timeout: 300_000 }, async () => {
  const mine = await carefulReceiver();
  const results = await certify({
    client: new Cloverleaf(partner()),
    webhookUrl: mine.url,
    secret: SECRET,
    observe: async (orderId) => await (await fetch(`${mine.url}/${orderId}`)).text(),
    program: sellsCarefully,
  });
  mine.close();
  assert.equal(results.length, 10);
  assert.deepEqual(
    results.flatMap(({ situation, why }) => why.map((one) => `${situation}: ${one}`)),
    [],
  );
  const did = results.flatMap((one) => one.did).join('\n');
  for (const word of [
    '409',
    'order.settled',
    'order.refunded',
    'order.expired',
    'with a lower rate',
    'instead of the answer',
  ])
    assert.ok(did.includes(word), word);
  assert.match(results.find(({ situation }) => situation === 'bounced payout')?.did.join('\n') ?? '', /order\.changed/);
});

/** Situations that the older formats do not report cannot be tested. */
const SILENT = {
  whitelabel: ['requote', 'bounced payout', 'expired quote', '503'],
  flat: [
    ...['late webhook', 'out-of-order webhook', 'underpayment', 'requote', 'bounced payout', 'refund'],
    ...['expired quote', '503'],
  ],
} as const;

for (const format of ['whitelabel', 'flat'] as const)
  test(`a receiver of the format ${format} passes the format's situations, and the rest is not tested`, {
    timeout: 300_000,
  }, async () => {
    const mine = await carefulReceiver(format, partner().apiSecret);
    const results = await certify({
      ...{ client: new Cloverleaf(partner()), webhookUrl: mine.url, format, secret: partner().apiSecret },
      observe: async (orderId) => await (await fetch(`${mine.url}/${orderId}`)).text(),
    });
    mine.close();
    assert.deepEqual(
      results.filter(({ outcome }) => outcome === 'failed').flatMap(({ situation, why }) => [situation, ...why]),
      [],
    );
    const untested = results.filter(({ outcome }) => outcome === 'not tested').map(({ situation }) => situation);
    assert.deepEqual(untested, SILENT[format]);
    assert.match(whyOf(results, 'bounced payout'), /does not tell that a payout came back/);
    // With the secret of another key the same receiver accepts nothing.
    const deaf = await carefulReceiver(format, 'another secret');
    const refused = await certify({
      ...{ client: new Cloverleaf(partner()), webhookUrl: deaf.url, format, secret: partner().apiSecret },
    });
    deaf.close();
    assert.equal(outcomes(refused)['duplicate webhook'], 'failed');
  });

test('certify sends the same messages in the format whitelabel as the server', { timeout: 300_000 }, async () => {
  const client = new Cloverleaf(partner());
  const events = (await client.events.list().toArray()).filter(({ type }) => type.startsWith('order.')) as Told[];
  const dialect = dialectOf('whitelabel', client);
  let compared = 0;
  for (const subject of new Set(events.map((one) => one.subject)))
    for (const event of dialect.heard(events.filter((one) => one.subject === subject))) {
      const { type, timestamp, sequence, data } = event;
      const position = BigInt(event.id.split('_').at(-1) ?? '');
      const happened = { type, at: new Date(timestamp), position, sequence, body: data, partnerId: 1n };
      assert.deepEqual(
        whitelabelMessage(event),
        whitelabelBody(happened as never, { kycWords: {} }),
        `${type} of ${subject}`,
      );
      compared += 1;
    }
  assert.ok(compared >= 8, `${compared} messages were compared`);
});

test('certify sends the same message in the format flat as the server', { timeout: 300_000 }, async () => {
  const { client, customerId, destinationId } = await customerOf(fetch);
  const secret = partner().apiSecret;
  const got: Record<string, unknown>[] = [];
  const mine = await receiver(
    async (message) => {
      const { format, event } = await verifyWebhook(message, { secret });
      if (format === 'flat') got.push({ ...event });
      return 204;
    },
    () => null,
  );
  await client.whitelabel.post('merchant/setWebhookUrl', { webhookUrl: mine.url, format: 'flat' });
  const pair = { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '70' };
  const { id: quoteId } = await client.quotes.create(pair);
  const { id } = await client.orders.create({ quoteId, customerId, destinationId });
  await client.sandbox.pay({ transactionId: id });
  const sent = await until('the server has sent it', () => got.find(({ orderId }) => String(orderId) === id));
  for (const endpoint of (await client.webhooks.list()).data) await client.webhooks.remove(endpoint.id);
  mine.close();
  const events = (await client.events.list().toArray()).filter(({ subject }) => subject === `order:${id}`) as Told[];
  const dialect = dialectOf('flat', client);
  const [settled] = dialect.heard(events);
  assert.ok(settled !== undefined);
  const { body } = await dialect.message(settled, { secret });
  assert.deepEqual(JSON.parse(body), { ...sent, webhookTrials: 1 });
});

test('the faults of another one are named', { timeout: 300_000 }, async () => {
  // It trusts everything, and the last message wins.
  const orders = new Map<string, unknown>();
  let taken = 0;
  const mine = await receiver(
    async ({ body }) => {
      const event = JSON.parse(body) as { subject: string; data: { state: unknown } };
      taken += 1;
      orders.set(event.subject, { state: event.data.state, taken });
      return 200;
    },
    (orderId) => orders.get(`order:${orderId}`),
  );
  const results = await certify({
    client: new Cloverleaf(partner()),
    webhookUrl: mine.url,
    secret: SECRET,
    observe: async (orderId) => await (await fetch(`${mine.url}/${orderId}`)).text(),
    program: sellsCarelessly,
  });
  mine.close();
  const expected = {
    ...{ 'duplicate webhook': 'failed', 'late webhook': 'failed', 'out-of-order webhook': 'failed' },
    ...{
      'wrong signature': 'failed',
      underpayment: 'passed',
      requote: 'failed',
      'bounced payout': 'passed',
      refund: 'passed',
    },
    ...{ '503': 'failed' },
  };
  const { 'expired quote': _, ...others } = outcomes(results);
  assert.deepEqual(others, expected);
  assert.match(whyOf(results, 'duplicate webhook'), /process each id once/);
  assert.match(whyOf(results, 'late webhook'), /whose signature is an hour old/);
  assert.match(whyOf(results, 'out-of-order webhook'), /skip a lower sequence/);
  assert.match(whyOf(results, 'wrong signature'), /another secret.*\n.*changed message.*\n.*without a signature/);
  assert.match(whyOf(results, 'requote'), /asked for no new quote/);
  assert.match(whyOf(results, '503'), /another Idempotency-Key: the customer now has two orders/);
});

test('the command prints pass or fail with the reason, and names untested situations', {
  timeout: 300_000,
}, async () => {
  const mine = await carefulReceiver();
  const file = join(folder, 'endpoint.secret');
  writeFileSync(file, SECRET, { mode: 0o600 });
  const options = ['--webhook-url', mine.url, '--secret-file', file, '--sandbox', join(folder, 'sandbox.json')];
  const child = run(['sdk/src/cli/main.ts', 'certify', ...options], {});
  const output = collect(child);
  const [code] = await once(child, 'close');
  mine.close();
  assert.equal(code, 3, output());
  // The receiver's answer does not show whether a message acted twice, or an old one replaced a newer one.
  assert.match(output(), /NOT TESTED +duplicate webhook\n +order\.created #1: 204 in \d+ ms[\s\S]*?--state-url/);
  assert.match(output(), /NOT TESTED +out-of-order webhook\n/);
  assert.match(output(), /PASSED +late webhook\n/);
  assert.match(output(), /NOT TESTED +503\n +→ what your program does about it/);
  assert.match(output(), /\n5 passed, 0 failed, 5 not tested\n$/);
  assert.ok(!output().includes(SECRET));
});

test('the command against a sandbox: login, doctor, an order as a timeline, webhooks as they are delivered', {
  timeout: 300_000,
}, async () => {
  const env = { CLOVERLEAF_CONFIG: join(folder, 'config.json') };
  const cli = async (...args: string[]) => {
    const child = run(['sdk/src/cli/main.ts', ...args], env);
    const output = collect(child);
    const [code] = await once(child, 'close');
    assert.equal(code, 0, output());
    return output();
  };
  assert.match(await cli('login', '--sandbox', join(folder, 'sandbox.json')), /^logged in at http/);
  assert.match(await cli('doctor'), /Nothing is wrong\.\n$/);

  const listening = run(['sdk/src/cli/main.ts', 'webhooks', 'listen'], env);
  const heard = collect(listening);
  const ended = once(listening, 'close');
  await until('it listens', () => heard().includes('Listening at'), { more: heard });
  const { client, customerId, destinationId } = await customerOf(fetch);
  const { id: quoteId } = await client.quotes.create({
    payAsset: 'usdc.matic20',
    receiveAsset: 'inr',
    payAmount: '50',
  });
  const { id } = await client.orders.create({ quoteId, customerId, destinationId });
  await cli('sandbox', 'pay', id);
  assert.match(await cli('orders', 'watch', id), /payout_settled [\s\S]*now: settled; [\d.]+ inr with recipient/);
  await until('it is delivered', () => new RegExp(`order.settled +order:${id} .*signature valid`).test(heard()), {
    more: heard,
  });
  listening.kill('SIGINT');
  assert.deepEqual((await ended)[0], 0, heard());
  assert.match(await cli('webhooks', 'list'), /^none\n$/);
  assert.match(await cli('logs', '--limit', '3'), /^at +operation +status/);
});
