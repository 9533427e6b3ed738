/**
 * Bad input: each request gets its 4xx in the common envelope, and changes nothing.
 *
 * Long because each refusal of the wire is one row of its tables.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type Answer, ask, type Fields, hmac, openClient, type Signing, sign } from '../../support/client.ts';
import { contractOf, type Environment, type TestPartner, wireEnvironment } from './environment.ts';

let world: Environment;
let acme: TestPartner;
let other: TestPartner;
let stranger: string;
let business: string;
let acmeOrder: string;
let otherOrder: string;

const quote: Fields = { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '100' };
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';
const COMMON = '/onramp/api/v2/common/transaction';
const HISTORY = '/onramp/api/v1/transaction/merchantHistory';
let sale: Fields;
let buy: Fields;
let list: Fields;
let get: Fields;
let bought: Fields;
let otherPurchase: string;

before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  other = await world.partner('other');
  stranger = await world.customer(acme, acme.partner, 'not-logged-in', false);
  const enrolled = await acme.post('kyc/url', { clientCustomerId: 'Ltd', phoneNumber: '12345678', type: 'BUSINESS' });
  business = enrolled.body.data.customerId;
  sale = { ...quote, chain: 'matic20', customerId: acme.customerId, fiatAccountId: acme.fiatAccountId };
  acmeOrder = (await acme.post('offramp/createTransaction', sale)).body.data.transactionId;
  otherOrder = (
    await other.post('offramp/createTransaction', {
      ...sale,
      customerId: other.customerId,
      fiatAccountId: other.fiatAccountId,
    })
  ).body.data.transactionId;
  buy = {
    fromCurrency: 'inr',
    toCurrency: 'usdc',
    chain: 'matic20',
    fromAmount: '1000',
    customerId: acme.customerId,
    depositAddress: WALLET,
    paymentMethodType: 'UPI',
  };
  const purchase = await acme.post('onramp/createTransaction', buy);
  bought = { transactionId: purchase.body.data.transactionId, customerId: acme.customerId };
  const theirs = await other.post('onramp/createTransaction', { ...buy, customerId: other.customerId });
  otherPurchase = theirs.body.data.transactionId;
  list = { customerId: acme.customerId, page: '1', pageSize: '10' };
  get = { transactionId: acmeOrder, customerId: acme.customerId };
});
after(async () => await world.stop());

function isRefusal(answer: Answer, code: number, reason: string, note = ''): void {
  const said = `${note} → ${answer.status} ${answer.text}`;
  assert.equal(answer.status, code, said);
  assert.equal(answer.body.status, 0, said);
  assert.equal(answer.body.code, code, said);
  assert.equal(answer.body.reason, reason, said);
  assert.ok(typeof answer.body.error === 'string' && answer.body.error.length > 0, said);
  assert.equal(answer.body.message, answer.body.error, said);
  assert.ok(!('data' in answer.body), said);
  if (reason === 'malformed_field' || reason === 'missing_fields' || reason === 'wrong_type') {
    assert.ok(Object.keys(answer.body.fields).length > 0, said);
  }
}

async function changesNothing<T>(body: () => Promise<T>, besides: readonly string[] = []): Promise<T> {
  const earlier = await world.contents(besides);
  const result = await body();
  assert.equal(await world.contents(besides), earlier, 'a refused request changed a table');
  return result;
}

const refuses = async (path: string, body: Fields, code: number, reason: string, signing: Signing = {}) =>
  isRefusal(await sendTo(path, body, signing), code, reason, `${path} ${JSON.stringify(body).slice(0, 200)}`);

/** Sends with the method of the endpoint: one of them is a PUT. */
const sendTo = (path: string, body: Fields, signing: Signing = {}): Promise<Answer> =>
  ENDPOINTS.find((one) => one.path === path)?.method === 'put'
    ? acme.put(path, body, signing)
    : acme.post(path, body, signing);

