/**
 * The partner API with real money: orders from quote to payout, the place of the money meanwhile, and a partner's options when an
 * order fails. Every answer is checked against its schema, and the books at the end (story.ts).
 *
 * Long because its orders share one server.
 */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { ENDPOINTS } from '../../../src/protocols/v1/declared/index.ts';
import { exampleRequest } from '../../../src/protocols/v1/examples.ts';
import { type Came, newPhone } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import { openV1 } from '../../support/v1.ts';
import { besideStory, type V1Environment, v1Environment } from './environment.ts';

let w: V1Environment;

before(async () => {
  w = await v1Environment();
});
after(async () => {
  await w?.s.close();
});

describe('from quote to payout', () => {
  test('a sale is quoted, created, paid and settled, and its money is traced all the way', async () => {
    const { s, api } = w;
    const customerId = await w.customer();
    const { id: destinationId } = await w.account(customerId);
    const quote = await api.does('POST', '/quotes', {
      payAsset: 'usdc.matic20',
      receiveAsset: 'inr',
      payAmount: '120.5',
    });
    assert.deepEqual([quote.state, quote.fixed, quote.direction], ['open', 'pay', 'sell']);
    assert.deepEqual(quote.pay, { amount: '120.5', asset: 'usdc.matic20' });
    assert.ok(quote.prices.length > 0 && quote.prices.every(({ source, at }: Came) => source !== '' && at !== ''));
    // The quote is signed with the secret of the key over its own terms.
    const { keyId, text, value } = quote.signature;
    assert.equal(keyId, w.keys.apiKey);
    assert.equal(value, createHmac('sha256', w.keys.apiSecret).update(text).digest('hex'));
    for (const part of [quote.id, quote.pay.amount, quote.receive.amount, quote.rate, quote.expiresAt])
      assert.ok(text.split(' ').includes(part), part);

    const order = await api.does('POST', '/orders', {
      quoteId: quote.id,
      customerId,
      destinationId,
      reference: 'life-1',
    });
    assert.deepEqual([order.state, order.quoteId, order.reference], ['created', quote.id, 'life-1']);
    assert.deepEqual(
      [order.pay, order.receive, order.rate, order.fees],
      [quote.pay, quote.receive, quote.rate, quote.fees],
    );
    assert.equal((await api.does('GET', `/quotes/${quote.id}`)).orderId, order.id);
    const unpaid = await w.traced(order);
    assert.deepEqual([unpaid.heldBy, unpaid.next.step, unpaid.next.by], ['customer', 'customer_pays', 'customer']);
    assert.equal(unpaid.next.until, order.expiresAt);

    const paid = await s.pays(w.sale(order), '120.5');
    await s.mines(3);
    const settled = await w.becomes(order, 'settled');
    assert.deepEqual([settled.received.amount, settled.payment], ['120.5', null]);
    assert.ok(settled.version > order.version);
    const trace = await w.traced(order);
    assert.deepEqual([trace.heldBy, trace.next.step, trace.amount], ['recipient', 'nothing', quote.receive]);
    assert.deepEqual(
      trace.evidence.map(({ what }: Came) => what),
      ['deposit_seen', 'deposit_confirmed', 'payout_submitted', 'payout_settled'],
    );
    const { data: deposits } = await api.does('GET', `/orders/${order.id}/deposits`);
    assert.deepEqual([deposits.length, deposits[0].hash, deposits[0].bankReference], [1, paid.hash, null]);
    const { data: payouts } = await api.does('GET', `/orders/${order.id}/payouts`);
    assert.deepEqual([payouts[0].state, payouts[0].hash], ['settled', null]);
    assert.ok(payouts[0].bankReference.length > 0);
    assert.deepEqual((await api.does('GET', `/orders/${order.id}/refunds`)).data, []);
  });

  test('a purchase of an exact amount is paid by bank and delivers at least that much', async () => {
    const { s, api } = w;
    const customerId = await w.customer();
    const { id: destinationId, address } = await w.address(customerId);
    const quote = await api.does('POST', '/quotes', {
      payAsset: 'inr',
      receiveAsset: 'usdc.matic20',
      receiveAmount: '50',
    });
    assert.deepEqual([quote.fixed, quote.direction], ['receive', 'buy']);
    assert.ok(Number(quote.receive.amount) >= 50 && Number(quote.receive.amount) < 50.01, quote.receive.amount);
    const order = await api.does('POST', '/orders', { quoteId: quote.id, customerId, destinationId });
    assert.equal(order.payment.kind, 'bank');
    assert.deepEqual(order.destination, { kind: 'address', id: destinationId, address });
    await s.credits(w.purchase(order), order.pay.amount);
    await s.until('the payout is with the node', async () => {
      await s.mines(1);
      return (await w.get(order)).state === 'settled';
    });
    const { data } = await api.does('GET', `/orders/${order.id}/payouts`);
    assert.match(data[0].hash, /^0x[0-9a-f]{64}$/);
    assert.deepEqual(data[0].destination, order.destination);
    assert.equal(await s.tokensOf(address, 'usdc'), order.receive.amount);
  });

  test('a quote is accepted once, not after it expired, and only by its partner', async () => {
    const { s, api, other } = w;
    const order = await w.sells('30');
    const again = await api.post('/orders', {
      ...{ quoteId: order.quoteId, customerId: order.customerId, destinationId: order.destination.id },
    });
    assert.equal(again.body.reason, 'quote_over');
    const quote = await api.does('POST', '/quotes', { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '30' });
    assert.equal((await other.get(`/quotes/${quote.id}`)).body.reason, 'unknown_quote');
    s.clock.advance(120_000);
    assert.equal((await api.does('GET', `/quotes/${quote.id}`)).state, 'expired');
    const late = await api.post('/orders', {
      ...{ quoteId: quote.id, customerId: order.customerId, destinationId: order.destination.id },
    });
    assert.equal(late.body.reason, 'quote_over');
  });

  test('one of ten concurrent orders at one quote takes it', async () => {
    const { api } = w;
    const customerId = await w.customer();
    const { id: destinationId } = await w.account(customerId);
    const quote = await api.does('POST', '/quotes', { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '31' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.post('/orders', { quoteId: quote.id, customerId, destinationId })),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, ...Array<number>(9).fill(409)]);
  });

  test('orders are listed by state, customer, market, reference and time, page by page', async () => {
    const { api } = w;
    const customerId = await w.customer();
    const { id: destinationId } = await w.account(customerId);
    const reference = `list-${randomUUID()}`;
    const made: Came[] = [];
    for (const amount of ['21', '22', '23']) made.push(await w.sells(amount, { customerId, destinationId, reference }));
    const ids = made.map(({ id }) => id).toReversed();
    const list = async (query: string): Promise<string[]> =>
      (await api.does('GET', `/orders?${query}`)).data.map(({ id }: Came) => id);
    assert.deepEqual(await list(`customerId=${customerId}`), ids);
    assert.deepEqual(await list(`reference=${reference}`), ids);
    assert.deepEqual(await list(`customerId=${customerId}&state=settled`), []);
    assert.deepEqual(await list(`customerId=${customerId}&state=created&market=${made[0].market}`), ids);
    assert.deepEqual(await list(`customerId=${customerId}&from=${made[1].createdAt}`), ids.slice(0, 2));
    assert.deepEqual(await list(`customerId=${customerId}&until=${made[1].createdAt}`), ids.slice(2));
    for (const query of [`customerId=${customerId}`, `reference=${reference}`]) {
      const first = await api.does('GET', `/orders?${query}&limit=2`);
      const second = await api.does('GET', `/orders?${query}&limit=2&cursor=${first.nextCursor}`);
      assert.deepEqual(
        [...first.data, ...second.data].map(({ id }: Came) => id),
        ids,
      );
      assert.equal(second.nextCursor, null);
    }
    assert.equal((await api.get('/orders?cursor=nothing')).body.reason, 'malformed_field');
  });

  test('an unpaid sale shows no address from its deadline on, also while it waits until its chain has been read', async () => {
    const { s } = w;
    const order = await w.sells('70');
    assert.equal((await w.get(order)).payment.kind, 'chain');
    const follows = (why: string | null) =>
      s.read((tx) => tx.run(`update chains set halted_why = $1 where rail = 'evm.matic20'`, [why]));
    await follows('a test');
    try {
      await s.deadlinePasses();
      const waits = await w.get(order);
      assert.deepEqual([waits.state, waits.payment], ['created', null]);
    } finally {
      await follows(null);
    }
    await w.becomes(order, 'expired');
  });
});

