/**
 * Drills: a production installation whose database is restored to an earlier moment while chain and bank go on.
 *
 * PostgreSQL, node and signer are real. A backup is a copy of the database made while no server runs; a restore starts the server
 * on that copy, marked as older than chain and bank. Statements are downloaded from the bank again.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import pino from 'pino';
import { markRestored } from '../../src/backup/index.ts';
import type { Tx } from '../../src/base/db.ts';
import { randomText } from '../../src/base/ids.ts';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { listCases } from '../../src/compliance/index.ts';
import { readConfig } from '../../src/config.ts';
import { setRule } from '../../src/operators/index.ts';
import { trace } from '../../src/orders/index.ts';
import { createKey, createPartner, setFee, upsertMarket } from '../../src/partners/index.ts';
import { reconcileAll } from '../../src/reconcile/all.ts';
import { type Running, start } from '../../src/server.ts';
import { DETAILS, openBrowser } from '../protocols/checkout/environment.ts';
import { ANVIL_FIRST, data, deployToken, startAnvil } from './anvil.ts';
import { brokenBooks, untilSound } from './books.ts';
import { type Client, openClient } from './client.ts';
import { freshDatabase } from './database.ts';
import { fetchDeclared } from './declared.fetch.ts';
import { priceHosts } from './pricehosts.ts';
import { COLD, codeHost, EURO_PRICES, FUNDING_IBAN, installation, onThisMachine, PUBLIC_URL } from './production.ts';
import { startSigner } from './signer.ts';
import { marketTerms } from './terms.ts';
import { until as waitUntil } from './until.ts';

const ETHER = 10n ** 18n;
const CHAIN = 'base';
export const CHAIN_RAIL = 'evm.base';
export const BANK_RAIL = 'bank.manual';
const CUSTOMER_IBAN = 'GB29NWBK60161331926819';
const CUSTOMER_NAME = 'Zebulon Quagmire-Ōtaki';
const PATIENCE_MS = 25_000;
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export type Drills = Awaited<ReturnType<typeof openDrills>>;

interface Line {
  amount: string;
  text: string;
  account: string;
  name: string;
}

export async function openDrills() {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const one of closing.toReversed()) await one();
  };
  return await assemble(closing, close).catch(async (error: unknown) => {
    await close();
    throw error;
  });
}

/**
 * @param closing functions that end each part, in the order in which the parts were started
 *
 * Long because `assemble` is one closure: all steps of a drill share the processes that it started.
 */
