/**
 * kill -9 of two servers that exchange travel rule data, at each moment when one of them has not stored what the other did: a
 * message arrived and is not stored; it is stored and its answer is lost; the answer arrived and is not stored. Also the other
 * side down for longer than several attempts and past the deadline, and every message delivered twice.
 *
 * Each server is a process with a database and nodes of its own. All messages between them pass through a proxy of this test,
 * which knows the moment. A lock on the other's table holds the server at "arrived and not stored" until it is killed.
 *
 * Afterwards both sides have one exchange with the same end, nothing left before its data, and each was paid once.
 *
 * Long because all tests use the same two installations: starting them takes longer than a test.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createPublicClient, erc20Abi, type Hex, http } from 'viem';
import { openVault, type Vault } from '../../src/base/crypto.ts';
import { type Database, openDatabase } from '../../src/base/db.ts';
import { migrateFor } from '../../src/base/migrate.ts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import { operatorNamed, type Person, twoDo } from '../protocols/operator/people.ts';
import { type Client, newPhone, openClient } from '../support/client.ts';
import { freshDatabase } from '../support/database.ts';
import { freePort, makeDataDir, removeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { until as waitUntil } from '../support/until.ts';
import { openV1, type V1Client } from '../support/v1.ts';

const FIRST = { firstName: 'Zebulon', lastName: 'Quagmire' };
const INR = '5000';
const PATIENCE_MS = 60_000;
const KINDS = ['inquiry', 'resolution', 'confirmation'] as const;
type Kind = (typeof KINDS)[number];

interface Answer {
  status: number;
  type: string;
  version: string;
  text: string;
}
/** @returns undefined when the answer is lost */
type Delivery = (deliver: () => Promise<Answer | undefined>) => Promise<Answer | undefined>;

/** The way to one server: what is done with the messages of a kind, and what it has received. */
interface Proxy {
  server: Server;
  url: string;
  on: Partial<Record<Kind, Delivery>>;
  received: { kind: Kind; request: string; digest: string; status: number | undefined }[];
}

interface Side {
  name: string;
  dataDir: string;
  port: number;
  proxy: Proxy;
  process: ServerProcess;
  db: Database;
  /** As the owner of the tables. */
  admin: pg.Client;
  vault: Vault;
  database: Awaited<ReturnType<typeof freshDatabase>>;
  client: Client;
  api: V1Client;
  people: [Person, Person];
}

let a: Side;
let b: Side;

const once: Delivery = (deliver) => deliver();
const twice: Delivery = async (deliver) => (await Promise.all([deliver(), deliver()]))[1];
const lost: Delivery = async () => undefined;

async function openProxy(port: number): Promise<Proxy> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks);
      const kind = KINDS.find((one) => request.url?.includes(`/${one}/`)) ?? 'inquiry';
      const id = String(request.headers['request-identifier'] ?? '');
      const digest = createHash('sha256').update(body).digest('hex');
      const deliver = async (): Promise<Answer | undefined> => {
        const answer = await send(`http://127.0.0.1:${port}${request.url}`, request.headers, body).catch(
          () => undefined,
        );
        proxy.received.push({ kind, request: id, digest, status: answer?.status });
        return answer;
      };
      const answer = await (proxy.on[kind] ?? once)(deliver).catch(() => undefined);
      if (answer === undefined) return request.socket.destroy();
      response.writeHead(answer.status, {
        'content-type': answer.type,
        'api-version': answer.version,
        'request-identifier': id,
      });
      response.end(answer.text);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: Proxy = { server, url, on: {}, received: [] };
  return proxy;
}

async function send(url: string, given: Readonly<Record<string, unknown>>, body: Buffer): Promise<Answer> {
  const names = ['content-type', 'api-version', 'request-identifier', 'api-extensions'];
  const headers = Object.fromEntries(
    names.flatMap((name) => (given[name] === undefined ? [] : [[name, String(given[name])]])),
  );
  const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? 'application/json',
    version: answer.headers.get('api-version') ?? '',
    text: await answer.text(),
  };
}

const starts = (side: Pick<Side, 'name' | 'dataDir' | 'port' | 'proxy' | 'database'>): Promise<ServerProcess> =>
  startProcess({
    ...{ dataDir: side.dataDir, port: side.port },
    env: {
      DATABASE_URL: side.database.adminUrl,
      ...{
        OPERATORS: 'two',
        PUBLIC_URL: side.proxy.url,
        TRAVEL_PROTOCOL: 'trp',
        TRP_LEGAL_NAME: `${side.name} Ramp Ltd`,
      },
      TRP_ASSETS: 'usdc.matic20=dti:4H95J0R2X',
    },
  });

