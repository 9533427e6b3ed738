/**
 * Webhooks over HTTP: the three calls of the interface, our own under /v1, and the status words in events about orders.
 *
 * Long because its deliveries share one server and one receiver.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Happened } from '../../../src/events/index.ts';
import { openSender, outsideFor, publish, standard, startDispatcher } from '../../../src/events/index.ts';
import { type Direction, type OrderState, STATES } from '../../../src/orders/index.ts';
import { TRANSITIONS } from '../../../src/orders/machine.ts';
import { assets, signingSecrets } from '../../../src/partners/index.ts';
import { flatFormat, whitelabelFormat } from '../../../src/protocols/whitelabel/index.ts';
import { whitelabelBody } from '../../../src/protocols/whitelabel/webhooks.ts';
import { type Answer, type Came, type Client, hmac, openClient } from '../../support/client.ts';
import { openReceiver, type Receiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

const MERCHANT = '/onramp/api/v1/merchant/';

let world: Environment;
let receiver: Receiver;
let mine: TestPartner;
let other: TestPartner;
let admin: Client;
let otherAdmin: Client;
let formats: Parameters<typeof publish>[0]['formats'];
before(async () => {
  world = await wireEnvironment();
  receiver = await openReceiver();
  [mine, other] = [await world.partner('Mine'), await world.partner('Other')];
  const adminOf = async ({ partner }: TestPartner) =>
    openClient(world.baseUrl, await world.keyOf(partner, { scopes: ['admin'] }));
  [admin, otherAdmin] = [await adminOf(mine), await adminOf(other)];
  const secrets = (key: string) => world.db.asSystem((tx) => signingSecrets(tx, world.vault, key, world.clock.now()));
  formats = {
    standard,
    whitelabel: whitelabelFormat({ partner: async () => mine.partner, secrets }),
    flat: flatFormat({
      order: ({ partnerId, id }) =>
        world.db.asPartner(partnerId, async (tx) => ({
          order: await world.orders.get(tx, { id }),
          assets: await assets(tx),
        })),
      secrets,
    }),
  };
  // Events from before the endpoint exists are delivered to none.
  while ((await publishes()) > 0);
});
after(async () => {
  await receiver?.down();
  await world?.stop();
});

const publishes = async () =>
  (await publish({ db: world.db, clock: world.clock, formats }, { lease: 'none', leaseS: 0, room: 0 })).count;

async function ok(answer: Promise<Answer>) {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body.data;
}

const dispatcherOf = () =>
  startDispatcher({
    db: world.db,
    clock: world.clock,
    log: world.log,
    vault: world.vault,
    formats,
    send: openSender(outsideFor('sandbox')),
    onDead: async () => {},
  });

/** Delivers while `body` runs. */
async function delivering<T>(body: () => Promise<T>): Promise<T> {
  const dispatcher = await dispatcherOf();
  try {
    return await body();
  } finally {
    await dispatcher.stop();
  }
}

/** Delivers until the receiver has this many more messages. */
async function delivers(count: number): Promise<void> {
  const wanted = receiver.taken.length + count;
  await delivering(() => until(`${wanted} came`, () => receiver.taken.length >= wanted));
}

