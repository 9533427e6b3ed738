/**
 * Roles: a process that answers requests and a process that does the work, on one database. Each has the settings of its role
 * only. The worker is killed and replaced.
 *
 * One installation for the file. Its tests follow each other.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openVault } from '../../src/base/crypto.ts';
import { type Database, openDatabase } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { migrateFor } from '../../src/base/migrate.ts';
import { parseUnits } from '../../src/base/money.ts';
import { isAlive } from '../../src/base/processes.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { addEndpoint } from '../../src/events/index.ts';
import { type SimulatedBank, startSimulatedBank } from '../../src/rails/simulated/index.ts';
import { BANK, CURRENCY } from '../chaos/bank.ts';
import { ANVIL_FIRST, type Anvil, data, deployToken, startAnvil } from '../support/anvil.ts';
import { type Client, type Keys, openClient } from '../support/client.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { CUSTOMER_NAME, seedEuros, verifiedCustomer } from '../support/euros.ts';
import { type PriceHosts, priceHosts } from '../support/pricehosts.ts';
import { collect, freePort, run, type ServerProcess, startProcess } from '../support/process.ts';
import { COLD, type CodeHost, codeHost, EURO_PRICES, installation, onThisMachine } from '../support/production.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { type SignerProcess, startSigner } from '../support/signer.ts';
import { until as waitUntil } from '../support/until.ts';

const ETHER = 10n ** 18n;
const PATIENCE_MS = 60_000;
const CUSTOMER_IBAN = 'GB29NWBK60161331926819';
/** What each role does without. */
const OF_WORKERS = ['SIGNER_ADDRESS', 'SIGNER_SECRET', 'PRICE_KRAKEN_URL'];
const OF_API = ['TRUSTED_PROXIES', 'OPERATOR_TOKEN', 'CODE_SENDER_URL', 'CODE_SENDER_SECRET'];
const PROGRAM = 'server/test/production/roles.process.ts';

interface RoleProcess extends ServerProcess {
  url: string;
  metricsUrl: string;
}
interface Shown {
  name: string;
  ok: boolean;
  essential: boolean;
  why?: string;
  alive?: number;
}

let database: FreshDatabase;
let banks: FreshDatabase;
let anvil: Anvil;
let token: string;
let signer: SignerProcess;
let hosts: PriceHosts;
let codes: CodeHost;
let bank: SimulatedBank;
let receiver: Receiver;
let db: Database;
let env: NodeJS.ProcessEnv;
let folder: string;
let keys: Keys;
let partner: Client;
let customerId: string;
let api: RoleProcess;
let worker: RoleProcess;
const started: RoleProcess[] = [];

before(async () => {
  [database, banks, anvil, hosts, codes, receiver] = await Promise.all([
    freshDatabase(),
    freshDatabase(),
    startAnvil(),
    priceHosts(),
    codeHost(),
    openReceiver(),
  ]);
  token = await deployToken(anvil);
  await anvil.rpc('evm_setIntervalMining', [1]);
  const much = { perTransfer: 10n ** 30n, perHour: 10n ** 32n };
  const limits = { chainId: anvil.chainId, tokens: { [token]: much }, gas: much, native: much, fees: much };
  signer = await startSigner({ limits: [limits] });
  hosts.books.kraken = EURO_PRICES;
  const clock = systemClock;
  bank = await startSimulatedBank({
    ...{ adminUrl: banks.adminUrl, clock, log: openLog('silent') },
    ...{ deduplicatesForMs: 0, settleMs: 300 },
  });
  await bank.fund({ currency: CURRENCY, units: parseUnits('10000', 2), id: 'opening' });

  const around = onThisMachine({ database, anvil, token, signer, hosts, codes });
  ({ env, folder } = installation({
    ...around,
    env: { ...around.env, ROLES_BANK_URL: bank.url, ROLES_BANK_TOKEN: bank.token },
  }));
  const vault = openVault(Buffer.from(readFileSync(String(env.MASTER_KEY_FILE), 'utf8').trim(), 'hex'));
  db = openDatabase(await migrateFor(database.adminUrl, vault));
  const now = new Date();
  await db.asSystem(async (tx) => {
    keys = await seedEuros(tx, vault, { token, bank: BANK, now });
    const partnerOf = await tx.row<{ partnerId: bigint }>('select partner_id from api_keys');
    const { partnerId } = partnerOf ?? assert.fail('the partner has a key');
    const { apiKey } = keys;
    await addEndpoint(tx, vault, { partnerId, url: receiver.url, format: 'standard', filter: [], apiKey, now });
  });
  const { hot = '' } = signer.expected.wallets;
  await anvil.rpc('anvil_setBalance', [hot, `0x${(10n * ETHER).toString(16)}`]);
  await anvil.rpc('anvil_setBalance', [COLD, `0x${ETHER.toString(16)}`]);
  await anvil.rpc('anvil_impersonateAccount', [COLD]);
  await anvil.send({ to: token, data: data('mint(address,uint256)', COLD, parseUnits('5000', 6)) });
  await anvil.send({ to: token, data: data('mint(address,uint256)', ANVIL_FIRST, parseUnits('5000', 6)) });
});