describe('cancelling', () => {
  test('an order without a deposit is cancelled, once although it is requested several times', async () => {
    const order = await w.sells('40');
    const cancelled = await w.api.does('POST', `/orders/${order.id}/cancel`);
    assert.deepEqual([cancelled.state, cancelled.payment], ['cancelled', null]);
    assert.equal((await w.api.does('POST', `/orders/${order.id}/cancel`)).version, cancelled.version);
    assert.equal((await w.other.post(`/orders/${order.id}/cancel`)).body.reason, 'unknown_order');
  });

  test('is refused once a deposit was seen, even in part, and when the order is over', async () => {
    const { s, api } = w;
    const order = await w.sells('41');
    await s.pays(w.sale(order), '20');
    await s.mines(3);
    await s.until(
      'the part is there',
      async () => (await api.does('GET', `/orders/${order.id}/deposits`)).data.length === 1,
    );
    assert.equal((await api.post(`/orders/${order.id}/cancel`)).body.reason, 'money_arrived');
    await s.pays(w.sale(order), '21');
    await s.mines(3);
    await w.becomes(order, 'settled');
    const over = await api.post(`/orders/${order.id}/cancel`);
    assert.deepEqual([over.body.reason, over.body.state], ['order_over', 'settled']);
  });

  test('leaves a later deposit in suspense, which is refunded when its partner requests it', async () => {
    const { s, api } = w;
    const order = await w.sells('42');
    const { payment } = order;
    await api.does('POST', `/orders/${order.id}/cancel`);
    await s.pays({ ...w.sale({ ...order, payment }) }, '42');
    await s.mines(3);
    const deposit = await s.until('the deposit is in suspense', async () => {
      const { data } = await api.does('GET', `/orders/${order.id}/deposits`);
      return data[0]?.state === 'suspense' && data[0];
    });
    const trace = await w.traced(order);
    assert.deepEqual(
      trace.otherMoney.map(({ depositId }: Came) => depositId),
      [deposit.id],
    );
    const back = await w.address(order.customerId);
    await api.does('POST', `/orders/${order.id}/refund`, { depositId: deposit.id, destinationId: back.id });
    const refund = await s.until('the refund is settled', async () => {
      await s.mines(1);
      const { data } = await api.does('GET', `/orders/${order.id}/refunds`);
      return data[0]?.state === 'settled' && data[0];
    });
    assert.deepEqual(refund.destination, { kind: 'address', id: back.id, address: back.address });
    assert.equal(refund.amount.amount, '42');
    assert.equal(await s.tokensOf(back.address, 'usdc'), '42');
    const again = await api.post(`/orders/${order.id}/refund`, { depositId: deposit.id, destinationId: back.id });
    assert.equal(again.body.reason, 'refund_exceeds');
  });
});

