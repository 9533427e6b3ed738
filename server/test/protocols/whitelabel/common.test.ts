/** The interface's maps and numbers, status by number, quotes in numbers, requirements, and the lists of all orders. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, type Fields, openClient } from '../../support/client.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

const COMMON = '/onramp/api/v2/common/transaction';
const HISTORY = '/onramp/api/v1/transaction/merchantHistory';
const WALLET = '0x00000000000000000000000000000000000000aa';

let world: Environment;
let acme: TestPartner;
let other: TestPartner;

before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  other = await world.partner('other');
});
after(async () => await world.stop());

async function data(answer: Promise<Answer>) {
  const { status, body, text } = await answer;
  assert.equal(status, 200, text);
  assert.deepEqual([body.status, body.code], [1, 200]);
  return body.data;
}
const asked = (path: string, body: Fields = {}) => data(acme.post(`${COMMON}/${path}`, body));

async function sells(partner: TestPartner, fromAmount: string, over: Fields = {}): Promise<string> {
  const { customerId, fiatAccountId } = partner;
  const pair = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount };
  const answer = partner.post('offramp/createTransaction', { ...pair, customerId, fiatAccountId, ...over });
  return (await data(answer)).transactionId;
}

async function buys(partner: TestPartner, fromAmount: string, over: Fields = {}): Promise<string> {
  const pair = { fromCurrency: 'inr', toCurrency: 'usdc', chain: 'matic20', fromAmount, paymentMethodType: 'UPI' };
  const answer = partner.post('onramp/createTransaction', {
    ...pair,
    customerId: partner.customerId,
    depositAddress: WALLET,
    ...over,
  });
  return (await data(answer)).transactionId;
}

describe('maps', () => {
  test('give the number of each code that has a market', async () => {
    const { fiatSymbolMapping, coinSymbolMapping, chainSymbolMapping } = await asked('allConfigMapping');
    assert.deepEqual(fiatSymbolMapping, { INR: 1, EUR: 12 });
    assert.deepEqual([coinSymbolMapping.usdc, chainSymbolMapping], [116, { matic20: 3, erc20: 0 }]);
    const chains = await asked('allChainMapping');
    const { coinId, coinCode, networks } = chains.allCoinConfig.usdc;
    assert.deepEqual([coinId, coinCode, networks], [116, 'usdc', [0, 3]]);
    const { chainSymbol, networkId, node } = chains.networkConfig['3'];
    assert.deepEqual([chainSymbol, networkId, node], ['matic20', 137, 83]);
  });

  test('show fees of the chains as text here, and as numbers under v1', async () => {
    const fee = { withdrawalFee: '0.21', minimumWithdrawal: '0.21', nodeInSync: 1, depositEnable: 1 };
    assert.deepEqual((await asked('allGasFee'))['116'], { 0: fee, 3: fee });
  });

  test('show limits in the fiat as numbers: stored ones for buying, at the present rate for selling', async () => {
    assert.deepEqual(await asked('limits', { type: 1 }), { onramp: { 1: { min: 100, max: 100_000 } } });
    const both = await asked('limits', { type: '3' });
    assert.deepEqual(Object.keys(both), ['onramp', 'offramp']);
    assert.deepEqual(both.offramp['1'], { min: 86, max: 860_000 });
    assert.deepEqual(await asked('allCoinLimits', { fiatType: 1 }), { 116: { 3: 100 } });
    assert.deepEqual(await asked('allCoinLimits', { fiatType: 'EUR' }), {});
  });

  test('show the price of one coin in the fiat; without a fresh price the answer is a 503', async () => {
    assert.deepEqual(await asked('priceTicker', { type: 1, fiatType: 1 }), { onramp: { 116: 86 } });
    const both = await asked('priceTicker', { type: 3, fiatType: 'inr' });
    assert.equal(both.offramp['116'], 86);
    await world.query(`update prices set priced_at = priced_at - interval '1 hour'`);
    const stale = await acme.post(`${COMMON}/priceTicker`, { type: 1, fiatType: 1 });
    assert.deepEqual([stale.status, stale.body.reason], [503, 'unavailable']);
    assert.deepEqual(await asked('limits', { type: 3 }), { onramp: { 1: { min: 100, max: 100_000 } }, offramp: {} });
    await world.refreshPrices();
  });
});

describe('quotes in numbers', () => {
  const buying = { coinCode: 'usdc', network: 'matic20', fiatAmount: 1000, fiatType: 1, type: 1 };

  test('show the quantity when buying and the fiat when selling, equal to the quote of the other endpoint', async () => {
    const quote = await asked('quotes', buying);
    assert.deepEqual(quote, {
      rate: 86,
      quantity: 11.62,
      fiatAmount: 1000,
      onrampFee: 0,
      clientFee: 0,
      gatewayFee: 0,
      gasFee: 0,
    });
    const sale = await asked('quotes', { coinCode: 'usdc', network: 'matic20', quantity: 2.5, fiatType: 1, type: 2 });
    assert.deepEqual([sale.rate, sale.quantity, sale.fiatAmount], [86, 2.5, 215]);
    const { fiatAmount: fromAmount } = buying;
    const same = await data(acme.post('onramp/quote', { fromCurrency: 'INR', toCurrency: 'usdc', fromAmount }));
    assert.deepEqual([Number(same.toAmount), Number(same.rate)], [quote.quantity, quote.rate]);
  });

  test('prefer codes over numbers, and accept numbers alone', async () => {
    const numbers = { coinId: 116, chainId: 3, fiatAmount: '1000', fiatType: '1', type: '1' };
    assert.equal((await asked('quotes', numbers)).quantity, 11.62);
    assert.equal((await asked('quotes', { ...buying, coinId: 54, chainId: 0 })).quantity, 11.62);
    const wrong = await acme.post(`${COMMON}/quotes`, { ...numbers, coinId: 54 });
    assert.deepEqual([wrong.status, wrong.body.reason], [406, 'unsupported_pair']);
    const nowhere = await acme.post(`${COMMON}/quotes`, { ...numbers, chainId: 0 });
    assert.deepEqual([nowhere.status, nowhere.body.reason], [406, 'unsupported_chain']);
  });
});

describe('a country instead of a fiat', () => {
  const pair = { coinCode: 'usdc', network: 'matic20' };
  const naming: readonly [string, () => Fields][] = [
    [`${COMMON}/allCoinLimits`, () => ({})],
    [`${COMMON}/priceTicker`, () => ({ type: 3 })],
    [`${COMMON}/quotes`, () => ({ ...pair, fiatAmount: 1000, type: 1 })],
    [`${COMMON}/quotes`, () => ({ ...pair, quantity: 2.5, type: 2 })],
    [`${COMMON}/generateLink`, () => ({ ...pair, fiatAmount: 1000, type: 1 })],
    [HISTORY, () => ({})],
    ['kyc/requirements', () => ({ customerId: acme.customerId })],
    ['bank/addFiatAccount', () => ({ customerId: acme.customerId, fiatAccount: '999888777', ifsc: 'HDFC0001234' })],
    ['bank/addFiatAccountUrl', () => ({ customerId: acme.customerId })],
  ];
  /** Removes the parts that differ for each link. */
  const OF_ONE_LINK = ['link', 'urlHash', 'expiresAt', 'bankUrl', 'referenceId'];
  const still = (answer: Fields) => Object.entries(answer).filter(([name]) => !OF_ONE_LINK.includes(name));

  test('every endpoint that takes a fiatType answers the same for a country of that fiat', async () => {
    for (const [path, good] of naming) {
      const byFiat = await data(acme.post(path, { ...good(), fiatType: 1 }));
      for (const named of [
        { countryCode: 'IN' },
        { countryCode: 'in', fiatType: '' },
        { countryCode: 'IN', fiatType: 'inr' },
      ]) {
        const byCountry = await data(acme.post(path, { ...good(), ...named }));
        assert.deepEqual(still(byCountry), still(byFiat), path);
      }
    }
    const inEuro = await asked('priceTicker', { type: 2, fiatType: 'EUR' });
    assert.deepEqual(await asked('priceTicker', { type: 2, countryCode: 'DE' }), inEuro);
  });

  test('a country whose fiat we do not know leaves a sent fiatType as it is, and alone is not supported', async () => {
    for (const [path, good] of naming) {
      await data(acme.post(path, { ...good(), fiatType: 1, countryCode: 'CH' }));
      const { status, body } = await acme.post(path, { ...good(), countryCode: 'CH' });
      assert.deepEqual([status, body.reason], [406, 'unsupported_pair'], path);
      assert.match(body.error, /^The currency of CH is not supported\./);
    }
  });

  test('a country with another fiat than fiatType is an error that names both fields', async () => {
    for (const [path, good] of naming) {
      const { status, body } = await acme.post(path, { ...good(), fiatType: 1, countryCode: 'DE' });
      assert.deepEqual([status, body.reason], [400, 'malformed_field'], path);
      assert.deepEqual(body.fields, {
        fiatType: 'must be the fiat of countryCode, EUR, where both are sent',
        countryCode: 'must be a country of fiatType, INR, where both are sent',
      });
    }
  });

  test('a country names the fiat of a new account as fiatType does', async () => {
    const { customerId } = acme;
    const added = await data(
      acme.post('bank/addFiatAccount', { customerId, fiatAccount: 'DE89370400440532013000', countryCode: 'AT' }),
    );
    const list: Fields[] = await data(acme.post('bank/fiatAccounts', { customerId }));
    const account = list.find(({ fiatAccountId }) => fiatAccountId === added.fiatAccountId);
    assert.ok(account?.iban, 'the account is not in euro');
  });
});

