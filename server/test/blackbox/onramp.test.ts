/**
 * A partner's program that buys, from outside. Like its neighbour that sells, it knows the wire and sandbox.json and nothing
 * else of us: no import of the server, no database. The chain it asks is the one that sandbox.json names.
 */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { makeDataDir, removeDataDir, type Sandbox, type ServerProcess, startProcess } from '../support/process.ts';

const WL = '/onramp/api/v2/whiteLabel';
const BANK_WL = '/onramp-bank/api/v2/whiteLabel';
const COMMON = '/onramp/api/v2/common/transaction';
const HISTORY = '/onramp/api/v1/transaction/merchantHistory';
/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

type Body = Record<string, string | number>;
type Data = Record<string, string>;
interface Style {
  name: string;
  spelling: readonly [key: string, payload: string, signature: string];
  form: boolean;
  /** JSON with a space after every colon and comma, as Python writes it. */
  spaced: boolean;
  bodyAsText: boolean;
  numbers: boolean;
}
interface Reply {
  http: number;
  headers: Headers;
  json: { status: number; code: number; data: unknown; error?: string; message?: string; kycRequirementData?: unknown };
}

const PLAIN = ['apiKey', 'payload', 'signature'] as const;
const PREFIXED = ['X-ONRAMP-APIKEY', 'X-ONRAMP-PAYLOAD', 'X-ONRAMP-SIGNATURE'] as const;
const STYLES: readonly Style[] = [
  { name: 'compact JSON', spelling: PREFIXED, form: false, spaced: false, bodyAsText: false, numbers: true },
  { name: 'spaced JSON', spelling: PLAIN, form: false, spaced: true, bodyAsText: true, numbers: false },
  { name: 'forms', spelling: PLAIN, form: true, spaced: false, bodyAsText: false, numbers: false },
  { name: 'forms, prefixed', spelling: PREFIXED, form: true, spaced: true, bodyAsText: true, numbers: false },
];
const [JSON_STYLE] = STYLES as [Style];

let server: ServerProcess;
let sandbox: Sandbox;
const dataDir = makeDataDir();

before(async () => {
  server = await startProcess({ dataDir, port: 0 });
  sandbox = server.sandbox();
});
after(async () => {
  const code = await server?.interrupt();
  removeDataDir(dataDir);
  if (process.env.SHOW_SERVER === '1') process.stderr.write(server.output());
  assert.equal(code, 0, 'Ctrl-C ends the server in good order');
});

const write = (value: unknown, spaced: boolean): string =>
  spaced ? JSON.stringify(value, null, 1).replace(/\n */g, ' ') : JSON.stringify(value);

function caller(style: Style, partner = 0) {
  return async (path: string, body: Body = {}, method: 'POST' | 'PUT' = 'POST'): Promise<Reply> => {
    const { apiKey = '', apiSecret = '' } = sandbox.partners[partner] ?? {};
    const signed = { timestamp: Date.now(), body: style.bodyAsText ? write(body, style.spaced) : body };
    const payload = Buffer.from(write(signed, style.spaced)).toString('base64');
    const [key, load, sign] = style.spelling;
    const response = await fetch(sandbox.baseUrl + path, {
      method,
      headers: {
        'content-type': style.form ? 'application/x-www-form-urlencoded' : 'application/json',
        [key]: apiKey,
        [load]: payload,
        [sign]: createHmac('sha512', apiSecret).update(payload).digest('hex'),
      },
      body: style.form
        ? new URLSearchParams(
            Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)])),
          ).toString()
        : write(body, style.spaced),
    });
    return { http: response.status, headers: response.headers, json: (await response.json()) as Reply['json'] };
  };
}
type Call = ReturnType<typeof caller>;

async function told(reply: Promise<Reply>): Promise<Data> {
  const { http, json } = await reply;
  assert.equal(http, 200, JSON.stringify(json));
  assert.deepEqual([json.status, json.code], [1, 200]);
  return json.data as Data;
}