describe('refunds and other payouts', () => {
  test('an underpaid order that its policy holds is refunded to a destination of the customer', async () => {
    const { s, api } = w;
    await s.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 0, beyond: 'hold' } });
    const order = await w.sells('60');
    await s.goesBy('offramp', 'usdc', {});
    await s.pays(w.sale(order), '50');
    await s.mines(3);
    await s.until('the part is there', async () => (await w.get(order)).received.amount === '50');
    await s.deadlinePasses();
    const held = await w.becomes(order, 'on_hold');
    assert.equal(held.reason, 'underpaid');
    const back = await w.address(order.customerId);
    const stranger = await w.address(await w.customer());
    const declined = await api.post(`/orders/${order.id}/refund`, { destinationId: stranger.id });
    assert.equal(declined.body.reason, 'unknown_destination');
    assert.equal(
      (await w.other.post(`/orders/${order.id}/refund`, { destinationId: back.id })).body.reason,
      'unknown_order',
    );
    const asked = await api.does('POST', `/orders/${order.id}/refund`, { destinationId: back.id });
    assert.deepEqual(asked.refundDestination, { kind: 'address', id: back.id, address: back.address });
    await s.until('it is refunded', async () => {
      await s.mines(1);
      return (await w.get(order)).state === 'refunded';
    });
    assert.equal(await s.tokensOf(back.address, 'usdc'), (await w.get(order)).refunded.amount);
    assert.equal(await s.statusOf(w.sale(order)), -4, 'the refund request changed the status of a wrong amount');
  });

  test('an order held by screening is shown as under review, and no partner moves it', async () => {
    const { s, api } = w;
    const order = await w.sells('61', { reference: 'screen:hold' });
    await s.pays(w.sale(order), '61');
    await s.mines(3);
    const held = await w.becomes(order, 'on_hold');
    assert.equal(held.reason, 'under_review');
    const trace = await w.traced(order);
    assert.deepEqual([trace.heldBy, trace.next.step, trace.next.until], ['operator', 'review', null]);
    const back = await w.address(order.customerId);
    for (const [path, body] of [
      ['refund', { destinationId: back.id }],
      ['payout-destination', { destinationId: (await w.account(order.customerId)).id }],
    ] as const) {
      const answer = await api.post(`/orders/${order.id}/${path}`, body);
      assert.equal(answer.status, 409, answer.text);
      assert.ok(['under_review', 'order_over'].includes(answer.body.reason), answer.text);
    }
    assert.equal((await w.get(order)).state, 'on_hold');
    await s.releases(w.sale(order));
    await w.becomes(order, 'settled');
  });

  test('a payout that the bank returns is paid to another account of the customer', async () => {
    const { s, api } = w;
    const order = await w.sells('62', { ending: '9002' });
    await s.pays(w.sale(order), '62');
    await s.mines(3);
    const waiting = await s.until('the payout has come back', async () => {
      const now = await w.get(order);
      return now.needsDestination && now;
    });
    assert.equal(waiting.state, 'settled');
    assert.deepEqual(
      [(await w.traced(order)).heldBy, (await w.traced(order)).next.step],
      ['operator', 'destination_is_named'],
    );
    const { id } = await w.account(order.customerId);
    await api.does('POST', `/orders/${order.id}/payout-destination`, { destinationId: id });
    const paid = await s.until('it is paid again', async () => {
      const { data } = await api.does('GET', `/orders/${order.id}/refunds`);
      return data[0]?.state === 'settled' && data[0];
    });
    assert.deepEqual([paid.kind, paid.destination.id], ['payout', id]);
  });

  test('a payout that the bank rejects is paid to another account of the customer', async () => {
    const { s, api } = w;
    const order = await w.sells('63', { ending: '9001' });
    await s.pays(w.sale(order), '63');
    await s.mines(3);
    const held = await w.becomes(order, 'payout_held');
    assert.equal(held.reason, 'account_closed');
    const { id } = await w.account(order.customerId);
    await api.does('POST', `/orders/${order.id}/payout-destination`, { destinationId: id });
    await w.becomes(order, 'settled');
    const { data } = await api.does('GET', `/orders/${order.id}/payouts`);
    assert.deepEqual(
      data.map(({ state, destination }: Came) => [state, destination.id]),
      [
        ['rejected', order.destination.id],
        ['settled', id],
      ],
    );
  });
});