const ENDPOINTS: { path: string; method?: 'put'; required: string[]; good: () => Fields }[] = [
  { path: 'offramp/quote', required: ['fromCurrency', 'toCurrency', 'fromAmount'], good: () => quote },
  {
    path: 'offramp/createTransaction',
    required: ['fromCurrency', 'toCurrency', 'chain', 'fromAmount', 'customerId'],
    good: () => sale,
  },
  { path: 'offramp/allUserTransaction', required: ['customerId', 'page', 'pageSize'], good: () => list },
  { path: 'offramp/transaction', required: ['transactionId', 'customerId'], good: () => get },
  { path: 'onramp/transaction', required: ['transactionId', 'customerId'], good: () => bought },
  {
    path: 'onramp/quote',
    required: ['fromCurrency', 'toCurrency', 'fromAmount'],
    good: () => ({ fromCurrency: 'inr', toCurrency: 'usdc', fromAmount: '1000' }),
  },
  {
    path: 'onramp/createTransaction',
    required: [
      'fromCurrency',
      'toCurrency',
      'fromAmount',
      'chain',
      'customerId',
      'depositAddress',
      'paymentMethodType',
    ],
    good: () => buy,
  },
  {
    path: 'onramp/referenceId',
    method: 'put',
    required: ['customerId', 'transactionId', 'referenceId'],
    good: () => ({ ...bought, referenceId: 'UTR000111' }),
  },
  { path: 'bank/bankDetails', required: ['customerId', 'transactionId'], good: () => bought },
  { path: 'onramp/allUserTransaction', required: ['customerId', 'page', 'pageSize'], good: () => list },
  { path: 'onramp/allTransaction', required: ['page', 'pageSize'], good: () => ({ page: '1', pageSize: '10' }) },
  { path: 'offramp/allTransaction', required: ['page', 'pageSize'], good: () => ({ page: '1', pageSize: '10' }) },
  {
    path: 'kyc/requirements',
    required: ['customerId', 'fiatType'],
    good: () => ({ customerId: acme.customerId, fiatType: '1' }),
  },
  {
    path: 'test/changeOnrampStatus',
    required: ['customerId', 'transactionId', 'status'],
    good: () => ({ ...bought, status: '2' }),
  },
  { path: `${COMMON}/limits`, required: ['type'], good: () => ({ type: '3' }) },
  { path: `${COMMON}/allCoinLimits`, required: ['fiatType'], good: () => ({ fiatType: '1' }) },
  { path: `${COMMON}/priceTicker`, required: ['type', 'fiatType'], good: () => ({ type: '3', fiatType: '1' }) },
  {
    path: `${COMMON}/orderStatus`,
    required: ['orderId', 'type'],
    good: () => ({ orderId: bought.transactionId, type: '1' }),
  },
  {
    path: `${COMMON}/quotes`,
    required: ['coinCode', 'fiatAmount', 'fiatType', 'type'],
    good: () => ({ coinCode: 'usdc', fiatAmount: '1000', fiatType: '1', type: '1' }),
  },
  {
    path: `${COMMON}/generateLink`,
    required: ['coinCode', 'fiatAmount', 'fiatType', 'type'],
    good: () => ({ coinCode: 'usdc', fiatAmount: '1000', fiatType: '1', type: '1' }),
  },
  { path: 'kyc/status', required: ['customerId'], good: () => ({ customerId: acme.customerId }) },
  { path: 'bank/fiatAccounts', required: ['customerId'], good: () => ({ customerId: acme.customerId }) },
  {
    path: 'bank/addFiatAccount',
    required: ['customerId', 'fiatAccount', 'ifsc'],
    good: () => ({ customerId: acme.customerId, fiatAccount: '999888777', ifsc: 'HDFC0001234' }),
  },
  {
    path: 'kyc/url',
    required: ['clientCustomerId', 'phoneNumber', 'type'],
    good: () => ({ clientCustomerId: 'another', phoneNumber: '12345678', type: 'INDIVIDUAL' }),
  },
  {
    path: 'test/changeKycStatus',
    required: ['customerId', 'status'],
    good: () => ({ customerId: acme.customerId, status: 'IN_REVIEW' }),
  },
  {
    path: 'test/changeKybStatus',
    required: ['customerId', 'status'],
    good: () => ({ customerId: business, status: 'IN_REVIEW' }),
  },
  {
    path: 'test/changeOfframpStatus',
    required: ['customerId', 'transactionId', 'status'],
    good: () => ({ ...get, status: '1' }),
  },
];

