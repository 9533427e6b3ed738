/** Attacks on the partner wire that once succeeded, or that no other test here would notice. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pagesEnvironment } from '../protocols/checkout/environment.ts';
import type { Environment, TestPartner } from '../protocols/whitelabel/environment.ts';
import { ask, type Fields, hmac, openClient, sign } from '../support/client.ts';

let world: Environment;
let acme: TestPartner;
const quote: Fields = { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '100' };

before(async () => {
  // Includes the pages, so that links can be opened.
  world = await pagesEnvironment();
  acme = await world.partner('acme');
});
after(async () => await world.stop());

const atOnce = <T>(times: number, body: (number: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, number) => body(number)));

/** A verified customer of acme's with one account, and a sale for it. */
async function seller(name: string): Promise<Fields & { customerId: string }> {
  const customerId = await world.customer(acme, acme.partner, name);
  await acme.post('bank/addFiatAccount', { customerId, fiatAccount: '000111222333', ifsc: 'HDFC0001234' });
  return { ...quote, chain: 'matic20', customerId };
}

describe('concurrent requests', () => {
  test('fifty sales of one customer are listed newest first, with ids as descending as their times, each once', async () => {
    const sale = await seller('crowd');
    const made = await atOnce(50, (number) =>
      acme.post('offramp/createTransaction', { ...sale, merchantRecognitionId: String(number) }),
    );
    assert.deepEqual(
      made.map(({ status }) => status),
      made.map(() => 200),
    );
    const list = { customerId: sale.customerId, page: '1', pageSize: '499' };
    const { body, headers } = await acme.post('offramp/allUserTransaction', list);
    const listed = body.data as { transactionId: string; createdAt: string }[];
    assert.equal(headers.get('x-total-count'), '50');
    assert.deepEqual(
      new Set(listed.map(({ transactionId }) => transactionId)),
      new Set(made.map((one) => one.body.data.transactionId)),
    );
    assert.equal(new Set(made.map((one) => one.body.data.depositAddress)).size, 50);
    listed.reduce((newer, older) => {
      assert.ok(newer.createdAt >= older.createdAt, `${older.createdAt} is listed below ${newer.createdAt}`);
      // Within one millisecond ids are random.
      if (newer.createdAt > older.createdAt) assert.ok(BigInt(newer.transactionId) > BigInt(older.transactionId));
      return older;
    });
    const pages: unknown[] = [];
    for (let page = 1; page <= 8; page += 1) {
      pages.push(...(await acme.post('offramp/allUserTransaction', { ...list, page, pageSize: 7 })).body.data);
    }
    assert.deepEqual(pages, listed);
  });

  test('one of ten sales at one quote takes it', async () => {
    const sale = await seller('hurry');
    const { body, headers } = await acme.post('offramp/quote', { ...quote, fromAmount: '123.45' });
    const { fromAmount, toAmount, rate } = body.data;
    await atOnce(10, (number) =>
      acme.post('offramp/createTransaction', {
        ...sale,
        fromAmount,
        toAmount,
        rate,
        merchantRecognitionId: `${number}`,
      }),
    );
    const rows = await world.query('select quote_id::text as quote, count(*)::int as n from orders group by 1');
    assert.equal(rows.find((row) => row.quote === headers.get('quote-id'))?.n, 1);
    assert.ok(rows.every((row) => row.n === 1));
  });
});