async function opened(name: string): Promise<Side> {
  const [dataDir, port] = [makeDataDir(), await freePort()];
  const of = { name, dataDir, port, proxy: await openProxy(port), database: await freshDatabase() };
  const process = await starts(of);
  const [keys] = process.sandbox().partners;
  assert(keys);
  const baseUrl = `http://127.0.0.1:${port}`;
  const vault = openVault(Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8').trim(), 'hex'));
  const db = openDatabase(await migrateFor(of.database.adminUrl, vault));
  const admin = await connected(of.database);
  const operator = (who: string) => operatorNamed({ db, baseUrl, clock: { now: () => new Date() } }, who, 'admin');
  return {
    ...{ ...of, process, db, admin, vault, client: openClient(baseUrl, keys), api: openV1(baseUrl, keys) },
    people: [await operator('ada'), await operator('bea')],
  };
}

before(async () => {
  [a, b] = await Promise.all([opened('A'), opened('B')]);
  for (const [side, other] of [
    [a, b],
    [b, a],
  ] as const) {
    await sets(side, 'hold');
    await twoDo(side.people[0], side.people[1], '/travel-providers', {
      ...{ host: new URL(other.proxy.url).host, name: `${other.name} Ramp Ltd` },
    });
  }
});
after(async () => {
  for (const side of [a, b]) {
    if (side === undefined) continue;
    // Also when a round failed: the nodes outlive a killed server, and only the end of a server ends them.
    if (await Promise.race([side.process.ended.then(() => true), false])) await restarted(side);
    await side.process.interrupt();
    await side.db.close();
    await side.admin.end();
    side.proxy.server.closeAllConnections();
    side.proxy.server.close();
    await side.database.drop();
    removeDataDir(side.dataDir);
  }
});

const sets = ({ people: [ada, bea] }: Side, policy: string) =>
  twoDo(ada, bea, '/travel-rules', {
    ...{ jurisdiction: '*', fiat: 'inr', threshold: '4000', deadlineHours: 2, policy, exchange: 'required' },
  });

const until = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  waitUntil(what, look, {
    withinMs: PATIENCE_MS,
    everyMs: 50,
    more: () => `${a.process.output()}${b.process.output()}`,
  });
async function told<T = Record<string, string>>(side: Side, path: string, body: Record<string, string>): Promise<T> {
  const answer = await side.client.post(path, body);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body.data as T;
}

async function customerOf(side: Side): Promise<{ id: string; fiatAccountId: string }> {
  const given = { clientCustomerId: randomBytes(8).toString('hex'), phoneNumber: newPhone(), type: 'INDIVIDUAL' };
  const { customerId: id = '' } = await told(side, 'kyc/url', given);
  await told(side, 'test/changeKycStatus', { customerId: id, status: 'ADVANCE_KYC_COMPLETED' });
  const account = {
    fiatAccount: `0001${randomBytes(4).readUInt32BE().toString().padStart(10, '0')}`,
    ifsc: 'HDFC0000001',
  };
  const { fiatAccountId = '' } = await told(side, 'bank/addFiatAccount', { customerId: id, ...account });
  await side.db.asSystem(async (tx) => {
    const customer = await findCustomer(tx, id);
    await saveDetails(tx, side.vault, { customer, details: FIRST, now: new Date() });
  });
  return { id, fiatAccountId };
}

interface Pair {
  sale: bigint;
  purchase: bigint;
  address: string;
  travelAddress: string;
}

/**
 * B expects the coins that A owes, and A was paid. The wallet is not named yet. @param how.isPaid whether coins have come to B too,
 * and wait for data: the two have chains of their own
 */
async function pairOf({ isPaid }: { isPaid: boolean }): Promise<Pair> {
  const [seller, buyer] = [await customerOf(b), await customerOf(a)];
  const bought = {
    fromCurrency: 'INR',
    toCurrency: 'usdc',
    chain: 'matic20',
    fromAmount: INR,
    paymentMethodType: 'UPI',
  };
  const { toAmount, rate } = await told(a, 'onramp/quote', bought);
  const sold = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: String(toAmount) };
  const quote = await told(b, 'offramp/quote', sold);
  const sale = await told(b, 'offramp/createTransaction', {
    ...{ ...sold, toAmount: quote.toAmount ?? '', rate: quote.rate ?? '' },
    ...{ customerId: seller.id, fiatAccountId: seller.fiatAccountId },
  });
  const address = (sale.depositAddress ?? '').toLowerCase();
  const purchase = await told(a, 'onramp/createTransaction', {
    ...{ ...bought, toAmount: toAmount ?? '', rate: rate ?? '', customerId: buyer.id, depositAddress: address },
    // Where a refund goes.
    fiatAccountId: buyer.fiatAccountId,
  });
  const ids = { sale: BigInt(sale.transactionId ?? ''), purchase: BigInt(purchase.transactionId ?? '') };
  await told(a, '/sandbox/v1/pay', { transactionId: String(ids.purchase) });
  if (isPaid) await coinsCome(ids.sale);
  await stateIs(a, ids.purchase, 'paying_out');
  const { travelAddress } = await b.api.does('GET', `/orders/${ids.sale}/wallets`);
  return { ...ids, address, travelAddress };
}