describe('fields', () => {
  test('each absent, empty or null field is reported as missing, alone and all together, in order', async () => {
    await changesNothing(async () => {
      for (const { path, required, good } of ENDPOINTS) {
        for (const name of required) {
          for (const value of [undefined, '', null]) {
            const answer = await sendTo(path, { ...good(), [name]: value });
            isRefusal(answer, 400, 'missing_fields', `${path} ${name}`);
            assert.equal(answer.body.error, `Missing parameter -> ${name}.`);
            assert.deepEqual(Object.keys(answer.body.fields), [name]);
          }
        }
        const none = await sendTo(path, {});
        assert.equal(none.body.error, `Missing parameter -> ${required.join(', ')}.`);
        for (const format of ['form', 'multipart'] as const)
          assert.equal((await sendTo(path, {}, { format })).body.error, none.body.error);
      }
    });
  });

  test('an object, array or boolean in any field is a 409, also in JSON sent to an endpoint for forms', async () => {
    await changesNothing(async () => {
      for (const { path, required, good } of ENDPOINTS) {
        for (const name of required) {
          for (const value of [{ a: 1 }, {}, [], ['1'], true, false]) {
            await refuses(path, { ...good(), [name]: value }, 409, 'wrong_type');
          }
        }
      }
    });
  });

  test('hostile strings in any field are refused or unknown, never executed and never a 500', async () => {
    const hostile = [
      "'; drop table orders; --",
      '\u0000',
      'a\u0000b',
      '\ud800',
      '<script>alert(1)</script>',
      '${jndi:ldap://x/y}',
      '../../../../etc/passwd',
      '%00%0a',
      '{{constructor.constructor("x")()}}',
      '‮​',
      '😀'.repeat(10),
      '\u001b[31m',
      'x'.repeat(10_000),
      '__proto__',
      'constructor',
      '[object Object]',
    ];
    await changesNothing(async () => {
      for (const { path, required, good } of ENDPOINTS) {
        for (const name of required) {
          // These two are free texts of the partner, where most values are valid.
          if (name === 'clientCustomerId' || name === 'referenceId') continue;
          for (const value of hostile) {
            const answer = await sendTo(path, { ...good(), [name]: value });
            assert.ok(
              [400, 404, 406].includes(answer.status),
              `${path} ${name} ${JSON.stringify(value).slice(0, 40)} → ${answer.text}`,
            );
            isRefusal(answer, answer.status, answer.body.reason, path);
          }
        }
      }
      for (const value of ['\u0000', 'x'.repeat(129), '\ud800']) {
        await refuses(
          'kyc/url',
          { clientCustomerId: value, phoneNumber: '12345678', type: 'INDIVIDUAL' },
          400,
          'malformed_field',
        );
        await refuses('offramp/createTransaction', { ...sale, merchantRecognitionId: value }, 400, 'malformed_field');
      }
    });
  });

  test('an amount that is not a plain decimal above zero is refused, by quotes and orders', async () => {
    const bad = [
      '-1',
      '0',
      '0.0',
      '1e5',
      '1E2',
      '0x10',
      '1,000',
      '1 000',
      ' 1',
      '１２',
      '٣',
      '1.2.3',
      '.',
      'NaN',
      'Infinity',
      '+1',
      '9'.repeat(41),
      '1'.repeat(9_000),
      '1.0000001',
      '0.0000001',
    ];
    await changesNothing(async () => {
      for (const fromAmount of bad) {
        await refuses('offramp/quote', { ...quote, fromAmount }, 400, 'malformed_field');
        await refuses('offramp/quote', { ...quote, fromAmount }, 400, 'malformed_field', { format: 'form' });
        await refuses('offramp/createTransaction', { ...sale, fromAmount }, 400, 'malformed_field');
      }
      for (const fromAmount of [-1, 0, 1.0000001, 1e-7, -1e21]) {
        await refuses('offramp/quote', { ...quote, fromAmount }, 400, 'malformed_field');
      }
      for (const bent of [
        { toAmount: '8600.001' },
        { toAmount: '-1' },
        { rate: '0' },
        { rate: '86,0' },
        { rate: '1e2' },
      ]) {
        await refuses('offramp/createTransaction', { ...sale, ...bent }, 400, 'malformed_field');
      }
    });
  });

  test('the amount paid in for a purchase is checked the same way, also under its older field names', async () => {
    const bad = [
      '-1',
      '0',
      '0.00',
      '1e5',
      '0x10',
      '1,000',
      ' 1000',
      '１０００',
      '1.2.3',
      '.',
      'NaN',
      '9'.repeat(41),
      '1000.001',
    ];
    const numbers: Fields = { coinCode: 'usdc', network: 'matic20', fiatType: 1 };
    await changesNothing(async () => {
      for (const fromAmount of [...bad, -1, 0, 1000.001, -1e21]) {
        for (const signing of [{}, { format: 'form' }] as const) {
          await refuses('onramp/quote', { ...buy, fromAmount }, 400, 'malformed_field', signing);
          await refuses('onramp/createTransaction', { ...buy, fromAmount }, 400, 'malformed_field', signing);
          const quoted = { ...numbers, fiatAmount: fromAmount, type: 1 };
          await refuses(`${COMMON}/quotes`, quoted, 400, 'malformed_field', signing);
        }
      }
      for (const quantity of [...bad.filter((text) => text !== '1000.001'), '1.0000001']) {
        await refuses(`${COMMON}/quotes`, { ...numbers, quantity, type: 2 }, 400, 'malformed_field');
      }
      for (const bent of [
        { toAmount: '0' },
        { toAmount: '11.6279069' },
        { rate: '0' },
        { rate: '-86' },
        { rate: '86,0' },
      ]) {
        await refuses('onramp/createTransaction', { ...buy, ...bent }, 400, 'malformed_field');
      }
    });
  });

  test('an address that is always a mistake is refused', async () => {
    const lower = WALLET.toLowerCase();
    const contract = contractOf('usdc.matic20');
    await changesNothing(async () => {
      for (const depositAddress of [
        WALLET.replace('E0F', 'e0F'),
        `0x${'0'.repeat(40)}`,
        contract,
        `0x${contract.slice(2).toUpperCase()}`,
        contractOf('dai.matic20'),
        lower.slice(2),
        lower.slice(0, -1),
        `${lower}0`,
        `0X${lower.slice(2)}`,
        lower.replace('5', 'g'),
        ` ${lower}`,
        'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
        'vitalik.eth',
        1,
      ]) {
        for (const format of ['json', 'form'] as const) {
          await refuses('onramp/createTransaction', { ...buy, depositAddress }, 400, 'malformed_field', { format });
        }
      }
    });
    for (const depositAddress of [WALLET, lower, `0x${WALLET.slice(2).toUpperCase()}`]) {
      const { status, body } = await acme.post('onramp/createTransaction', { ...buy, depositAddress });
      assert.equal(status, 200);
      const { transactionId } = body.data;
      const shown = await acme.post('onramp/transaction', { transactionId, customerId: acme.customerId });
      assert.equal(shown.body.data.depositAddress, lower);
    }
  });

  test('a field with a fixed list of values accepts only those', async () => {
    const quoted: Fields = { coinCode: 'usdc', fiatAmount: '1000', quantity: '10', fiatType: '1' };
    await changesNothing(async () => {
      for (const type of ['0', '3', '1.0', '-1', 'onramp', '１', '11']) {
        await refuses(`${COMMON}/orderStatus`, { orderId: bought.transactionId, type }, 400, 'malformed_field');
        await refuses(`${COMMON}/quotes`, { ...quoted, type }, 400, 'malformed_field');
        await refuses(HISTORY, { type }, 400, 'malformed_field');
        if (type === '3') continue;
        await refuses(`${COMMON}/limits`, { type }, 400, 'malformed_field');
        await refuses(`${COMMON}/priceTicker`, { type, fiatType: '1' }, 400, 'malformed_field');
      }
      for (const order of ['UP', 'ASC;', '1', 'DESCENDING']) await refuses(HISTORY, { order }, 400, 'malformed_field');
      for (const since of ['yesterday', '2024-13-01', '2024-02-30', '0000-01-01', '1', '2024-05-08T25:00:00Z', '-1']) {
        await refuses(HISTORY, { since }, 400, 'malformed_field');
      }
      for (const value of [{}, ['1'], true]) {
        for (const name of ['page', 'pageSize', 'since', 'order', 'type', 'fiatType', 'countryCode']) {
          await refuses(HISTORY, { [name]: value }, 409, 'wrong_type');
        }
      }
      for (const status of ['7', '-5', '99', 'x', '1.0']) {
        await refuses('test/changeOnrampStatus', { ...bought, status }, 400, 'malformed_field');
      }
    });
  });

  test('page and pageSize are whole numbers in their bounds', async () => {
    const bad = ['0', '-1', '1.5', '1.0', '1e2', 'x', ' 1', '+1', '１', '9'.repeat(20), '9'.repeat(10), '0x1', 'NaN'];
    await changesNothing(async () => {
      for (const value of [...bad, 0, -1, 1.5]) {
        await refuses('offramp/allUserTransaction', { ...list, page: value }, 400, 'malformed_field');
        await refuses('offramp/allUserTransaction', { ...list, pageSize: value }, 400, 'malformed_field');
      }
      const taking500 = ['onramp/allUserTransaction', 'onramp/allTransaction', 'offramp/allTransaction', HISTORY];
      for (const path of taking500) {
        for (const value of [...bad, 0, -1, 1.5]) {
          await refuses(path, { ...list, page: value }, 400, 'malformed_field');
          await refuses(path, { ...list, pageSize: value }, 400, 'malformed_field');
        }
        await refuses(path, { ...list, pageSize: '501' }, 400, 'malformed_field');
        assert.equal((await acme.post(path, { ...list, pageSize: '500' })).status, 200, path);
      }
      for (const pageSize of ['500', '501', 500]) {
        await refuses('offramp/allUserTransaction', { ...list, pageSize }, 400, 'malformed_field');
      }
      assert.equal((await acme.post('offramp/allUserTransaction', { ...list, pageSize: '499' })).status, 200);
    });
  });

  test('all malformed fields are named at once', async () => {
    const { body } = await acme.post('offramp/allUserTransaction', { ...list, page: '0', pageSize: '500' });
    assert.deepEqual(body.fields, { page: 'must be greater than 0', pageSize: 'must be less than 500' });
    assert.equal(body.error, 'Invalid parameter -> page must be greater than 0; pageSize must be less than 500.');
  });

  test('a malformed phone number gets the sentence that programs know', async () => {
    await changesNothing(async () => {
      for (const phoneNumber of ['123', 'phone', '1'.repeat(16), '+', '١٢٣٤٥٦٧٨']) {
        const answer = await acme.post('kyc/url', { clientCustomerId: 'p', phoneNumber, type: 'INDIVIDUAL' });
        isRefusal(answer, 400, 'malformed_field');
        assert.equal(answer.body.error, 'Please provide a valid phone number string');
      }
      for (const bent of [
        { type: 'PERSON' },
        { email: 'nobody' },
        { kycRedirectUrl: 'javascript:alert(1)' },
        { closeAfterLogin: 'maybe' },
      ]) {
        await refuses(
          'kyc/url',
          { clientCustomerId: 'p', phoneNumber: '12345678', type: 'BUSINESS', ...bent },
          400,
          'malformed_field',
        );
      }
    });
  });

  test('a malformed account is refused', async () => {
    const good = { customerId: acme.customerId, fiatAccount: '999888777', ifsc: 'HDFC0001234' };
    await changesNothing(async () => {
      for (const bent of [
        { ifsc: 'X' },
        { ifsc: 'HDFC00012345' },
        { fiatAccount: '1' },
        { fiatAccount: '9'.repeat(35) },
        { fiatAccount: '12;34' },
      ]) {
        await refuses('bank/addFiatAccount', { ...good, ...bent }, 400, 'malformed_field');
      }
      await refuses(
        'bank/addFiatAccount',
        { customerId: acme.customerId, iban: 'DE89370400440532013001' },
        400,
        'malformed_field',
      );
      await refuses('bank/addFiatAccount', { ...good, fiatType: '99' }, 406, 'unsupported_pair');
      await refuses('bank/addFiatAccount', { ...good, ifsc: undefined, fiatType: '1' }, 400, 'malformed_field');
    });
  });

  test('a status without a meaning is refused in the sandbox', async () => {
    await changesNothing(async () => {
      for (const status of ['7', '16', '-3', '99', 'x', '1.0', 'SETTLED', '１']) {
        await refuses('test/changeOfframpStatus', { ...get, status }, 400, 'malformed_field');
        await refuses('test/changeKycStatus', { customerId: acme.customerId, status }, 400, 'malformed_field');
      }
      for (const status of ['toString', 'constructor', '__proto__']) {
        await refuses('test/changeKycStatus', { customerId: acme.customerId, status }, 400, 'malformed_field');
      }
    });
  });
});

