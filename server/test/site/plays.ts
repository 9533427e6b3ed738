/**
 * The ten situations of the docs, played against a sandbox over HTTP by somebody who has only what partners have: keys, the
 * sandbox's controls, and (for what an operator decides) the operator's token. Each answers what its page shows: the requests
 * and replies that matter, and the events that came of it.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, type Client, type Fields, hmac, newPhone, openClient } from '../support/client.ts';
import type { Sandbox } from '../support/process.ts';
import { until } from '../support/until.ts';

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

export async function openStage({ baseUrl, partners }: Sandbox, operatorToken: string) {
  const [keys] = partners;
  assert.ok(keys !== undefined);
  const client: Client = openClient(baseUrl, keys);
  const came: Delivered[] = [];
  let answers = 200;
  const receiver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const { referenceId = 0, status, metadata } = JSON.parse(body) as Delivered & { metadata: Delivered };
    const headers = request.headers as Record<string, string>;
    came.push({ eventId: metadata.eventId, sequence: metadata.sequence, referenceId, status, headers, body });
    response.writeHead(answers).end();
  });
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

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
    client,
    came,
    hook,
    told,
    wait,
    eventsOf,
    secret: keys.apiSecret,
    receiverAnswers(status: number): void {
      answers = status;
    },
    control: (name: string, body: Fields): Promise<Record<string, unknown>> => told(`/sandbox/v1/${name}`, body),
    async operator(path: string, body: Fields): Promise<void> {
      const response = await fetch(`${baseUrl}/operator/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'a play of the docs', ...body }),
      });
      assert.ok(response.ok, `${path}: ${await response.text()}`);
    },
    async customer(account = '000111222333'): Promise<{ customerId: string; fiatAccountId: string }> {
      const { customerId = '' } = await told('kyc/url', {
        ...{ clientCustomerId: randomUUID(), phoneNumber: newPhone(), type: 'INDIVIDUAL' },
      });
      await told('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
      const { fiatAccountId = '' } = await told('bank/addFiatAccount', {
        customerId,
        fiatAccount: account,
        ifsc: 'HDFC0000001',
      });
      return { customerId, fiatAccountId };
    },
    async sells(how: { account?: string; more?: Fields } = {}): Promise<Order> {
      const { customerId, fiatAccountId } = await this.customer(how.account);
      const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
      const { rate, toAmount } = await told('offramp/quote', pair);
      const { transactionId: id = '' } = await told('offramp/createTransaction', {
        ...{ ...pair, rate, toAmount, customerId, fiatAccountId, ...how.more },
      });
      return { id, customerId };
    },
    ask: (order: Order): Promise<Record<string, string>> =>
      told('offramp/transaction', { customerId: order.customerId, transactionId: order.id }),
    async reaches(order: Order, status: string): Promise<void> {
      await wait(`status ${status} of ${order.id}`, async () => (await this.ask(order)).status === status);
    },
    async reason(order: Order, reason: string): Promise<void> {
      await wait(`${reason} of ${order.id}`, async () => (await this.ask(order)).reason === reason);
    },
    deliveredOf: (order: Order): Delivered[] => came.filter(({ referenceId }) => String(referenceId) === order.id),
    /**
     * The order's events with the message that each became, once the last has arrived. An event that says again what the one
     * before said (more evidence, a later time) is one row.
     */
    async rows(order: Order, last: string): Promise<Row[]> {
      const events = await wait(`${last} in the feed`, async () => {
        const all = await eventsOf(order);
        return all.some(({ type }) => type === last) && all;
      });
      const isWord = async (event: Event): Promise<string> => {
        const position = Number(event.id.split('_').at(-1));
        return came.find(({ eventId }) => eventId === position)?.status ?? '';
      };
      if (['order.settled', 'order.refunded', 'order.expired'].includes(last))
        await wait('the last message', async () =>
          this.deliveredOf(order).some(({ status }) => /COMPLETED$|FAILED/.test(status) && !status.startsWith('TRADE')),
        );
      const rows: Row[] = [];
      for (const event of events) {
        const word = await isWord(event);
        const { reason = null, needsDestination = false } = event.data;
        const row = [
          `\`${event.type}\``,
          word === '' ? '' : `\`${word}\``,
          [...(reason === null ? [] : [`\`${reason}\``]), ...(needsDestination ? ['needs a destination'] : [])].join(
            ', ',
          ),
        ];
        if (JSON.stringify(rows.at(-1)) !== JSON.stringify(row)) rows.push(row);
      }
      return rows;
    },
    close(): void {
      receiver.close();
      receiver.closeAllConnections();
    },
  };
}