after(async () => {
  await Promise.all(started.map((one) => one.kill()));
  await Promise.all([signer?.stop(), bank?.stop(), anvil?.stop(), hosts?.stop(), receiver?.down(), db?.close()]);
  codes?.server.close();
  await Promise.all([database?.drop(), banks?.drop()]);
});

/** A process of one role, with the settings that this role has. */
async function starts(role: 'api' | 'worker', name: string): Promise<RoleProcess> {
  const others = role === 'api' ? OF_WORKERS : OF_API;
  const own = Object.fromEntries(Object.entries(env).filter(([setting]) => !others.includes(setting)));
  const port = await freePort();
  const dataDir = join(folder, name);
  const process = await startProcess({
    ...{ dataDir, port, program: PROGRAM },
    env: { ...own, ROLE: role, DATA_DIR: dataDir, PORT: String(port) },
  });
  const [, url = '', metricsUrl = ''] = /it is ready: (\S+) (\S+)/.exec(process.output()) ?? [];
  const one = { ...process, url, metricsUrl };
  started.push(one);
  return one;
}

const until = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  waitUntil(what, look, {
    withinMs: PATIENCE_MS,
    everyMs: 50,
    more: () => started.map((one) => one.output()).join('\n'),
  });

async function readiness({ url }: RoleProcess): Promise<{ status: number; checks: Map<string, Shown> }> {
  const reply = await fetch(`${url}/readyz`);
  const { checks } = (await reply.json()) as { checks: Shown[] };
  return { status: reply.status, checks: new Map(checks.map((one) => [one.name, one])) };
}

const metric = async ({ metricsUrl }: RoleProcess, name: string): Promise<string | undefined> =>
  new RegExp(`^${name} (.+)$`, 'm').exec(await (await fetch(metricsUrl)).text())?.[1];

async function told<T = Record<string, string>>(path: string, body: Record<string, string>): Promise<T> {
  const answer = await partner.post(path, body);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body.data as T;
}

const stateOf = async (id: bigint) =>
  (await db.asSystem((tx) => tx.row<{ state: string }>('select state from orders where id = $1', [id])))?.state;
const reaches = (id: bigint, state: string) =>
  until(`the order is ${state}`, async () => (await stateOf(id)) === state);

async function operates<T>(path: string, body: Record<string, unknown>): Promise<T> {
  const response = await fetchDeclared(`${api.url}/operator/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, reason: 'looked at' }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${text}`);
  return JSON.parse(text) as T;
}

const pair = { fromCurrency: 'usdc', toCurrency: 'EUR', chain: 'base' };

