/**
 * A sale and a purchase as three receivers get them: one for the events of the white-label API and one for its flat orders, both at
 * the address set in that API, and one for Standard Webhooks.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Came, hmac } from '../support/client.ts';
import { freshFolder } from '../support/folder.ts';
import { collect, run } from '../support/process.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
let wire: Receiver;
let standard: Receiver;
let verifier: Webhook;

before(async () => {
  [wire, standard] = [await openReceiver(), await openReceiver()];
  world = await openStory();
  await world.told('/onramp/api/v1/merchant/setWebhookUrl', { webhookUrl: wire.url });
  const { secret = '' } = await world.told('/v1/webhooks', { url: standard.url });
  verifier = new Webhook(secret);
});
after(async () => {
  await world?.close();
  await wire?.down();
  await standard?.down();
});

/** The messages of both receivers about an order once they have arrived, with every signature checked. */
async function heard(id: bigint): Promise<{ flat: Came; words: unknown[]; types: unknown[] }> {
  const ofWire = () => wire.taken.filter(({ body }) => body.metadata !== undefined && body.referenceId === Number(id));
  const ofFlat = () => wire.taken.filter(({ body }) => body.orderId === Number(id));
  const ofStandard = () => standard.taken.filter(({ body }) => body.data.orderId === String(id));
  await world.until('both have heard the end', async () => {
    const isOver = ['FIAT_TRANSFER_COMPLETED', 'ON_CHAIN_COMPLETED'].includes(ofWire().at(-1)?.body.status);
    return isOver && ofFlat().length > 0 && ofStandard().at(-1)?.body.type === 'order.settled';
  });
  for (const { headers, text } of [...ofWire(), ...ofFlat()]) {
    const { 'x-onramp-payload': payload = '', 'x-onramp-signature': signature } = headers;
    assert.equal(signature, hmac(payload, world.partner.apiSecret));
    assert.equal(Buffer.from(payload, 'base64').toString(), text);
  }
  const [flat, ...more] = ofFlat();
  assert.deepEqual(more, [], 'the flat order was sent more than once');
  for (const { headers, text } of ofStandard()) verifier.verify(text, headers);
  assert.deepEqual(
    ofStandard().map(({ body }) => body.sequence),
    ofStandard().map((_, at) => at + 1),
  );
  const type = ({ body }: { body: { eventType: string; status: string } }) => `${body.eventType} ${body.status}`;
  return { flat: flat?.body, words: ofWire().map(type), types: ofStandard().map(({ body }) => body.type) };
}

test('a sale is announced in every format, step by step', async () => {
  const order = await world.sells('100', 'usdc');
  await world.pays(order, '100');
  await world.reaches(order, 6);
  const { flat, words, types } = await heard(order.id);
  assert.deepEqual(
    [flat.eventType, flat.status, flat.actualQuantity, flat.actualFiatAmount, flat.fiatType],
    ['offramp', 6, 100, Number(order.toAmount), 1],
  );
  assert.deepEqual(words, [
    'OFFRAMP ON_CHAIN_DEPOSIT_RECEIVED',
    'OFFRAMP TRADE_COMPLETED',
    'OFFRAMP FIAT_TRANSFER_INITIATED',
    'OFFRAMP FIAT_TRANSFER_COMPLETED',
  ]);
  assert.deepEqual(types, [
    'order.created',
    'order.deposit_seen',
    'order.deposit_confirmed',
    'order.paying_out',
    'order.payout_submitted',
    'order.settled',
  ]);
  const last = standard.taken.find(
    ({ body }) => body.type === 'order.settled' && body.data.orderId === String(order.id),
  );
  assert.deepEqual(
    [last?.body.data.depositAmount, last?.body.data.payoutAmount, last?.body.data.state],
    ['100', order.toAmount, 'settled'],
  );
  const ofCustomer = wire.taken.filter(({ body }) => body.metadata?.customerId === order.customerId);
  assert.deepEqual(
    ofCustomer.map(({ body }) => [body.eventType, body.status]),
    [
      ['KYC', 'OTP_COMPLETED'],
      ['KYC', 'ADVANCE_KYC_COMPLETED'],
    ],
  );
});

test('a purchase is announced in every format, step by step', async () => {
  const order = await world.buys('5000', 'usdc');
  await world.credits(order, '5000');
  await world.reaches(order, 4);
  const { flat, words, types } = await heard(order.id);
  assert.deepEqual([flat.eventType, flat.status, flat.fiatAmount], ['onramp', 4, 5000]);
  assert.match(flat.transactionHash, /^0x[0-9a-f]{64}$/);
  assert.deepEqual(words, [
    'ONRAMP FIAT_DEPOSIT_RECEIVED',
    'ONRAMP TRADE COMPLETED',
    'ONRAMP ON_CHAIN_INITIATED',
    'ONRAMP ON_CHAIN_COMPLETED',
  ]);
  assert.deepEqual(
    types.filter((type) => type !== 'order.deposit_seen'),
    ['order.created', 'order.deposit_confirmed', 'order.paying_out', 'order.payout_submitted', 'order.settled'],
  );
});

test('every pushed event can be pulled with the same body', async () => {
  const pulled: unknown[] = [];
  let after = '0';
  for (let more = true; more; ) {
    const { status, body } = await world.partner.get(`/v1/events?after=${after}&limit=5`);
    assert.equal(status, 200);
    pulled.push(...body.data.events);
    [after, more] = [body.data.next, body.data.hasMore];
  }
  const byId = new Map(pulled.map((event) => [(event as { id: string }).id, event]));
  assert.ok(standard.taken.length >= 12);
  for (const { body } of standard.taken) assert.deepEqual(byId.get(body.id), body);
});

test('sandbox listen prints and checks each message, and removes its endpoints when it ends', async () => {
  const { baseUrl, sandbox } = world.server;
  const folder = freshFolder('listen');
  writeFileSync(join(folder, 'sandbox.json'), JSON.stringify({ baseUrl, partners: sandbox.partners }));
  const before = (await world.partner.get('/v1/webhooks')).body.data.length;
  const child = run(['server/src/apps/sandbox.ts', 'listen'], { DATA_DIR: folder });
  const output = collect(child);
  const ended = once(child, 'exit');
  try {
    await world.until('it listens', async () => output().includes('Listening for'));
    const { port } = new URL(/http:\S+/.exec(output())?.[0] ?? '');
    const forged = await fetch(`http://127.0.0.1:${port}/cloverleaf-receiver/standard`, {
      method: 'POST',
      headers: {
        'webhook-id': 'evt_1_1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,AAAA',
      },
      body: JSON.stringify({ type: 'order.forged', subject: 'order:1', sequence: 1 }),
    });
    assert.equal(forged.status, 401);
    await world.verifiedCustomer();
    await world.until(
      'both formats are printed',
      async () =>
        /whitelabel +KYC ADVANCE_KYC_COMPLETED .*signature valid/.test(output()) &&
        /standard +customer.verification .*signature valid/.test(output()),
    );
    assert.match(output(), /order.forged .*SIGNATURE WRONG/);
  } finally {
    child.kill('SIGINT');
  }
  const [code] = await ended;
  assert.equal(code, 0, output());
  assert.equal((await world.partner.get('/v1/webhooks')).body.data.length, before);
});
