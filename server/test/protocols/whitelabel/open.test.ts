/** Endpoints without a signature, answers to browsers, and the sandbox endpoints that production does not have. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CONTROLS } from '../../../src/protocols/whitelabel/index.ts';
import { ask } from '../../support/client.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

const from = (page: string) => ({ headers: { origin: page } });

describe('public reference data', () => {
  let world: Environment;
  const data = async (path: string) => {
    const { status, body } = await ask(world.baseUrl, path);
    assert.equal(status, 200, path);
    return body.data;
  };
  before(async () => {
    world = await wireEnvironment();
  });
  after(async () => await world.stop());

  test('lists everything that has a market, under the numbers of the interface', async () => {
    const fiats = { onramp: { 1: 'INR' }, offramp: { 1: 'INR', 12: 'EUR' } };
    assert.deepEqual(await data('public/listSupportedFiat'), fiats);
    assert.deepEqual(await data('/onramp-bank/api/v2/whiteLabel/public/listSupportedFiat'), fiats);
    const methods = await data('/onramp/api/v2/common/public/fetchPaymentMethodType');
    assert.deepEqual(methods, { 1: { UPI: 1, IMPS: 2 }, 12: { SEPA_BANK_TRANSFER: 2 } });
    assert.deepEqual(Object.keys(methods['1']), ['UPI', 'IMPS'], 'the instant method is not the first one');
    assert.deepEqual(await data('/onramp/api/v2/common/public/fetchAllCountryConfig'), {
      buy: {
        1: { isActive: 1, paymentMethods: { UPI: 1, IMPS: 2 } },
        12: { isActive: 0, paymentMethods: { SEPA_BANK_TRANSFER: 2 } },
      },
      sell: {
        1: { isActive: 1, paymentMethods: { IMPS: 2 } },
        12: { isActive: 1, paymentMethods: { SEPA_BANK_TRANSFER: 2 } },
      },
    });
    const coins = await data('/onramp/api/v3/buy/public/listAllCoins');
    assert.deepEqual(Object.keys(coins).toSorted(), ['dai', 'usdc'], 'the coins are not listed by their codes');
    const { coinIcon, ...usdc } = coins.usdc;
    assert.deepEqual(usdc, { coinId: 116, coinName: 'USD Coin', balanceFloatPlaces: 6 });
    assert.match(coinIcon, /^data:image\/svg\+xml;base64,/);
    assert.equal(coins.dai.balanceFloatPlaces, 8);
    const networks = await data('/onramp/api/v3/buy/public/listAllNetworks');
    assert.deepEqual(networks['0'], {
      chainSymbol: 'erc20',
      chainName: 'Ethereum Network',
      addressRegex: '^(0x)[0-9A-Fa-f]{40}$',
      memoRegex: '',
      networkId: 1,
      nativeToken: 6,
      startingWith: ['0x'],
      hashLink: 'https://etherscan.io/tx/',
      node: 6,
    });
    const { allCoinConfig, networkConfig } = await data('/onramp/api/v2/sell/public/allConfig');
    assert.deepEqual(networkConfig, networks);
    assert.deepEqual(allCoinConfig.usdc, {
      ...coins.usdc,
      coinCode: 'usdc',
      tradeFloatPlaces: 6,
      networks: [0, 3],
    });
  });

  test('has gas fees as numbers in the coin, by coin and chain', async () => {
    const { allGasFee } = await data('/onramp/api/v1/public/allGasFee');
    assert.deepEqual(allGasFee['116'], {
      0: { withdrawalFee: 0.21, minimumWithdrawal: 0.21, nodeInSync: 1 },
      3: { withdrawalFee: 0.21, minimumWithdrawal: 0.21, nodeInSync: 1 },
    });
  });

  test('has the server time in milliseconds', async () => {
    assert.ok(Math.abs((await data('/onramp/api/v2/common/public/currentTimestamp')) - Date.now()) < 2_000);
  });

  test('is public with any headers and signature', async () => {
    const headers = { apiKey: 'nobody', payload: 'x', signature: 'y', 'content-type': 'application/json' };
    assert.equal((await ask(world.baseUrl, 'public/listSupportedFiat', { headers })).status, 200);
  });
});

const allowed = (headers: Headers) => headers.get('access-control-allow-origin');

describe('browsers', () => {
  let world: Environment;
  let acme: TestPartner;
  const origin = 'https://app.example.org';
  before(async () => {
    world = await wireEnvironment({ production: true });
    acme = await world.partner('acme', { corsOrigins: [origin] });
  });
  after(async () => await world.stop());

  test('get a preflight answer for every origin, with the headers that signing needs', async () => {
    const headers = {
      origin: 'https://anybody.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'apikey',
    };
    const { status, headers: said, text } = await ask(world.baseUrl, 'offramp/quote', { method: 'OPTIONS', headers });
    assert.equal(status, 204);
    assert.equal(text, '');
    assert.equal(allowed(said), 'https://anybody.example');
    assert.equal(said.get('access-control-allow-methods'), 'GET, POST, PUT, DELETE');
    const names = (said.get('access-control-allow-headers') ?? '').toLowerCase();
    for (const name of [
      'apikey',
      'payload',
      'signature',
      'x-onramp-apikey',
      'x-onramp-payload',
      'x-onramp-signature',
      'content-type',
      'timestamp',
      'app-id',
      'idempotency-key',
    ]) {
      assert.ok(names.split(', ').includes(name), name);
    }
  });

  test('find no sandbox control in production, signed or not', async () => {
    for (const { name } of CONTROLS) {
      const signed = await acme.post(`/sandbox/v1/${name}`, { transactionId: '1' });
      assert.deepEqual([signed.status, signed.body.reason], [404, 'unknown_path'], name);
      assert.equal((await ask(world.baseUrl, `/sandbox/v1/${name}`, { method: 'POST' })).status, 404);
    }
  });

  test('get the origin in a reply where the partner allows it, also in refusals, and never another one', async () => {
    const good = await acme.post(
      'offramp/quote',
      { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '1' },
      from(origin),
    );
    assert.equal(allowed(good.headers), origin);
    assert.match(good.headers.get('access-control-expose-headers') ?? '', /Quote-Id/);
    assert.equal(allowed((await acme.post('offramp/quote', {}, from(origin))).headers), origin);
    assert.equal(allowed((await acme.post('offramp/nothing', {}, from(origin))).headers), origin);
    const big = await acme.post('offramp/quote', { x: 'x'.repeat(66_000) }, { ...from(origin), signedBody: {} });
    assert.deepEqual([big.status, allowed(big.headers)], [413, origin]);
    assert.equal(allowed((await acme.post('offramp/quote', {}, from('https://evil.example'))).headers), null);
    assert.equal(
      allowed((await acme.post('offramp/quote', {}, { headers: { origin, apiKey: 'nobody' } })).headers),
      null,
    );
    const open = await ask(world.baseUrl, 'public/listSupportedFiat', {
      headers: { origin: 'https://anybody.example' },
    });
    assert.equal(allowed(open.headers), 'https://anybody.example');
  });

  test('production has no endpoints of the sandbox', async () => {
    for (const path of ['test/changeKycStatus', 'test/changeKybStatus', 'test/changeOfframpStatus']) {
      const { status, body } = await acme.post(path, {
        customerId: acme.customerId,
        status: 'COMPLETED',
        transactionId: '1',
      });
      assert.deepEqual([status, body.reason], [404, 'unknown_path']);
    }
  });

  test('a key that sends too many requests is told when to retry, and another key is not affected', async () => {
    const slow = await world.partner('slow');
    await world.query('update partners set requests_per_minute = 3 where id = $1', [slow.partner.id]);
    const key = await world.keyOf(slow.partner);
    const { openClient } = await import('../../support/client.ts');
    const client = openClient(world.baseUrl, key);
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push(await client.post('kyc/status', { customerId: slow.customerId }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429],
    );
    const [first, last] = [answers[0], answers[3]];
    assert.equal(first?.headers.get('ratelimit-limit'), '3');
    assert.equal(first?.headers.get('ratelimit-remaining'), '2');
    assert.deepEqual([last?.body.reason, last?.body.code], ['too_many_requests', 429]);
    const seconds = Number(last?.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 20, String(seconds));
    assert.equal((await acme.post('kyc/status', { customerId: acme.customerId })).status, 200);
    const forged = await client.post('kyc/status', {}, { headers: { signature: 'x' } });
    assert.equal(forged.status, 401, 'an unsigned request was counted against the limit');
  });

  test('every reply has the id that the log shows', async () => {
    const { headers } = await ask(world.baseUrl, 'offramp/nothing');
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f]{16}$/);
  });
});
