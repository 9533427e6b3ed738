/**
 * Production, as an operator sets it up: an external PostgreSQL, a node named as a chain, a bank whose files a person carries, a
 * signer as a separate process, prices from an exchange, codes sent by another program, and a person who verifies.
 *
 * One installation for the file. Its tests follow each other like days.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import pino from 'pino';
import { movableClock } from '../../src/base/clock.ts';
import type { Tx } from '../../src/base/db.ts';
import { randomText } from '../../src/base/ids.ts';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { listCases } from '../../src/compliance/index.ts';
import { readConfig } from '../../src/config.ts';
import { balance, chart } from '../../src/ledger/index.ts';
import { trace } from '../../src/orders/index.ts';
import { createKey, createPartner, setFee, upsertMarket } from '../../src/partners/index.ts';
import { reconcileAll } from '../../src/reconcile/all.ts';
import { type Running, start } from '../../src/server.ts';
import { DETAILS, openBrowser } from '../protocols/checkout/environment.ts';
import { ANVIL_FIRST, type Anvil, data, deployToken, startAnvil } from '../support/anvil.ts';
import { brokenBooks, untilSound } from '../support/books.ts';
import { type Client, openClient } from '../support/client.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { type PriceHosts, priceHosts } from '../support/pricehosts.ts';
import {
  COLD,
  type CodeHost,
  codeHost,
  EURO_PRICES,
  FUNDING_IBAN,
  installation,
  onThisMachine,
  PUBLIC_URL,
} from '../support/production.ts';
import { type SignerProcess, startSigner } from '../support/signer.ts';
import { marketTerms } from '../support/terms.ts';
import { until as waitUntil } from '../support/until.ts';

const CHAIN = 'base';
const RAIL = 'evm.base';
const BANK = 'bank.manual';
const USDC = 'usdc.base';
const ETHER = 10n ** 18n;
const CUSTOMER_IBAN = 'GB29NWBK60161331926819';
const CUSTOMER_NAME = 'Zebulon Quagmire-Ōtaki';
const PATIENCE_MS = 30_000;

let database: FreshDatabase;
let anvil: Anvil;
let token: string;
let signer: SignerProcess;
let hosts: PriceHosts;
let codes: CodeHost;
let server: Running;
let partner: Client;
let partnerId: bigint;
let customerId: string;
let fiatAccountId: string;
let bankBalance = 0n;
let operatorToken: string;
const complaints: string[] = [];

const read = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => server.db.asSystem(work);
const limitsOf = (perTransfer: bigint) => ({
  chainId: anvil.chainId,
  tokens: { [token]: { perTransfer, perHour: 10n * perTransfer } },
  gas: { perTransfer: ETHER / 10n, perHour: ETHER },
  native: { perTransfer: 0n, perHour: 0n },
  fees: { perTransfer: ETHER / 10n, perHour: ETHER },
});

before(async () => {
  [database, anvil, hosts, codes] = await Promise.all([freshDatabase(), startAnvil(), priceHosts(), codeHost()]);
  token = await deployToken(anvil);
  await anvil.rpc('evm_setIntervalMining', [1]);
  signer = await startSigner({ limits: [limitsOf(parseUnits('200', 6))] });
  const { hot = '' } = signer.expected.wallets;
  await anvil.rpc('anvil_setBalance', [hot, `0x${(10n * ETHER).toString(16)}`]);
  hosts.books.kraken = EURO_PRICES;
  const around = onThisMachine({ database, anvil, token, signer, hosts, codes });
  // The first of its nodes is dead.
  const { env } = installation({
    ...around,
    chain: { ...around.chain, rpcUrls: ['http://127.0.0.1:9/dead', anvil.url] },
  });
  operatorToken = String(env.OPERATOR_TOKEN);
  const log = pino({ level: 'warn', base: null }, { write: (line: string) => void complaints.push(line) });
  // The server reads its settings from its environment; the master key is in a file.
  server = await start(readConfig(env), { log, clock: movableClock() });
  await operatorSetsUp();
});

after(async () => {
  await server?.stop();
  await Promise.all([signer?.stop(), anvil?.stop(), hosts?.stop(), database?.drop()]);
  codes?.server.close();
});

/** The operator's setup: a partner with a key that is valid from its own network only, two markets, their fees, funds. */
async function operatorSetsUp(): Promise<void> {
  const now = new Date();
  const keys = await read(async (tx) => {
    partnerId = (await createPartner(tx, { name: 'Acme', now, tradeLevel: 1 })).id;
    const scopes = ['read', 'trade', 'customers'] as const;
    return await createKey(tx, server.vault, {
      partnerId,
      label: 'live',
      scopes: [...scopes],
      addresses: ['203.0.113.0/24'],
      now,
    });
  });
  const signed = openClient(server.baseUrl, keys);
  const forwarded = { headers: { 'x-forwarded-for': '203.0.113.7' } };
  partner = {
    ...signed,
    post: (path, body) => signed.post(path, body, forwarded),
    put: (path, body) => signed.put(path, body, forwarded),
    get: (path) => signed.get(path, forwarded),
  };
  const terms = {
    ...marketTerms,
    crypto: USDC,
    fiat: 'eur',
    priceSources: ['kraken'],
    priceMaxAgeMs: 60_000,
    paymentMethod: 'SEPA_BANK_TRANSFER',
  };
  await read(async (tx) => {
    const selling = await upsertMarket(tx, {
      ...terms,
      direction: 'offramp',
      depositRail: RAIL,
      payoutRail: BANK,
      minUnits: parseUnits('1', 6),
      maxUnits: parseUnits('10000', 6),
      payoutDecimals: 2,
    });
    const buying = await upsertMarket(tx, {
      ...terms,
      direction: 'onramp',
      depositRail: BANK,
      payoutRail: RAIL,
      minUnits: parseUnits('5', 2),
      maxUnits: parseUnits('10000', 2),
      payoutDecimals: 6,
    });
    for (const marketId of [selling, buying])
      await setFee(tx, { marketId, partnerId: null, kind: 'operator', bps: 100n });
  });
  await anvil.send({ to: token, data: data('mint(address,uint256)', COLD, parseUnits('5000', 6)) });
  await anvil.rpc('anvil_setBalance', [COLD, `0x${ETHER.toString(16)}`]);
  await anvil.rpc('anvil_impersonateAccount', [COLD]);
  await anvil.send({
    from: COLD,
    to: token,
    data: data('transfer(address,uint256)', signer.expected.wallets.hot ?? '', parseUnits('5000', 6)),
  });
  await statement({ amount: '20000.00', text: 'own funds', account: FUNDING_IBAN, name: 'Ramp Ltd' });
}

