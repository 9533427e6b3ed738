/**
 * A partner's program from outside. It knows only the wire and sandbox.json: no import of the server, no database, no chain. The
 * server is a separate process, started as the README says.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fetchDeclared } from '../support/declared.fetch.ts';
import {
  BANK_WL,
  type Body,
  COMMON,
  caller,
  type Data,
  JSON_STYLE,
  STYLES,
  serverForThisFile,
  told,
  until,
  verified,
  WL,
} from './program.ts';
import { openVisitor } from './visitor.ts';

const sandbox = serverForThisFile();

// The variant with multipart bodies buys, in the neighbouring file.
for (const [number, style] of STYLES.slice(0, 3).entries()) {
  describe(`a program that sends ${style.name}`, () => {
    const call = caller(sandbox, style);

    // Long because one sale is followed from its first call to its last.
    test('sells crypto from the first call to the paid order', async () => {
      const clientCustomerId = number === 1 ? `client-${number}` : number + 1;
      const enrolled = await call(`${WL}/kyc/url`, {
        clientCustomerId,
        phoneNumber: `+1-555-123-456${number}`,
        type: 'INDIVIDUAL',
        customerId: '',
        kycRedirectUrl: '',
      });
      assert.equal(enrolled.http, 200, JSON.stringify(enrolled.json));
      const { customerId, kycUrl } = enrolled.json.data as { customerId: string; kycUrl: string };
      assert.match(customerId, /^[0-9A-Za-z]{10}_[0-9]+$/);
      assert.ok((await fetch(kycUrl)).ok, 'the link does not open');

      const again = await call(`${WL}/kyc/url`, {
        clientCustomerId,
        phoneNumber: `+1-555-123-456${number}`,
        type: 'INDIVIDUAL',
      });
      assert.equal(again.http, 400);
      assert.equal(again.json.customerId, customerId, 'the refusal does not name the known customer');
      const fresh = await call(`${WL}/kyc/url`, { customerId });
      assert.equal((fresh.json.data as { customerId: string }).customerId, customerId);

      const early = await call(`${WL}/offramp/createTransaction`, {
        fromCurrency: 'usdt',
        toCurrency: 'INR',
        chain: 'matic20',
        fromAmount: '100',
        toAmount: '1',
        rate: '1',
        customerId,
        fiatAccountId: '1',
      });
      assert.equal(early.http, 403);
      assert.equal(early.json.error, 'Please login before raising this request');

      const changed = await call(`${WL}/test/changeKycStatus`, { customerId, status: 'BASIC_KYC_COMPLETED' });
      assert.equal((changed.json.data as { changeStatus: boolean }).changeStatus, true);
      const kyc = await call(`${WL}/kyc/status`, { customerId });
      assert.equal((kyc.json.data as { status: string }).status, 'BASIC_KYC_COMPLETED');

      const added = await call(`${WL}/bank/addFiatAccount`, {
        customerId,
        fiatAccount: '91234567890123',
        ifsc: 'SBIN0000001',
      });
      assert.equal(added.http, 200, JSON.stringify(added.json));
      const { fiatAccountId } = added.json.data as { fiatAccountId: string };
      assert.match(String(fiatAccountId), /^[0-9]+$/);

      const quoted = await call(`${number === 0 ? BANK_WL : WL}/offramp/quote`, {
        fromCurrency: 'usdt',
        toCurrency: 'INR',
        fromAmount: '100',
      });
      assert.equal(quoted.http, 200, JSON.stringify(quoted.json));
      const quote = quoted.json.data as { rate: string; toAmount: string; fromAmount: string; fees: unknown[] };
      assert.deepEqual(Object.keys(quote).sort(), [
        'fees',
        'fromAmount',
        'fromCurrency',
        'rate',
        'toAmount',
        'toCurrency',
      ]);
      assert.equal(quote.fees.length, 1);

      const create: Body = {
        fromCurrency: 'usdt',
        toCurrency: 'INR',
        chain: 'matic20',
        fromAmount: '100',
        customerId,
        // Java programs parse both as doubles.
        toAmount: number === 2 ? Number(quote.toAmount) : quote.toAmount,
        rate: number === 2 ? Number(quote.rate) : quote.rate,
        ...(number === 0 ? {} : { fiatAccountId }),
      };
      const created = await call(`${WL}/offramp/createTransaction`, create);
      assert.equal(created.http, 200, JSON.stringify(created.json));
      const order = created.json.data as { transactionId: string; depositAddress: string };
      assert.match(order.depositAddress, /^0x[0-9a-fA-F]{40}$/);

      const { transactionId } = order;
      const get = async () =>
        (await call(`${WL}/offramp/transaction`, { transactionId, customerId })).json.data as Record<string, string>;
      assert.deepEqual([(await get()).status, (await get()).transactionHash], ['0', '']);

      for (const status of ['2', '6']) {
        const driven = await call(`${WL}/test/changeOfframpStatus`, { customerId, transactionId, status });
        assert.equal(driven.http, 200, JSON.stringify(driven.json));
        assert.match((driven.json.data as { message: string }).message, new RegExp(`^Status changed to ${status}`));
        await until(`status ${status}`, get, (one) => Number(one.status) >= Number(status));
      }
      const paid = await get();
      assert.equal(paid.status, '6');
      assert.match(paid.transactionHash ?? '', /^0x[0-9a-f]{64}$/);
      assert.equal(paid.toAmount, quote.toAmount);

      const listed = await call(`${WL}/offramp/allUserTransaction`, { customerId, page: '1', pageSize: '10' });
      const [item] = listed.json.data as Record<string, string>[];
      assert.deepEqual(Object.keys(item ?? {}).sort(), [
        'chain',
        'createdAt',
        'fiatAccountId',
        'fromAmount',
        'fromCurrency',
        'status',
        'toAmount',
        'toCurrency',
        'transactionHash',
        'transactionId',
        'updatedAt',
      ]);
      assert.equal(item?.transactionId, String(transactionId));
      assert.equal(listed.headers.get('x-total-count'), '1');
      assert.deepEqual(
        (await call(`${WL}/offramp/allUserTransaction`, { customerId, page: '2', pageSize: '10' })).json.data,
        [],
      );

      const [chain] = sandbox().chains.filter((one) => one.code === 'matic20');
      const receipt = await fetch(chain?.rpcUrl ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'eth_getTransactionReceipt',
          params: [paid.transactionHash],
        }),
      });
      const { result } = (await receipt.json()) as { result: { status: string; logs: { topics: string[] }[] } };
      assert.equal(result.status, '0x1', 'the hash is not a transaction of the chain');
      assert.ok(
        result.logs.some((log) => log.topics[2]?.endsWith(order.depositAddress.slice(2).toLowerCase())),
        'that paid the deposit address',
      );
    });
  });
}

test('the second partner sees nothing of the first', async () => {
  const [own, other] = [caller(sandbox, JSON_STYLE), caller(sandbox, JSON_STYLE, 1)];
  const enrolled = await own(`${WL}/kyc/url`, {
    clientCustomerId: 'private',
    phoneNumber: '+910000000000',
    type: 'INDIVIDUAL',
  });
  const { customerId } = enrolled.json.data as { customerId: string };
  const theirs = await other(`${WL}/kyc/status`, { customerId });
  const nobodys = await other(`${WL}/kyc/status`, { customerId: 'AAAAAAAAAA_1' });
  assert.equal(theirs.http, 404);
  assert.deepEqual({ ...theirs.json }, { ...nobodys.json });
});

test('invalid requests are refused with the reason', async () => {
  const call = caller(sandbox, JSON_STYLE);
  const missing = await call(`${WL}/offramp/allUserTransaction`, {});
  assert.deepEqual([missing.http, missing.json.error], [400, 'Missing parameter -> customerId, page, pageSize.']);
  assert.equal(missing.json.message, missing.json.error);
  const ahead = await call(`${WL}/kyc/status`, { customerId: 'x' }, { timestamp: Date.now() + 120_000 });
  assert.deepEqual([ahead.http, ahead.json.error], [401, 'Ahead of Time']);
  const behind = await call(`${WL}/kyc/status`, { customerId: 'AAAAAAAAAA_1' }, { timestamp: Date.now() - 30_000 });
  assert.equal(behind.http, 404, 'a clock half a minute behind was refused');
  const forged = await call(`${WL}/kyc/status`, { customerId: 'x' }, { headers: { 'X-ONRAMP-SIGNATURE': '00' } });
  assert.equal(forged.http, 401);
});

test('reference data is public', async () => {
  for (const path of [
    `${WL}/public/listSupportedFiat`,
    `${WL}/kyb/requirements`,
    '/onramp/api/v2/common/public/fetchPaymentMethodType',
    '/onramp/api/v2/common/public/currentTimestamp',
    '/onramp/api/v2/common/public/fetchAllCountryConfig',
    '/onramp/api/v3/buy/public/listAllCoins',
    '/onramp/api/v3/buy/public/listAllNetworks',
    '/onramp/api/v1/public/allGasFee',
  ]) {
    const response = await fetchDeclared(sandbox().baseUrl + path);
    const json = (await response.json()) as { status: number; code: number };
    assert.deepEqual([path, response.status, json.status, json.code], [path, 200, 1, 200]);
  }
});

test('a customer sells by a link, and the program learns the order on the customer’s return', async () => {
  const call = caller(sandbox, STYLES[1] ?? JSON_STYLE);
  const customerId = await verified(call, 'seller-by-link');
  const back = 'https://shop.example/sold?cart=9';
  // Variants of public programs, with their origin.
  const asked: Body = { coinCode: 'USDT', network: 'matic20', quantity: '120', fiatType: 1, type: 2 };
  const { link = '' } = await told(call(`${COMMON}/generateLink`, { ...asked, customerId, redirectUrl: back }));
  const visitor = openVisitor();
  await visitor.go(link);
  assert.equal(visitor.title(), 'Sell USDT');
  assert.equal(visitor.fact('You send'), '120 USDT');
  await visitor.follow('Continue');
  await visitor.logIn();
  assert.equal(visitor.title(), 'Add a bank account');
  await visitor.press('Add account', { account: '000111222333', ifsc: 'HDFC0001234' });
  const [, fiatAccount = ''] = /<option value="(\d+)" selected/.exec(visitor.text()) ?? [];
  const promised = visitor.fact('You receive');
  await visitor.press('Sell', { fiatAccount });
  assert.equal(visitor.title(), 'Send your USDT');
  const gone = new URL(visitor.link('Back to'));
  assert.equal(gone.searchParams.get('cart'), '9');
  const own = { customerId, transactionId: gone.searchParams.get('orderId') ?? '' };
  const order = await told(call(`${WL}/offramp/transaction`, own));
  assert.ok(visitor.text().includes(order.depositAddress ?? '?'));
  assert.equal(`${order.toAmount} INR`, promised);
  await told(call(`${WL}/test/changeOfframpStatus`, { ...own, status: '1' }));
  await until(
    'it is paid',
    () => told(call(`${WL}/offramp/transaction`, own)),
    ({ status }: Data) => status === '6',
  );
  await visitor.go(link);
  assert.equal(visitor.title(), 'Done');
  assert.equal(visitor.fact('Received'), '120 USDT: arrived');
});