describe('status by number', () => {
  test('is found for either direction, and not for orders of another partner', async () => {
    const [sale, purchase] = [await sells(acme, '10'), await buys(acme, '1000')];
    assert.deepEqual(await asked('orderStatus', { orderId: sale, type: 2 }), { orderStatus: 0 });
    assert.deepEqual(await asked('orderStatus', { orderId: Number(purchase), type: '1' }), { orderStatus: 0 });
    await acme.put('onramp/referenceId', {
      customerId: acme.customerId,
      transactionId: purchase,
      referenceId: 'UTR000111',
    });
    assert.deepEqual(await asked('orderStatus', { orderId: purchase, type: 1 }), { orderStatus: 1 });
    const strangers = await sells(other, '10');
    for (const orderId of ['1', 'x', strangers, purchase]) {
      const { status, body } = await acme.post(`${COMMON}/orderStatus`, { orderId, type: 2 });
      assert.deepEqual([status, body.error, body.message], [404, 'Invalid orderId', 'Invalid orderId']);
    }
  });
});

describe('requirements', () => {
  test('of a person are next to the data and in it', async () => {
    for (const path of ['kyc/requirements', '/onramp-bank/api/v1/kyc/requirements']) {
      const { status, body } = await acme.post(path, { customerId: acme.customerId, fiatType: 1 });
      assert.deepEqual([status, body.status, body.code], [200, 1, 200]);
      assert.ok(body.kycRequirementData.details.firstName.label);
      assert.deepEqual(body.data, { kycRequirementData: body.kycRequirementData });
      const byCountry = await acme.post(path, { customerId: acme.customerId, countryCode: 'in' });
      assert.deepEqual(byCountry.body, body);
    }
  });
});