describe('destinations that a program adds', () => {
  test('wait at the gate until the customer confirms them with the code', async () => {
    const { s, api } = w;
    const codes: { phone: string; code: string }[] = [];
    const careful = await besideStory(s, {
      profile: 'sandbox',
      codes: { nextCode: () => '246810', sendCode: async (phone, code) => void codes.push({ phone, code }) },
    });
    const by = openV1(careful.baseUrl, w.keys);
    try {
      const customerId = await w.customer();
      const added = await w.account(customerId, '0000', by);
      assert.deepEqual([added.usable, added.confirmedAt], [false, null]);
      assert.equal(Date.parse(added.usableAt) - Date.parse(added.createdAt), 86_400_000);
      const order = await w.sells('70', { customerId, destinationId: added.id });
      await s.pays(w.sale(order), '70');
      await s.mines(3);
      const trace = await s.until('the payout waits', async () => {
        const now = await w.traced(order);
        return now.next.step === 'destination_confirms' && now;
      });
      assert.deepEqual([trace.next.by, trace.next.until, trace.heldBy], ['customer', added.usableAt, 'operator']);
      await s.until('the gate has said so', async () => {
        const { payouts } = await s.traceOf(w.sale(order));
        return payouts.some(({ waitsFor }) => waitsFor?.includes('has not confirmed'));
      });

      const path = `/customers/${customerId}/destinations/${added.id}`;
      assert.equal((await by.post(`${path}/confirm`, { code: '246810' })).body.reason, 'code_over');
      await by.does('POST', `${path}/code`);
      assert.equal(codes.length, 1);
      assert.equal((await by.post(`${path}/code`)).body.reason, 'too_many_requests');
      assert.equal((await by.post(`${path}/confirm`, { code: '000000' })).body.reason, 'wrong_code');
      assert.ok((await by.does('POST', `${path}/confirm`, { code: '246810' })).usable);
      // The gate checks again within half a minute; the test does not wait for that.
      await s.until('it is settled', async () => {
        s.clock.advance(5_000);
        return (await w.get(order)).state === 'settled';
      });
    } finally {
      await careful.close();
    }
    assert.equal((await api.get('/key')).status, 200);
  });

  test('are not paid by an order that did not name them before they are usable, and a phone that was just changed cannot confirm them', async () => {
    const { s } = w;
    const careful = await besideStory(s, { profile: 'sandbox', codes: { sendCode: async () => {} } });
    const by = openV1(careful.baseUrl, w.keys);
    try {
      const order = await w.sells('71', { ending: '9002' });
      await s.pays(w.sale(order), '71');
      await s.mines(3);
      await s.until('the payout has come back', async () => (await w.get(order)).needsDestination);
      const added = await w.account(order.customerId, '0000', by);
      const asks = () => by.post(`/orders/${order.id}/payout-destination`, { destinationId: added.id });
      const declined = await asks();
      assert.deepEqual([declined.body.reason, declined.body.usableAt], ['destination_waits', added.usableAt]);
      // The white-label API accepts a new account at once, this API only when it is old enough.
      const older = await s.verifiedAccount(order.customerId);
      const through = await by.post(`/orders/${order.id}/payout-destination`, { destinationId: older.fiatAccountId });
      assert.equal(through.body.reason, 'destination_waits');
      await by.does('PATCH', `/customers/${order.customerId}`, { phone: newPhone() });
      const code = await by.post(`/customers/${order.customerId}/destinations/${added.id}/code`);
      assert.equal(code.body.reason, 'destination_waits');
      s.clock.advance(86_400_001);
      assert.equal((await asks()).status, 200);
      await s.until('it is paid again', async () => {
        const { data } = await w.api.does('GET', `/orders/${order.id}/refunds`);
        return data[0]?.state === 'settled';
      });
    } finally {
      await careful.close();
    }
  });

  test('are stored once although they are added repeatedly, and only with matching fields', async () => {
    const { api } = w;
    const customerId = await w.customer();
    const path = `/customers/${customerId}/destinations`;
    const body = { kind: 'account', asset: 'inr', accountNumber: '000155512345', ifsc: 'HDFC0000001' };
    const [one, two] = [
      await api.does('POST', path, body),
      await api.does('POST', path, { ...body, ifsc: 'hdfc0000001' }),
    ];
    assert.equal(two.id, one.id);
    const home = await w.address(customerId);
    const spelled = await api.does('POST', path, {
      kind: 'address',
      chain: 'matic20',
      address: home.address.toUpperCase().replace('0X', '0x'),
    });
    assert.equal(spelled.id, home.id);
    const { data } = await api.does('GET', `${path}?limit=1`);
    assert.deepEqual(
      data.map(({ id }: Came) => id),
      [one.id],
    );
    const refused = async (given: object, field: string) => {
      const answer = await api.post(path, given);
      assert.ok(answer.status === 400 && field in answer.body.fields, `${field}: ${answer.text}`);
    };
    await refused({ ...body, asset: 'xyz' }, 'asset');
    await refused({ ...body, asset: 'eur' }, 'iban');
    await refused({ kind: 'account', asset: 'inr', accountNumber: '000155512345' }, 'ifsc');
    await refused({ ...body, chain: 'matic20' }, 'chain');
    await refused({ kind: 'address', chain: 'nowhere', address: home.address }, 'chain');
    await refused({ kind: 'address', chain: 'matic20', address: 'nowhere' }, 'address');
    await refused({ kind: 'address', chain: 'matic20' }, 'address');
    // The destination has to fit the order: an account for a sale, not an address.
    const quote = await api.does('POST', '/quotes', { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '25' });
    const wrong = await api.post('/orders', { quoteId: quote.id, customerId, destinationId: home.id });
    assert.deepEqual(wrong.body.fields, { destinationId: 'must be an account in inr' });
  });
});