describe('the calls of the interface', () => {
  test('setWebhookUrl sets the address of webhooks in both formats, or in the named one', async () => {
    const data = await ok(
      admin.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: receiver.url }, { spelling: 'prefixed' }),
    );
    assert.equal(data, `Webhook url set to ${receiver.url}`);
    await ok(admin.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: receiver.url }));
    const set = async () =>
      (await ok(admin.get('/v1/webhooks'))).map(
        ({ url, format, events, enabled, apiKey, setByWire, payloadForm }: Record<string, unknown>) =>
          [url, format, events, enabled, apiKey, setByWire, payloadForm].join(' '),
      );
    const form = (format: string, url = receiver.url) => `${url} ${format}  true ${admin.apiKey} true body`;
    assert.deepEqual(
      (await set()).toSorted(),
      [form('flat'), form('whitelabel')],
      'the address is not set once for each format',
    );
    await ok(admin.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: `${receiver.url}2`, format: 'flat' }));
    assert.deepEqual(await set(), [form('flat', `${receiver.url}2`)], 'the format that was not named is still set');
    await ok(admin.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: receiver.url }));
    assert.deepEqual((await set()).toSorted(), [form('flat'), form('whitelabel')], 'one of the formats is not set');
    const [endpoint] = await ok(admin.get('/v1/webhooks'));
    const moved = await admin.put(`/v1/webhooks/${endpoint.id}`, { format: 'standard' });
    assert.deepEqual([moved.status, Object.keys(moved.body.fields)], [400, ['format']]);
    const odd = await admin.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: receiver.url, format: 'standard' });
    assert.deepEqual(odd.body.fields, { format: 'must be whitelabel or flat' });
    assert.deepEqual(await ok(otherAdmin.get('/v1/webhooks')), []);
  });

  test('a bad address, a missing one and a key without the right are refused', async () => {
    const missing = await admin.post(`${MERCHANT}setWebhookUrl`, {});
    assert.deepEqual([missing.status, missing.body.error], [400, 'Missing parameter -> webhookUrl.']);
    const bad = await admin.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: 'https://a:b@hooks.partner.com/' });
    assert.deepEqual([bad.status, bad.body.fields], [400, { webhookUrl: 'must not have a login in it' }]);
    for (const call of ['setWebhookUrl', 'resendWebhook', 'sendDummyWebhook']) {
      const answer = await mine.post(`${MERCHANT}${call}`, { webhookUrl: receiver.url, orderId: '1' });
      assert.deepEqual([answer.status, answer.body.reason], [403, 'scope_missing'], call);
    }
  });

  const RECEIVED = 'Response received from your server';

  /** Every message is signed over its header, which carries the same body. */
  function assertSigned({ headers, text, body }: Receiver['taken'][number]): void {
    const { 'x-onramp-payload': payload = '', 'x-onramp-signature': signature } = headers;
    assert.equal(signature, hmac(payload, admin.apiSecret));
    assert.equal(Buffer.from(payload, 'base64').toString(), text, 'the header does not carry the same body');
    const timestamp = Number(headers['x-onramp-timestamp']);
    assert.ok(Math.abs(Date.now() - timestamp) < 60_000, 'the header has another time');
    if (body.metadata !== undefined) assert.equal(body.metadata.timestamp, timestamp);
  }

  test('sendDummyWebhook sends a sample order in both formats, and succeeds only if the receiver accepts it', async (t) => {
    const dummy = (body: Record<string, string> = {}) => admin.post(`${MERCHANT}sendDummyWebhook`, body);
    const from = receiver.taken.length;
    assert.equal(await delivering(() => ok(dummy())), RECEIVED);
    await delivering(() => until('both came', () => receiver.taken.length >= from + 2));
    const elsewhere = await openReceiver();
    t.after(() => elsewhere.down());
    assert.equal(await ok(dummy({ webhookUrl: elsewhere.url })), RECEIVED);
    for (const taken of [receiver.taken.slice(from), elsewhere.taken]) {
      for (const one of taken) assertSigned(one);
      const flat = taken.find(({ body }) => body.orderId !== undefined)?.body;
      assert.deepEqual([flat.orderId, flat.eventType, flat.status, flat.webhookTrials], [0, 'onramp', 4, 1]);
      const word = taken.find(({ body }) => body.metadata !== undefined)?.body;
      assert.deepEqual([word.referenceId, word.status, word.metadata.sample], [0, 'ON_CHAIN_COMPLETED', true]);
    }
    await ok(dummy({ webhookUrl: elsewhere.url, format: 'flat' }));
    assert.deepEqual([elsewhere.taken.length, elsewhere.taken.at(-1)?.body.orderId], [3, 0]);
    elsewhere.behaves((_, response) => response.writeHead(500).end());
    const refused = await dummy({ webhookUrl: elsewhere.url, format: 'flat' });
    assert.deepEqual([refused.status, refused.body.reason], [424, 'webhook_not_taken']);
    assert.equal(refused.body.error, 'Your server did not accept the webhook: flat: status 500.');
    await elsewhere.down();
    const nobody = await dummy({ webhookUrl: elsewhere.url });
    assert.deepEqual([nobody.status, nobody.body.reason], [424, 'webhook_not_taken']);
    assert.match(nobody.body.error, /whitelabel: connection_refused; flat: connection_refused/);
    const unset = await otherAdmin.post(`${MERCHANT}sendDummyWebhook`);
    assert.deepEqual([unset.status, unset.body.reason], [404, 'unknown_endpoint']);
  });

  test('waiting deliveries of one format are kept when only the other is set, and sent when the first is set again', async (t) => {
    const there = await openReceiver();
    t.after(() => there.down());
    const third = await world.partner('Third');
    const client = openClient(world.baseUrl, await world.keyOf(third.partner, { scopes: ['admin'] }));
    const set = (format?: string) =>
      ok(
        client.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: there.url, ...(format === undefined ? {} : { format }) }),
      );
    while ((await publishes()) > 0);
    await set();
    await world.customer(third, third.partner, 'somebody new');
    while ((await publishes()) > 0);
    const shown = async () =>
      (await ok(client.get('/v1/webhooks'))).map(({ format, enabled }: Came) => `${format} ${enabled}`).toSorted();
    const waiting = async () =>
      (
        await world.query(
          `select count(*)::int as n from webhook_deliveries where partner_id = $1 and state = 'waiting'`,
          [third.partner.id],
        )
      )[0].n;
    const before = await waiting();
    assert.ok(before > 0, 'nothing waits');
    await set('flat');
    assert.deepEqual(
      await shown(),
      ['flat true', 'whitelabel false'],
      'an endpoint was removed with its waiting deliveries',
    );
    assert.equal(await waiting(), before, 'waiting deliveries were dropped');
    await set();
    await delivering(() => until('what waited came', () => there.taken.length >= before));
    await set('flat');
    assert.deepEqual(await shown(), ['flat true'], 'an endpoint without waiting deliveries was kept');
  });

  test('sendDummyWebhook of a format that is not set uses the named address, and without one is a 404', async (t) => {
    const only = await openReceiver();
    t.after(() => only.down());
    await ok(otherAdmin.post(`${MERCHANT}setWebhookUrl`, { webhookUrl: only.url, format: 'whitelabel' }));
    const dummy = (body: Record<string, string>) => otherAdmin.post(`${MERCHANT}sendDummyWebhook`, body);
    const unset = await delivering(() => dummy({ format: 'flat' }));
    assert.deepEqual([unset.status, unset.body.reason], [404, 'unknown_endpoint'], unset.text);
    assert.equal(await delivering(() => ok(dummy({ webhookUrl: only.url, format: 'flat' }))), RECEIVED);
    assert.deepEqual(
      only.taken.map(({ body }) => body.orderId),
      [0],
      'the requested format was not sent',
    );
    const [{ id = '' } = {}] = await ok(otherAdmin.get('/v1/webhooks'));
    await ok(otherAdmin.remove(`/v1/webhooks/${id}`));
  });

  test('a receiver that accepts one format and refuses the other gets the first, and the call succeeds', async () => {
    receiver.behaves((received, response, request) => {
      if (received.body.orderId === undefined) response.writeHead(500).end('what is that?');
      else receiver.takes(received, response, request);
    });
    assert.equal(await delivering(() => ok(admin.post(`${MERCHANT}sendDummyWebhook`))), RECEIVED);
    const endpoints = async () =>
      Object.fromEntries(
        (await ok(admin.get('/v1/webhooks'))).map(({ format, failures }: Record<string, unknown>) => [
          format,
          failures,
        ]),
      );
    await delivering(() => until('the other was refused', async () => (await endpoints()).whitelabel > 0));
    assert.equal((await endpoints()).flat, 0, 'a refusal of one format counted against the other');
    receiver.behaves(receiver.takes);
    world.clock.advance(60_000);
    await delivers(1);
  });

  test('resendWebhook sends all events of an order once more, and says whether the receiver accepted them', async () => {
    const { customerId, fiatAccountId } = mine;
    const sale = {
      fromCurrency: 'usdc',
      toCurrency: 'INR',
      chain: 'matic20',
      fromAmount: '100',
      merchantRecognitionId: 'shop-7',
      customerId,
      fiatAccountId,
    };
    const { transactionId } = await ok(mine.post('offramp/createTransaction', sale));
    const resend = (client: Client) => client.post(`${MERCHANT}resendWebhook`, { orderId: transactionId });
    const early = await delivering(() => resend(admin));
    assert.deepEqual([early.status, early.body.reason], [404, 'unknown_event']);
    const happens = (state: string, sequence: number) =>
      world.query(`insert into events (partner_id, type, subject, subject_seq, body, at)
      select partner_id, 'order.${state}', subject, ${sequence}, body || '{"state": "${state}"}', at from events
       where subject = 'order:${transactionId}' and subject_seq = 1`);
    await happens('deposit_confirmed', 2);
    await delivers(1);
    const first = receiver.taken.at(-1)?.body;
    const { timestamp: _, ...metadata } = first.metadata;
    assert.deepEqual(first, {
      referenceId: Number(transactionId),
      eventType: 'OFFRAMP',
      status: 'ON_CHAIN_DEPOSIT_RECEIVED',
      metadata: first.metadata,
    });
    assert.equal(metadata.sequence, 2);
    assert.equal((await delivering(() => resend(admin))).body.data, RECEIVED);
    assert.equal(receiver.taken.at(-1)?.body.status, 'ON_CHAIN_DEPOSIT_RECEIVED');

    await world.query(
      `update orders set state = 'settled', received_units = deposit_units, deposit_reference = '0xAB', payout_reference = 'UTR9'
        where id = $1`,
      [transactionId],
    );
    await happens('settled', 3);
    const from = receiver.taken.length;
    await delivers(2);
    const flat =
      receiver.taken.slice(from).find(({ body }) => body.orderId !== undefined) ?? assert.fail('no flat order');
    assertSigned(flat);
    const listed = await ok(mine.post('offramp/transaction', { transactionId, customerId }));
    assert.deepEqual(flat.body, {
      orderId: Number(transactionId),
      eventType: 'offramp',
      walletAddress: listed.depositAddress,
      coinId: 116,
      coinCode: 'usdc',
      chainId: 3,
      network: 'matic20',
      fiatType: 1,
      fiatAmount: Number(listed.toAmount),
      paymentType: 2,
      expectedPrice: flat.body.actualPrice,
      expectedCryptoAmount: 100,
      actualPrice: flat.body.actualPrice,
      actualCryptoAmount: 100,
      actualFiatAmount: Number(listed.toAmount),
      actualQuantity: 100,
      statusDescription: 'SUCCESS',
      kycNeeded: 0,
      createdAt: listed.createdAt,
      updatedAt: listed.updatedAt,
      status: 6,
      referenceId: 'UTR9',
      onRampFee: flat.body.onRampFee,
      clientFee: flat.body.clientFee,
      gatewayFee: flat.body.gatewayFee,
      gasFee: flat.body.gasFee,
      transactionHash: '0xab',
      merchantRecognitionId: 'shop-7',
      webhookTrials: 1,
    });
    assert.ok(flat.body.actualPrice > 0);

    receiver.behaves((_received, response) => response.writeHead(500).end());
    const failed = await delivering(() => resend(admin));
    assert.deepEqual([failed.status, failed.body.reason], [424, 'webhook_not_taken']);
    assert.match(failed.body.error, /whitelabel: status 500; flat: status 500/);
    receiver.behaves(receiver.takes);
    world.clock.advance(60_000);
    await delivers(3);
    const foreign = await resend(otherAdmin);
    assert.deepEqual([foreign.status, foreign.body.reason], [404, 'unknown_order']);
  });

  test('an endpoint may ask for the header that wraps time and body', async () => {
    const [{ id }] = (await ok(admin.get('/v1/webhooks'))).filter(
      ({ format }: { format: string }) => format === 'whitelabel',
    );
    const changed = await ok(admin.put(`/v1/webhooks/${id}`, { payloadForm: 'wrapped' }));
    assert.equal(changed.payloadForm, 'wrapped');
    await ok(admin.post(`/v1/webhooks/${id}/test`));
    await delivers(1);
    const { headers, body } = receiver.taken.at(-1) ?? assert.fail('nothing came');
    const { 'x-onramp-payload': payload = '', 'x-onramp-signature': signature } = headers;
    assert.equal(signature, hmac(payload, admin.apiSecret));
    assert.deepEqual(JSON.parse(Buffer.from(payload, 'base64').toString()), {
      timestamp: Number(headers['x-onramp-timestamp']),
      body,
    });
    await ok(admin.put(`/v1/webhooks/${id}`, { payloadForm: 'body' }));
    const odd = await admin.put(`/v1/webhooks/${id}`, { payloadForm: 'xml' });
    assert.deepEqual(odd.body.fields, { payloadForm: 'must be body or wrapped' });
  });
});

