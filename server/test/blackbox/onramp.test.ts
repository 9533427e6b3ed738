/**
 * A partner's program that buys, from outside. Like the selling one, it knows only the wire and sandbox.json: no import of the
 * server, no database. It queries the chain that sandbox.json names.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
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

const HISTORY = '/onramp/api/v1/transaction/merchantHistory';
/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const sandbox = serverForThisFile();

interface Receipt {
  status: string;
  logs: { address: string; topics: string[]; data: string }[];
}

async function receiptOf(hash: string): Promise<Receipt> {
  const rpcUrl = sandbox().chains.find(({ code }) => code === 'matic20')?.rpcUrl ?? '';
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] }),
  });
  return ((await response.json()) as { result: Receipt }).result;
}

const newAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

for (const [number, style] of STYLES.entries()) {
  describe(`a program that sends ${style.name}`, () => {
    test('buys crypto from the first call to the tokens in the wallet', async () => {
      const call = caller(sandbox, style);
      const customerId = await verified(call, `buyer-${number}`);
      const fromAmount = style.numbers ? 5000 : '5000';
      const pair = { fromCurrency: 'INR', toCurrency: 'usdt', chain: 'matic20', fromAmount };

      const prefix = number % 2 === 0 ? WL : BANK_WL;
      const quote = await told(call(`${prefix}/onramp/quote`, { ...pair, paymentMethodType: 'UPI' }));
      assert.deepEqual(Object.keys(quote).sort(), [
        'fees',
        'fromAmount',
        'fromCurrency',
        'rate',
        'toAmount',
        'toCurrency',
      ]);

      const depositAddress = newAddress();
      const asNumber = (text = ''): string | number => (style.numbers ? Number(text) : text);
      const created = await told(
        call(`${WL}/onramp/createTransaction`, {
          ...pair,
          customerId,
          depositAddress,
          toAmount: asNumber(quote.toAmount),
          rate: asNumber(quote.rate),
          paymentMethodType: 'UPI',
          merchantRecognitionId: `shop-${number}`,
        }),
      );
      assert.match(created.createdAt ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      assert.equal(created.fiatAmount, '5000');
      const instructions = created.fiatPaymentInstructions as unknown as {
        type: string;
        bank: Data;
        bankNotes: { type: number; msg: string }[];
        otp: string;
      };
      assert.equal(instructions.type, 'UPI');
      assert.match(instructions.bank.accountNumber ?? '', /^[0-9]+$/);
      assert.ok(
        instructions.bankNotes.some(({ msg }) => msg.includes(instructions.otp)),
        'the reference is told',
      );

      const { transactionId = '' } = created;
      const own = { customerId, transactionId };
      const get = () => told(call(`${WL}/onramp/transaction`, own));
      assert.deepEqual([(await get()).status, (await get()).transactionHash], ['0', '']);

      await told(call(`${WL}/onramp/referenceId`, { ...own, referenceId: '000011112222' }, { method: 'PUT' }));
      assert.equal((await get()).status, '1');
      const again = await told(
        call(`${WL}/bank/bankDetails`, { ...own, fromCurrency: 'INR', paymentMethodType: 'UPI' }),
      );
      assert.deepEqual(again, instructions);

      for (const status of ['2', '4']) {
        const { message } = await told(call(`${WL}/test/changeOnrampStatus`, { ...own, status }));
        assert.match(message ?? '', new RegExp(`^Status changed to ${status} i\\.e [A-Z_]+$`));
        await until(`status ${status}`, get, (one) => Number(one.status) >= Number(status));
      }
      const bought = await until('it is there', get, (one) => one.status === '4');
      assert.equal(bought.toAmount, quote.toAmount);
      assert.deepEqual(
        [bought.fromCurrency, bought.toCurrency, bought.depositAddress, bought.paymentMethodType],
        ['INR', 'usdt', depositAddress, 'UPI'],
      );

      assert.match(bought.transactionHash ?? '', /^0x[0-9a-f]{64}$/);
      const receipt = await receiptOf(bought.transactionHash ?? '');
      assert.equal(receipt.status, '0x1');
      const token = sandbox()
        .chains.find(({ code }) => code === 'matic20')
        ?.tokens.find(({ code }) => code === 'usdt');
      const paid = receipt.logs.find(
        ({ address, topics }) =>
          address.toLowerCase() === token?.address.toLowerCase() &&
          topics[0] === TRANSFER &&
          topics[2]?.endsWith(depositAddress.slice(2)),
      );
      const units = BigInt(Math.round(Number(bought.toAmount) * 10 ** (token?.decimals ?? 0)));
      assert.equal(BigInt(paid?.data ?? 0), units, 'the transaction paid another amount than promised');

      const listed = await call(`${WL}/onramp/allUserTransaction`, { customerId, page: '1', pageSize: '500' });
      assert.deepEqual(listed.json.data, [bought]);
      assert.equal(listed.headers.get('x-total-count'), '1');
      const { orderStatus } = await told(call(`${COMMON}/orderStatus`, { orderId: transactionId, type: 1 }));
      assert.equal(orderStatus, 4);
      const [flat] = (await told(call(HISTORY, { order: 'DESC', type: 1, page: 1, pageSize: 1 }))) as unknown as Data[];
      assert.deepEqual(
        [
          flat?.orderId,
          flat?.fiatAmount,
          flat?.actualCryptoAmount,
          flat?.status,
          flat?.referenceId,
          flat?.transactionHash,
        ],
        [Number(transactionId), 5000, Number(quote.toAmount), 4, '000011112222', bought.transactionHash],
      );
      assert.equal(flat?.merchantRecognitionId, `shop-${number}`);
    });
  });
}

test('the lists have all purchases and sales of a partner, and none of another', async () => {
  const call = caller(sandbox, JSON_STYLE, 1);
  const customerId = await verified(call, 'lister');
  const pair = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'erc20', paymentMethodType: 'UPI' };
  const made: string[] = [];
  for (const fromAmount of ['1000', '2000', '3000']) {
    const buy = { ...pair, customerId, depositAddress: newAddress(), fromAmount };
    made.unshift((await told(call(`${WL}/onramp/createTransaction`, buy))).transactionId ?? '');
  }
  const list = async (path: string, body: Body) => {
    const reply = await call(path, body);
    assert.equal(reply.http, 200, JSON.stringify(reply.json));
    return { items: reply.json.data as Data[], total: reply.headers.get('x-total-count') };
  };
  const all = await list(`${WL}/onramp/allTransaction`, { page: 1, pageSize: 500 });
  assert.deepEqual([all.items.map((one) => one.transactionId), all.total], [made, '3']);
  const second = await list(`${WL}/onramp/allTransaction`, { page: '2', pageSize: '2' });
  assert.deepEqual(
    second.items.map((one) => one.transactionId),
    made.slice(2),
  );
  assert.deepEqual(await list(`${WL}/offramp/allTransaction`, { page: 1, pageSize: 10 }), { items: [], total: '0' });
  const oldestFirst = await list(HISTORY, {});
  assert.deepEqual(
    oldestFirst.items.map((one) => String(one.orderId)),
    made.toReversed(),
  );
});

test('the maps agree with each other and with the public ones', async () => {
  const call = caller(sandbox, JSON_STYLE);
  const config = (await told(call(`${COMMON}/allConfigMapping`))) as unknown as Record<string, Record<string, number>>;
  assert.deepEqual([config.fiatSymbolMapping?.INR, config.fiatSymbolMapping?.EUR], [1, 12]);
  assert.deepEqual([config.coinSymbolMapping?.usdt, config.coinSymbolMapping?.usdc], [54, 116]);
  const { base = 0, optimism = 0, ...published } = config.chainSymbolMapping ?? {};
  assert.deepEqual(published, { erc20: 0, bep20: 1, trc20: 2, matic20: 3, arbitrum: 13 });
  assert.ok(base > 1_000_000 && optimism > 1_000_000, 'a chain without a published number has an unexpected one');

  const fees = (await told(call(`${COMMON}/allGasFee`))) as unknown as Record<string, Record<string, Data>>;
  const open = await fetchDeclared(`${sandbox().baseUrl}/onramp/api/v1/public/allGasFee`);
  const { data } = (await open.json()) as { data: { allGasFee: typeof fees } };
  assert.deepEqual(Object.keys(fees).sort(), Object.keys(data.allGasFee).sort());
  assert.equal(typeof fees['54']?.['3']?.withdrawalFee, 'string');
  assert.equal(typeof data.allGasFee['54']?.['3']?.withdrawalFee, 'number');
  assert.equal(fees['54']?.['3']?.depositEnable, 1);

  const limits = (await told(call(`${COMMON}/limits`, { type: 3 }))) as unknown as Record<
    string,
    Record<string, { min: number; max: number }>
  >;
  const { min = 0, max = 0 } = limits.onramp?.['1'] ?? {};
  assert.ok(0 < min && min < max);
  const least = (await told(call(`${COMMON}/allCoinLimits`, { fiatType: 1 }))) as unknown as Record<string, unknown>;
  assert.deepEqual(least['54'], { 0: min, 1: min, 2: min, 3: min, 13: min, [base]: min, [optimism]: min });
  const prices = (await told(call(`${COMMON}/priceTicker`, { type: 1, fiatType: 1 }))) as unknown as {
    onramp: Record<string, number>;
  };
  const quote = (await told(
    call(`${COMMON}/quotes`, { coinCode: 'usdt', network: 'matic20', fiatAmount: 200, fiatType: 1, type: 1 }),
  )) as unknown as Record<string, number>;
  assert.deepEqual(
    Object.values(quote).map((value) => typeof value),
    Object.keys(quote).map(() => 'number'),
  );
  assert.equal(quote.rate, prices.onramp['54']);

  for (const path of [`${WL}/kyc/requirements`, '/onramp-bank/api/v1/kyc/requirements']) {
    const customerId = await verified(call, `requirements ${path}`);
    const { json } = await call(path, { customerId, fiatType: 1 });
    assert.ok((json.kycRequirementData as { details: unknown }).details);
  }
});

test('invalid requests are refused with the reason', async () => {
  for (const style of STYLES) {
    const call = caller(sandbox, style);
    const refused = async (path: string, body: Body, http: number, sentence: RegExp, method?: 'PUT') => {
      const reply = await call(path, body, { method: method ?? 'POST' });
      assert.equal(reply.http, http, JSON.stringify(reply.json));
      assert.deepEqual([reply.json.status, reply.json.code], [0, http]);
      assert.match(reply.json.error ?? '', sentence);
      assert.equal(reply.json.message, reply.json.error);
    };
    const buy = {
      fromCurrency: 'INR',
      toCurrency: 'usdt',
      chain: 'matic20',
      fromAmount: '5000',
      paymentMethodType: 'UPI',
      depositAddress: newAddress(),
      customerId: 'AAAAAAAAAA_1',
    };
    const create = `${WL}/onramp/createTransaction`;
    await refused(create, {}, 400, /^Missing parameter -> fromCurrency, toCurrency, fromAmount, chain, customerId, /);
    await refused(
      create,
      { ...buy, depositAddress: '0x52908400098527886e0F7030069857D2E4169EE7' },
      400,
      /depositAddress/,
    );
    await refused(create, { ...buy, depositAddress: `0x${'0'.repeat(40)}` }, 400, /depositAddress/);
    await refused(create, buy, 404, /Customer not found/);
    await refused(`${WL}/onramp/quote`, { ...buy, toCurrency: 'nocoin' }, 406, /not supported/);
    await refused(`${WL}/onramp/quote`, { ...buy, fromAmount: '1' }, 413, /minimum 100, maximum 10000000 INR/);
    await refused(`${WL}/onramp/referenceId`, {}, 400, /^Missing parameter -> customerId, transactionId, ref/, 'PUT');
    await refused(`${COMMON}/orderStatus`, { orderId: 1, type: 1 }, 404, /^Invalid orderId$/);
    await refused(HISTORY, { pageSize: 501 }, 400, /pageSize/);
  }
  const unsigned = await fetchDeclared(`${sandbox().baseUrl}${COMMON}/allConfigMapping`, { method: 'POST' });
  assert.equal(unsigned.status, 401);
});

test('an unknown customer buys by an anonymous link, and the coins are in the wallet', async () => {
  const call = caller(sandbox, STYLES[3] ?? JSON_STYLE);
  const asked: Body = { coinCode: 'usdt', network: 'matic20', fiatAmount: 3000, fiatType: 1, type: 1 };
  const { link = '', urlHash = '' } = await told(
    call(`${COMMON}/generateLink`, { ...asked, redirectUrl: 'https://shop.example/bought' }),
  );
  assert.match(urlHash, /^[0-9A-Za-z]+$/);
  const visitor = openVisitor();
  await visitor.go(link);
  assert.equal(visitor.title(), 'Buy USDT');
  await visitor.follow('Continue');
  await visitor.press('Send code', { phone: '+91 98111 22233' });
  await visitor.logIn();
  assert.equal(visitor.title(), 'Your details');
  await visitor.press('Send my details', {
    firstName: 'Mina',
    lastName: 'Visser',
    dob: '1990-05-17',
    sex: 'female',
    identityNumber: 'MV19900517',
    sourceOfFunds: 'salary',
    addressLine1: '1 Harbour Street',
    city: 'Rotterdam',
    postalCode: '3011 AA',
  });
  const wallet = newAddress();
  const promised = visitor.fact('You receive');
  await visitor.press('Buy', { wallet });
  assert.equal(visitor.title(), 'Pay in INR');
  const { searchParams: back } = new URL(visitor.link('Back to'));
  const own = { transactionId: back.get('orderId') ?? '', customerId: back.get('customerId') ?? '' };
  const get = () => told(call(`${WL}/onramp/transaction`, own));
  assert.equal((await get()).depositAddress, wallet);
  await told(call(`${WL}/test/changeOnrampStatus`, { ...own, status: '2' }));
  const bought = await until('it is there', get, ({ status }) => status === '4');
  assert.equal(`${bought.toAmount} USDT`, promised);
  await visitor.go(link);
  assert.equal(visitor.title(), 'Done');
  assert.equal(visitor.fact('Transaction'), bought.transactionHash);
  assert.equal((await receiptOf(bought.transactionHash ?? '')).status, '0x1');
});
