/** The SDK verifies the server's messages, in each format, and rejects all others. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookError, type WebhookProblem } from '../../../sdk/src/index.ts';
import { signWebhook } from '../../../sdk/src/webhooks.ts';
import type { Happened } from '../../src/events/index.ts';
import { newSecret, standard } from '../../src/events/standard.ts';
import { sampleFlatMessage } from '../../src/protocols/whitelabel/flat.ts';
import { sampleMessage, signedMessage } from '../../src/protocols/whitelabel/webhooks.ts';

const NOW = new Date('2026-01-05T10:00:00.000Z');
const nowMs = NOW.getTime();
const KEY_SECRET = 'secret-of-the-key';
const settled: Happened = {
  id: 'evt_1_42',
  partnerId: 1n,
  position: 42n,
  type: 'order.settled',
  subject: 'order:17',
  sequence: 6,
  body: { orderId: '17', state: 'settled', holder: 'Zoë ₹' },
  at: NOW,
};

const rejects = (promise: Promise<unknown>, reason: WebhookProblem): Promise<void> =>
  assert.rejects(promise, (error) => error instanceof WebhookError && error.reason === reason);

async function standardMessage(secrets: readonly string[], sentAt = NOW) {
  const message = await standard.message(settled, { secrets, apiKey: '', attempt: 0, sentAt, payloadForm: 'body' });
  assert.ok(typeof message === 'object');
  return message;
}

describe('the format standard', () => {
  test('the server’s messages are verified, also by the reference library', async () => {
    const secret = newSecret();
    const message = await standardMessage([secret], new Date());
    const verified = await verifyWebhook(message, { secret });
    assert.equal(verified.format, 'standard');
    assert.deepEqual([verified.id, verified.subject, verified.sequence], ['evt_1_42', 'order:17', 6]);
    assert.deepEqual(verified.event, new Webhook(secret).verify(message.body, message.headers));
  });

  test('a known vector: HMAC-SHA256 of id.timestamp.body', async () => {
    const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
    const body = '{"id":"evt_1_1","type":"order.created","subject":"order:1","sequence":1}';
    const headers = {
      'Webhook-Id': 'evt_1_1',
      'Webhook-Timestamp': '1767607200',
      'Webhook-Signature': 'v1,BhMBt9/VYOFRnu7Jk9evejFtH1Te+uT7IWIVMsPjKHQ=',
    };
    const verified = await verifyWebhook({ headers, body: Buffer.from(body) }, { secret, nowMs: 1_767_607_200_000 });
    assert.equal(verified.id, 'evt_1_1');
  });

  test('while a secret is rotated, a receiver that knows either accepts', async () => {
    const [old, young] = [newSecret(), newSecret()];
    const message = await standardMessage([young, old]);
    for (const secret of [old, young, [newSecret(), old]]) await verifyWebhook(message, { secret, nowMs });
    await rejects(verifyWebhook(message, { secret: newSecret(), nowMs }), 'wrong_signature');
  });

  test('a changed body, id or time has a wrong signature', async () => {
    const secret = newSecret();
    const { headers, body } = await standardMessage([secret]);
    const changed = [
      { headers, body: body.replace('"17"', '"18"') },
      { headers: { ...headers, 'webhook-id': 'evt_1_43' }, body },
      { headers: { ...headers, 'webhook-timestamp': String(nowMs / 1000 + 1) }, body },
      { headers: { ...headers, 'webhook-signature': 'v1,AAAA v2,x nonsense' }, body },
    ];
    for (const message of changed) await rejects(verifyWebhook(message, { secret, nowMs }), 'wrong_signature');
  });

  test('a message that was sent again much later is too old, one of the future too new', async () => {
    const secret = newSecret();
    const message = await standardMessage([secret]);
    await verifyWebhook(message, { secret, nowMs: nowMs + 300_000 });
    await rejects(verifyWebhook(message, { secret, nowMs: nowMs + 301_000 }), 'too_old');
    await rejects(verifyWebhook(message, { secret, nowMs: nowMs - 301_000 }), 'too_new');
    await verifyWebhook(message, { secret, nowMs: nowMs + 3_600_000, toleranceMs: 3_600_000 });
  });

  test('without a signature, or with an empty secret, nothing is genuine', async () => {
    const secret = newSecret();
    const { headers, body } = await standardMessage([secret]);
    const { 'webhook-signature': _, ...unsigned } = headers;
    await rejects(verifyWebhook({ headers: unsigned, body }, { secret, nowMs }), 'header_missing');
    await rejects(verifyWebhook({ headers, body }, { secret: '', nowMs }), 'wrong_signature');
    await rejects(verifyWebhook({ headers, body }, { secret: [], nowMs }), 'wrong_signature');
    await rejects(verifyWebhook({ headers, body }, { secret: 'whsec_', nowMs }), 'wrong_signature');
  });
});

const wire = (content: Record<string, unknown>, payloadForm: 'body' | 'wrapped' = 'body', sentAt = NOW) =>
  signedMessage(content, { secret: KEY_SECRET, sentAt, payloadForm });
const order = {
  referenceId: 17,
  eventType: 'OFFRAMP',
  status: 'TRADE_COMPLETED',
  metadata: { eventId: 9, sequence: 3 },
};

describe('the format whitelabel', () => {
  test('the server’s messages are verified, whole and wrapped', async () => {
    for (const form of ['body', 'wrapped'] as const) {
      const message = wire(order, form);
      const headers = new Headers(message.headers);
      const verified = await verifyWebhook({ headers, body: message.body }, { secret: ['another', KEY_SECRET], nowMs });
      assert.equal(verified.format, 'whitelabel');
      assert.deepEqual([verified.id, verified.subject, verified.sequence], ['9', 'order:17', 3]);
    }
    await verifyWebhook(sampleMessage(KEY_SECRET, NOW), { secret: KEY_SECRET, nowMs });
  });

  test('a body beside the signed one is refused, and so are another secret and an old message', async () => {
    for (const form of ['body', 'wrapped'] as const) {
      const { headers, body } = wire(order, form);
      const secret = KEY_SECRET;
      await rejects(verifyWebhook({ headers, body: body.replace('17', '18') }, { secret, nowMs }), 'body_differs');
      await rejects(verifyWebhook({ headers, body }, { secret: 'another', nowMs }), 'wrong_signature');
      await rejects(verifyWebhook({ headers, body }, { secret, nowMs: nowMs + 301_000 }), 'too_old');
      const upper = { ...headers, 'x-onramp-signature': 'no hex' };
      await rejects(verifyWebhook({ headers: upper, body }, { secret, nowMs }), 'wrong_signature');
    }
  });

  test('a signed text that is no message is malformed', async () => {
    for (const body of ['[]', 'null', '{', '{"status":"x"}']) {
      const payload = Buffer.from(body).toString('base64');
      const signature = createHmac('sha512', KEY_SECRET).update(payload).digest('hex');
      const headers = { 'x-onramp-payload': payload, 'x-onramp-signature': signature };
      await rejects(verifyWebhook({ headers, body }, { secret: KEY_SECRET, nowMs }), 'malformed');
    }
  });
});

describe('the format flat', () => {
  test('the server’s messages are verified, and have the order as id, since they have no signed time', async () => {
    const message = sampleFlatMessage(KEY_SECRET, NOW);
    const verified = await verifyWebhook(message, { secret: KEY_SECRET, nowMs: nowMs + 86_400_000 });
    assert.deepEqual([verified.format, verified.id, verified.subject], ['flat', 'flat:0', 'order:0']);
    await rejects(verifyWebhook(message, { secret: 'another', nowMs }), 'wrong_signature');
    await rejects(verifyWebhook({ ...message, body: '{"orderId":1}' }, { secret: KEY_SECRET, nowMs }), 'body_differs');
  });

  test('wrapped it has a time, and an old one is refused', async () => {
    const message = wire({ orderId: 17, status: 6 }, 'wrapped');
    await verifyWebhook(message, { secret: KEY_SECRET, nowMs });
    await rejects(verifyWebhook(message, { secret: KEY_SECRET, nowMs: nowMs + 301_000 }), 'too_old');
  });
});

test('a parsed body and a missing secret are reported as mistakes of the call', async () => {
  const secret = `whsec_${Buffer.from('0123456789abcdef').toString('base64')}`;
  const { headers, body } = await signWebhook({ id: 'evt_1_1' }, { secret });
  const asks = (given: unknown, under: unknown) =>
    verifyWebhook({ headers, body: given as string }, { secret: under as string });
  await assert.rejects(asks(JSON.parse(body), secret), { name: 'UsageError', message: /as they came/ });
  await assert.rejects(asks(body, undefined), { name: 'UsageError', message: /secret must be a text/ });
  for (const as of [body, Buffer.from(body)]) assert.equal((await asks(as, secret)).id, 'evt_1_1');
});

test('a receiver of one format accepts no other', async () => {
  const secret = newSecret();
  const one = await standardMessage([secret]);
  await rejects(verifyWebhook(one, { secret, nowMs, formats: ['whitelabel', 'flat'] }), 'format_not_accepted');
  await rejects(
    verifyWebhook(wire(order), { secret: KEY_SECRET, nowMs, formats: ['standard'] }),
    'format_not_accepted',
  );
});
