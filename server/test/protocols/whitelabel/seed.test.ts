/** The interface's four endpoints, key by key, as a program of a partner sees them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { saveForm } from '../../../src/customers/index.ts';
import { ask, type Signing } from '../../support/client.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

let world: Environment;
let acme: TestPartner;

before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
});
after(async () => await world.stop());

const create = async (partner: TestPartner, fromAmount = '100') => {
  const quote = await partner.post('offramp/quote', {
    fromCurrency: 'usdc',
    toCurrency: 'inr',
    fromAmount,
    chain: 'matic20',
  });
  const { toAmount, rate } = quote.body.data;
  return await partner.post('offramp/createTransaction', {
    fromCurrency: 'usdc',
    toCurrency: 'inr',
    chain: 'matic20',
    fromAmount,
    toAmount,
    rate,
    customerId: partner.customerId,
    fiatAccountId: partner.fiatAccountId,
  });
};

describe('offramp quote', () => {
  const asked = { fromCurrency: 'USDC', toCurrency: 'inr', fromAmount: '0100.50' };

  test('has the keys of shape B, all amounts as plain text, and currencies as they were sent', async () => {
    const answer = await acme.post('/onramp-bank/api/v2/whiteLabel/offramp/quote', asked);
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body), ['status', 'code', 'data']);
    assert.equal(answer.body.status, 1);
    assert.equal(answer.body.code, 200);
    assert.deepEqual(answer.body.data, {
      fromCurrency: 'USDC',
      toCurrency: 'inr',
      fromAmount: '100.5',
      toAmount: '8643',
      rate: '86',
      fees: [{ type: 'fiat', onrampFee: '0', clientFee: '0', gatewayFee: '0', gasFee: '0' }],
    });
    assert.match(answer.headers.get('quote-id') ?? '', /^\d+$/);
    assert.match(answer.headers.get('quote-expires-at') ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('in shape A has neither rate nor amount sold, and fees as numbers', async () => {
    const birch = await world.partner('birch', { quoteShape: 'A' });
    const { body } = await birch.post('offramp/quote', asked);
    assert.deepEqual(body.data, {
      fromCurrency: 'USDC',
      toCurrency: 'inr',
      toAmount: '8643',
      fromAmount: '',
      fees: [{ type: 'fiat', onrampFee: 0, clientFee: 0, gatewayFee: 0, gasFee: 0 }],
    });
  });

  test('is the same for every form of the request that programs use', async () => {
    const ways: Signing[] = [
      { spelling: 'prefixed' },
      { format: 'form' },
      { format: 'form', spelling: 'prefixed', spacing: 'spaced' },
      { spacing: 'spaced', signs: 'text' },
      { sends: 'numbers' },
      { signs: 'text', format: 'form' },
      { timestamp: String(Date.now() - 30_000) },
      { headers: { 'content-type': 'application/json;charset=UTF-8', 'app-id': '1', timestamp: '2' } },
    ];
    for (const signing of ways) {
      for (const prefix of ['/onramp', '/onramp-bank']) {
        const path = `${prefix}/api/v2/whiteLabel/offramp/quote`;
        const { status, body } = await acme.post(
          path,
          { ...asked, fromAmount: '100.5', extra: 'ignored', customerId: '' },
          signing,
        );
        assert.equal(status, 200, JSON.stringify([signing, body]));
        assert.equal(body.data.toAmount, '8643');
      }
    }
  });

  test('uses the default chain if none is named, or if the coin’s code is in its place', async () => {
    for (const chain of [undefined, '', null, 'usdc', 'USDC', 'MATIC20', 'erc20']) {
      assert.equal((await acme.post('offramp/quote', { ...asked, chain })).status, 200);
    }
  });

  test('keeps all eighteen places of an amount sent as a JSON number', async () => {
    const { body } = await acme.post('offramp/quote', {
      fromCurrency: 'dai',
      toCurrency: 'inr',
      fromAmount: '1.123456789012345678',
    });
    assert.equal(body.data.fromAmount, '1.123456789012345678');
    const text = '{"fromCurrency":"dai","toCurrency":"inr","fromAmount":1.123456789012345678}';
    const payload = Buffer.from(`{"body":${text},"timestamp":${Date.now()}}`).toString('base64');
    const { hmac } = await import('../../support/client.ts');
    const headers = {
      apiKey: acme.apiKey,
      payload,
      signature: hmac(payload, acme.apiSecret),
      'content-type': 'application/json',
    };
    const number = await ask(world.baseUrl, 'offramp/quote', { method: 'POST', headers, body: text });
    assert.equal(number.body.data.fromAmount, '1.123456789012345678');
  });
});

describe('list of offramp transactions', () => {
  test('is newest first, page by page, with the keys of a transaction and its total in a header', async () => {
    const ids: string[] = [];
    for (const amount of ['10', '20.5', '30']) ids.unshift((await create(acme, amount)).body.data.transactionId);
    const list = (page: string | number, pageSize: string | number, path = 'offramp/allUserTransaction') =>
      acme.post(path, { customerId: acme.customerId, page, pageSize });
    const first = await list('1', '2');
    assert.equal(first.status, 200);
    assert.equal(first.headers.get('x-total-count'), '3');
    assert.deepEqual(
      first.body.data.map((item: { transactionId: string }) => item.transactionId),
      ids.slice(0, 2),
    );
    assert.deepEqual(
      (await list(2, 2)).body.data.map((item: { transactionId: string }) => item.transactionId),
      ids.slice(2),
    );
    assert.deepEqual((await list('3', '2')).body.data, []);
    assert.deepEqual((await list('999999999', '499')).body.data, []);
    const item = first.body.data[1];
    assert.deepEqual(Object.keys(item), [
      'transactionId',
      'createdAt',
      'updatedAt',
      'fromAmount',
      'toAmount',
      'fromCurrency',
      'toCurrency',
      'chain',
      'fiatAccountId',
      'status',
      'transactionHash',
    ]);
    for (const value of Object.values(item)) assert.equal(typeof value, 'string');
    assert.equal(item.fromAmount, '20.5');
    assert.equal(item.toAmount, '1763');
    assert.equal(item.fromCurrency, 'USDC');
    assert.equal(item.toCurrency, 'INR');
    assert.equal(item.chain, 'matic20');
    assert.equal(item.fiatAccountId, acme.fiatAccountId);
    assert.equal(item.status, '0');
    assert.equal(item.transactionHash, '');
    assert.match(item.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const alias of [
      '/onramp-bank/api/v2/whiteLabel/offramp/allUserTransaction',
      '/onramp-bank/api/v1/offramp/allUserTransaction',
    ]) {
      assert.equal((await list('1', '499', alias)).body.data.length, 3);
    }
  });
});

describe('KYB requirements', () => {
  test('are four groups, unsigned and signed alike, with the patterns as programs get them', async () => {
    const unsigned = await acme.get('kyb/requirements', 'unsigned');
    assert.equal(unsigned.status, 200);
    const { data } = unsigned.body;
    assert.deepEqual(Object.keys(data), ['identityNumber', 'details', 'address', 'documents']);
    assert.equal(data.identityNumber.regex, '^[a-zA-Z0-9]*$');
    assert.equal(data.details.firstName.regex, '^(?!\\s).*$');
    assert.deepEqual(Object.keys(data.details), [
      'firstName',
      'firstSurname',
      'secondSurname',
      'dob',
      'sourceOfFunds',
      'sex',
    ]);
    assert.deepEqual(Object.keys(data.address), ['addressLine1', 'addressLine2', 'city', 'postalCode']);
    assert.deepEqual(
      [data.details.firstSurname.required, data.details.secondSurname.required, data.address.addressLine2.required],
      [0, 1, 0],
    );
    assert.match('1999-12-31', new RegExp(data.details.dob.regex));
    assert.doesNotMatch('2099-13-01', new RegExp(data.details.dob.regex));
    assert.deepEqual(data.documents['3'], {
      idName: 'Passport',
      files: ['passportFront.jpg', 'passportBack.jpg', 'selfie.jpg'],
    });
    assert.match(unsigned.text, /"regex":"\^\(\?!\\\\s\)\.\*\$"/);
    assert.deepEqual((await acme.get('kyb/requirements')).body.data, data);
    const typed = await acme.get('kyb/requirements', { headers: { 'content-type': 'application/json' } });
    assert.equal(typed.status, 200);
  });

  test('when signed are the partner’s own where it has any, for it alone, and the default again when they are removed', async () => {
    const own = await world.partner('own-requirements');
    const theDefault = (await own.get('kyb/requirements')).body.data;
    const requirements = {
      zipCode: { label: 'Zip', required: 1 },
      details: { name: { label: 'Name', required: 1 } },
    } as const;
    const set = (form: Parameters<typeof saveForm>[1]['form']) =>
      world.db.asSystem((tx) => {
        const now = world.clock.now();
        const scope = { kind: 'BUSINESS', partnerId: own.partner.id } as const;
        return saveForm(tx, { ...scope, form, needsDocument: false, effectiveAt: now, by: 'ada', now });
      });
    await set(requirements);
    const signed = await own.get('kyb/requirements', { spelling: 'prefixed' });
    assert.equal(
      JSON.stringify(signed.body.data),
      JSON.stringify(requirements),
      'the requirements are not in the order in which they were set',
    );
    assert.deepEqual(
      (await own.get('/onramp-bank/api/v2/whiteLabel/kyb/requirements?country=IN')).body.data,
      requirements,
    );
    for (const answer of [await own.get('kyb/requirements', 'unsigned'), await acme.get('kyb/requirements')])
      assert.deepEqual(answer.body.data, theDefault);
    const wrong = await own.get('kyb/requirements', { headers: { signature: '0'.repeat(128) } });
    assert.deepEqual([wrong.status, wrong.body.data], [401, undefined]);
    await set({});
    assert.deepEqual((await own.get('kyb/requirements')).body.data, theDefault);
  });

  for (const how of ['signed', 'unsigned'] as const)
    test(`of a text that is no country are the default, ${how}`, async () => {
      const get = (path: string) => (how === 'unsigned' ? acme.get(path, how) : acme.get(path));
      const { data } = (await get('kyb/requirements')).body;
      for (const text of ['United%20Kingdom', 'x'.repeat(2_000), 'I%00N', 'IN%0A', '%7F', '%ED%A0%80', 'ZZ', '7', '']) {
        const { status, body, text: said } = await get(`kyb/requirements?country=${text}`);
        assert.equal(status, 200, said);
        assert.deepEqual(body.data, data, text);
      }
    });

  test('with a wrong signature are refused rather than answered as if unsigned', async () => {
    const { status, body } = await acme.get('kyb/requirements', { headers: { signature: '0'.repeat(128) } });
    assert.equal(status, 401);
    assert.equal(body.reason, 'unauthenticated');
  });
});

describe('one onramp transaction', () => {
  test('has the keys of a purchase, the fiat in upper and the crypto in lower case', async () => {
    const now = new Date();
    await world.query(
      `insert into orders (id, partner_id, customer_id, direction, customer_seq, market_id, state, deposit_asset, deposit_units,
         payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain, rate_num, rate_den,
         rate_locked_until, deposit_rail, deposit_target, payout_rail, payment_method, payout_address, payout_reference,
         expires_at, created_at, updated_at)
       select 77001, $1, $2, 'onramp', 1, id, 'deposit_confirmed', 'inr', 20000, 'usdc.matic20', 7880000, 7880000, 'inr', 0, 0, 0, 0,
         2441, 100, $3, deposit_rail, 'ref-77001', payout_rail, payment_method, '0xAbC', '0xFEED', $3, $3, $3
         from markets where direction = 'onramp'`,
      [acme.partner.id, acme.customerId, now],
    );
    for (const path of ['onramp/transaction', '/onramp-bank/api/v2/whiteLabel/onramp/transaction']) {
      const { status, body } = await acme.post(path, { transactionId: '77001', customerId: acme.customerId });
      assert.equal(status, 200);
      assert.deepEqual(body.data, {
        transactionId: '77001',
        createdAt: now.toISOString(),
        updatedAt: now.toISOString(),
        fromAmount: '200',
        toAmount: '7.88',
        fromCurrency: 'INR',
        toCurrency: 'usdc',
        paymentMethodType: 'UPI',
        depositAddress: '0xAbC',
        status: '2',
        transactionHash: '0xfeed',
      });
      assert.deepEqual(Object.keys(body.data).length, 11);
    }
  });

  test('of the other direction is not found', async () => {
    const sale = (await create(acme)).body.data.transactionId;
    const asOnramp = await acme.post('onramp/transaction', { transactionId: sale, customerId: acme.customerId });
    assert.equal(asOnramp.status, 404);
    const asOfframp = await acme.post('offramp/transaction', { transactionId: '77001', customerId: acme.customerId });
    assert.equal(asOfframp.status, 404);
    assert.equal(asOfframp.body.reason, 'unknown_order');
  });
});