async function sells(amount: string): Promise<{ id: bigint; address: string }> {
  const { fiatAccountId = '' } = await told('bank/addFiatAccount', { customerId, iban: CUSTOMER_IBAN });
  const { rate = '', toAmount = '' } = await told('offramp/quote', { ...pair, fromAmount: amount });
  const terms = { ...pair, fromAmount: amount, rate, toAmount };
  const order = await told('offramp/createTransaction', { ...terms, customerId, fiatAccountId });
  return { id: BigInt(order.transactionId ?? ''), address: order.depositAddress ?? '' };
}

async function buys(amount: string): Promise<{ id: bigint; reference: string; address: string }> {
  const address = `0x${randomBytes(20).toString('hex')}`;
  const terms = { fromCurrency: 'EUR', toCurrency: 'usdc', chain: 'base', fromAmount: amount };
  const order = await told<{ transactionId: string; fiatPaymentInstructions: { otp: string } }>(
    'onramp/createTransaction',
    { ...terms, paymentMethodType: 'SEPA_BANK_TRANSFER', customerId, depositAddress: address },
  );
  return { id: BigInt(order.transactionId), reference: order.fiatPaymentInstructions.otp, address };
}

const sendsTokens = (to: string, amount: string, from?: string) =>
  anvil.send({
    to: token,
    data: data('transfer(address,uint256)', to, parseUnits(amount, 6)),
    ...(from === undefined ? {} : { from }),
  });

const hearsOf = (id: bigint, type: string) =>
  until(`the partner hears ${type}`, async () =>
    receiver.taken.some(({ body }) => body.type === type && body.subject === `order:${id}`),
  );
/** What the API process says; its answers are a second old. */
const apiSees = (workers: number) =>
  until(`it sees ${workers} workers`, async () => (await readiness(api)).checks.get('workers')?.alive === workers);

test('a process that answers requests starts without signer, prices and bank, does no work, and is ready', async () => {
  api = await starts('api', 'api');
  partner = openClient(api.url, keys);
  const { status, checks } = await readiness(api);
  assert.equal(status, 200);
  assert.deepEqual([...checks.keys()].toSorted(), [
    ...[
      'clock',
      'data folder',
      'database',
      'kill_switches',
      'operators',
      'price breakers',
      'prices',
      'standbys',
      'workers',
    ],
    'writes',
  ]);
  assert.deepEqual([checks.get('workers')?.alive, checks.get('workers')?.essential], [0, false]);
  assert.equal(await metric(api, 'cloverleaf_workers'), '0');
  const jobs = await db.asSystem((tx) => tx.rows<{ kind: string }>('select kind from jobs'));
  assert.deepEqual(jobs, [], 'it enqueued recurring jobs');
  assert.deepEqual(hosts.asked, [], 'it asked for prices');
});

test('a job that a request enqueues wakes a worker that would not look for an hour', async () => {
  const ran: string[] = [];
  const handlers = { check_verification: async (subject: string) => void ran.push(subject) as undefined };
  const workers = await startWorkers({
    ...{ db, clock: systemClock, log: openLog('silent'), handlers, pollMs: 3_600_000 },
  });
  try {
    customerId = await verifiedCustomer({ url: api.url, partner, codes }, operates);
    await until('the worker has run it', async () => ran.includes(customerId));
    await apiSees(1);
  } finally {
    await workers.stop();
  }
});