async function assemble(closing: (() => Promise<unknown>)[], close: () => Promise<void>) {
  const [database, anvil, hosts, codes] = await Promise.all([freshDatabase(), startAnvil(), priceHosts(), codeHost()]);
  const made: string[] = [];
  closing.push(async () => {
    await Promise.all([anvil.stop(), hosts.stop()]);
    codes.server.close();
    for (const name of made) await onServer(`drop database if exists ${name} with (force)`);
    await database.drop();
  });
  const token = await deployToken(anvil);
  await anvil.rpc('evm_setIntervalMining', [1]);
  const most = parseUnits('5000', 6);
  const signer = await startSigner({
    limits: [
      {
        chainId: anvil.chainId,
        tokens: { [token]: { perTransfer: most, perHour: 10n * most } },
        gas: { perTransfer: ETHER / 10n, perHour: ETHER },
        native: { perTransfer: 0n, perHour: 0n },
        fees: { perTransfer: ETHER / 10n, perHour: ETHER },
      },
    ],
  });
  closing.push(() => signer.stop());
  const hot = signer.expected.wallets.hot ?? '';
  await anvil.rpc('anvil_setBalance', [hot, `0x${(10n * ETHER).toString(16)}`]);
  hosts.books.kraken = EURO_PRICES;
  const complaints: string[] = [];
  const log = pino({ level: 'warn', base: null }, { write: (line: string) => void complaints.push(line) });
  const around = onThisMachine({ database, anvil, token, signer, hosts, codes });
  const { env } = installation(around);
  const operatorToken = String(env.OPERATOR_TOKEN);
  let databaseUrl = database.adminUrl;
  database.personal.says('the log', () => complaints.join(''));
  let server: Running;
  let secondToken = '';
  let partnerKeys: { apiKey: string; apiSecret: string };
  let customerId = '';
  let fiatAccountId = '';
  /** All statements of the bank, one for each day. */
  const statements: string[] = [];
  let takenUpTo = 0;
  let bankBalance = 0n;

  const starts = async () => {
    server = await start(readConfig({ ...env, DATABASE_URL: databaseUrl }), { log });
    database.personal.of(server.vault);
  };
  closing.push(async () => await server?.stop());
  const read = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => server.db.asSystem(work);
  const until = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
    waitUntil(what, look, { withinMs: PATIENCE_MS, everyMs: 50, more: () => complaints.slice(-5).join('') });

  // People.

  const asks = (path: string, headers: Record<string, string> = {}, body?: string, by = operatorToken) =>
    fetchDeclared(`${server.baseUrl}/operator/v1${path}`, {
      headers: { ...headers, authorization: `Bearer ${by}` },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
  async function tries(path: string, body: Record<string, unknown>, by = operatorToken) {
    const json = JSON.stringify({ ...body, reason: 'looked at and found good' });
    const response = await asks(path, { 'content-type': 'application/json' }, json, by);
    return { status: response.status, body: JSON.parse(await response.text()) };
  }
  async function operates(path: string, body: Record<string, unknown>, by = operatorToken) {
    const answer = await tries(path, body, by);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  }
  /** Runs an action that answers with a file. */
  async function operatesForFile(path: string): Promise<string> {
    const json = JSON.stringify({ reason: 'to be uploaded' });
    const response = await asks(path, { 'content-type': 'application/json' }, json);
    assert.equal(response.status, 200);
    return await response.text();
  }
  /** Proposes an action that takes two people, and confirms it with the second. */
  async function twoDo(path: string, body: Record<string, unknown> = {}) {
    const proposed = await operates(path, body);
    assert.equal(proposed.outcome, 'proposed', `${path} was done by one person`);
    return await operates(`/proposals/${proposed.proposal}/confirm`, {}, secondToken);
  }
  async function lifts(kind: string, subject: string): Promise<void> {
    const { outcome, proposal } = await operates('/kill-switches/lift', { kind, subject });
    if (outcome !== 'proposed') return;
    const confirmed = await tries(`/proposals/${proposal}/confirm`, {}, secondToken);
    // After a restore the server halts the rail on its own, perhaps between the two: then both switches are lifted again.
    if (confirmed.body.reason === 'proposal_overtaken') await lifts(kind, subject);
    else assert.ok(confirmed.status < 300, JSON.stringify(confirmed));
  }

  const partner = (): Client => {
    const signed = openClient(server.baseUrl, partnerKeys);
    const forwarded = { headers: { 'x-forwarded-for': '203.0.113.7' } };
    return { ...signed, post: (path, body) => signed.post(path, body, forwarded) };
  };
  async function told<T = Record<string, string>>(path: string, body: Record<string, string>): Promise<T> {
    const answer = await partner().post(path, body);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body.data as T;
  }

  // The bank.

  /** The bank books a line in a statement of its own day. */
  function books({ amount, text, account, name }: Line): void {
    bankBalance += amount.startsWith('-') ? -parseUnits(amount.slice(1), 2) : parseUnits(amount, 2);
    const day = new Date(Date.now() - (90 - statements.length) * 86_400_000).toISOString().slice(0, 10);
    const row = [day, amount, text, name, account, `bank-${statements.length + 1}`, formatUnits(bankBalance, 2)];
    statements.push(`day,amount,text,name,account,id,balance\n${row.join(',')}\n`);
  }
  /** An operator takes in the statements that the books do not have yet. */
  async function takesStatements(): Promise<void> {
    for (; takenUpTo < statements.length; takenUpTo += 1) {
      const taken = await asks('/bank/statements?asset=eur', { 'content-type': 'text/csv' }, statements[takenUpTo]);
      assert.equal(taken.status, 200, await taken.text());
    }
    await until('the statements are read', async () => {
      const [row] = await read((tx) =>
        tx.rows<{ unread: boolean }>(
          `select exists (select from manual_lines where rail = $1
              and seq > coalesce((select nullif(cursor, '')::bigint from bank_cursors where rail = $1), 0)) as unread`,
          [BANK_RAIL],
        ),
      );
      return row?.unread === false;
    });
  }

  // Trade.

  const pair = { fromCurrency: 'usdc', toCurrency: 'EUR', chain: CHAIN };
  async function buys(amount: string, address = `0x${randomBytes(20).toString('hex')}`) {
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
    return { id: BigInt(created.transactionId), reference: created.fiatPaymentInstructions.otp, address, amount };
  }
  const pays = ({ amount, reference }: { amount: string; reference: string }) =>
    books({ amount: `${amount}.00`, text: `ref ${reference}`, account: CUSTOMER_IBAN, name: CUSTOMER_NAME });

  async function sells(amount: string) {
    const { rate = '', toAmount = '' } = await told('offramp/quote', { ...pair, fromAmount: amount });
    const sale = await told('offramp/createTransaction', {
      ...pair,
      fromAmount: amount,
      rate,
      toAmount,
      customerId,
      fiatAccountId,
    });
    return { id: BigInt(sale.transactionId ?? ''), address: sale.depositAddress ?? '', toAmount };
  }
  const mints = (to: string, amount: string) =>
    anvil.send({ to: token, data: data('mint(address,uint256)', to, parseUnits(amount, 6)) });
  async function sendsTokens(to: string, amount: string): Promise<string> {
    await mints(ANVIL_FIRST, amount);
    return await anvil.send({ to: token, data: data('transfer(address,uint256)', to, parseUnits(amount, 6)) });
  }

  /** Changes the operator's fee, so that a requote comes to another amount. */
  async function feeBecomes(bps: bigint): Promise<void> {
    const bought = { fromCurrency: 'EUR', toCurrency: 'usdc', chain: CHAIN, fromAmount: '100' };
    const shown = async () => [
      (await told('offramp/quote', { ...pair, fromAmount: '100' })).toAmount,
      (await told('onramp/quote', { ...bought, paymentMethodType: 'SEPA_BANK_TRANSFER' })).toAmount,
    ];
    const before = await shown();
    await read(async (tx) => {
      for (const { id: marketId } of await tx.rows<{ id: bigint }>('select id from markets'))
        await setFee(tx, { marketId, partnerId: null, kind: 'operator', bps });
    });
    await until('the fee counts', async () => (await shown()).every((amount, at) => amount !== before[at]));
  }

  const stateOf = async (id: bigint) => (await read((tx) => trace(tx, id))).order.state;
  const reaches = (id: bigint, state: string) =>
    until(`order ${id} is ${state}`, async () => (await stateOf(id)) === state).catch(async (error: unknown) => {
      throw new Error(`order ${id} is ${await stateOf(id)} and not ${state}`, { cause: error });
    });
  const payoutStates = async (id: bigint) => (await read((tx) => trace(tx, id))).payouts.map(({ state }) => state);

  /** Amounts that the hot wallet has sent to an address, from the chain's logs. */
  async function paidTo(address: string): Promise<string[]> {
    const topic = (of: string) => `0x${'00'.repeat(12)}${of.slice(2)}`;
    const logs = await anvil.rpc<{ data: string; transactionHash: string }[]>('eth_getLogs', [
      { address: token, topics: [TRANSFER_TOPIC, topic(hot), topic(address)], fromBlock: '0x0' },
    ]);
    return logs.map(({ data: units }) => formatUnits(BigInt(units), 6));
  }
  async function hashesTo(address: string): Promise<string[]> {
    const topic = (of: string) => `0x${'00'.repeat(12)}${of.slice(2)}`;
    const logs = await anvil.rpc<{ transactionHash: string }[]>('eth_getLogs', [
      { address: token, topics: [TRANSFER_TOPIC, null, topic(address)], fromBlock: '0x0' },
    ]);
    return logs.map(({ transactionHash }) => transactionHash);
  }
  const balanceOf = async (address: string): Promise<string> =>
    formatUnits(
      BigInt(await anvil.rpc<string>('eth_call', [{ to: token, data: data('balanceOf(address)', address) }, 'latest'])),
      6,
    );
  /** Number of transactions of the hot wallet. */
  const nonceOf = async (address = hot): Promise<number> =>
    Number(await anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']));
  /** Mines until everything on the chain now is final. */
  async function isFinal(): Promise<void> {
    const now = BigInt(await anvil.rpc<string>('eth_blockNumber'));
    await anvil.mine(4);
    await until('what happened is final', async () => {
      const [row] = await read((tx) =>
        tx.rows<{ finalized: bigint }>('select finalized from chains where rail = $1', [CHAIN_RAIL]),
      );
      return (row?.finalized ?? 0n) >= now;
    });
  }

  // Backup and restore.

  async function onServer(statement: string): Promise<void> {
    const url = new URL(database.adminUrl);
    url.pathname = '/postgres';
    const client = new pg.Client(url.href);
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  }
  const nameOf = (url: string) => new URL(url).pathname.slice(1);

  /** @returns the function that restores it */
  async function backup(): Promise<() => Promise<void>> {
    await server.stop();
    const copy = `drill_${process.pid}_${randomBytes(4).toString('hex')}`;
    await onServer(`create database ${copy} template ${nameOf(databaseUrl)}`);
    made.push(copy);
    const takenAt = new Date();
    const taken = takenUpTo;
    await starts();
    return async () => {
      await server.stop();
      const url = new URL(databaseUrl);
      url.pathname = `/${copy}`;
      databaseUrl = url.href;
      takenUpTo = taken;
      await markRestored(databaseUrl, { takenAt, now: new Date() });
      await starts();
    };
  }

  async function openCases(): Promise<{ id: bigint; kind: string; subject: string; facts: Record<string, unknown> }[]> {
    const found = await read((tx) => listCases(tx, { open: true, limit: 200 }));
    return found.map(({ id, kind, subject, facts }) => ({ id, kind, subject, facts: { ...facts } }));
  }
  const casesOf = async (kind: string) => (await openCases()).filter((one) => one.kind === kind);

  /** The books agree with themselves and, item by item from the beginning, with chain and bank. */
  async function isClean(): Promise<void> {
    await isFinal();
    const outside = (rail: string, wallet: string, asset: string) =>
      server.rails.get(rail)?.balance(wallet, asset) ?? Promise.resolve(undefined);
    assert.deepEqual(await untilSound(() => read((tx) => brokenBooks(tx, outside)), PATIENCE_MS), []);
    let broken: string[] = [];
    try {
      await until('both sides agree', async () => {
        const compared = await reconcileAll({ db: server.db, clock: { now: () => new Date() } }, server.rails, true);
        broken = compared.flatMap(({ rail, items, failed }) => [
          ...(failed === undefined ? [] : [`${rail}: ${failed}`]),
          ...items.map(({ key, kind, why, transit }) => `${rail}: ${kind} ${key} ${why} ${transit ?? ''}`),
        ]);
        return broken.length === 0;
      });
    } catch (error) {
      if (broken.length === 0) throw error;
      assert.deepEqual(broken, [], 'reconciliation finds differences');
    }
    const bugs = complaints.filter((line) =>
      /"level":(5|6)0|"error":"(BugError|TypeError|RangeError|error)"/.test(line),
    );
    assert.deepEqual(bugs, [], 'something went wrong in the background');
  }

  // The installation.

  server = await start(readConfig({ ...env, DATABASE_URL: databaseUrl }), { log });
  await read(async (tx) => {
    const now = new Date();
    const partnerId = (await createPartner(tx, { name: 'Acme', now, tradeLevel: 1 })).id;
    const scopes = ['read', 'trade', 'customers'] as const;
    partnerKeys = await createKey(tx, server.vault, { partnerId, label: 'live', scopes: [...scopes], now });
    const terms = {
      ...marketTerms,
      crypto: `usdc.${CHAIN}`,
      fiat: 'eur',
      priceSources: ['kraken'],
      priceMaxAgeMs: 60_000,
      paymentMethod: 'SEPA_BANK_TRANSFER',
      clearingMs: 0,
    };
    const selling = await upsertMarket(tx, {
      ...terms,
      direction: 'offramp',
      depositRail: CHAIN_RAIL,
      payoutRail: BANK_RAIL,
      minUnits: parseUnits('1', 6),
      maxUnits: parseUnits('10000', 6),
      payoutDecimals: 2,
    });
    const buying = await upsertMarket(tx, {
      ...terms,
      direction: 'onramp',
      depositRail: BANK_RAIL,
      payoutRail: CHAIN_RAIL,
      minUnits: parseUnits('1', 2),
      maxUnits: parseUnits('10000', 2),
      payoutDecimals: 6,
    });
    for (const marketId of [selling, buying])
      await setFee(tx, { marketId, partnerId: null, kind: 'operator', bps: 100n });
    // One person may do everything that a drill needs at the bank, also after a restore.
    await setRule(tx, { action: 'bank.*', right: '*', asset: '*', aboveUnits: 0n, people: 1 });
  });
  await mints(COLD, '5000');
  await anvil.rpc('anvil_setBalance', [COLD, `0x${ETHER.toString(16)}`]);
  await anvil.rpc('anvil_impersonateAccount', [COLD]);
  await anvil.send({ from: COLD, to: token, data: data('transfer(address,uint256)', hot, parseUnits('5000', 6)) });
  books({ amount: '20000.00', text: 'own funds', account: FUNDING_IBAN, name: 'Ramp Ltd' });
  await takesStatements();
  secondToken = `clo_${randomText(43)}`;
  const tokenSha256 = createHash('sha256').update(secondToken).digest('hex');
  await operates('/operators', { operator: 'grace', role: 'finance', tokenSha256 });
  const invited = await told('kyc/url', { clientCustomerId: 'c-1', phoneNumber: '+44-7700900123', type: 'INDIVIDUAL' });
  customerId = invited.customerId ?? '';
  const browser = openBrowser();
  await browser.open((invited.kycUrl ?? '').replace(PUBLIC_URL, server.baseUrl));
  await browser.go('code');
  await browser.go('login', { code: codes.sent[0]?.code ?? '' });
  await browser.go('details', DETAILS);
  fiatAccountId = (await told('bank/addFiatAccount', { customerId, iban: CUSTOMER_IBAN })).fiatAccountId ?? '';
  const { review } = await operates(`/customers/${customerId}/review/open`, {});
  await operates(`/customers/${customerId}/review/decide`, { version: review.version, outcome: 'verified', level: 1 });
  await until('there is a price', async () => {
    const answer = await partner().post('offramp/quote', { ...pair, fromAmount: '10' });
    return answer.status === 200;
  });
  await isFinal();

  return {
    anvil,
    token,
    hot,
    get server() {
      return server;
    },
    read,
    until,
    asks,
    tries,
    operates,
    twoDo,
    secondToken: () => secondToken,
    lifts,
    told,
    books,
    takesStatements,
    buys,
    pays,
    sells,
    sendsTokens,
    feeBecomes,
    fiatAccount: () => fiatAccountId,
    stateOf,
    traceOf: (id: bigint) => read((tx) => trace(tx, id)),
    reaches,
    payoutStates,
    paidTo,
    balanceOf,
    operatesForFile,
    hashesTo,
    nonceOf,
    isFinal,
    backup,
    openCases,
    casesOf,
    isClean,
    complaints,
    customer: { iban: CUSTOMER_IBAN, name: CUSTOMER_NAME },
    close,
  };
}
