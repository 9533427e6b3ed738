/**
 * The ten situations of the docs, played against a sandbox over HTTP with a partner's means only: keys, the sandbox's controls,
 * and (for an operator's decisions) the operator's token. Each returns the content of its page: the important requests and
 * replies, and the resulting events.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, type Came, type Client, type Fields, hmac, newPhone, openClient } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import type { Sandbox } from '../support/process.ts';
import { until } from '../support/until.ts';
import { type Asked, openV1, signed, type V1Client } from '../support/v1.ts';

type Row = readonly string[];
export type Play = (stage: Stage) => Promise<{ events?: Row[]; calls?: Row[] }>;
export type Stage = Awaited<ReturnType<typeof openStage>>;

interface Order {
  id: string;
  customerId: string;
}
interface Event {
  id: string;
  type: string;
  subject: string;
  sequence: number;
  data: { reason?: string | null; needsDestination?: boolean };
}
interface Delivered {
  eventId: number;
  sequence: number;
  referenceId: number;
  status: string;
  headers: Record<string, string>;
  body: string;
}

const PATIENCE_MS = 60_000;
const WANTED = { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '100' };
const WALLET = { kind: 'address', chain: 'matic20', address: '0x90f79bf6eb2c4f870365e785982e1f101e93b906' };

/** Keeps the messages of the format `whitelabel`. */
async function openReceiver() {
  const came: Delivered[] = [];
  let answers = 200;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const { referenceId = 0, status, metadata } = JSON.parse(body) as Delivered & { metadata: Delivered };
    const headers = request.headers as Record<string, string>;
    came.push({ eventId: metadata.eventId, sequence: metadata.sequence, referenceId, status, headers, body });
    response.writeHead(answers).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    came,
    hook: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    answers(status: number): void {
      answers = status;
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Events with their messages. An event that repeats the previous one is one row. */
function rowsOf(events: readonly Event[], came: readonly Delivered[]): Row[] {
  const rows: Row[] = [];
  for (const event of events) {
    const position = Number(event.id.split('_').at(-1));
    const word = came.find(({ eventId }) => eventId === position)?.status ?? '';
    const { reason = null, needsDestination = false } = event.data;
    const row = [
      `\`${event.type}\``,
      word === '' ? '' : `\`${word}\``,
      [...(reason === null ? [] : [`\`${reason}\``]), ...(needsDestination ? ['needs a destination'] : [])].join(', '),
    ];
    if (JSON.stringify(rows.at(-1)) !== JSON.stringify(row)) rows.push(row);
  }
  return rows;
}

export async function openStage({ baseUrl, partners }: Sandbox, operatorToken: string) {
  const [keys] = partners;
  assert.ok(keys !== undefined);
  const client: Client = openClient(baseUrl, keys);
  const v1: V1Client = openV1(baseUrl, keys);
  const receiver = await openReceiver();
  const { came, hook } = receiver;

  async function told<T = Record<string, string>>(
    path: string,
    body: Fields = {},
    method: 'post' | 'put' = 'post',
  ): Promise<T> {
    const answer = await client[method](path, body);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body.data as T;
  }
  const wait = <T>(what: string, look: () => Promise<T | undefined | false>) =>
    until(what, look, { withinMs: PATIENCE_MS, everyMs: 100 });
  await told('/onramp/api/v1/merchant/setWebhookUrl', { webhookUrl: hook, format: 'whitelabel' });

  const eventsOf = async (order: Order): Promise<Event[]> => {
    const all: Event[] = [];
    for (let after = ''; ; ) {
      const answer = await client.get(`/v1/events?limit=500${after === '' ? '' : `&after=${after}`}`);
      assert.equal(answer.status, 200, answer.text);
      const { events, next, hasMore } = answer.body.data as { events: Event[]; next: string; hasMore: boolean };
      all.push(...events.filter(({ subject }) => subject === `order:${order.id}`));
      if (!hasMore) return all;
      after = next;
    }
  };

  return {
    baseUrl,
    keys,
    client,
    v1,
    came,
    hook,
    told,
    wait,
    eventsOf,
    secret: keys.apiSecret,
    receiverAnswers: receiver.answers,
    control: (name: string, body: Fields): Promise<Record<string, unknown>> => told(`/sandbox/v1/${name}`, body),
    async operator(path: string, body: Fields): Promise<void> {
      const response = await fetchDeclared(`${baseUrl}/operator/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'a play of the docs', ...body }),
      });
      assert.ok(response.ok, `${path}: ${await response.text()}`);
    },
    async customer(accountNumber = '000111222333'): Promise<{ customerId: string; destinationId: string }> {
      const { id: customerId } = await v1.does('POST', '/customers', {
        ...{ reference: randomUUID(), kind: 'individual', phone: newPhone() },
      });
      await told('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
      const account = { kind: 'account', asset: 'inr', accountNumber, ifsc: 'HDFC0000001' };
      const { id: destinationId } = await v1.does('POST', `/customers/${customerId}/destinations`, account);
      return { customerId, destinationId };
    },
    async sells(how: { account?: string; reference?: string } = {}): Promise<Order> {
      const { customerId, destinationId } = await this.customer(how.account);
      const { id: quoteId } = await v1.does('POST', '/quotes', WANTED);
      const reference = how.reference === undefined ? {} : { reference: how.reference };
      const { id } = await v1.does('POST', '/orders', { quoteId, customerId, destinationId, ...reference });
      return { id, customerId };
    },
    /** Adds a destination of the order's customer. */
    async destination(order: Order, fields: Fields): Promise<Asked> {
      const answer = await v1.post(`/customers/${order.customerId}/destinations`, fields);
      assert.equal(answer.status, 201, answer.text);
      return answer;
    },
    ask: (order: Order): Promise<Came> => v1.does('GET', `/orders/${order.id}`),
    async becomes(order: Order, state: string): Promise<void> {
      await wait(`${state} of ${order.id}`, async () => (await this.ask(order)).state === state);
    },
    async reason(order: Order, reason: string): Promise<void> {
      await wait(`${reason} of ${order.id}`, async () => (await this.ask(order)).reason === reason);
    },
    async needsDestination(order: Order): Promise<void> {
      await wait('a destination is wanted', async () => (await this.ask(order)).needsDestination === true);
    },
    /** Waits for a price of the sandbox's to be quoted. */
    async quotes(rate: string): Promise<void> {
      await wait(`the price ${rate}`, async () => (await v1.post('/quotes', WANTED)).body.rate === rate);
    },
    deliveredOf: (order: Order): Delivered[] => came.filter(({ referenceId }) => String(referenceId) === order.id),
    /** The order's events with their messages, once the last has arrived. */
    async rows(order: Order, last: string): Promise<Row[]> {
      const events = await wait(`${last} in the feed`, async () => {
        const all = await eventsOf(order);
        return all.some(({ type }) => type === last) && all;
      });
      if (['order.settled', 'order.refunded', 'order.expired'].includes(last))
        await wait('the last message', async () =>
          this.deliveredOf(order).some(({ status }) => /COMPLETED$|FAILED/.test(status) && !status.startsWith('TRADE')),
        );
      return rowsOf(events, came);
    },
    close: receiver.close,
  };
}

/** A request and its reply, as a row: `createTransaction`, 428 `price_moved`. */
const call = (what: string, { status, body, headers }: Answer | Asked, more = ''): Row => {
  // A reply about an order has its own reason.
  const reason = status < 400 || body?.reason === undefined ? '' : ` \`${body.reason}\``;
  const retry = headers.get('retry-after');
  return [`\`${what}\``, `${status}${reason}${retry === null ? '' : ', `Retry-After`'}${more}`];
};

export const PLAYS: Readonly<Record<string, Play>> = {
  async 'duplicate-webhook'(stage) {
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id });
    const events = await stage.rows(order, 'order.settled');
    const once = stage.deliveredOf(order).length;
    const resent = await stage.client.post('/onramp/api/v1/merchant/resendWebhook', { orderId: order.id });
    await stage.wait('the second time', async () => stage.deliveredOf(order).length >= once * 2);
    const { data } = await stage.v1.does('GET', '/webhook-endpoints');
    const replayed = await stage.v1.post(`/webhook-endpoints/${data[0].id}/replay`, { orderId: order.id });
    await stage.wait('the third time', async () => stage.deliveredOf(order).length >= once * 3);
    const ids = stage.deliveredOf(order).map(({ eventId }) => eventId);
    assert.equal(new Set(ids).size, once, 'a repeated delivery has other ids');
    return {
      events,
      calls: [
        call('POST /v1/webhook-endpoints/{endpoint}/replay', replayed, ', and all of the order come again'),
        call('merchant/resendWebhook', resent, `, and the same ${once} messages come again under the same ids`),
      ],
    };
  },

  async 'late-webhook'(stage) {
    await stage.control('webhooks', { deliveries: 'drop' });
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id });
    await stage.becomes(order, 'settled');
    assert.equal(stage.deliveredOf(order).length, 0, 'a message arrived while the receiver was down');
    await stage.control('webhooks', { deliveries: 'deliver' });
    await stage.control('clock', { advance: '2h' });
    const events = await stage.rows(order, 'order.settled');
    const sequences = stage.deliveredOf(order).map(({ sequence }) => sequence);
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => a - b),
      'late and still in order',
    );
    const { data } = await stage.v1.does('GET', '/webhook-endpoints');
    const told = await stage.v1.get(`/webhook-endpoints/${data[0].id}/deliveries?limit=100`);
    return {
      events,
      calls: [
        call(
          'GET /v1/webhook-endpoints/{endpoint}/deliveries',
          told,
          ': what was delivered, when, and after how many attempts',
        ),
      ],
    };
  },

  async 'out-of-order-webhook'(stage) {
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id });
    const events = await stage.rows(order, 'order.settled');
    const first = stage.deliveredOf(order)[0];
    assert.ok(first !== undefined);
    const { data } = await stage.v1.does('GET', '/webhook-endpoints');
    const [event] = (await stage.eventsOf(order)).filter(({ id }) => id.endsWith(`_${first.eventId}`));
    const replayed = await stage.v1.post(`/webhook-endpoints/${data[0].id}/replay`, { eventId: event?.id });
    await stage.wait('the first again', async () => stage.deliveredOf(order).at(-1)?.eventId === first.eventId);
    return {
      events,
      calls: [
        call('POST /v1/webhook-endpoints/{endpoint}/replay', replayed, ', and the first message comes after the last'),
      ],
    };
  },

  async 'wrong-signature'(stage) {
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id });
    await stage.rows(order, 'order.settled');
    const message = stage.deliveredOf(order)[0];
    assert.ok(message !== undefined);
    const { 'x-onramp-payload': payload = '', 'x-onramp-signature': signature } = message.headers;
    assert.equal(signature, hmac(payload, stage.secret), 'the signature does not cover the text of the header');
    assert.equal(Buffer.from(payload, 'base64').toString(), message.body, 'the header is not base64 of the body');
    assert.notEqual(signature, hmac(payload, `${stage.secret}x`));
    const wrong = await stage.client.post('offramp/quote', { fromCurrency: 'usdc' }, { signedBody: {} });
    const stale = await stage.client.post('offramp/quote', {}, { timestamp: Date.now() - 600_000 });
    const ahead = await stage.client.post('offramp/quote', {}, { timestamp: Date.now() + 600_000 });
    const get = await stage.client.get('/v1/webhooks');
    const quotes = async (how: { created?: Date; text?: string } = {}) => {
      const text = JSON.stringify(WANTED);
      const plain = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
      const request = { method: 'POST', url: `${stage.baseUrl}/v1/quotes`, headers: plain, text };
      const headers = await signed(request, stage.keys, how.created === undefined ? {} : { created: how.created });
      return await stage.v1.post('/quotes', how.text ?? text, { headers });
    };
    const changed = await quotes({ text: '{"payAsset":"usdc.matic20","receiveAsset":"inr","payAmount":"900"}' });
    const late = await quotes({ created: new Date(Date.now() - 600_000) });
    return {
      calls: [
        call('POST /v1/quotes', await quotes(), ', signed as it should be'),
        call('POST /v1/quotes', changed, ', another body than was signed'),
        call('POST /v1/quotes', late, ', signed ten minutes ago'),
        call('offramp/quote, another body than was signed', wrong),
        call('offramp/quote, signed ten minutes ago', stale),
        call('offramp/quote, signed ten minutes from now', ahead),
        call('GET /v1/webhooks, signed over {}', get),
      ],
    };
  },

  async underpayment(stage) {
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id, how: 'under' });
    await stage.reason(order, 'underpaid');
    const wallet = await stage.destination(order, WALLET);
    const early = await stage.v1.post(`/orders/${order.id}/refund`, { destinationId: wallet.body.id });
    await stage.control('pay', { transactionId: order.id, amount: '50' });
    const events = await stage.rows(order, 'order.settled');
    const ended = await stage.sells();
    await stage.control('pay', { transactionId: ended.id, how: 'under' });
    await stage.reason(ended, 'underpaid');
    await stage.control('clock', { advance: '2h' });
    await stage.becomes(ended, 'on_hold');
    const { body } = await stage.destination(ended, WALLET);
    const back = await stage.v1.post(`/orders/${ended.id}/refund`, { destinationId: body.id });
    await stage.becomes(ended, 'refunded');
    return {
      events,
      calls: [
        call('POST /v1/orders/{order}/refund', early, ', before the deadline'),
        call('POST /v1/orders/{order}/refund', back, ', of another that its deadline has put on hold'),
      ],
    };
  },

  async requote(stage) {
    const order = await stage.sells({ reference: 'screen:hold' });
    await stage.control('pay', { transactionId: order.id });
    await stage.becomes(order, 'on_hold');
    await stage.control('prices', { coin: 'usdc', fiat: 'inr', price: '88' });
    const before = (await stage.ask(order)).receive.amount;
    await stage.quotes('88');
    await stage.operator(`/orders/${order.id}/requote`, {});
    const priced = await stage.wait('other amounts', async () => {
      const answer = await stage.v1.get(`/orders/${order.id}`);
      return answer.body.receive.amount !== before && answer;
    });
    await stage.becomes(order, 'on_hold');
    await stage.control('prices', { coin: 'usdc', fiat: 'inr' });
    await stage.operator(`/orders/${order.id}/release`, {});
    return {
      events: await stage.rows(order, 'order.settled'),
      calls: [call('GET /v1/orders/{order}', priced, ', with another `receive` and `rate`')],
    };
  },

  async 'bounced-payout'(stage) {
    const order = await stage.sells({ account: '000111229002' });
    await stage.control('pay', { transactionId: order.id });
    await stage.reason(order, 'payout_returned');
    await stage.needsDestination(order);
    const account = await stage.destination(order, {
      ...{ kind: 'account', asset: 'inr', accountNumber: '000111222444', ifsc: 'HDFC0000001' },
    });
    const named = await stage.v1.post(`/orders/${order.id}/payout-destination`, { destinationId: account.body.id });
    const paid = await stage.wait('paid again', async () => {
      const answer = await stage.v1.get(`/orders/${order.id}/refunds`);
      return answer.body.data.at(-1)?.state === 'settled' && answer;
    });
    assert.equal(paid.body.data.at(-1).kind, 'payout');
    return {
      events: await stage.rows(order, 'order.settled'),
      calls: [
        call('POST /v1/customers/{customer}/destinations', account, ', another account'),
        call('POST /v1/orders/{order}/payout-destination', named),
        call('GET /v1/orders/{order}/refunds', paid, ', the second payment is `settled`'),
      ],
    };
  },

  async refund(stage) {
    const order = await stage.sells({ reference: 'screen:hold' });
    await stage.control('pay', { transactionId: order.id });
    await stage.becomes(order, 'on_hold');
    await stage.operator(`/orders/${order.id}/refund`, { failure: 'other' });
    await stage.needsDestination(order);
    const wallet = await stage.destination(order, WALLET);
    const named = await stage.v1.post(`/orders/${order.id}/refund`, { destinationId: wallet.body.id });
    await stage.becomes(order, 'refunded');
    const told = await stage.v1.get(`/orders/${order.id}/refunds`);
    assert.equal(told.body.data[0].state, 'settled');
    return {
      events: await stage.rows(order, 'order.refunded'),
      calls: [
        call('POST /v1/customers/{customer}/destinations', wallet, ', an address of the customer'),
        call('POST /v1/orders/{order}/refund', named),
        call('GET /v1/orders/{order}/refunds', told, ', it is `settled`, with its `hash`'),
      ],
    };
  },

  async 'expired-quote'(stage) {
    const { customerId, destinationId } = await stage.customer();
    const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    const { rate, toAmount } = await stage.told('offramp/quote', pair);
    const body = { ...pair, rate, toAmount, customerId, fiatAccountId: destinationId };
    const offer = await stage.v1.does('POST', '/quotes', WANTED);
    await stage.control('clock', { advance: '2m' });
    const takes = (quoteId: string) => stage.v1.post('/orders', { quoteId, customerId, destinationId });
    const over = await takes(offer.id);
    const fresh = await stage.v1.post('/quotes', WANTED);
    const taken = await takes(fresh.body.id);
    const same = await stage.client.post('offramp/createTransaction', body);
    await stage.control('prices', { coin: 'usdc', fiat: 'inr', price: '84' });
    await stage.quotes('84');
    const moved = await stage.client.post('offramp/createTransaction', body, {
      headers: { 'idempotency-key': randomUUID() },
    });
    const quote = await stage.told('offramp/quote', pair);
    const again = await stage.client.post('offramp/createTransaction', {
      ...body,
      rate: quote.rate,
      toAmount: quote.toAmount,
    });
    await stage.control('prices', { coin: 'usdc', fiat: 'inr' });
    return {
      calls: [
        call('POST /v1/orders', over, ', after `expiresAt`'),
        call('POST /v1/quotes', fresh, ': show it'),
        call('POST /v1/orders', taken, ', with the new quote'),
        call('offramp/createTransaction', same, ', a minute after the quote ended: the price is the same'),
        call('offramp/createTransaction', moved, ', once the price has moved by more than half a percent'),
        call('offramp/createTransaction', again, ', with a new quote'),
      ],
    };
  },

  async unavailable(stage) {
    const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    await stage.control('prices', { coin: 'usdc', fiat: 'inr', price: '300' });
    const halted = await stage.wait('the market is halted', async () => {
      const answer = await stage.client.post('offramp/quote', pair);
      return answer.status === 503 && answer;
    });
    const declined = await stage.v1.post('/quotes', WANTED);
    await stage.control('prices', { coin: 'usdc', fiat: 'inr' });
    const again = await stage.wait('quotes again', async () => {
      const answer = await stage.client.post('offramp/quote', pair);
      return answer.status === 200 && answer;
    });
    const quoted = await stage.v1.post('/quotes', WANTED);
    return {
      calls: [
        call('POST /v1/quotes', declined),
        call('POST /v1/quotes', quoted, ', ten seconds after the price is back'),
        call('offramp/quote', halted),
        call('offramp/quote', again, ', ten seconds after the price is back'),
      ],
    };
  },
};