test('a worker starts without what operators and partners need, and serves neither', async () => {
  worker = await starts('worker', 'worker-1');
  const { status, checks } = await readiness(worker);
  assert.equal(status, 200);
  for (const name of ['jobs', 'signer base', 'rail evm.base', `rail ${BANK}`, 'reconciliation', 'prices kraken'])
    assert.ok(checks.has(name), `${name} is not checked: ${[...checks.keys()]}`);
  for (const name of ['workers', 'operators', 'kill_switches']) assert.ok(!checks.has(name), name);
  assert.equal((await fetch(`${worker.url}/healthz`)).status, 200);
  assert.equal(await metric(worker, 'cloverleaf_workers'), '1');
  const sentence = /is a worker: .* call a server whose role is api or all/;
  const auth = { authorization: `Bearer ${env.OPERATOR_TOKEN}`, 'content-type': 'application/json' };
  for (const [method, path, body] of [
    ['GET', '/operator/v1/cases'],
    ['POST', '/operator/v1/operators', '{}'],
    ['POST', '/onramp/api/v2/whiteLabel/offramp/quote', 'not JSON'],
    ['GET', '/v1/key'],
    ['GET', '/docs'],
    ['GET', '/console'],
    ['GET', '/kyc/link'],
    ['POST', '/readyz', '{}'],
    ['GET', '/%ff'],
    ['GET', '/'],
  ] as const) {
    const reply = await fetch(`${worker.url}${path}`, { method, headers: auth, ...(body && { body }) });
    assert.equal(reply.status, 404, path);
    assert.match(((await reply.json()) as { message: string }).message, sentence, path);
  }
  assert.equal((await fetchDeclared(`${api.url}/operator/v1/cases`, { headers: auth })).status, 200);
  await apiSees(1);
});

test('a sale runs from its quote to its settlement, and its partner hears of it', async () => {
  const { hot = '' } = signer.expected.wallets;
  await sendsTokens(hot, '5000', COLD);
  await until('there is a price', async () => {
    const { status } = await partner.post('offramp/quote', { ...pair, fromAmount: '10' });
    return status === 200;
  });
  const sale = await sells('100');
  await sendsTokens(sale.address, '100');
  await reaches(sale.id, 'settled');
  assert.equal((await told('offramp/transaction', { transactionId: String(sale.id), customerId })).status, '6');
  const [payment] = await bank.payments();
  assert.equal(payment?.account, CUSTOMER_IBAN);
  await hearsOf(sale.id, 'order.settled');
});

test('the worker is killed: requests are answered, and a new worker continues', async () => {
  const purchase = await buys('100');
  await worker.kill();
  await apiSees(0);
  const shown = await readiness(api);
  assert.equal(shown.status, 200, 'requests are refused because work waits');
  await bank.creditAccount({
    ...{ currency: CURRENCY, units: parseUnits('100', 2), text: `ref ${purchase.reference}` },
    ...{ payerName: CUSTOMER_NAME, payerAccount: CUSTOMER_IBAN },
  });
  // Prices in the database still count, so orders are made.
  const sale = await sells('50');
  await sendsTokens(sale.address, '50');
  const status = await told('onramp/transaction', { transactionId: String(purchase.id), customerId });
  assert.ok(status.status !== undefined && (await stateOf(purchase.id)) === 'created');
  assert.ok(isAlive(api.pid));

  worker = await starts('worker', 'worker-2');
  await reaches(purchase.id, 'settled');
  await reaches(sale.id, 'settled');
  for (const { id } of [purchase, sale]) await hearsOf(id, 'order.settled');
  assert.equal((await bank.payments()).length, 2, 'each sale is paid once');
  await apiSees(1);
});

test('another role is refused, by a sentence that names the three', async () => {
  const sentence = /must be one of api, worker, all$/;
  for (const [args, own, expected] of [
    [['--role', 'both'], {}, /^--role /],
    [[], { ROLE: 'both' }, /^ROLE /],
    [['--role', 'worker'], {}, /^ROLE must be all in the sandbox/],
  ] as const) {
    const child = run(['server/src/apps/server.ts', ...args], { DATA_DIR: join(folder, 'refused'), ...own });
    const output = collect(child);
    assert.equal(await new Promise((done) => child.once('exit', done)), 1);
    assert.match(output().trim(), expected);
    if (!output().includes('sandbox')) assert.match(output().trim(), sentence);
  }
});

test('the command line decides over the setting', async () => {
  const child = run(['server/src/apps/server.ts', '--role', 'api', '--print-config'], { ...env, ROLE: 'worker' });
  const output = collect(child);
  assert.equal(await new Promise((done) => child.once('exit', done)), 0);
  assert.match(output(), /^ROLE +api /m);
});