describe('endpoints and events under /v1', () => {
  test('an endpoint can be created, changed, rotated, tested, shown and removed', async () => {
    const made = await ok(
      admin.post('/v1/webhooks', { url: receiver.url, events: ['order.settled', 'order.settled', 'customer.*'] }),
    );
    assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual([made.format, made.events, made.enabled], ['standard', ['order.settled', 'customer.*'], true]);
    const { secret, ...shown } = made;
    assert.deepEqual(await ok(admin.get(`/v1/webhooks/${made.id}`)), shown, 'the secret was shown a second time');
    const changed = await ok(admin.put(`/v1/webhooks/${made.id}`, { events: [], enabled: false }));
    assert.deepEqual([changed.events, changed.enabled], [[], false]);
    await ok(admin.put(`/v1/webhooks/${made.id}`, { enabled: 'true' }));
    const rotated = await ok(admin.post(`/v1/webhooks/${made.id}/rotate`, { overlapSeconds: 60 }));
    assert.notEqual(rotated.secret, secret);
    assert.ok(rotated.oldSecretUntil);

    receiver.behaves((_, response) => response.writeHead(500).end('Asha Rao\u0007was not found'));
    await ok(admin.post(`/v1/webhooks/${made.id}/test`));
    const before = receiver.seen.length;
    const dispatcher = delivers(1);
    await until('one came', () => receiver.seen.length > before);
    receiver.behaves(receiver.takes);
    world.clock.advance(60_000);
    await dispatcher;
    const { deliveries } = await ok(admin.get(`/v1/webhooks/${made.id}/deliveries`));
    assert.deepEqual(
      deliveries.map(({ type, state, attempts }: Record<string, unknown>) => [type, state, attempts]),
      [['webhook.test', 'delivered', 2]],
    );
    const attempts = await ok(admin.get(`/v1/webhooks/${made.id}/deliveries/${deliveries[0].eventId}`));
    assert.deepEqual(
      attempts.map(({ status, error, answer }: Record<string, unknown>) => [status, error, answer]),
      [
        [200, null, 'thank you'],
        [500, 'status', 'Asha Rao was not found'],
      ],
    );
    const kept = await world.query('select answer from webhook_attempts where answer is not null');
    assert.ok(
      kept.every(({ answer }) => !(answer as Buffer).includes('Asha')),
      'an answer of a receiver is stored in clear',
    );

    assert.equal(
      (await ok(admin.post(`/v1/webhooks/${made.id}/replay`, { eventId: deliveries[0].eventId }))).replayed,
      1,
    );
    await delivers(1);
    const none = await admin.post(`/v1/webhooks/${made.id}/replay`, { eventId: `evt_${mine.partner.id}_99999` });
    assert.deepEqual([none.status, none.body.reason], [404, 'unknown_event']);
    for (const [method, path] of [
      ['get', ''],
      ['put', ''],
      ['post', '/rotate'],
      ['post', '/test'],
      ['get', '/deliveries'],
    ] as const) {
      const answer = await otherAdmin[method](`/v1/webhooks/${made.id}${path}`);
      assert.deepEqual(
        [answer.status, answer.body.reason],
        [404, 'unknown_endpoint'],
        `${method} ${path} of a stranger`,
      );
    }
    const readOnly = openClient(world.baseUrl, await world.keyOf(mine.partner, { scopes: ['read'] }));
    assert.equal((await readOnly.get('/v1/webhooks')).status, 200);
    assert.equal((await readOnly.post(`/v1/webhooks/${made.id}/test`)).body.reason, 'scope_missing');
    assert.equal((await admin.get(`/v1/webhooks/${made.id}`, 'unsigned')).status, 401);

    assert.deepEqual(await ok(admin.remove(`/v1/webhooks/${made.id}`)), { removed: true });
    assert.equal((await admin.get(`/v1/webhooks/${made.id}`)).status, 404);
    assert.equal((await admin.put('/v1/events')).status, 405);
    assert.equal((await admin.post(`/v1/webhooks/${made.id}`)).headers.get('allow'), 'GET, HEAD, PUT, DELETE');
  });

  test('settings of an endpoint are validated strictly', async () => {
    const wrong = async (body: Record<string, unknown>) => (await admin.post('/v1/webhooks', body)).body.fields;
    assert.deepEqual(await wrong({ url: receiver.url, format: 'xml' }), {
      format: 'must be whitelabel or flat or standard',
    });
    assert.deepEqual(await wrong({ url: receiver.url, events: ['everything'] }), {
      events: 'must be types of events such as order.settled or order.*',
    });
    assert.deepEqual(await wrong({ url: 'http://169.254.169.254/latest' }), {
      url: 'must not be an address of that kind',
    });
    for (let made = 0; made < 20; made += 1) {
      const answer = await otherAdmin.post('/v1/webhooks', { url: receiver.url });
      assert.equal(answer.status, made < 16 ? 200 : 409, answer.text);
      if (made >= 16) assert.equal(answer.body.reason, 'too_many_endpoints');
    }
    await world.query('update webhook_endpoints set enabled = false where partner_id = $1', [other.partner.id]);
  });

  test('events can be pulled in pages, by their own partner only', async () => {
    while ((await publishes()) > 0);
    const all = await ok(mine.get('/v1/events?limit=500'));
    assert.ok(all.events.length >= 4);
    assert.equal(all.hasMore, false);
    assert.deepEqual(
      all.events.map(({ id }: { id: string }) => id),
      all.events.map((_: unknown, at: number) => `evt_${mine.partner.id}_${at + 1}`),
    );
    const paged: unknown[] = [];
    let after = '0';
    for (let more = true; more; ) {
      const page = await ok(mine.get(`/v1/events?after=${after}&limit=3`));
      paged.push(...page.events);
      [after, more] = [page.next, page.hasMore];
    }
    assert.deepEqual(paged, all.events);
    const order = all.events.find(({ type }: { type: string }) => type === 'order.created');
    assert.deepEqual([order.data.depositAmount, order.data.direction, order.sequence], ['100', 'offramp', 1]);
    for (const [query, field] of [
      ['after=-1', 'after'],
      ['after=x', 'after'],
      ['limit=0', 'limit'],
      ['limit=501', 'limit'],
    ] as const) {
      const answer = await mine.get(`/v1/events?${query}`);
      assert.equal(answer.status, 400, query);
      assert.ok(field in answer.body.fields, query);
    }
    assert.equal((await mine.get('/v1/events', 'unsigned')).status, 401);
    const theirs = await ok(other.get('/v1/events'));
    assert.ok(theirs.events.every(({ id }: { id: string }) => id.startsWith(`evt_${other.partner.id}_`)));
  });
});