describe('lists of all', () => {
  let own: TestPartner;
  let second: string;
  const sales: string[] = [];
  const purchases: string[] = [];

  before(async () => {
    own = await world.partner('lister');
    second = await world.customer(own, own.partner, 'lister-2');
    const account = await own.post('bank/addFiatAccount', { customerId: second, iban: 'DE89370400440532013000' });
    for (let at = 0; at < 9; at += 1) {
      world.clock.advance(60_000);
      const toEuro = { toCurrency: 'eur', customerId: second, fiatAccountId: account.body.data.fiatAccountId };
      sales.push(await sells(own, String(10 + at), at % 3 === 0 ? toEuro : {}));
      purchases.push(await buys(own, String(1000 + at), { merchantRecognitionId: `m-${at}` }));
    }
    await Promise.all(Array.from({ length: 10 }, (_, at) => sells(other, String(20 + at))));
  });

  const page = async (path: string, body: Fields) => {
    const answer = await own.post(path, body);
    assert.equal(answer.status, 200, answer.text);
    return { items: answer.body.data as Record<string, unknown>[], total: answer.headers.get('x-total-count') };
  };

  test('have all orders of the partner and no others, newest first, in the shape of a customer’s list', async () => {
    for (const [path, made] of [
      ['offramp/allTransaction', sales],
      ['onramp/allTransaction', purchases],
    ] as const) {
      const newest = made.toReversed();
      const whole = await page(path, { page: 1, pageSize: 500 });
      assert.deepEqual([whole.items.map((item) => item.transactionId), whole.total], [newest, '9']);
      const pages = [];
      for (const number of [1, 2, 3]) pages.push(...(await page(path, { page: String(number), pageSize: 4 })).items);
      assert.deepEqual(pages, whole.items);
      assert.deepEqual(await page(path, { page: 4, pageSize: 4 }), { items: [], total: '9' });
      assert.deepEqual(await page(path, { page: 999_999_999, pageSize: 500 }), { items: [], total: '9' });
    }
    const { body } = await own.post('offramp/allUserTransaction', {
      customerId: own.customerId,
      page: 1,
      pageSize: 1,
    });
    const [first] = (await page('offramp/allTransaction', { page: 1, pageSize: 1 })).items;
    assert.deepEqual(Object.keys(first ?? {}), Object.keys(body.data[0]));
  });

  test('the history is flat and in numbers; by default it has the purchases, oldest first', async () => {
    const { items, total } = await page(HISTORY, {});
    assert.deepEqual([items.map((item) => String(item.orderId)), total], [purchases, '9']);
    const [first] = items;
    assert.deepEqual(
      { ...first, createdAt: '', updatedAt: '', customerId: '' },
      {
        orderId: Number(purchases[0]),
        customerId: '',
        coinId: 116,
        chainId: 3,
        fiatType: 1,
        paymentType: 1,
        expectedPrice: 86,
        actualPrice: 0,
        merchantRecognitionId: 'm-0',
        createdAt: '',
        updatedAt: '',
        status: 0,
        clientFee: 0,
        gatewayFee: 0,
        gasFee: 0,
        tdsFee: 0,
        walletAddress: WALLET,
        fiatAmount: 1000,
        expectedCryptoAmount: 11.62,
        actualCryptoAmount: 0,
        onRampFee: 0,
        kycNeeded: 0,
        referenceId: null,
        transactionHash: '',
      },
    );
    const [sale] = (await page(HISTORY, { type: 2, order: 'desc', page: 1, pageSize: 1 })).items;
    assert.deepEqual(
      [sale?.orderId, sale?.expectedQuantity, sale?.expectedFiatAmount, sale?.onrampFee, sale?.tdsFee],
      [Number(sales.at(-1)), 18, 1548, 0, 0],
    );
    assert.match(String(sale?.walletAddress), /^0x[0-9a-f]{40}$/);
  });

  test('can be filtered by fiat and start time, in either order, page by page', async () => {
    const ids = async (body: Fields) => (await page(HISTORY, body)).items.map((item) => String(item.orderId));
    const euro = sales.filter((_, at) => at % 3 === 0);
    assert.deepEqual(await ids({ type: 2, fiatType: 12 }), euro);
    assert.deepEqual(await ids({ type: 2, fiatType: 'EUR', order: 'DESC', pageSize: 2, page: 2 }), [euro[0]]);
    const all = await page(HISTORY, { type: 2 });
    const since = String(all.items[4]?.createdAt);
    assert.deepEqual(await ids({ type: 2, since }), sales.slice(4));
    assert.deepEqual(await ids({ type: 2, since, order: 'DESC' }), sales.slice(4).toReversed());
    assert.deepEqual(await ids({ type: 2, since, page: 2, pageSize: 2 }), sales.slice(6, 8));
    assert.deepEqual(await ids({ type: 2, since, order: 'DESC', page: 3, pageSize: 2 }), [sales[4]]);
    assert.equal((await page(HISTORY, { type: 2, since })).total, '5');
    assert.deepEqual(await ids({ type: 2, since, fiatType: 12 }), [sales[6]]);
    assert.deepEqual(await page(HISTORY, { type: 2, since: '2999-01-01' }), { items: [], total: '0' });
    assert.deepEqual(await ids({ type: 2, since: '1999-01-01', pageSize: 500 }), sales);
    const nobody = openClient(world.baseUrl, await world.keyOf(other.partner));
    assert.equal((await nobody.post(HISTORY, { type: 1 })).headers.get('x-total-count'), '0');
  });

  test('contain each of twenty concurrently created orders exactly once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => sells(own, String(100 + at))));
    const rows = await world.query(
      'select partner_seq::int as place from orders where partner_id = $1 and direction = $2 order by 1',
      [own.partner.id, 'offramp'],
    );
    assert.deepEqual(
      rows.map(({ place }) => place),
      Array.from({ length: 29 }, (_, at) => at + 1),
    );
    assert.equal((await page('offramp/allTransaction', { page: 1, pageSize: 1 })).total, '29');
  });
});
