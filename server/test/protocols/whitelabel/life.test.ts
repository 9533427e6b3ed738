/** The calls of a partner's program in order: customer, verification, account, quote, order; and the calls it may repeat. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Order, Payee } from '../../../src/orders/index.ts';
import { payInstructionsShape } from '../../../src/protocols/whitelabel/shapes.ts';
import { ask, type Client, type Fields, newPhone, openClient, sign } from '../../support/client.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

let world: Environment;
let acme: TestPartner;
let other: TestPartner;

before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  other = await world.partner('other');
});
after(async () => await world.stop());

const PAIR_OF_SALE = { fromCurrency: 'usdc', toCurrency: 'INR', fromAmount: '100' };

const enroll = (fields: Fields, partner: TestPartner = acme) =>
  partner.post('kyc/url', {
    phoneNumber: newPhone(),
    type: 'INDIVIDUAL',
    email: '',
    kycRedirectUrl: '',
    customerId: '',
    ...fields,
  });

describe('a customer', () => {
  test('gets an id of our form and a signed link', async () => {
    const { status, body } = await enroll({
      clientCustomerId: 'c-1',
      kycRedirectUrl: 'https://example.org/back',
      closeAfterLogin: true,
    });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body.data), ['kycUrl', 'customerId', 'clientCustomerId', 'signature']);
    assert.match(body.data.customerId, /^[0-9A-Za-z]{10}_\d+$/);
    assert.equal(body.data.clientCustomerId, 'c-1');
    assert.equal(body.data.signature, createHmac('sha512', acme.apiSecret).update(body.data.kycUrl).digest('hex'));
    assert.ok(body.data.kycUrl.startsWith(`${world.baseUrl}/kyc/`));
  });

  test('that exists already is a 400 with its id at the top, and a request with that id gives a new link for the same customer', async () => {
    const first = (await enroll({ clientCustomerId: 'c-2' })).body.data;
    const again = await enroll({ clientCustomerId: 'c-2' });
    assert.equal(again.status, 400);
    assert.match(again.body.error, new RegExp(`already linked to customerId ${first.customerId}`));
    assert.equal(again.body.reason, 'customer_exists');
    assert.equal(again.body.customerId, first.customerId);
    const repeated = await enroll({ clientCustomerId: 'c-2', customerId: again.body.customerId });
    assert.equal(repeated.status, 200);
    assert.equal(repeated.body.data.customerId, first.customerId);
    assert.notEqual(repeated.body.data.kycUrl, first.kycUrl);
    const bare = await acme.post('kyc/url', { customerId: first.customerId, type: 'INDIVIDUAL' });
    assert.equal(bare.body.data.customerId, first.customerId);
    assert.equal(bare.body.data.clientCustomerId, 'c-2');
  });

  test('owns its phone: another name with that phone gets the same answer, and a repeated call with the id a new link', async () => {
    const phoneNumber = '+44 7700 900 123';
    const first = (await enroll({ clientCustomerId: 'phone-3', phoneNumber })).body.data;
    const asked = { clientCustomerId: 'phone-4', phoneNumber: '+447700900123' };
    const second = await enroll(asked);
    assert.deepEqual(
      [second.status, second.body.reason, second.body.customerId],
      [400, 'customer_exists', first.customerId],
    );
    assert.match(second.body.error, /already linked to customerId/);
    const repeated = await enroll({ ...asked, customerId: second.body.customerId });
    assert.deepEqual(
      [repeated.status, repeated.body.data.customerId, repeated.body.data.clientCustomerId],
      [200, first.customerId, 'phone-4'],
    );
    const guessed = await enroll({ clientCustomerId: 'phone-4', customerId: first.customerId });
    assert.equal(guessed.status, 404, 'another name without the phone was taken for the customer');

    const moved = (await enroll({ clientCustomerId: 'phone-5' })).body.data;
    const mixed = await enroll({ clientCustomerId: 'phone-5', phoneNumber, customerId: first.customerId });
    assert.equal(mixed.status, 404, 'the name of one customer got a link of another');
    const taken = await acme.post('kyc/url', { customerId: moved.customerId, phoneNumber });
    assert.deepEqual([taken.status, taken.body.customerId], [400, first.customerId]);
    const elsewhere = await enroll({ clientCustomerId: 'phone-3', phoneNumber }, other);
    assert.equal(elsewhere.status, 200, "another partner's customer with the phone is in the way");
    const atOnce = await Promise.all(
      [1, 2, 3, 4].map((n) => enroll({ clientCustomerId: `phone-6-${n}`, phoneNumber: '+44 7700 900 777' })),
    );
    assert.deepEqual(atOnce.map(({ status }) => status).toSorted(), [200, 400, 400, 400]);
  });

  test('is found for a payload in either base64 alphabet, padded or not', async () => {
    const { customerId } = (await enroll({ clientCustomerId: 'c-64' })).body.data;
    for (const base64 of ['padded', 'bare', 'url'] as const) {
      // Long enough for each of the three lengths of padding.
      for (const filler of ['', '>', '>>']) {
        const answer = await acme.post('kyc/status', { customerId, filler: `${filler}???` }, { base64 });
        assert.equal(answer.status, 200, `${base64}: ${answer.text}`);
      }
    }
  });

  test('named by a number is the one named by its text, and the number is returned as a number', async () => {
    const { body } = await enroll({ clientCustomerId: 4711 });
    assert.equal(body.data.clientCustomerId, 4711);
    const again = await enroll({ clientCustomerId: '4711' });
    assert.equal(again.body.customerId, body.data.customerId);
  });

  test('of another partner may have the same name', async () => {
    const ours = (await enroll({ clientCustomerId: 'shared' })).body.data.customerId;
    const theirs = (await enroll({ clientCustomerId: 'shared' }, other)).body.data.customerId;
    assert.notEqual(ours, theirs);
  });

  test("under another customer's id is not found", async () => {
    const id = (await enroll({ clientCustomerId: 'c-3' })).body.data.customerId;
    assert.equal((await enroll({ clientCustomerId: 'c-4', customerId: id })).status, 404);
  });

  test('requested twice at once is created once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => enroll({ clientCustomerId: 'c-5' })));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array(7).fill(400)]);
    assert.equal(new Set(answers.map(({ body }) => body.customerId ?? body.data.customerId)).size, 1);
  });
});

const stand = async (customerId: string, partner: Client = acme) =>
  (await partner.post('kyc/status', { customerId })).body.data;

test('payment instructions leave out fields of other countries: no ifsc beside an IBAN, no iban beside an IFSC', () => {
  const order = { paymentMethod: 'SEPA_BANK_TRANSFER', expiresAt: new Date(0) } as Order;
  const common = { holder: 'Operator', bank: 'Bank', branch: 'Main', accountType: 'Current' };
  const shapeOf = (payee: object) =>
    payInstructionsShape(order, { payee: { ...common, ...payee } as Payee, reference: 'CL1' }).bank;
  const euro = shapeOf({ accountNumber: '', ifsc: '', iban: 'DE89370400440532013000', bic: 'COBADEFF' });
  assert.deepEqual(Object.keys(euro), ['name', 'accountNumber', 'type', 'branch', 'bank', 'iban', 'bic']);
  const rupee = shapeOf({ accountNumber: '000100020003', ifsc: 'TEST0000001', iban: '', bic: '' });
  assert.deepEqual(Object.keys(rupee), ['name', 'accountNumber', 'ifsc', 'type', 'branch', 'bank']);
});

describe('verification', () => {
  test('goes through its status words, each reached by the sandbox, with the time of each step', async () => {
    const { customerId } = (await enroll({ clientCustomerId: 'v-1' })).body.data;
    const fresh = await stand(customerId);
    assert.deepEqual(Object.keys(fresh), [
      'status',
      'updatedAt',
      'countryISO',
      'currentKycVerificationStep',
      'previousSuccessfulKycStep',
    ]);
    assert.equal(fresh.status, 'LOGIN_REQUIRED');
    assert.match(fresh.updatedAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    const words: [string, string][] = [
      ['OTP_COMPLETED', 'OTP_COMPLETED'],
      ['BASIC_KYC_COMPLETED', 'BASIC_KYC_COMPLETED'],
      ['INTERMEDIATE_KYC_COMPLETED', 'INTERMEDIATE_KYC_COMPLETED'],
      ['IN_REVIEW', 'IN_REVIEW'],
      ['ADVANCE_KYC_COMPLETED', 'ADVANCE_KYC_COMPLETED'],
      ['COMPLETED', 'COMPLETED'],
      ['EDD_COMPLETED', 'EDD_COMPLETED'],
      ['TEMPORARY_FAILED', 'TEMPORARY_FAILED'],
      ['LOGIN_REQUIRED', 'LOGIN_REQUIRED'],
      ['EDD_COMPLETED', 'EDD_COMPLETED'],
      ['PERMANENT_FAILED', 'PERMANENT_FAILED'],
    ];
    for (const [asked, shown] of words) {
      const { body } = await acme.post('test/changeKycStatus', { customerId, status: asked });
      assert.deepEqual(body.data, { changeStatus: true, message: `Status changed to ${asked}` });
      assert.equal((await stand(customerId)).status, shown);
    }
    const failed = await stand(customerId);
    assert.equal(failed.failedReason, 'Set in the sandbox');
    assert.equal(failed.previousSuccessfulKycStep, 'EDD_COMPLETED');
    assert.equal(
      (await acme.post('/onramp-bank/api/v1/kyc/status', { customerId })).body.data.status,
      'PERMANENT_FAILED',
    );
  });

  test('of a business has values that an individual does not have', async () => {
    const { customerId } = (await enroll({ clientCustomerId: 'v-business', type: 'BUSINESS' })).body.data;
    const change = (fields: Fields) => acme.post('test/changeKybStatus', { customerId, ...fields });
    const level = async () =>
      (await world.query('select level, verification, failed_reason from customers where id = $1', [customerId]))[0];
    const words: [string, string, unknown][] = [
      ['IN_REVIEW', 'IN_REVIEW', { level: 0, verification: 'in_review', failed_reason: null }],
      ['UPDATE_REQUIRED', 'TEMPORARY_FAILED', { level: 0, verification: 'failed', failed_reason: 'Update required' }],
      ['COMPLETED', 'ADVANCE_KYC_COMPLETED', { level: 3, verification: 'verified', failed_reason: null }],
      ['FAILED', 'TEMPORARY_FAILED', { level: 3, verification: 'failed', failed_reason: 'Set in the sandbox' }],
    ];
    for (const [asked, shown, row] of words) {
      const { body } = await change({ status: asked });
      assert.deepEqual(body.data, { changeStatus: true, message: `Status changed to ${asked}` });
      assert.equal((await stand(customerId)).status, shown);
      assert.deepEqual(await level(), row);
    }
    const seen = await world.query('select outcome from verifications where customer_id = $1 order by at', [
      customerId,
    ]);
    assert.equal(seen.length, words.length, 'there is not one finding for each status word');
    await change({ status: 'COMPLETED' });
    const sale = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount: '10', customerId };
    assert.equal(
      (await acme.post('offramp/createTransaction', sale)).body.error,
      'Missing parameter -> fiatAccountId.',
    );

    const unknown = await change({ status: 'COMPLETED', submissionId: 'S-1' });
    assert.deepEqual([unknown.status, unknown.body.error], [404, 'Submission not found.']);
    assert.equal(
      (await change({ status: 'COMPLETED', submissionId: '' })).status,
      200,
      'an empty submission id was not treated as absent',
    );
    for (const status of ['DONE', 'completed', 'ADVANCE_KYC_COMPLETED', '1']) {
      const { status: http, body } = await change({ status });
      assert.deepEqual([http, Object.keys(body.fields)], [400, ['status']]);
    }
    const person = await acme.post('test/changeKybStatus', { customerId: acme.customerId, status: 'COMPLETED' });
    assert.equal(person.status, 400);
    assert.match(person.body.fields.customerId, /^is an individual/);
  });

  test('does not change the kind of a customer', async () => {
    const { customerId } = (await enroll({ clientCustomerId: 'v-kind' })).body.data;
    const { status, body } = await acme.post('kyc/url', { customerId, type: 'BUSINESS', phoneNumber: '+4912345678' });
    assert.equal(status, 400);
    assert.match(body.fields.type, /^must be INDIVIDUAL/);
    const [row] = await world.query('select kind from customers where id = $1', [customerId]);
    assert.equal(row.kind, 'INDIVIDUAL');
    assert.equal((await acme.post('kyc/url', { customerId, type: 'individual' })).status, 200);
  });

  test('can have other words for a partner, which the partner may use', async () => {
    const own = await world.partner('own-words');
    await world.query(`update partners set kyc_words = '{"BASIC_KYC_COMPLETED": "COMPLETED"}' where id = $1`, [
      own.partner.id,
    ]);
    // The server has stored nothing about a key that was never used.
    const client = openClient(world.baseUrl, await world.keyOf(own.partner));
    const customerId = await world.customer(client, own.partner, 'w-1', false);
    await client.post('test/changeKycStatus', { customerId, status: 'COMPLETED' });
    assert.equal((await stand(customerId, client)).status, 'COMPLETED');
    const [row] = await world.query('select level from customers where id = $1', [customerId]);
    assert.equal(row.level, 1);
  });

  test('is required for trading, also of a customer who is logged in', async () => {
    const { customerId } = (await enroll({ clientCustomerId: 'v-2' })).body.data;
    await acme.post('test/changeKycStatus', { customerId, status: 'OTP_COMPLETED' });
    const fields = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount: '10', customerId };
    const { status, body } = await acme.post('offramp/createTransaction', fields);
    assert.deepEqual([status, body.reason], [403, 'verification_required']);
  });
});

describe('fiat accounts', () => {
  test('are not duplicated by the same details, and the list shows the details that were given', async () => {
    const customerId = await world.customer(acme, acme.partner, 'a-1');
    const add = async (fields: Fields, form = false) =>
      (await acme.post('bank/addFiatAccount', { customerId, ...fields }, form ? { format: 'form' } : {})).body.data
        .fiatAccountId;
    const first = await add({ fiatAccount: '000111222333', ifsc: 'HDFC0001234' });
    assert.match(first, /^\d+$/);
    assert.equal(await add({ fiatAccount: '0001 1122 2333', ifsc: 'hdfc0001234' }), first);
    assert.equal(await add({ fiatAccount: '{"accountNumber":"000111222333","ifsc":"HDFC0001234"}' }, true), first);
    const second = await add({ iban: 'DE89 3704 0044 0532 0130 00' });
    assert.notEqual(second, first);
    const { body, headers } = await acme.post('bank/fiatAccounts', { customerId });
    assert.equal(headers.get('x-total-count'), '2');
    assert.deepEqual(
      body.data.map((account: Fields) => ({ ...account, createdAt: undefined })),
      [
        {
          fiatAccountId: first,
          fiatAccount: '000111222333',
          ifsc: 'HDFC0001234',
          currency: 'INR',
          createdAt: undefined,
        },
        {
          fiatAccountId: second,
          fiatAccount: 'DE89370400440532013000',
          iban: 'DE89370400440532013000',
          currency: 'EUR',
          createdAt: undefined,
        },
      ],
    );
  });
});

const quoted = async (fromAmount: string) => {
  const { data } = (await acme.post('offramp/quote', { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount })).body;
  return { rate: data.rate, toAmount: data.toAmount };
};

const ordersNow = async () => Number((await world.query('select count(*) from orders'))[0].count);

describe('an offramp order', () => {
  const fields = async (fromAmount: string): Promise<Fields> => ({
    fromCurrency: 'usdc',
    toCurrency: 'inr',
    chain: 'matic20',
    fromAmount,
    ...(await quoted(fromAmount)),
    customerId: acme.customerId,
    fiatAccountId: acme.fiatAccountId,
    merchantRecognitionId: 'm-1',
  });

  test('returns the deposit address and the deadline, and a later request shows both', async () => {
    const { status, body } = await acme.post('offramp/createTransaction', await fields('12.5'));
    assert.equal(status, 200, JSON.stringify(body));
    const { transactionId, createdAt, depositAddress, expiresAt, ...rest } = body.data;
    assert.match(createdAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    assert.match(depositAddress, /^0x[0-9a-f]{40}$/);
    assert.deepEqual(rest, { chain: 'matic20', fromAmount: '12.5', toAmount: '1075', rate: '86' });
    const found = (await acme.post('offramp/transaction', { transactionId, customerId: acme.customerId })).body.data;
    assert.equal(found.depositAddress, depositAddress);
    assert.equal(found.expiresAt, expiresAt);
    assert.equal(found.status, '0');
    assert.equal(found.fromCurrency, 'USDC');
  });

  test('accepts amounts sent as doubles as the quoted ones, and uses up the quote', async () => {
    const asked = await fields('33.3');
    const { status } = await acme.post('offramp/createTransaction', asked, { sends: 'numbers' });
    assert.equal(status, 200);
    const [row] = await world.query(
      'select count(*) from quotes where order_id is not null and deposit_units = 33300000',
    );
    assert.equal(Number(row.count), 1);
  });

  test('accepts the chain as a quote does: its code in any case, or the coin’s own code for the quoted chain', async () => {
    for (const chain of ['MATIC20', 'usdc', 'USDC']) {
      const quoted = await acme.post('offramp/quote', { ...PAIR_OF_SALE, chain });
      const { customerId, fiatAccountId } = acme;
      const made = await acme.post('offramp/createTransaction', { ...PAIR_OF_SALE, chain, customerId, fiatAccountId });
      assert.deepEqual([quoted.status, made.status, made.body.data?.chain], [200, 200, 'matic20'], made.text);
    }
  });

  test('without rate and amount gets a new price; without an account it uses the only one', async () => {
    const { rate, toAmount, fiatAccountId: _, ...bare } = await fields('44');
    const { body } = await acme.post('offramp/createTransaction', bare);
    assert.deepEqual([body.data.rate, body.data.toAmount], [rate, toAmount]);
    const customerId = await world.customer(acme, acme.partner, 'o-1');
    const none = await acme.post('offramp/createTransaction', { ...bare, customerId });
    assert.equal(none.body.error, 'Missing parameter -> fiatAccountId.');
    for (const fiatAccount of ['1000001', '1000002'])
      await acme.post('bank/addFiatAccount', { customerId, fiatAccount, ifsc: 'HDFC0001234' });
    assert.equal((await acme.post('offramp/createTransaction', { ...bare, customerId })).status, 400);
  });

  test('the same signed bytes twice are one order and the same reply, to the letter', async () => {
    const earlier = await ordersNow();
    const { headers, text } = sign(acme, await fields('55'));
    const send = (path = 'offramp/createTransaction') =>
      ask(world.baseUrl, path, { method: 'POST', headers, body: text });
    const first = await send();
    assert.equal(first.status, 200);
    assert.equal((await send()).text, first.text);
    assert.equal((await send('/onramp-bank/api/v2/whiteLabel/offramp/createTransaction')).text, first.text);
    assert.equal(await ordersNow(), earlier + 1);
  });

  test('the same key twice is one order, however the body is written; another body under it is a 409', async () => {
    const earlier = await ordersNow();
    const body = await fields('56');
    const keyed = { headers: { 'Idempotency-Key': 'k-1' } };
    const first = await acme.post('offramp/createTransaction', body, keyed);
    for (const signing of [keyed, { ...keyed, format: 'form' }, { ...keyed, sends: 'numbers' }] as const) {
      assert.equal((await acme.post('offramp/createTransaction', body, signing)).text, first.text);
    }
    const changed = await acme.post('offramp/createTransaction', { ...body, fromAmount: '57' }, keyed);
    assert.deepEqual([changed.status, changed.body.reason], [409, 'idempotency_conflict']);
    assert.equal(await ordersNow(), earlier + 1);
    const theirs = { ...body, customerId: other.customerId, fiatAccountId: other.fiatAccountId };
    assert.equal(
      (await other.post('offramp/createTransaction', theirs, keyed)).status,
      200,
      'the key of another partner was shared',
    );
    const long = { headers: { 'Idempotency-Key': 'k'.repeat(256) } };
    assert.equal((await acme.post('offramp/createTransaction', body, long)).status, 400);
  });

  test('twenty requests at once under one key are one order: the others get its reply or are told to wait', async () => {
    const earlier = await ordersNow();
    const body = await fields('58');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        acme.post('offramp/createTransaction', body, { headers: { 'Idempotency-Key': 'k-2' } }),
      ),
    );
    const good = answers.filter(({ status }) => status === 200);
    assert.ok(good.length >= 1);
    assert.equal(new Set(good.map(({ text }) => text)).size, 1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      assert.deepEqual(
        [answer.status, answer.body.reason, answer.headers.get('retry-after')],
        [409, 'idempotency_in_flight', '1'],
      );
    }
    assert.equal(await ordersNow(), earlier + 1);
  });

  test('a refusal is not stored: the same key works once the reason is gone', async () => {
    const keyed = { headers: { 'Idempotency-Key': 'k-3' } };
    const customerId = await world.customer(acme, acme.partner, 'o-2');
    const body = { ...(await fields('59')), customerId, fiatAccountId: '' };
    assert.equal((await acme.post('offramp/createTransaction', body, keyed)).status, 400);
    await acme.post('bank/addFiatAccount', { customerId, fiatAccount: '1000003', ifsc: 'HDFC0001234' });
    assert.equal((await acme.post('offramp/createTransaction', body, keyed)).status, 200);
  });

  test('a key expires after a day', async () => {
    const earlier = await ordersNow();
    const keyed = { headers: { 'Idempotency-Key': 'k-4' } };
    const body = await fields('60');
    await acme.post('offramp/createTransaction', body, keyed);
    world.clock.advance(24 * 3_600_000);
    assert.equal((await acme.post('offramp/createTransaction', body, keyed)).status, 200);
    assert.equal(await ordersNow(), earlier + 2);
  });

  test('is driven in the sandbox by its status number, where a number of the second track means that of the first', async () => {
    const { transactionId } = (await acme.post('offramp/createTransaction', await fields('61'))).body.data;
    const drive = (status: unknown) =>
      acme.post('test/changeOfframpStatus', { customerId: acme.customerId, transactionId, status });
    assert.deepEqual((await drive('10')).body.data, {
      changeStatus: true,
      message: 'Status changed to 10 i.e ON_CHAIN_DEPOSIT_RECEIVED',
    });
    await drive(6);
    await drive('-4');
    assert.equal((await drive('0')).status, 200);
    assert.deepEqual(
      world.driven.map(({ status }) => status),
      [1, 6, -4],
    );
  });

  test('without a fresh price a quote is refused by a 503 that says when to retry', async () => {
    await world.query(`update prices set priced_at = priced_at - interval '1 hour'`);
    const { status, body, headers } = await acme.post('offramp/quote', {
      fromCurrency: 'usdc',
      toCurrency: 'inr',
      fromAmount: '1',
    });
    assert.deepEqual([status, body.code, body.reason], [503, 503, 'unavailable']);
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    await world.refreshPrices();
  });
});

describe('keys', () => {
  test('a suspended partner is refused for every request', async () => {
    const gone = await world.partner('gone');
    await world.query('update partners set suspended_at = now() where id = $1', [gone.partner.id]);
    const keys = await world.keyOf(gone.partner);
    const { status, body } = await openClient(world.baseUrl, keys).post('offramp/quote', {});
    assert.deepEqual([status, body.reason], [403, 'partner_suspended']);
  });

  test('a key bound to another network does not work from here', async () => {
    const keys = await world.keyOf(acme.partner);
    await world.query(`update api_keys set addresses = '{203.0.113.0/24}' where key = $1`, [keys.apiKey]);
    const { status, body } = await openClient(world.baseUrl, keys).post('kyc/status', { customerId: acme.customerId });
    assert.deepEqual([status, body.reason], [403, 'address_not_allowed']);
  });
});