describe('unknown objects', () => {
  test('an unknown coin, pair or chain is a 406', async () => {
    await changesNothing(async () => {
      for (const bent of [
        { fromCurrency: 'nocoin' },
        { toCurrency: 'xxx' },
        { fromCurrency: 'inr', toCurrency: 'usdc' },
      ]) {
        await refuses('offramp/quote', { ...quote, ...bent }, 406, 'unsupported_pair');
        await refuses('offramp/createTransaction', { ...sale, ...bent }, 406, 'unsupported_pair');
      }
      for (const chain of ['nochain', 'trc20', '-1', 'matic20 ']) {
        await refuses('offramp/quote', { ...quote, chain }, 406, 'unsupported_chain');
        await refuses('offramp/createTransaction', { ...sale, chain }, 406, 'unsupported_chain');
      }
      for (const bent of [{ toCurrency: 'nocoin' }, { fromCurrency: 'xxx' }, { toCurrency: 'dai' }]) {
        await refuses('onramp/quote', { ...buy, ...bent }, 406, 'unsupported_pair');
        await refuses('onramp/createTransaction', { ...buy, ...bent }, 406, 'unsupported_pair');
      }
      for (const chain of ['nochain', 'erc20', '3']) {
        await refuses('onramp/quote', { ...buy, chain }, 406, 'unsupported_chain');
        await refuses('onramp/createTransaction', { ...buy, chain }, 406, 'unsupported_chain');
      }
      for (const paymentMethodType of ['PIX', 'CASH', '1']) {
        await refuses('onramp/createTransaction', { ...buy, paymentMethodType }, 406, 'unsupported_method');
        await refuses('onramp/quote', { ...buy, paymentMethodType }, 406, 'unsupported_method');
      }
      for (const fiatType of ['0', '13', '99', 'xxx', 'usdc']) {
        await refuses('kyc/requirements', { customerId: acme.customerId, fiatType }, 406, 'unsupported_pair');
        await refuses(`${COMMON}/allCoinLimits`, { fiatType }, 406, 'unsupported_pair');
        await refuses(`${COMMON}/priceTicker`, { type: '1', fiatType }, 406, 'unsupported_pair');
        await refuses(HISTORY, { fiatType }, 406, 'unsupported_pair');
      }
      for (const countryCode of ['XX', 'usd', '1'])
        await refuses('kyc/requirements', { customerId: acme.customerId, countryCode }, 406, 'unsupported_pair');
      const says = async (path: string, body: Fields) => (await acme.post(path, body)).body.error;
      assert.equal(
        await says('offramp/quote', { ...quote, fromCurrency: 'NoCoin' }),
        'The pair NoCoin/inr is not supported. Supported: DAI/EUR, DAI/INR, USDC/EUR, USDC/INR.',
      );
      assert.equal(
        await says('onramp/quote', { ...buy, paymentMethodType: 'Pix' }),
        'The payment method Pix is not supported for INR. Supported: IMPS, UPI.',
      );
      assert.equal(
        await says('offramp/quote', { ...quote, chain: 'TRC20' }),
        'The chain TRC20 is not supported for usdc. Supported: erc20, matic20.',
      );
      assert.equal(await says(HISTORY, { fiatType: '99' }), 'The currency 99 is not supported. Supported: EUR, INR.');
    });
  });

  test('an unknown customer, account or transaction is a 404', async () => {
    await changesNothing(async () => {
      for (const customerId of ['aaaaaaaaaa_1', 'x', '0', `${acme.customerId}x`, 17]) {
        await refuses('offramp/createTransaction', { ...sale, customerId }, 404, 'unknown_customer');
        await refuses('offramp/allUserTransaction', { ...list, customerId }, 404, 'unknown_customer');
        await refuses('onramp/allUserTransaction', { ...list, customerId }, 404, 'unknown_customer');
        await refuses('onramp/createTransaction', { ...buy, customerId }, 404, 'unknown_customer');
        await refuses('onramp/transaction', { ...bought, customerId }, 404, 'unknown_customer');
        await refuses('onramp/referenceId', { ...bought, customerId, referenceId: 'x' }, 404, 'unknown_customer');
        await refuses('bank/bankDetails', { ...bought, customerId }, 404, 'unknown_customer');
        await refuses('kyc/requirements', { customerId, fiatType: '1' }, 404, 'unknown_customer');
        await refuses('offramp/transaction', { ...get, customerId }, 404, 'unknown_customer');
        await refuses('kyc/status', { customerId }, 404, 'unknown_customer');
        await refuses('kyc/url', { customerId, type: 'INDIVIDUAL' }, 404, 'unknown_customer');
        await refuses('bank/fiatAccounts', { customerId }, 404, 'unknown_customer');
        await refuses('test/changeKycStatus', { customerId, status: 'COMPLETED' }, 404, 'unknown_customer');
        await refuses('test/changeKybStatus', { customerId, status: 'COMPLETED' }, 404, 'unknown_customer');
      }
      for (const number of ['1', 'x', '-1', '9'.repeat(18), '9'.repeat(30), '1.0', 1]) {
        await refuses('offramp/createTransaction', { ...sale, fiatAccountId: number }, 404, 'unknown_account');
        await refuses('offramp/transaction', { ...get, transactionId: number }, 404, 'unknown_order');
        await refuses('onramp/transaction', { ...get, transactionId: number }, 404, 'unknown_order');
        await refuses('bank/bankDetails', { ...bought, transactionId: number }, 404, 'unknown_order');
        const claim = { ...bought, referenceId: 'x', transactionId: number };
        await refuses('onramp/referenceId', claim, 404, 'unknown_order');
        await refuses(`${COMMON}/orderStatus`, { orderId: number, type: '1' }, 404, 'unknown_order');
        await refuses('onramp/createTransaction', { ...buy, fiatAccountId: number }, 404, 'unknown_account');
        await refuses('test/changeOfframpStatus', { ...get, transactionId: number, status: '1' }, 404, 'unknown_order');
      }
    });
  });

  test('an unknown account is reported before an unknown pair, chain or method', async () => {
    await changesNothing(async () => {
      const fiatAccountId = '12345';
      for (const bent of [{ toCurrency: 'xxx' }, { chain: 'nochain' }]) {
        await refuses('offramp/createTransaction', { ...sale, ...bent, fiatAccountId }, 404, 'unknown_account');
        await refuses('onramp/createTransaction', { ...buy, ...bent, fiatAccountId }, 404, 'unknown_account');
      }
      const cash = { ...buy, paymentMethodType: 'CASH', fiatAccountId };
      await refuses('onramp/createTransaction', cash, 404, 'unknown_account');
    });
  });

  test("another partner's customer, account or transaction is answered as an unknown one", async () => {
    await changesNothing(async () => {
      const pairs: [string, Fields, Fields][] = [
        ['kyc/status', { customerId: other.customerId }, { customerId: 'aaaaaaaaaa_1' }],
        ['bank/fiatAccounts', { customerId: other.customerId }, { customerId: 'aaaaaaaaaa_1' }],
        [
          'offramp/allUserTransaction',
          { ...list, customerId: other.customerId },
          { ...list, customerId: 'aaaaaaaaaa_1' },
        ],
        ['offramp/transaction', { ...get, transactionId: otherOrder }, { ...get, transactionId: '12345' }],
        [
          'offramp/transaction',
          { customerId: other.customerId, transactionId: otherOrder },
          { ...get, customerId: 'aaaaaaaaaa_1' },
        ],
        [
          'offramp/createTransaction',
          { ...sale, fiatAccountId: other.fiatAccountId },
          { ...sale, fiatAccountId: '12345' },
        ],
        [
          'offramp/createTransaction',
          { ...sale, customerId: other.customerId },
          { ...sale, customerId: 'aaaaaaaaaa_1' },
        ],
        ['onramp/transaction', { ...bought, transactionId: otherPurchase }, { ...bought, transactionId: '12345' }],
        ['bank/bankDetails', { ...bought, transactionId: otherPurchase }, { ...bought, transactionId: '12345' }],
        [
          'onramp/referenceId',
          { ...bought, transactionId: otherPurchase, referenceId: 'x' },
          { ...bought, transactionId: '12345', referenceId: 'x' },
        ],
        ['onramp/createTransaction', { ...buy, customerId: other.customerId }, { ...buy, customerId: 'aaaaaaaaaa_1' }],
        [
          'onramp/createTransaction',
          { ...buy, fiatAccountId: other.fiatAccountId },
          { ...buy, fiatAccountId: '12345' },
        ],
        [`${COMMON}/orderStatus`, { orderId: otherPurchase, type: '1' }, { orderId: '12345', type: '1' }],
        [
          'test/changeOnrampStatus',
          { ...bought, transactionId: otherPurchase, status: '1' },
          { ...bought, transactionId: '1', status: '1' },
        ],
        [
          'kyc/url',
          { customerId: other.customerId, type: 'INDIVIDUAL' },
          { customerId: 'aaaaaaaaaa_1', type: 'INDIVIDUAL' },
        ],
        [
          'test/changeOfframpStatus',
          { ...get, transactionId: otherOrder, status: '1' },
          { ...get, transactionId: '1', status: '1' },
        ],
      ];
      for (const [path, theirs, nobodys] of pairs) {
        const [seen, none] = [await sendTo(path, theirs), await sendTo(path, nobodys)];
        assert.equal(seen.status, 404, path);
        assert.equal(seen.text, none.text, path);
      }
      assert.equal(world.driven.length, 0);
    });
  });
});