const until = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  waitUntil(what, look, { withinMs: PATIENCE_MS, everyMs: 50, more: () => complaints.slice(-10).join('') });

const STATEMENTS = 4;
let lines = 0;

/** A person downloads a statement of one line at the bank, and takes it in. */
async function statement(line: { amount: string; text: string; account: string; name: string }): Promise<void> {
  lines += 1;
  bankBalance += line.amount.startsWith('-') ? -parseUnits(line.amount.slice(1), 2) : parseUnits(line.amount, 2);
  // One statement a day, up to today.
  const day = new Date(Date.now() - (STATEMENTS - lines) * 86_400_000).toISOString().slice(0, 10);
  const shown = formatUnits(bankBalance, 2);
  const row = [day, line.amount, line.text, line.name, line.account, `bank-${lines}`, shown].join(',');
  const text = `day,amount,text,name,account,id,balance\n${row}\n`;
  const hands = (token: string) =>
    operatorAsks('/bank/statements?asset=eur', { 'content-type': 'text/csv' }, text, token);
  const first = await hands(operatorToken);
  // A file with a credit takes two people, who upload the same file.
  assert.equal(first.status, line.amount.startsWith('-') ? 200 : 202, await first.text());
  if (first.status === 200) return;
  const taken = await hands(await second());
  assert.equal(taken.status, 200, await taken.text());
}

/** The other operator, admitted by the first one with her own token. */
let grace: Promise<string> | undefined;
const second = (): Promise<string> => {
  const token = `clo_${randomText(43)}`;
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  return (grace ??= operates('/operators', { operator: 'grace', role: 'finance', tokenSha256 }).then(() => token));
};