async function coinsCome(sale: bigint): Promise<void> {
  await told(b, '/sandbox/v1/pay', { transactionId: String(sale) });
  await stateIs(b, sale, 'paying_out');
}

const names = ({ purchase, address, travelAddress }: Pair) =>
  a.api.does('POST', `/orders/${purchase}/wallets`, {
    ...{ kind: 'hosted', owner: 'customer', provider: 'B Ramp Ltd', address, travelAddress },
  });

const rowsOf = <R extends object>({ db }: Side, text: string, values: unknown[]): Promise<R[]> =>
  db.asSystem((tx) => tx.rows<R>(text, values));
const stateOf = async (side: Side, id: bigint): Promise<string | undefined> =>
  (await rowsOf<{ state: string }>(side, 'select state from orders where id = $1', [id]))[0]?.state;
const stateIs = (side: Side, id: bigint, state: string) =>
  until(`${side.name}'s order is ${state}`, async () => (await stateOf(side, id)) === state);
const submitted = async (side: Side, id: bigint): Promise<number> =>
  (await rowsOf(side, `select id from payouts where order_id = $1 and purpose = 'payout' and submissions > 0`, [id]))
    .length;

interface Exchange {
  state: string;
  outcome: string | null;
  requestId: string;
  tx: string | null;
  isTold: boolean;
  attempts: number;
}
const exchangesOf = (side: Side, id: bigint): Promise<Exchange[]> =>
  rowsOf<Exchange>(
    side,
    `select state, outcome, request_id, tx, told_at is not null as is_told, attempts from travel_exchanges
      where order_id = $1 order by id`,
    [id],
  );
/** Lets jobs that try again later do so now. A killed server's lease ends by itself. */
const nudges = ({ db }: Side) =>
  db.asSystem((tx) => tx.run(`update jobs set due_at = now() where kind = 'travel_exchange' and lease is null`));
const nudging = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  until(what, async () => {
    const found = await look();
    if (found === undefined || found === false) for (const side of [a, b]) await nudges(side);
    return found;
  });
const exchangeIs = (side: Side, id: bigint, wanted: (row: Exchange) => boolean) =>
  nudging(`${side.name}'s exchange is as wanted`, async () => {
    const [row] = await exchangesOf(side, id);
    return row !== undefined && wanted(row);
  });

/** Nothing may have left before its data: neither the coins of A without an approval, nor the money of B without names. */
async function nothingLeftEarly({ sale, purchase }: Pair): Promise<void> {
  const [out] = await exchangesOf(a, purchase);
  const [into] = await exchangesOf(b, sale);
  const early: string[] = [];
  if (out?.state !== 'approved' && (await submitted(a, purchase)) > 0) early.push('coins left without an approval');
  if (into?.isTold !== true && (await submitted(b, sale)) > 0) early.push('money left without names');
  assert.deepEqual(early, []);
}

async function connected({ adminUrl }: Side['database']): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  await client.connect();
  return client;
}

/** Holds every write to the exchanges of a side, until it waits there, and kills it. */
async function killedBeforeStoring(side: Side, reaches: () => void): Promise<void> {
  const holder = await connected(side.database);
  try {
    await holder.query('begin');
    await holder.query('lock table travel_exchanges in exclusive mode');
    reaches();
    await until(`${side.name} waits to store it`, async () => {
      const { rowCount } = await holder.query(
        `select from pg_locks where relation = 'cloverleaf.travel_exchanges'::regclass and not granted`,
      );
      return rowCount !== 0;
    });
    await side.process.kill();
  } finally {
    await holder.query('rollback');
    await holder.end();
  }
}

const restarted = async (...sides: Side[]): Promise<void> => {
  await Promise.all(
    sides.map(async (side) => {
      side.process = await starts(side);
    }),
  );
};