describe('customers', () => {
  test('are added, found and changed, with one customer per reference and phone', async () => {
    const { api } = w;
    const [reference, phone] = [randomUUID(), newPhone()];
    const made = await api.does('POST', '/customers', { reference, kind: 'business', phone, email: 'a@example.org' });
    assert.deepEqual(
      [made.reference, made.kind, made.level, made.mayTrade],
      [reference, 'business', 0, { allowed: false, reason: 'login_required' }],
    );
    assert.deepEqual((await api.does('GET', `/customers?reference=${reference}`)).data, [made]);
    assert.deepEqual((await api.does('GET', `/customers?reference=${randomUUID()}`)).data, []);
    const same = await api.post('/customers', { reference, kind: 'individual', phone: newPhone() });
    assert.deepEqual([same.status, same.body.reason, same.body.customerId], [409, 'customer_exists', made.id]);
    assert.equal(
      (await api.post('/customers', { reference: randomUUID(), kind: 'individual', phone })).body.reason,
      'customer_exists',
    );
    assert.equal((await api.patch(`/customers/${made.id}`, {})).body.reason, 'malformed_field');
    assert.equal((await api.patch(`/customers/${made.id}`, { email: 'b@example.org' })).status, 200);
    const { country, countryBy } = await api.does('PATCH', `/customers/${made.id}`, { country: 'DE' });
    assert.deepEqual([country, countryBy], ['DE', 'partner']);
    assert.equal((await api.patch(`/customers/${made.id}`, { country: 'XX' })).body.reason, 'malformed_field');
    assert.equal((await w.other.get(`/customers/${made.id}`)).body.reason, 'unknown_customer');
  });

  test('told because of a number that was idle for long confirm no destination by a code to it', async () => {
    const { api, s } = w;
    const phone = newPhone();
    const made = await api.does('POST', '/customers', { reference: randomUUID(), kind: 'individual', phone });
    await s.told('test/changeKycStatus', { customerId: made.id, status: 'ADVANCE_KYC_COMPLETED' });
    const { id } = await w.account(made.id);
    const path = `/customers/${made.id}/destinations/${id}/code`;
    await s.server.db.asSystem((tx) =>
      tx.run(
        `update customers set created_at = created_at - interval '181 days', logged_in_at = logged_in_at - interval '181 days'
          where id = $1`,
        [made.id],
      ),
    );
    assert.equal((await api.post(path)).status, 200, 'nobody else has signed up with the number');
    const other = { reference: randomUUID(), kind: 'individual', phone };
    assert.equal((await api.post('/customers', other)).body.customerId, made.id);
    assert.equal((await api.post(path)).body.reason, 'login_required');
  });

  test('get links to hosted pages, and have limits that the API shows', async () => {
    const { api } = w;
    const customerId = await w.customer();
    for (const what of ['verification-link', 'account-link']) {
      const { url } = await api.does('POST', `/customers/${customerId}/${what}`, {
        redirectUrl: 'https://wallet.example/',
      });
      assert.equal((await fetch(url)).status, 200, what);
    }
    const { level, per, markets, shared } = await api.does('GET', `/customers/${customerId}/limits`);
    assert.ok(level >= 1 && markets.length > 0);
    assert.deepEqual([per, shared], ['order', []]);
    const { accounts } = await api.does('GET', '/requirements');
    assert.deepEqual(accounts.find(({ asset }: Came) => asset === 'inr').fields, ['accountNumber', 'ifsc']);
  });
});