test('a live quote is honoured although the price has moved: once, as quoted, for its partner only', async () => {
  const sale = await seller('early');
  const rival = await world.partner('rival');
  const { body } = await acme.post('offramp/quote', { ...quote, fromAmount: '77' });
  const { fromAmount, toAmount, rate } = body.data;
  const quoted = { ...sale, fromAmount, toAmount, rate };
  world.source.move('usdc', 'inr', { num: 70n, den: 1n });
  await world.refreshPrices();
  try {
    const { customerId, fiatAccountId } = rival;
    const create = 'offramp/createTransaction';
    const refused = [
      await rival.post(create, { ...quoted, customerId, fiatAccountId }),
      await acme.post(create, { ...quoted, fromAmount: '78' }),
      await acme.post(create, { ...quoted, toAmount: undefined }),
      await acme.post(create, { ...quoted, rate: null }),
    ];
    const honoured = await acme.post(create, { ...quoted, fromAmount: 77, rate: `${rate}.000`, toAmount });
    assert.equal(honoured.status, 200, honoured.text);
    assert.deepEqual([honoured.body.data.rate, honoured.body.data.toAmount], [rate, toAmount]);
    refused.push(await acme.post(create, quoted));
    for (const answer of refused) assert.deepEqual([answer.status, answer.body.reason], [428, 'price_moved']);
  } finally {
    world.source.move('usdc', 'inr', undefined);
    await world.refreshPrices();
  }
});

describe('a signature', () => {
  test('may carry its time as a number with an exponent, as Java writes a double', async () => {
    const [first, ...rest] = String(Date.now());
    const payload = Buffer.from(`{"body":${JSON.stringify(quote)},"timestamp":${first}.${rest.join('')}E12}`).toString(
      'base64',
    );
    const { headers, text } = sign(acme, quote);
    const answer = await ask(world.baseUrl, 'offramp/quote', {
      method: 'POST',
      headers: { ...headers, payload, signature: hmac(payload, acme.apiSecret) },
      body: text,
    });
    assert.equal(answer.status, 200, answer.text);
  });

  test('whose time is far off is refused however it is written', async () => {
    for (const timestamp of [1e300, 1.5e-300, -1, '1e12', `${Date.now()}0`, 'Infinity', '']) {
      const { status } = await acme.post('offramp/quote', quote, { timestamp });
      assert.equal(status, 401, String(timestamp));
    }
  });

  test('under a key expired or revoked is as good as none', async () => {
    for (const column of ['expires_at', 'revoked_at']) {
      const keys = await world.keyOf(acme.partner);
      await world.query(`update api_keys set ${column} = now() - interval '1 second' where key = $1`, [keys.apiKey]);
      const { status, body } = await openClient(world.baseUrl, keys).post('offramp/quote', quote);
      assert.deepEqual([status, body.reason], [401, 'unauthenticated'], column);
    }
  });
});

describe('an id', () => {
  test('has one spelling: with a zero before it, it is unknown', async () => {
    const sale = await seller('zero');
    const { body } = await acme.post('offramp/createTransaction', sale);
    const { customerId } = sale;
    const order = { transactionId: `0${body.data.transactionId}`, customerId };
    for (const path of ['offramp/transaction', 'onramp/transaction', 'test/changeOfframpStatus']) {
      const { status, body: said } = await acme.post(path, { ...order, status: '2' });
      assert.deepEqual([status, said.reason], [404, 'unknown_order'], path);
    }
    const [{ fiatAccountId }] = (await acme.post('bank/fiatAccounts', { customerId })).body.data;
    const elsewhere = await acme.post('offramp/createTransaction', { ...sale, fiatAccountId: `0${fiatAccountId}` });
    assert.deepEqual([elsewhere.status, elsewhere.body.reason], [404, 'unknown_account']);
  });
});

test('an address to return to that grows when escaped is refused, and no link is given that does not open', async () => {
  const { customerId } = acme;
  for (const [letters, status] of [
    ['a'.repeat(900), 200],
    ['\u{65e5}'.repeat(100), 200],
    ['\u{65e5}'.repeat(900), 400],
  ] as const) {
    const answer = await acme.post('kyc/url', { customerId, kycRedirectUrl: `https://partner.test/${letters}` });
    assert.equal(answer.status, status, answer.text);
    if (status !== 200) continue;
    assert.equal((await fetch(answer.body.data.kycUrl)).status, 200, 'the link does not open');
  }
});

test('a link too long to be one is not found, rather than asked for by the wrong method', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await ask(world.baseUrl, `/kyc/${'a'.repeat(5_000)}`, { method });
    assert.deepEqual([status, headers.get('allow')], [404, null], method);
  }
});