/** A request and what came back, as a row: `createTransaction`, 428 `price_moved`. */
const call = (what: string, { status, body, headers }: Answer, more = ''): Row => {
  const reason = body?.reason === undefined ? '' : ` \`${body.reason}\``;
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
    const ids = stage.deliveredOf(order).map(({ eventId }) => eventId);
    assert.equal(new Set(ids).size, once, 'the second time has the ids of the first');
    return {
      events,
      calls: [call('merchant/resendWebhook', resent, `, and the same ${once} messages come again under the same ids`)],
    };
  },

  async 'late-webhook'(stage) {
    await stage.control('webhooks', { deliveries: 'drop' });
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id });
    await stage.reaches(order, '6');
    assert.equal(stage.deliveredOf(order).length, 0, 'nothing arrived while the receiver was down');
    await stage.control('webhooks', { deliveries: 'deliver' });
    await stage.control('clock', { advance: '2h' });
    const events = await stage.rows(order, 'order.settled');
    const sequences = stage.deliveredOf(order).map(({ sequence }) => sequence);
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => a - b),
      'late and still in order',
    );
    return { events };
  },

  async 'out-of-order-webhook'(stage) {
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id });
    const events = await stage.rows(order, 'order.settled');
    const first = stage.deliveredOf(order)[0];
    assert.ok(first !== undefined);
    const [endpoint] = (await stage.client.get('/v1/webhooks')).body.data as { id: string; url: string }[];
    const [event] = (await stage.eventsOf(order)).filter(({ id }) => id.endsWith(`_${first.eventId}`));
    const replayed = await stage.client.post(`/v1/webhooks/${endpoint?.id}/replay`, { eventId: event?.id });
    await stage.wait('the first again', async () => stage.deliveredOf(order).at(-1)?.eventId === first.eventId);
    return {
      events,
      calls: [call('POST /v1/webhooks/<id>/replay', replayed, ', and the first message comes after the last')],
    };
  },

  async 'wrong-signature'(stage) {
    const order = await stage.sells();
    await stage.control('pay', { transactionId: order.id });
    await stage.rows(order, 'order.settled');
    const message = stage.deliveredOf(order)[0];
    assert.ok(message !== undefined);
    const { 'x-onramp-payload': payload = '', 'x-onramp-signature': signature } = message.headers;
    assert.equal(signature, hmac(payload, stage.secret), 'the signature covers the text of the header');
    assert.equal(Buffer.from(payload, 'base64').toString(), message.body, 'which is base64 of the body');
    assert.notEqual(signature, hmac(payload, `${stage.secret}x`));
    const wrong = await stage.client.post('offramp/quote', { fromCurrency: 'usdc' }, { signedBody: {} });
    const stale = await stage.client.post('offramp/quote', {}, { timestamp: Date.now() - 600_000 });
    const ahead = await stage.client.post('offramp/quote', {}, { timestamp: Date.now() + 600_000 });
    const get = await stage.client.get('/v1/webhooks');
    return {
      calls: [
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
    await stage.control('pay', { transactionId: order.id, amount: '50' });
    return { events: await stage.rows(order, 'order.settled') };
  },

  async requote(stage) {
    const order = await stage.sells({ more: { merchantRecognitionId: 'screen:hold' } });
    await stage.control('pay', { transactionId: order.id });
    await stage.reaches(order, '3');
    await stage.control('prices', { coin: 'usdc', fiat: 'inr', price: '88' });
    const before = (await stage.ask(order)).toAmount;
    await stage.wait('the new price', async () => {
      const { rate } = await stage.told('offramp/quote', {
        fromCurrency: 'usdc',
        toCurrency: 'INR',
        fromAmount: '100',
      });
      return rate === '88';
    });
    await stage.operator(`/orders/${order.id}/requote`, {});
    await stage.wait('other amounts', async () => (await stage.ask(order)).toAmount !== before);
    await stage.wait('held again', async () => (await stage.ask(order)).status === '3');
    await stage.control('prices', { coin: 'usdc', fiat: 'inr' });
    await stage.operator(`/orders/${order.id}/release`, {});
    return { events: await stage.rows(order, 'order.settled') };
  },

  async 'bounced-payout'(stage) {
    const order = await stage.sells({ account: '000111229002' });
    await stage.control('pay', { transactionId: order.id });
    await stage.reason(order, 'payout_returned');
    await stage.wait(
      'a destination is wanted',
      async () => String((await stage.ask(order)).needsDestination) === 'true',
    );
    const { fiatAccountId } = await stage.told('bank/addFiatAccount', {
      ...{ customerId: order.customerId, fiatAccount: '000111222444', ifsc: 'HDFC0000001' },
    });
    const named = await stage.client.put('offramp/refundDestination', {
      ...{ customerId: order.customerId, transactionId: order.id, fiatAccountId },
    });
    await stage.wait('paid again', async () => {
      const { refunds } = await stage.told<{ refunds: { status: string }[] }>('offramp/refunds', {
        ...{ customerId: order.customerId, transactionId: order.id },
      });
      return refunds.at(-1)?.status === 'settled';
    });
    return { events: await stage.rows(order, 'order.settled'), calls: [call('offramp/refundDestination', named)] };
  },

  async refund(stage) {
    const order = await stage.sells({ more: { merchantRecognitionId: 'screen:hold' } });
    await stage.control('pay', { transactionId: order.id });
    await stage.reaches(order, '3');
    await stage.operator(`/orders/${order.id}/refund`, { failure: 'other' });
    await stage.wait(
      'a destination is wanted',
      async () => String((await stage.ask(order)).needsDestination) === 'true',
    );
    const named = await stage.client.put('offramp/refundDestination', {
      ...{ customerId: order.customerId, transactionId: order.id },
      address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    });
    await stage.reaches(order, '-2');
    return { events: await stage.rows(order, 'order.refunded'), calls: [call('offramp/refundDestination', named)] };
  },

  async 'expired-quote'(stage) {
    const customer = await stage.customer();
    const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    const { rate, toAmount } = await stage.told('offramp/quote', pair);
    const body = { ...pair, rate, toAmount, ...customer };
    await stage.control('clock', { advance: '2m' });
    const same = await stage.client.post('offramp/createTransaction', body);
    await stage.control('prices', { coin: 'usdc', fiat: 'inr', price: '84' });
    await stage.wait('the new price', async () => (await stage.told('offramp/quote', pair)).rate === '84');
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
    await stage.control('prices', { coin: 'usdc', fiat: 'inr' });
    const again = await stage.wait('quotes again', async () => {
      const answer = await stage.client.post('offramp/quote', pair);
      return answer.status === 200 && answer;
    });
    return {
      calls: [call('offramp/quote', halted), call('offramp/quote', again, ', ten seconds after the price is back')],
    };
  },
};