async function verified(call: Call, name: string): Promise<string> {
  const enrolled = call(`${WL}/kyc/url`, { clientCustomerId: name, phoneNumber: '+910000000000', type: 'INDIVIDUAL' });
  const { customerId = '' } = await told(enrolled);
  await told(call(`${WL}/test/changeKycStatus`, { customerId, status: 'ADVANCE_KYC_COMPLETED' }));
  return customerId;
}

async function until(what: string, ask: () => Promise<Data>, reached: (answer: Data) => boolean): Promise<Data> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (reached(answer)) return answer;
    if (Date.now() > giveUpAt) throw new Error(`${what}: ${JSON.stringify(answer)}`);
    await new Promise((wake) => setTimeout(wake, 200));
  }
}

interface Receipt {
  status: string;
  logs: { address: string; topics: string[]; data: string }[];
}

async function receiptOf(hash: string): Promise<Receipt> {
  const rpcUrl = sandbox.chains.find(({ code }) => code === 'matic20')?.rpcUrl ?? '';
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
      const call = caller(style);
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

      await told(call(`${WL}/onramp/referenceId`, { ...own, referenceId: '000011112222' }, 'PUT'));
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
      const token = sandbox.chains.find(({ code }) => code === 'matic20')?.tokens.find(({ code }) => code === 'usdt');
      const paid = receipt.logs.find(
        ({ address, topics }) =>
          address.toLowerCase() === token?.address.toLowerCase() &&
          topics[0] === TRANSFER &&
          topics[2]?.endsWith(depositAddress.slice(2)),
      );
      const units = BigInt(Math.round(Number(bought.toAmount) * 10 ** (token?.decimals ?? 0)));
      assert.equal(BigInt(paid?.data ?? 0), units, 'the transaction paid the wallet what was promised');

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

test('all purchases and sales of a partner are listed, and none of another', async () => {
  const call = caller(JSON_STYLE, 1);
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
  const call = caller(JSON_STYLE);
  const config = (await told(call(`${COMMON}/allConfigMapping`))) as unknown as Record<string, Record<string, number>>;
  assert.deepEqual([config.fiatSymbolMapping?.INR, config.fiatSymbolMapping?.EUR], [1, 12]);
  assert.deepEqual([config.coinSymbolMapping?.usdt, config.coinSymbolMapping?.usdc], [54, 116]);
  assert.deepEqual(config.chainSymbolMapping, { erc20: 0, matic20: 3 });

  const fees = (await told(call(`${COMMON}/allGasFee`))) as unknown as Record<string, Record<string, Data>>;
  const open = await fetch(`${sandbox.baseUrl}/onramp/api/v1/public/allGasFee`);
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
  assert.deepEqual(least['54'], { 0: min, 3: min });
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

test('what must not get in does not, and is told why', async () => {
  for (const style of STYLES) {
    const call = caller(style);
    const refused = async (path: string, body: Body, http: number, sentence: RegExp, method?: 'PUT') => {
      const reply = await call(path, body, method);
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
    await refused(create, {}, 400, /^Missing parameter -> fromCurrency, toCurrency, chain, fromAmount, customerId, /);
    await refused(
      create,
      { ...buy, depositAddress: '0x52908400098527886e0F7030069857D2E4169EE7' },
      400,
      /depositAddress/,
    );
    await refused(create, { ...buy, depositAddress: `0x${'0'.repeat(40)}` }, 400, /depositAddress/);
    await refused(create, buy, 404, /Customer not found/);
    await refused(`${WL}/onramp/quote`, { ...buy, toCurrency: 'nocoin' }, 406, /not supported/);
    await refused(`${WL}/onramp/quote`, { ...buy, fromAmount: '1' }, 413, /between 100 and 10000000 INR/);
    await refused(`${WL}/onramp/referenceId`, {}, 400, /^Missing parameter -> customerId, transactionId, ref/, 'PUT');
    await refused(`${COMMON}/orderStatus`, { orderId: 1, type: 1 }, 404, /^Invalid orderId$/);
    await refused(HISTORY, { pageSize: 501 }, 400, /pageSize/);
  }
  const unsigned = await fetch(`${sandbox.baseUrl}${COMMON}/allConfigMapping`, { method: 'POST' });
  assert.equal(unsigned.status, 401);
});