/** What is done with the next message of a kind to a side. @returns once it was done; messages after it are lost until then */
async function next(to: Side, kind: Kind, delivery: Delivery): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  to.proxy.on[kind] = async (deliver) => {
    to.proxy.on[kind] = lost;
    try {
      return await delivery(deliver);
    } finally {
      resolve();
    }
  };
  void nudging(`a ${kind} comes to ${to.name}`, async () => to.proxy.on[kind] === lost).catch(reject);
  await promise;
}

/** Both kept the same exchange, once, with this end. */
async function assertAgree({ sale, purchase }: Pair, outcome: 'transferred' | 'canceled'): Promise<void> {
  await exchangeIs(a, purchase, (row) => row.outcome === outcome);
  await exchangeIs(b, sale, (row) => row.outcome === outcome);
  const [out, into] = [await exchangesOf(a, purchase), await exchangesOf(b, sale)];
  assert.deepEqual([out.length, into.length], [1, 1], 'an inquiry counts twice');
  assert.deepEqual([out[0]?.state, into[0]?.state], ['approved', 'approved']);
  assert.equal(out[0]?.requestId, into[0]?.requestId);
  assert.equal(out[0]?.tx, into[0]?.tx);
  assert.equal(out[0]?.tx === null, outcome === 'canceled');
  const inquiries = b.proxy.received.filter(({ kind, request }) => kind === 'inquiry' && request === out[0]?.requestId);
  assert.equal(new Set(inquiries.map(({ digest }) => digest)).size, 1, 'it was asked with other bytes');
  for (const side of [a, b])
    assert.deepEqual(
      side.proxy.received.filter(({ status }) => status !== undefined && status >= 400),
      [],
      `${side.name} refused a message`,
    );
}

const deliversAll = (): void => {
  for (const { proxy } of [a, b]) proxy.on = {};
};

test('killed at each moment of each message, both sides end with the same exchange, and each is paid once', {
  timeout: 600_000,
}, async (t) => {
  const pair = await pairOf({ isPaid: true });
  // A message is repeated until it is answered: so each of them meets all moments in turn, while later kinds are lost.
  for (const kind of KINDS) {
    deliversAll();
    for (const later of KINDS.slice(KINDS.indexOf(kind))) for (const { proxy } of [a, b]) proxy.on[later] = lost;
    const [from, to] = kind === 'resolution' ? [b, a] : [a, b];
    const moments: [string, Side[], Delivery][] = [
      [
        'it arrived and is not stored',
        [to],
        async (deliver) => {
          await killedBeforeStoring(to, () => void deliver());
          return undefined;
        },
      ],
      [
        'it is stored and its answer is lost',
        [to, from],
        async (deliver) => {
          const answer = await deliver();
          assert.ok(answer !== undefined && answer.status < 300, `${kind}: ${answer?.status} ${answer?.text}`);
          await Promise.all([to.process.kill(), from.process.kill()]);
          return undefined;
        },
      ],
    ];
    let dies: Promise<void> | undefined;
    moments.push([
      'its answer arrived and is not stored',
      [from],
      async (deliver) => {
        const answer = await deliver();
        assert.ok(answer !== undefined && answer.status < 300, `${kind} again: ${answer?.status} ${answer?.text}`);
        const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
        dies = killedBeforeStoring(from, hold);
        await isHeld;
        return answer;
      },
    ]);
    for (const [at, [what, killed, delivery]] of moments.entries()) {
      const done = next(to, kind, delivery);
      if (kind === 'inquiry' && at === 0) await names(pair);
      await done;
      await dies;
      t.diagnostic(`${kind} to ${to.name}, ${what}: killed ${killed.map(({ name }) => name).join(' and ')}`);
      await restarted(...killed);
      await nothingLeftEarly(pair);
    }
  }
  deliversAll();
  await stateIs(a, pair.purchase, 'settled');
  await stateIs(b, pair.sale, 'settled');
  await assertAgree(pair, 'transferred');
});

test('every message that is delivered twice at once counts once', { timeout: 120_000 }, async () => {
  for (const { proxy } of [a, b]) proxy.on = { inquiry: twice, resolution: twice, confirmation: twice };
  const pair = await pairOf({ isPaid: true });
  const from = [a, b].map(({ proxy }) => proxy.received.length);
  await names(pair);
  await stateIs(a, pair.purchase, 'settled');
  await stateIs(b, pair.sale, 'settled');
  await assertAgree(pair, 'transferred');
  deliversAll();
  const kinds = [a, b].flatMap(({ proxy }, at) => proxy.received.slice(from[at]).map(({ kind }) => kind));
  for (const kind of KINDS)
    assert.ok(kinds.filter((one) => one === kind).length >= 2, `${kind} was not delivered twice`);
});