describe('status words', () => {
  const event = (type: string, body: object, sequence = 1): Happened => ({
    id: 'evt_1_1',
    partnerId: 1n,
    position: 1n,
    type,
    subject: 'order:7',
    sequence,
    body: body as Record<string, unknown>,
    at: new Date(0),
  });
  const order = (direction: Direction, state: OrderState, over: object = {}): Happened =>
    event(`order.${state}`, {
      orderId: '7',
      direction,
      state,
      submittedPayout: false,
      exception: null,
      failure: null,
      ...over,
    });
  const said = (events: Happened[]): unknown[] =>
    events
      .filter((one, at) => formats.whitelabel.concerns(one, events.slice(0, at)))
      .map((one) => whitelabelBody(one, { kycWords: {} })?.status);

  test('differ between a sale and a purchase', () => {
    const life = (direction: Direction) => [
      order(direction, 'created'),
      order(direction, 'deposit_seen'),
      order(direction, 'created'),
      order(direction, 'deposit_seen'),
      order(direction, 'deposit_confirmed'),
      order(direction, 'paying_out'),
      order(direction, 'paying_out', { submittedPayout: true }),
      order(direction, 'payout_held', { submittedPayout: true }),
      order(direction, 'paying_out', { submittedPayout: true }),
      order(direction, 'settled', { submittedPayout: true }),
      order(direction, 'settled', { submittedPayout: true, exception: 'late' }),
    ];
    assert.deepEqual(said(life('offramp')), [
      'ON_CHAIN_DEPOSIT_RECEIVED',
      'TRADE_COMPLETED',
      'FIAT_TRANSFER_INITIATED',
      'FIAT_TRANSFER_COMPLETED',
    ]);
    assert.deepEqual(said(life('onramp')), [
      'FIAT_DEPOSIT_RECEIVED',
      'TRADE COMPLETED',
      'ON_CHAIN_INITIATED',
      'ON_CHAIN_COMPLETED',
    ]);
  });

  test('show the reason of a failure, once', () => {
    const failed = (state: OrderState, over: object = {}) => {
      const { metadata, status } = whitelabelBody(order('onramp', state, over), { kycWords: {} }) as {
        metadata: { failure_reasons: string };
        status: string;
      };
      return [status, metadata.failure_reasons];
    };
    assert.deepEqual(failed('expired'), ['FAILED', 'Transaction timed out']);
    assert.deepEqual(failed('cancelled'), ['FAILED', 'Transaction abandoned']);
    assert.deepEqual(failed('refunded', { failure: 'amount' }), ['FAILED', 'Amount mismatch']);
    assert.deepEqual(failed('refunded', { exception: 'underpaid' }), ['FAILED', 'Amount mismatch']);
    assert.deepEqual(failed('refunded', { failure: 'name' }), ['FAILED', 'Name of the payer does not match']);
    assert.deepEqual(failed('refunded', { failure: 'other' }), ['FAILED', 'Transaction refunded']);
    assert.deepEqual(said([order('offramp', 'expired'), order('offramp', 'expired', { exception: 'late' })]), [
      'FAILED',
    ]);
  });

  test('have the facts about the money in the metadata, without our own codes; an older event has none', () => {
    const money = { amount: '7', asset: 'usdc.matic20', currency: 'USDC', chain: 'matic20' };
    const told = {
      ...{ receivedAmount: '17', receivedCurrency: 'USDC', reason: 'second_payment', needsDestination: false },
      refunds: [{ refundId: '1', kind: 'refund', status: 'settled', ...money, address: '0x1', reference: '0x2' }],
      returnedPayouts: [],
    };
    const metadata = (over: object) => whitelabelBody(order('offramp', 'settled', over), { kycWords: {} })?.metadata;
    const { asset: _, ...onTheWire } = money;
    assert.deepEqual(metadata(told), {
      ...(metadata({}) as object),
      ...told,
      refunds: [{ refundId: '1', kind: 'refund', status: 'settled', ...onTheWire, address: '0x1', reference: '0x2' }],
    });
    assert.deepEqual(Object.keys(metadata({}) as object), ['eventId', 'eventCreatedAt', 'sequence']);
    assert.equal((metadata({ ...told, reason: null }) as { reason: string }).reason, '');
  });

  test('are never repeated, on every path through the states, and every final state ends in a final word', () => {
    const ends = ['FIAT_TRANSFER_COMPLETED', 'ON_CHAIN_COMPLETED', 'FAILED'];
    for (const direction of ['offramp', 'onramp'] as const) {
      const seen = new Set<string>();
      const walk = (history: Happened[], state: OrderState): void => {
        const words = said(history);
        assert.equal(new Set(words).size, words.length, `${words}`);
        const known = `${state} ${words.join()}`;
        if (seen.has(known)) return;
        seen.add(known);
        for (const { from, to } of TRANSITIONS) {
          if ((from as readonly OrderState[]).includes(state)) walk([...history, order(direction, to)], to);
        }
        if (STATES[state].final && state !== 'frozen')
          assert.ok(ends.includes(String(words.at(-1))), `${direction} ends in ${state} with ${words.at(-1)}`);
      };
      walk([order(direction, 'created')], 'created');
      assert.ok(seen.size > Object.keys(STATES).length);
    }
  });

  test('of a customer are those of verification, with their own for a business, and none is repeated', () => {
    const customer = (over: object) =>
      event('customer.verification', {
        customerId: 'c',
        clientCustomerId: 'x',
        kind: 'INDIVIDUAL',
        verification: 'none',
        level: 0,
        previousLevel: 0,
        failedReason: null,
        failedReasonCode: null,
        loggedInAt: new Date(0).toISOString(),
        ...over,
      });
    const life = [
      customer({ loggedInAt: null }),
      customer({}),
      customer({ verification: 'in_review' }),
      customer({ verification: 'in_review' }),
      customer({ verification: 'verified', level: 2 }),
      customer({ verification: 'refused', level: 2 }),
    ];
    assert.deepEqual(said(life), ['OTP_COMPLETED', 'IN_REVIEW', 'INTERMEDIATE_KYC_COMPLETED', 'PERMANENT_FAILED']);
    const business = whitelabelBody(customer({ kind: 'BUSINESS', verification: 'verified', level: 3 }), {
      kycWords: { ADVANCE_KYC_COMPLETED: 'COMPLETED' },
    });
    assert.deepEqual(business, {
      eventType: 'KYB',
      status: 'COMPLETED',
      metadata: {
        eventId: 1,
        eventCreatedAt: '1970-01-01T00:00:00.000Z',
        sequence: 1,
        customerId: 'c',
        clientCustomerId: 'x',
      },
    });
  });
});
