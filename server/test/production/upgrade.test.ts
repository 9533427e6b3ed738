/**
 * A rolling upgrade of production: server processes of two versions on one PostgreSQL. The old one runs from a copy of this
 * source; the new one from a copy with a higher version, a migration that adds a column, and code that writes it; the one after
 * that has a breaking migration. Each has a data folder of its own; database, master key, files and signer are shared.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase } from '../../src/base/db.ts';
import { migrate } from '../../src/base/migrate.ts';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { signal } from '../../src/base/processes.ts';
import { ANVIL_FIRST, type Anvil, data, deployToken, startAnvil } from '../support/anvil.ts';
import { type Client, type Keys, openClient } from '../support/client.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { CUSTOMER_NAME, seedEuros, verifiedCustomer } from '../support/euros.ts';
import { freshFolder } from '../support/folder.ts';
import { type PriceHosts, priceHosts } from '../support/pricehosts.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import {
  COLD,
  type CodeHost,
  codeHost,
  EURO_PRICES,
  FUNDING_IBAN,
  installation,
  onThisMachine,
} from '../support/production.ts';
import { type SignerProcess, startSigner } from '../support/signer.ts';
import { until as waitUntil } from '../support/until.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ETHER = 10n ** 18n;
const CUSTOMER_IBAN = 'GB29NWBK60161331926819';
const PATIENCE_MS = 30_000;
/** Longer than the timeout for a silent server (base/migrate.ts). */
const SILENT_S = 31;

interface Version {
  process: ServerProcess;
  url: string;
  metrics: string;
  partner: Client;
}

let database: FreshDatabase;
let anvil: Anvil;
let token: string;
let signer: SignerProcess;
let hosts: PriceHosts;
let codes: CodeHost;
let env: NodeJS.ProcessEnv;
let keys: Keys;
let admin: pg.Client;
let customerId: string;
let fiatAccountId: string;
let old: Version;
let next: Version;
const running: ServerProcess[] = [];