describe('the page that confirms a destination', () => {
  test('opens by a link, which is made only for a destination of the customer', async () => {
    const { api, other } = w;
    const customerId = await w.customer();
    const { id } = await w.address(customerId);
    const path = `/customers/${customerId}/destinations/${id}/confirmation-link`;
    const { url, expiresAt } = await api.does('POST', path, { redirectUrl: 'https://wallet.example/' });
    assert.ok(Date.parse(expiresAt) > w.s.clock.now().getTime());
    const page = await fetch(url);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /<h1>Log in<\/h1>/);
    assert.equal((await other.post(path)).body.reason, 'unknown_customer');
    const another = await w.customer();
    const theirs = `/customers/${another}/destinations/${id}/confirmation-link`;
    assert.equal((await api.post(theirs)).body.reason, 'unknown_destination');
  });
});

describe('the list of customers', () => {
  const listed = async (query: string): Promise<Came[]> => (await w.api.does('GET', `/customers?${query}`)).data;

  test('is read page by page, the newest first, each customer once', async () => {
    const { api } = w;
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.push(await w.customer());
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const { data, nextCursor } = await api.does('GET', `/customers?limit=2${cursor}`);
      assert.ok(data.length <= 2);
      seen.push(...data.map(({ id }: Came) => id));
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    assert.equal(new Set(seen).size, seen.length);
    const places = made.toReversed().map((id) => seen.indexOf(id));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.ok(!places.includes(-1));
    const created = (await listed('limit=100')).map(({ createdAt }) => String(createdAt));
    assert.deepEqual(created, created.toSorted().toReversed());
  });

  test('can be filtered by own reference, verification and time', async () => {
    const { api } = w;
    const reference = randomUUID();
    const { id, createdAt } = await api.does('POST', '/customers', {
      ...{ reference, kind: 'individual', phone: newPhone() },
    });
    const ids = async (query: string) => (await listed(query)).map((one) => one.id);
    assert.deepEqual(await ids(`reference=${reference}`), [id]);
    assert.deepEqual(await ids(`reference=${reference}&verification=verified`), []);
    assert.deepEqual(await ids(`reference=${randomUUID()}`), []);
    assert.ok((await ids('verification=none&limit=100')).includes(id));
    assert.ok((await listed('verification=verified')).every(({ verification }) => verification === 'verified'));
    const later = new Date(Date.parse(createdAt) + 1).toISOString();
    assert.ok((await ids(`from=${createdAt}&until=${later}`)).includes(id));
    assert.ok(!(await ids(`from=${later}&limit=100`)).includes(id));
    assert.ok(!(await ids(`until=${createdAt}&limit=100`)).includes(id));
  });

  test('never has a customer of another partner, for any reference, filter or cursor', async () => {
    const { api, other } = w;
    const reference = randomUUID();
    const { id } = await other.does('POST', '/customers', { reference, kind: 'individual', phone: newPhone() });
    const { data, nextCursor } = await other.does('GET', '/customers?limit=1');
    assert.equal(data[0].id, id);
    assert.deepEqual(await listed(`reference=${reference}`), []);
    const mine = new Set((await api.does('GET', '/customers?limit=100')).data.map((one: Came) => one.id));
    assert.ok(!mine.has(id));
    const theirs = nextCursor ?? Buffer.from(id).toString('base64url');
    for (const cursor of [theirs, Buffer.from(id).toString('base64url'), 'AAAA'])
      assert.equal((await api.get(`/customers?cursor=${cursor}`)).body.reason, 'malformed_field', cursor);
  });

  test('says why a filter is refused, and has at most a hundred customers a page', async () => {
    for (const query of ['verification=perhaps', 'limit=101', 'limit=0', 'from=yesterday', 'phone=1'])
      assert.equal((await w.api.get(`/customers?${query}`)).body.reason, 'malformed_field', query);
  });
});