describe('forbidden actions', () => {
  test('a customer who has not logged in may neither trade nor add an account', async () => {
    const trader = openClient(world.baseUrl, await world.keyOf(acme.partner, { scopes: ['trade'] }));
    // The only change is a link for logging in, which is recorded.
    await changesNothing(async () => {
      for (const answer of [
        await acme.post('offramp/createTransaction', { ...sale, customerId: stranger }),
        await acme.post('bank/addFiatAccount', { customerId: stranger, fiatAccount: '999888777', ifsc: 'HDFC0001234' }),
      ]) {
        isRefusal(answer, 403, 'login_required');
        assert.equal(answer.body.error, 'Please login before raising this request');
        assert.ok(answer.body.kycUrl.startsWith(`${world.baseUrl}/kyc/`));
      }
      const bare = await trader.post('offramp/createTransaction', { ...sale, customerId: stranger });
      assert.deepEqual(
        [bare.status, bare.body.kycUrl],
        [403, undefined],
        'a key without the right to make links got one',
      );
    }, ['partner_activity']);
    const made = await world.query(
      `select count(*)::int as links from partner_activity where action = 'link.made' and facts->>'customer' = $1`,
      [stranger],
    );
    assert.equal(made[0]?.links, 3, 'a link was given without a record');
  });

  test('an amount outside the limits is refused with the limits as amounts', async () => {
    await changesNothing(async () => {
      for (const fromAmount of ['0.5', '10000.000001', '9'.repeat(38)]) {
        for (const [path, body] of [
          ['offramp/quote', quote],
          ['offramp/createTransaction', sale],
        ] as const) {
          const answer = await acme.post(path, { ...body, fromAmount });
          isRefusal(answer, 413, 'amount_outside_limits');
          assert.match(answer.body.error, /minimum 1, maximum 10000 USDC/);
        }
      }
    });
  });

  test('a purchase that is over shows no payee and accepts no reference', async () => {
    const { body } = await acme.post('onramp/createTransaction', buy);
    const over = { transactionId: body.data.transactionId, customerId: acme.customerId };
    assert.equal((await acme.post('bank/bankDetails', over)).status, 200);
    for (const state of ['settled', 'refunded', 'expired', 'cancelled']) {
      await world.query('update orders set state = $1 where id = $2', [state, over.transactionId]);
      await changesNothing(async () => {
        await refuses('bank/bankDetails', over, 417, 'order_over');
        isRefusal(await acme.put('onramp/referenceId', { ...over, referenceId: 'UTR1' }), 417, 'order_over', state);
      });
    }
  });

  test('a price beyond tolerance is a 428', async () => {
    await changesNothing(async () => {
      await refuses('offramp/createTransaction', { ...sale, rate: '90', toAmount: '9000' }, 428, 'price_moved');
      await refuses('offramp/createTransaction', { ...sale, rate: '80' }, 428, 'price_moved');
    });
  });

  test('a key allows only its scopes', async () => {
    const reader = await world.keyOf(acme.partner, { scopes: ['read'] });
    await changesNothing(async () => {
      const { headers, text } = sign(reader, sale);
      const answer = await ask(world.baseUrl, 'offramp/createTransaction', { method: 'POST', headers, body: text });
      isRefusal(answer, 403, 'scope_missing');
    });
  });
});