/** A copy of this source, as another version would be installed. */
function copyOf(name: string, change: (folder: string) => void = () => {}): string {
  const folder = freshFolder(name);
  mkdirSync(join(folder, 'server'));
  for (const part of ['src', 'migrations', 'package.json'])
    cpSync(join(ROOT, 'server', part), join(folder, 'server', part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  change(folder);
  return folder;
}

function edits(folder: string, path: string, from: string, to: string): void {
  const text = readFileSync(join(folder, path), 'utf8');
  assert.ok(text.includes(from), `${path} has ${from}`);
  writeFileSync(join(folder, path), text.replace(from, to));
}

const migration = (folder: string, name: string, sql: string) =>
  writeFileSync(join(folder, 'server/migrations', name), sql);

/** The new version's addition: who made an order. */
function later(folder: string): void {
  edits(folder, 'server/package.json', '"version": "0.1.0"', '"version": "0.2.0"');
  migration(
    folder,
    '9001_made_by.sql',
    `alter table cloverleaf.orders add column made_by text;
     grant update (made_by) on cloverleaf.orders to cloverleaf_partner;`,
  );
  const insert = 'store.insert(tx, order);';
  edits(
    folder,
    'server/src/orders/create.ts',
    insert,
    `${insert}\n  await tx.run("update orders set made_by = '0.2.0' where id = $1", [id]);`,
  );
}

async function starts(root: string): Promise<Version> {
  const process = await startProcess({
    root,
    dataDir: freshFolder('data'),
    port: 0,
    env: { ...env, DATA_DIR: freshFolder('own') },
  });
  running.push(process);
  const [, url = '', metrics = ''] = /: (http\S+), metrics (http\S+)/.exec(process.output()) ?? [];
  return { process, url, metrics, partner: openClient(url, keys) };
}

async function rows<R = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<R[]> {
  return (await admin.query(text, values)).rows as R[];
}

before(async () => {
  [database, anvil, hosts, codes] = await Promise.all([
    freshDatabase({ isEmpty: true }),
    startAnvil(),
    priceHosts(),
    codeHost(),
  ]);
  token = await deployToken(anvil);
  await anvil.rpc('evm_setIntervalMining', [1]);
  const some = { perTransfer: ETHER / 10n, perHour: ETHER };
  const much = { perTransfer: parseUnits('1000', 6), perHour: parseUnits('10000', 6) };
  const native = { perTransfer: 0n, perHour: 0n };
  signer = await startSigner({
    limits: [{ chainId: anvil.chainId, tokens: { [token]: much }, gas: some, native, fees: some }],
  });
  const { hot = '' } = signer.expected.wallets;
  await anvil.rpc('anvil_setBalance', [hot, `0x${(10n * ETHER).toString(16)}`]);
  hosts.books.kraken = EURO_PRICES;
  const around = onThisMachine({ database, anvil, token, signer, hosts, codes });
  ({ env } = installation({ ...around, env: { ...around.env, LOG_LEVEL: 'error' } }));
  admin = new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  const masterKey = Buffer.from(readFileSync(String(env.MASTER_KEY_FILE), 'utf8').trim(), 'hex');
  const vault = openVault(masterKey);
  const db = openDatabase(await migrate(database.adminUrl, vault.derive('database login')));
  const now = new Date();
  keys = await db.asSystem((tx) => seedEuros(tx, vault, { token, bank: 'bank.manual', now }));
  await db.close();
  old = await starts(copyOf('old'));
  // One operator is enough at this bank's desk.
  await rows(
    `insert into people_rules (action, for_right, asset, above_units, people) values ('bank.*', '*', '*', 0, 1)`,
  );
  await anvil.send({ to: token, data: data('mint(address,uint256)', ANVIL_FIRST, parseUnits('1000', 6)) });
  await anvil.send({ to: token, data: data('mint(address,uint256)', COLD, parseUnits('5000', 6)) });
  await anvil.rpc('anvil_setBalance', [COLD, `0x${ETHER.toString(16)}`]);
  await anvil.rpc('anvil_impersonateAccount', [COLD]);
  await anvil.send({ from: COLD, to: token, data: data('transfer(address,uint256)', hot, parseUnits('5000', 6)) });
  await statement(old, '20000.00', 'own funds', FUNDING_IBAN);
  await customerIsVerified(old);
});

after(async () => {
  for (const one of running) await one.interrupt();
  await admin?.end();
  await Promise.all([signer?.stop(), anvil?.stop(), hosts?.stop(), database?.drop()]);
  codes?.server.close();
});

const until = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  waitUntil(what, look, {
    withinMs: PATIENCE_MS,
    everyMs: 50,
    more: () => running.map((one) => one.output()).join(''),
  });

async function asks(at: Version, path: string, type = 'application/json', body?: string): Promise<string> {
  const response = await fetch(`${at.url}/operator/v1${path}`, {
    headers: { authorization: `Bearer ${env.OPERATOR_TOKEN}`, 'content-type': type },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${text}`);
  return text;
}
const operates = async (at: Version, path: string, body: Record<string, unknown>) =>
  JSON.parse(await asks(at, path, 'application/json', JSON.stringify({ ...body, reason: 'an upgrade' })));

/** Statements of one line, one a day up to today. */
const STATEMENTS = 7;
let [lines, bankBalance] = [0, 0n];
async function statement(at: Version, amount: string, text: string, account = CUSTOMER_IBAN): Promise<void> {
  lines += 1;
  bankBalance += amount.startsWith('-') ? -parseUnits(amount.slice(1), 2) : parseUnits(amount, 2);
  const day = new Date(Date.now() - (STATEMENTS - lines) * 86_400_000).toISOString().slice(0, 10);
  const row = [day, amount, text, CUSTOMER_NAME, account, `bank-${lines}`, formatUnits(bankBalance, 2)].join(',');
  await asks(at, '/bank/statements?asset=eur', 'text/csv', `day,amount,text,name,account,id,balance\n${row}\n`);
}

async function told<T = Record<string, string>>(at: Version, path: string, body: Record<string, string>): Promise<T> {
  const answer = await at.partner.post(path, body);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body.data as T;
}

async function customerIsVerified(at: Version): Promise<void> {
  customerId = await verifiedCustomer({ ...at, codes }, (path, body) => operates(at, path, body));
  fiatAccountId = (await told(at, 'bank/addFiatAccount', { customerId, iban: CUSTOMER_IBAN })).fiatAccountId ?? '';
}

const pair = { fromCurrency: 'usdc', toCurrency: 'EUR', chain: 'base', fromAmount: '100' };

interface Bought {
  id: string;
  reference: string;
  address: string;
}

async function buys(at: Version): Promise<Bought> {
  const address = `0x${randomBytes(20).toString('hex')}`;
  const made = await told<{ transactionId: string; fiatPaymentInstructions: { otp: string } }>(
    at,
    'onramp/createTransaction',
    {
      ...pair,
      fromCurrency: 'EUR',
      toCurrency: 'usdc',
      paymentMethodType: 'SEPA_BANK_TRANSFER',
      customerId,
      depositAddress: address,
    },
  );
  return { id: made.transactionId, reference: made.fiatPaymentInstructions.otp, address };
}

/** Tokens are paid in as soon as it is made. */
async function sells(at: Version): Promise<string> {
  const { rate = '', toAmount = '' } = await until('there is a price', async () => {
    const { status, body } = await at.partner.post('offramp/quote', pair);
    return status === 200 && body.data;
  });
  const made = await told(at, 'offramp/createTransaction', { ...pair, rate, toAmount, customerId, fiatAccountId });
  await anvil.send({
    to: token,
    data: data('transfer(address,uint256)', made.depositAddress ?? '', parseUnits('100', 6)),
  });
  return made.transactionId ?? '';
}

const reaches = (id: string, state: string) =>
  until(
    `order ${id} is ${state}`,
    async () => (await rows('select state from orders where id = $1', [id]))[0]?.state === state,
  );

/** One file with the whole list, downloaded. */
async function fileOf(at: Version, count: number): Promise<string> {
  await until(
    'the payouts are on the list',
    async () => JSON.parse(await asks(at, '/bank/payouts')).payouts.length === count,
  );
  const batch = await operates(at, '/bank/files', { asset: 'eur' });
  return await asks(at, `/bank/files/${batch.id}/download`, 'application/json', '{"reason":"to be uploaded"}');
}

async function bankPaid(at: Version, file: string, id: string): Promise<void> {
  const reference = new RegExp(`pay-${id}-\\d+`).exec(file)?.[0];
  assert.ok(reference !== undefined, file);
  await statement(at, '-90.00', `SEPA ${reference}`);
  await reaches(id, 'settled');
}

const hasTokens = async (address: string): Promise<string> =>
  formatUnits(
    BigInt(await anvil.rpc<string>('eth_call', [{ to: token, data: data('balanceOf(address)', address) }, 'latest'])),
    6,
  );

/** Number of jobs of orders and payouts that this process did, by its own report. */
async function workDone({ metrics }: Version): Promise<number> {
  const text = await (await fetch(metrics)).text();
  const counts = [...text.matchAll(/^cloverleaf_job_seconds_count\{([^}]*)\} (\d+)/gm)];
  return counts.reduce((sum, [, , count]) => sum + Number(count), 0);
}

test('two versions side by side complete each other’s work, once, and both work', async () => {
  next = await starts(copyOf('new', later));
  const [known] = await rows('select array_agg(version order by version) as versions from servers');
  assert.deepEqual(known?.versions, ['0.1.0', '0.2.0']);

  const [first, second] = [await buys(old), await buys(next)];
  await statement(next, '100.00', `ref ${first.reference}`);
  await statement(old, '100.00', `ref ${second.reference}`);
  const [third, fourth] = [await sells(old), await sells(next)];
  for (const { id, address } of [first, second]) {
    await reaches(id, 'settled');
    assert.equal(await hasTokens(address), '111.111111');
  }
  const file = await fileOf(next, 2);
  await bankPaid(next, file, third);
  await bankPaid(old, file, fourth);

  const made = await rows('select id, made_by from orders order by made_by nulls first, id');
  assert.deepEqual(
    made.map(({ made_by }) => made_by),
    [null, null, '0.2.0', '0.2.0'],
  );
  const payouts = await rows('select state, count(*)::int as count from payouts group by state');
  assert.deepEqual(payouts, [{ state: 'settled', count: 4 }], 'each once');
  for (const version of [old, next]) assert.ok((await workDone(version)) > 0, `${version.url} worked`);
});

test('the old version stops, and the new one continues alone', async () => {
  const order = await buys(old);
  assert.equal(await old.process.interrupt(), 0);
  await statement(next, '100.00', `ref ${order.reference}`);
  await reaches(order.id, 'settled');
  assert.equal(await hasTokens(order.address), '111.111111');
  assert.deepEqual(await rows('select version from servers'), [{ version: '0.2.0' }]);
});

test('a breaking migration waits for servers that do not know it; one that missed it stops by itself, and does not start again', async () => {
  const breaking = copyOf('breaking', (folder) => {
    later(folder);
    edits(folder, 'server/package.json', '"version": "0.2.0"', '"version": "1.0.0"');
    const sql = '-- Breaking: nobody says who made an order\nalter table cloverleaf.orders drop column made_by;';
    migration(folder, '9002_made_by_nobody.sql', sql);
    const line = `  await tx.run("update orders set made_by = '0.2.0' where id = $1", [id]);`;
    edits(folder, 'server/src/orders/create.ts', line, '');
  });
  await assert.rejects(starts(breaking), /9002_made_by_nobody\.sql is breaking .*1 of version 0\.2\.0/);

  signal(next.process.pid, 'SIGSTOP');
  // Lets the same time pass.
  await rows('update servers set seen_at = now() - make_interval(secs => $1)', [SILENT_S]);
  const last = await starts(breaking);
  signal(next.process.pid, 'SIGCONT');
  assert.equal(await next.process.ended, 1);
  assert.match(
    next.process.output(),
    /migrated by a newer version .*9002_made_by_nobody\.sql: nobody says who made an order/,
  );
  await assert.rejects(starts(copyOf('old-again')), /migrated by a newer version/);

  const order = await buys(last);
  await statement(last, '100.00', `ref ${order.reference}`);
  await reaches(order.id, 'settled');
});