describe('the catalogue and limits', () => {
  test('name the quotable pairs', async () => {
    const { api } = w;
    const [markets, assets, chains, methods] = await Promise.all(
      ['markets', 'assets', 'chains', 'methods'].map(async (what) => (await api.does('GET', `/${what}`)).data),
    );
    const codes = new Set(assets.map(({ code }: Came) => code));
    for (const { payAsset, receiveAsset, method } of markets) {
      assert.ok(codes.has(payAsset) && codes.has(receiveAsset));
      assert.ok(methods.some(({ code }: Came) => code === method));
    }
    assert.equal(typeof chains.find(({ code }: Came) => code === 'matic20').networkId, 'number');
  });

  test('show how much of a cap live quotes and unpaid orders use, and how much is left', async () => {
    const { s, api } = w;
    const { partner } = await api.does('GET', '/key');
    const limits = async (): Promise<Came> =>
      (await api.does('GET', '/limits')).exposure.find(({ asset }: Came) => asset === 'inr');
    const before_ = await limits();
    assert.equal(before_.cap, null);
    const quote = await api.does('POST', '/quotes', {
      payAsset: 'usdc.matic20',
      receiveAsset: 'inr',
      payAmount: '100',
    });
    const used = await limits();
    assert.ok(Number(used.used) > Number(before_.used), quote.id);
    assert.ok(used.resetsAt >= quote.expiresAt, `${used.resetsAt} is before the quote expires`);
    await s.read((tx) => tx.run(`insert into exposure_caps values ($1, 'inr', 100000000)`, [BigInt(partner.id)]));
    try {
      const now = await limits();
      assert.deepEqual([now.cap, Number(now.left)], ['1000000', 1_000_000 - Number(now.used)]);
      // The customers share the cap, so each sees the same numbers.
      const { shared } = await api.does('GET', `/customers/${await w.customer()}/limits`);
      assert.deepEqual(shared, [now]);
    } finally {
      await s.read((tx) => tx.run('delete from exposure_caps'));
    }
  });
});

describe('events and webhook endpoints', () => {
  test('an endpoint is added, changed, given a new secret, tested and removed', async () => {
    const { s, api, other } = w;
    const made = await api.does('POST', '/webhook-endpoints', {
      url: 'http://127.0.0.1:1998/',
      events: ['webhook.test'],
    });
    assert.match(made.secret, /^whsec_/);
    const path = `/webhook-endpoints/${made.id}`;
    for (const misspelled of ['order.setled', 'orders.*', 'order.frozen']) {
      const { status, body } = await api.patch(path, { events: ['order.*', misspelled] });
      assert.deepEqual([status, Object.keys(body.fields)], [400, ['events']], misspelled);
    }
    assert.deepEqual((await api.does('PATCH', path, { events: ['webhook.test', 'order.*'] })).events, [
      'webhook.test',
      'order.*',
    ]);
    assert.notEqual((await api.does('POST', `${path}/rotate-secret`, { overlapSeconds: 60 })).secret, made.secret);
    await api.does('POST', `${path}/test`);
    const { data } = await s.until('the test is on its way', async () => {
      const found = await api.does('GET', `${path}/deliveries`);
      return found.data.length > 0 && found;
    });
    const attempts = await s.until('it was tried', async () => {
      const found = await api.does('GET', `${path}/deliveries/${data[0].eventId}`);
      return found.data.length > 0 && found.data;
    });
    assert.notEqual(attempts[0].error, null);
    assert.equal((await api.does('POST', `${path}/replay`, { eventId: data[0].eventId })).replayed, 1);
    assert.equal((await api.post(`${path}/resume`)).body.reason, 'unknown_held_item');
    assert.equal((await other.get(path)).body.reason, 'unknown_endpoint');
    assert.equal((await other.remove(path)).body.reason, 'unknown_endpoint');
    await api.does('DELETE', path);
    assert.equal((await api.get(path)).body.reason, 'unknown_endpoint');
  });

  test('the feed continues from its cursor, without repeats', async () => {
    const { api } = w;
    const order = await w.sells('33');
    const seen: Came[] = [];
    let cursor = '';
    for (;;) {
      const page: Came = await api.does('GET', `/event-feed?limit=7${cursor}`);
      seen.push(...page.data);
      if (page.data.length === 0) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length);
    const created = await w.s.until('the order is in the feed', async () => {
      const page = await api.does('GET', `/event-feed?limit=100${cursor}`);
      return [...seen, ...page.data].find(({ subject }) => subject === `order:${order.id}`);
    });
    assert.equal(created.type, 'order.created');
    const beyond = Buffer.from('999999999999').toString('base64url');
    const { status, body } = await api.get(`/event-feed?cursor=${beyond}`);
    assert.deepEqual([status, Object.keys(body.fields)], [400, ['cursor']]);
  });
});