/** For actions of two people: the first operator proposes, the other one confirms. */
async function agreed(path: string, body: Record<string, unknown>): Promise<Response> {
  const { proposal } = await operates(path, body);
  const json = JSON.stringify({ reason: 'looked at, too' });
  const confirm = `/proposals/${proposal}/confirm`;
  return await operatorAsks(confirm, { 'content-type': 'application/json' }, json, await second());
}

/** Over the operator's wire. Without a body it is a read. */
const operatorAsks = (path: string, headers: Record<string, string> = {}, body?: string, token = operatorToken) =>
  fetchDeclared(`${server.baseUrl}/operator/v1${path}`, {
    headers: { ...headers, authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });

/** An operator's action: by the first one, with the token of the installation, or by another. */
async function operates(path: string, body: Record<string, unknown>, token = operatorToken) {
  const json = JSON.stringify({ ...body, reason: 'looked at and found good' });
  const response = await operatorAsks(path, { 'content-type': 'application/json' }, json, token);
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${text}`);
  return JSON.parse(text);
}

async function told<T = Record<string, string>>(path: string, body: Record<string, string>): Promise<T> {
  const answer = await partner.post(path, body);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body.data as T;
}

const pair = { fromCurrency: 'usdc', toCurrency: 'EUR', chain: CHAIN };

async function buys(amount: string): Promise<{ id: bigint; reference: string; address: string }> {
  const address = `0x${randomBytes(20).toString('hex')}`;
  const created = await told<{ transactionId: string; fiatPaymentInstructions: { otp: string } }>(
    'onramp/createTransaction',
    {
      fromCurrency: 'EUR',
      toCurrency: 'usdc',
      chain: CHAIN,
      fromAmount: amount,
      paymentMethodType: 'SEPA_BANK_TRANSFER',
      customerId,
      depositAddress: address,
    },
  );
  const reference = created.fiatPaymentInstructions.otp;
  return { id: BigInt(created.transactionId), reference, address };
}

const pays = (amount: string, reference: string) =>
  statement({ amount, text: `ref ${reference}`, account: CUSTOMER_IBAN, name: CUSTOMER_NAME });

const stateOf = async (id: bigint) => (await read((tx) => trace(tx, id))).order.state;
const reaches = (id: bigint, state: string) =>
  until(`the order is ${state}`, async () => (await stateOf(id)) === state).catch(async (error: unknown) => {
    throw new Error(`the order is ${await stateOf(id)} and not ${state}`, { cause: error });
  });
const hasTokens = async (address: string): Promise<string> =>
  formatUnits(
    BigInt(await anvil.rpc<string>('eth_call', [{ to: token, data: data('balanceOf(address)', address) }, 'latest'])),
    6,
  );

async function readiness(): Promise<Record<string, { ok: boolean; why?: string }>> {
  const { checks } = (await (await fetch(`${server.baseUrl}/readyz`)).json()) as {
    checks: { name: string; ok: boolean; why?: string }[];
  };
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

test('opening funds are in the books: coin as it was found, tokens and money from the operator’s own accounts', async () => {
  const custody = (rail: string, wallet: string, asset: string) =>
    read((tx) => balance(tx, chart.custody(rail, wallet, asset))).then(({ units }) => units);
  await until('all of it is booked', async () => {
    const [eth, usdc, eur] = await Promise.all([
      custody(RAIL, 'hot', `eth.${CHAIN}`),
      custody(RAIL, 'hot', USDC),
      custody(BANK, 'main', 'eur'),
    ]);
    return eth === 10n * ETHER && usdc === parseUnits('5000', 6) && eur === parseUnits('20000', 2);
  });
  assert.deepEqual(await read((tx) => listCases(tx, { open: true, limit: 10 })), []);
});

test('prices come from the exchange that the markets name', async () => {
  await until('there is a price', async () => {
    const answer = await partner.post('offramp/quote', { ...pair, fromAmount: '10' });
    return answer.status === 200 && answer.body.data.toAmount === '8.91';
  });
});

test('no sandbox endpoint answers, and a client behind the proxy is identified by its own address', async () => {
  for (const path of [
    'test/changeKycStatus',
    'test/changeOfframpStatus',
    'test/changeOnrampStatus',
    'test/changeKybStatus',
  ])
    assert.equal((await partner.post(path, { customerId: 'x' })).status, 404, path);
  for (const accept of ['text/html', '*/*'])
    assert.equal((await fetch(`${server.baseUrl}/`, { headers: { accept } })).status, 404, `/ as ${accept}`);
  const keys = openClient(server.baseUrl, partner);
  const input = { ...pair, fromAmount: '10' };
  assert.equal((await keys.post('offramp/quote', input)).status, 403, 'from elsewhere');
  const elsewhere = { headers: { 'x-forwarded-for': '203.0.113.7, 198.51.100.9' } };
  assert.equal(
    (await keys.post('offramp/quote', input, elsewhere)).status,
    403,
    'a forged forwarding header was trusted',
  );
});

test('the docs for partners are served, and their collection names this server', async () => {
  assert.equal((await fetch(`${server.baseUrl}/docs`)).status, 200);
  const collection = (await (await fetch(`${server.baseUrl}/docs/collection.json`)).json()) as {
    variable: { key: string; value: string }[];
  };
  assert.equal(collection.variable.find(({ key }) => key === 'baseUrl')?.value, PUBLIC_URL);
});

test('a customer logs in with the code that was sent, gives details, and is verified by a person', async () => {
  const invited = await told('kyc/url', {
    clientCustomerId: 'c-1',
    phoneNumber: '+44-7700900123',
    type: 'INDIVIDUAL',
  });
  customerId = invited.customerId ?? '';
  const url = invited.kycUrl ?? '';
  assert.ok(url.startsWith(`${PUBLIC_URL}/kyc/`));
  const browser = openBrowser();
  await browser.open(url.replace(PUBLIC_URL, server.baseUrl));
  const asked = await browser.go('code');
  assert.doesNotMatch(asked.text, /123456/);
  const wrong = codes.sent[0]?.code === '123456' ? '654321' : '123456';
  assert.notEqual((await browser.go('login', { code: wrong })).title, 'Your details');
  const [message] = codes.sent;
  assert.equal(message?.phone, '+44-7700900123');
  assert.equal((await browser.go('login', { code: message?.code ?? '' })).title, 'Your details');
  await browser.go('details', DETAILS);

  const refused = await partner.post('bank/addFiatAccount', { customerId, iban: CUSTOMER_IBAN });
  assert.equal(refused.status, 200, 'an account could not be added during the review');
  fiatAccountId = refused.body.data.fiatAccountId;
  const [found] = await read((tx) => listCases(tx, { open: true, limit: 10 }));
  assert.equal(found?.kind, 'verification_review');
  const seen = await operates(`/customers/${customerId}/review/open`, {});
  assert.equal(seen.review.details.firstName, DETAILS.firstName);
  const { version } = seen.review;
  await operates(`/customers/${customerId}/review/decide`, { version, outcome: 'verified', level: 1 });
  assert.equal((await told('kyc/status', { customerId })).status, 'BASIC_KYC_COMPLETED');
});

test('a sale: tokens arrive, a payout file goes to the bank, and its statement settles it', async () => {
  const quote = await told<{ rate: string; toAmount: string }>('offramp/quote', { ...pair, fromAmount: '100' });
  assert.equal(quote.toAmount, '89.1', '100 at 0.90, less a hundredth');
  const { rate, toAmount } = quote;
  const sale = await told('offramp/createTransaction', {
    ...pair,
    fromAmount: '100',
    rate,
    toAmount,
    customerId,
    fiatAccountId,
  });
  const id = BigInt(sale.transactionId ?? '');
  await anvil.send({ to: token, data: data('mint(address,uint256)', ANVIL_FIRST, parseUnits('100', 6)) });
  await anvil.send({
    to: token,
    data: data('transfer(address,uint256)', sale.depositAddress ?? '', parseUnits('100', 6)),
  });
  await reaches(id, 'paying_out');
  await until('the payout is on the list', async () => {
    const { payouts } = (await (await operatorAsks('/bank/payouts')).json()) as { payouts: unknown[] };
    return payouts.length === 1;
  });
  const nextIs = (words: RegExp) =>
    until(`the trace says what is next: ${words}`, async () => {
      const { next } = (await (await operatorAsks(`/orders/${id}/trace`)).json()) as { next: string };
      return words.test(next);
    });
  await nextIs(/pay_\d+_1 has not been sent: it waits on the list of bank\.manual, and a person closes a file/);
  const batch = (await (await agreed('/bank/files', { asset: 'eur' })).json()) as { id: string };
  await nextIs(new RegExp(`it is in file ${batch.id} of bank\\.manual, which a person uploads`));
  const file = await agreed(`/bank/files/${batch.id}/download`, {});
  const [, row = ''] = (await file.text()).split(/\r?\n/);
  assert.ok(row.includes('89.10') && row.includes(CUSTOMER_IBAN) && row.includes('Zebulon'), row);
  const [reference = ''] = /pay-\d+-\d+/.exec(row) ?? [];
  await statement({ amount: '-89.10', text: `SEPA ${reference}`, account: CUSTOMER_IBAN, name: CUSTOMER_NAME });
  await reaches(id, 'settled');
  assert.equal((await told('offramp/transaction', { transactionId: String(id), customerId })).status, '6');
  await until('what was paid is swept by the signer', async () => (await hasTokens(sale.depositAddress ?? '')) === '0');
});

test('a purchase while the signer is down waits, shows it, and is paid when it is back', async () => {
  await signer.kill();
  const order = await buys('100');
  await pays('100.00', order.reference);
  await reaches(order.id, 'paying_out');
  await until('readiness says so', async () => (await readiness())[`signer ${CHAIN}`]?.ok === false);
  assert.match((await readiness())[`signer ${CHAIN}`]?.why ?? '', /^signer: no connection/);
  assert.equal((await readiness())[`rail ${RAIL}`]?.ok, true, 'the chain is not followed');
  assert.equal(await hasTokens(order.address), '0');

  await signer.start();
  await reaches(order.id, 'settled');
  assert.equal(await hasTokens(order.address), '110', '100 less a hundredth, at 0.90');
  assert.equal((await readiness())[`signer ${CHAIN}`]?.ok, true);
});

test('a purchase above the signer’s limit waits with a case, and goes once the limit is raised', async () => {
  const order = await buys('300');
  await pays('300.00', order.reference);
  await reaches(order.id, 'payout_held');
  const [found] = await read((tx) => listCases(tx, { open: true, limit: 10 }));
  assert.equal(found?.kind, 'payout_held');
  assert.match(found?.reason ?? '', /the signer refuses: more than one transfer may move/);
  assert.equal(await hasTokens(order.address), '0');

  signer.allow([limitsOf(parseUnits('1000', 6))]);
  await signer.kill();
  await signer.start();
  // Money that leaves by file takes two people.
  assert.equal((await agreed(`/orders/${order.id}/retry`, {})).status, 200);
  await reaches(order.id, 'settled');
  assert.equal(await hasTokens(order.address), '330');
});

test('the books agree with chain and bank, and nothing went wrong in the background', async () => {
  const outside = (rail: string, wallet: string, asset: string) =>
    server.rails.get(rail)?.balance(wallet, asset) ?? Promise.resolve(undefined);
  await until('sweeps are final', async () => {
    const open = await read((tx) => tx.rows('select 1 from own_transfers where ended_at is null'));
    return open.length === 0;
  });
  assert.deepEqual(await untilSound(() => read((tx) => brokenBooks(tx, outside)), 20_000), []);
  const compared = await reconcileAll({ db: server.db, clock: movableClock() }, server.rails, false);
  const broken = compared.flatMap(({ rail, items, failed }) => [
    ...(failed === undefined ? [] : [`${rail}: ${failed}`]),
    ...items.filter(({ transit }) => transit === null).map(({ key, kind, why }) => `${rail}: ${kind} ${key} ${why}`),
  ]);
  assert.deepEqual(broken, [], 'a comparison item by item finds a difference');
  const bugs = complaints.filter((line) => /"level":(5|6)0|"error":"(BugError|TypeError|RangeError|error)"/.test(line));
  assert.deepEqual(bugs, []);
});