test('while the other side is down for several attempts the coins wait; once it is back they leave', {
  timeout: 180_000,
}, async () => {
  const pair = await pairOf({ isPaid: true });
  await b.process.kill();
  await names(pair);
  await exchangeIs(a, pair.purchase, ({ attempts }) => attempts >= 4);
  assert.equal(await stateOf(a, pair.purchase), 'paying_out');
  assert.equal(await submitted(a, pair.purchase), 0);
  await restarted(b);
  await exchangeIs(a, pair.purchase, ({ state }) => state === 'approved');
  await stateIs(a, pair.purchase, 'settled');
  await stateIs(b, pair.sale, 'settled');
  await assertAgree(pair, 'transferred');
});

test('past the deadline the sender refunds; an approval that comes then is canceled on both, and covers no coins', {
  timeout: 240_000,
}, async () => {
  await sets(a, 'return');
  const pair = await pairOf({ isPaid: false });
  a.proxy.on.resolution = lost;
  await names(pair);
  await exchangeIs(b, pair.sale, ({ state, attempts }) => state === 'approved' && attempts > 0);
  await b.process.kill();
  await deadlinePasses(a, pair.purchase);
  await stateIs(a, pair.purchase, 'refunded');
  assert.equal(await submitted(a, pair.purchase), 0);
  await a.process.kill();
  deliversAll();
  await restarted(a, b);
  await next(b, 'confirmation', async (deliver) => {
    await killedBeforeStoring(b, () => void deliver());
    return undefined;
  });
  deliversAll();
  await restarted(b);
  await assertAgree(pair, 'canceled');
  // The coins of somebody else, of the same amount: the canceled inquiry does not cover them.
  await coinsCome(pair.sale);
  await until(
    'they wait for data',
    async () => (await b.admin.query('select from travel_waits where order_id = $1', [pair.sale])).rowCount === 1,
  );
  await deadlinePasses(b, pair.sale);
  await stateIs(b, pair.sale, 'payout_held');
  assert.deepEqual(
    await rowsOf(b, `select kind from cases where order_id = $1 and closed_at is null and kind like 'travel%'`, [
      pair.sale,
    ]),
    [{ kind: 'travel_rule_missing' }],
  );
  assert.equal(await submitted(b, pair.sale), 0);
  assert.deepEqual(await exchangesOf(a, pair.purchase).then((rows) => rows.map(({ tx }) => tx)), [null]);
});

test('in the end both books are sound, and nobody was paid twice', async () => {
  for (const side of [a, b]) {
    const { problems } = await side.db.asSystem((tx) => verifyLedger(tx));
    assert.deepEqual(problems, []);
    const dead = await rowsOf(side, 'select kind, subject, last_error from jobs where dead_at is not null', []);
    assert.deepEqual(dead, []);
  }
  const { rows: paid } = await b.admin.query<{ times: number }>(
    `select count(*)::int as times from simulated_bank.payments where state <> 'rejected' group by key`,
  );
  assert.deepEqual(
    paid.map(({ times }) => times),
    [1, 1, 1],
    'B paid each sale once',
  );
  const bought = await rowsOf<{ wallet: Hex; state: string }>(
    a,
    `select payout_address as wallet, state from orders where direction = 'onramp' order by id`,
    [],
  );
  const chain = a.process.sandbox().chains.find(({ code }) => code === 'matic20');
  const token = chain?.tokens.find(({ code }) => code === 'usdc');
  const counted: [string, number][] = [];
  for (const { wallet, state } of bought) {
    const logs = await createPublicClient({ transport: http(chain?.rpcUrl) }).getLogs({
      address: token?.address as Hex,
      event: erc20Abi.find((item) => item.type === 'event' && item.name === 'Transfer'),
      args: { to: wallet },
      fromBlock: 0n,
    });
    counted.push([state, logs.length]);
  }
  assert.deepEqual(
    counted.toSorted(),
    [
      ['refunded', 0],
      ['settled', 1],
      ['settled', 1],
      ['settled', 1],
    ],
    'A paid each purchase once, and the refunded one never',
  );
});

/** The deadline of an order's data passes. */
async function deadlinePasses(side: Side, orderId: bigint): Promise<void> {
  await side.admin.query('update travel_waits set due_at = now() where order_id = $1', [orderId]);
  await side.admin.query(`update jobs set due_at = now() where kind = 'travel_rule_due' and subject = $1`, [
    String(orderId),
  ]);
}