describe('a value that a program sends', () => {
  test('in any field of this API is in no dump in clear', async () => {
    const { s, api } = w;
    const [who, what, claim, key, holder] = ['Grace', 'Barbara', 'Frances', 'Hedy', 'Katherine'].map(
      (name) => `${name}-${randomUUID()}`,
    );
    const number = newPhone();
    const mail = `${randomUUID()}@example.org`;
    const { id: customerId } = await api.does('POST', '/customers', {
      ...{ reference: who, kind: 'individual', phone: number, email: mail },
    });
    await s.told('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
    const { id: destinationId } = await api.does(
      'POST',
      `/customers/${customerId}/destinations`,
      {
        ...{ kind: 'account', asset: 'inr', accountNumber: '000177788899', ifsc: 'HDFC0000001' },
        ...{ accountHolder: holder, bankName: 'A Bank' },
      },
      { key: key ?? '' },
    );
    const order = await w.sells('35', { customerId, destinationId, reference: what ?? '' });
    await api.does('POST', `/orders/${order.id}/payer-reference`, { payerReference: claim });
    assert.deepEqual(
      (await api.does('GET', `/orders?reference=${what}`)).data.map(({ payerReference }: Came) => payerReference),
      [claim],
    );
    await s.until('the requests are in the log', async () => {
      const { data } = await api.does('GET', '/request-log?operation=orders.namePayerReference&limit=1');
      return data[0]?.path === `/v1/orders/${order.id}/payer-reference`;
    });
    const words = [who, what, claim, key, holder, number, number.slice(4), mail, '000177788899'];
    assert.deepEqual(
      await findInDump(
        s.adminUrl,
        words.filter((word) => word !== undefined),
      ),
      [],
    );
  });
});

describe('another partner', () => {
  test('gets the same answer for this one’s ids as for unknown ones', async () => {
    const { api, other } = w;
    const order = await w.sells('34');
    const { id: endpoint } = await api.does('POST', '/webhook-endpoints', { url: 'http://127.0.0.1:1998/' });
    const { data } = await api.does('GET', '/event-feed?limit=1');
    const [key] = (await api.does('GET', '/keys')).data;
    const theirs: Record<string, string> = {
      ...{ quote: order.quoteId, order: order.id, customer: order.customerId, destination: order.destination.id },
      ...{ endpoint, event: data[0].id, request: 'none', key: key.key },
    };
    const nobodys: Record<string, string> = {
      ...{ quote: '1', order: '1', customer: 'aaaaaaaaaa_9', destination: '1' },
      ...{ endpoint: 'whe_nothing', event: 'evt_9_1', request: 'none' },
    };
    for (const declared of ENDPOINTS.filter(({ path }) => path.includes(':'))) {
      const body = Object.fromEntries(
        Object.entries(exampleRequest(declared)).filter(([name]) => !declared.path.includes(`:${name}`)),
      );
      const ask = async (ids: Record<string, string>) => {
        const path = declared.path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? 'none');
        const { status, body: said } = await other.send(
          declared.method,
          path,
          declared.method === 'GET' ? undefined : body,
        );
        return { status, ...said, requestId: undefined };
      };
      const [mine, none] = [await ask(theirs), await ask(nobodys)];
      assert.ok(mine.status >= 400, `${declared.name}: ${JSON.stringify(mine)}`);
      assert.deepEqual(mine, none, declared.name);
    }
    await api.does('DELETE', `/webhook-endpoints/${endpoint}`);
  });
});