const badly = async (signing: Signing, reason = 'unauthenticated', body: Fields = quote) =>
  isRefusal(await acme.post('offramp/quote', body, signing), 401, reason, JSON.stringify(signing).slice(0, 200));

const withPayload = (payload: string): Signing => ({
  headers: { payload, signature: hmac(payload, acme.apiSecret) },
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('signatures', () => {
  test('are refused when missing, unknown or wrong', async () => {
    await changesNothing(async () => {
      for (const name of ['apiKey', 'payload', 'signature']) await badly({ headers: { [name]: '' } });
      for (const signature of ['0'.repeat(128), 'x', hmac('x', acme.apiSecret)])
        await badly({ headers: { signature } });
      await badly({ headers: { apiKey: other.apiKey } });
      await badly({ headers: { apiKey: 'nobody' } });
      await badly({ headers: { apiKey: "' or 1=1 --" } });
      isRefusal(await ask(world.baseUrl, 'offramp/quote', { method: 'POST' }), 401, 'unauthenticated');
    });
  });

  test('a payload of broken base64 or JSON, or without a time, is a 401', async () => {
    const now = Date.now();
    await changesNothing(async () => {
      for (const payload of [
        '%%%',
        'abc',
        base64('{"body":'),
        base64('[]'),
        base64('null'),
        base64('{}'),
        base64(`{"body":{}}`),
        base64(`{"body":[],"timestamp":${now}}`),
      ]) {
        await badly(withPayload(payload));
      }
      await badly({ timestamp: 'yesterday' });
      await badly({ timestamp: '' });
    });
  });

  test('a time five minutes behind is too old, and one ahead gets its own message', async () => {
    await changesNothing(async () => {
      await badly({ timestamp: Date.now() - 301_000 });
      const ahead = await acme.post('offramp/quote', quote, { timestamp: Date.now() + 60_000 });
      isRefusal(ahead, 401, 'clock_ahead');
      assert.equal(ahead.body.error, 'Ahead of Time');
    });
  });

  test('a body that differs from the signed one is a 401, unknown fields included', async () => {
    await changesNothing(async () => {
      for (const signedBody of [
        {},
        { ...quote, fromAmount: '1' },
        { ...quote, extra: '1' },
        { ...quote, FROMAMOUNT: '100' },
      ]) {
        await badly({ signedBody });
        await badly({ signedBody, format: 'form' });
      }
      await badly({ signedBody: quote }, 'unauthenticated', { ...quote, extra: 'x' });
    });
  });

  test('the signature is checked before the body: a bad body with a bad signature is a 401, with a good one a 400', async () => {
    await changesNothing(async () => {
      const { headers } = sign(acme, {});
      for (const body of ['{', '[]', '"x"', '1', 'null', '{"a":1}}', `${'['.repeat(30_000)}`, '\ufeff\u0000']) {
        const post = (over: Record<string, string>) =>
          ask(world.baseUrl, 'offramp/quote', { method: 'POST', headers: { ...headers, ...over }, body });
        isRefusal(await post({}), 400, 'malformed_body', body.slice(0, 20));
        isRefusal(await post({ signature: 'x' }), 401, 'unauthenticated', body.slice(0, 20));
      }
    });
  });
});

/** A quote request of that many bytes. */
const bodyOf = (bytes: number): Fields => ({
  ...quote,
  filler: 'x'.repeat(bytes - JSON.stringify({ ...quote, filler: '' }).length),
});

describe('requests', () => {
  test('an unknown path is a 404 before any other check', async () => {
    await changesNothing(async () => {
      for (const path of [
        '/onramp/api/v2/whiteLabel/offramp/Quote',
        '/onramp/api/v2/whiteLabel/offramp/quote/',
        '/onramp/api/v2/whitelabel/offramp/quote',
        '/onramp//api/v2/whiteLabel/offramp/quote',
        '/onramp/api/v2/whiteLabel/onramp/createTransactions',
        '/onramp/api/v2/common/transaction/quote',
        '/onramp/api/v1/whiteLabel/offramp/quote',
        '/onramp',
        '/onramp/%zz',
        '/nothing',
        '/',
      ]) {
        const answer = await ask(world.baseUrl, path, {
          method: 'POST',
          body: 'x'.repeat(200_000),
          headers: { 'content-type': 'text/plain' },
        });
        isRefusal(answer, 404, 'unknown_path', path);
      }
    });
  });

  test('a wrong method is a 405 that names the right one', async () => {
    await changesNothing(async () => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
        const answer = await ask(world.baseUrl, 'offramp/quote', { method });
        isRefusal(answer, 405, 'method_not_allowed', method);
        assert.equal(answer.headers.get('allow'), 'POST');
      }
      const { status, headers } = await ask(world.baseUrl, 'offramp/quote', { method: 'HEAD' });
      assert.deepEqual([status, headers.get('allow')], [405, 'POST']);
      const answer = await ask(world.baseUrl, 'kyb/requirements', {
        method: 'POST',
        body: '{',
        headers: { 'content-type': 'text/plain' },
      });
      isRefusal(answer, 405, 'method_not_allowed');
      assert.equal(answer.headers.get('allow'), 'GET, HEAD');
    });
  });

  test('an unsupported content type is a 415, before the size and the signature are checked', async () => {
    await changesNothing(async () => {
      for (const type of [
        'text/plain',
        'text/json',
        'multipart/mixed; boundary=x',
        'application/xml',
        'nonsense',
        ';',
        'application/json2',
      ]) {
        const answer = await ask(world.baseUrl, 'offramp/quote', {
          method: 'POST',
          headers: { 'content-type': type },
          body: 'x'.repeat(70_000),
        });
        isRefusal(answer, 415, 'unsupported_media_type', type);
      }
      const zipped = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      isRefusal(
        await ask(world.baseUrl, 'offramp/quote', { method: 'POST', headers: zipped, body: '{}' }),
        415,
        'unsupported_media_type',
      );
    });
  });

  test('a body over 64 KiB is a 413, with or without its length in a header; one just under is read', async () => {
    await changesNothing(async () => {
      isRefusal(await acme.post('offramp/quote', bodyOf(65_537)), 413, 'body_too_large');
      const { headers } = sign(acme, {});
      isRefusal(
        await chunked('/onramp/api/v2/whiteLabel/offramp/quote', headers, 'x'.repeat(65_537)),
        413,
        'body_too_large',
      );
    });
    assert.equal((await acme.post('offramp/quote', { ...quote, filler: 'x'.repeat(64 * 1024 - 200) })).status, 200);
  });

  test('headers over 128 KiB and malformed HTTP get the envelope too', async () => {
    const tooLarge = await raw(`GET / HTTP/1.1\r\nHost: x\r\nx: ${'x'.repeat(140_000)}\r\n\r\n`);
    assert.match(tooLarge, /^HTTP\/1\.1 431 [\s\S]*"reason":"headers_too_large"/);
    assert.match(await raw('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*"status":0,"code":400/);
  });
});

async function chunked(path: string, headers: Record<string, string>, body: string): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request(
      `${world.baseUrl}${path}`,
      { method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part) => {
          text += part;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, body: JSON.parse(text), headers: new Headers() }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(world.baseUrl);
  return await new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (part) => {
      text += part;
    });
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
  });
}
