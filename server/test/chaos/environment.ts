/**
 * The environment of a run: three servers of production on one PostgreSQL, a signer, a chain, a bank, prices and a sender of codes,
 * each on a port of its own and with all its files below one folder.
 *
 * Servers that end are started again, as a process supervisor would. One that ends without having been killed is recorded.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openVault, type Vault } from '../../src/base/crypto.ts';
import { openDatabase } from '../../src/base/db.ts';
import { randomText } from '../../src/base/ids.ts';
import { migrate } from '../../src/base/migrate.ts';
import { parseUnits } from '../../src/base/money.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { portOrAnother, signal } from '../../src/base/processes.ts';
import { openClient } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { seedEuros, verifiedCustomer } from '../support/euros.ts';
import { priceHosts } from '../support/pricehosts.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { codeHost, EURO_PRICES, installation, onThisMachine } from '../support/production.ts';
import { startSigner } from '../support/signer.ts';
import { until as waitUntil } from '../support/until.ts';
import { BANK, type BankMode, CURRENCY, deduplicatesForMs, openBank } from './bank.ts';
import { FINALITY, openChain } from './chain.ts';
import { openPair, type Pair } from './pair.ts';

const MUCH = { perTransfer: 10n ** 30n, perHour: 10n ** 32n };
const SERVERS = 3;
const CUSTOMERS = 3;
/** Room for the normal usage of three servers, and little more. */
const MAX_CONNECTIONS = 110;

/** Some deposits count before a reorg removes them, and some do not. */
const CONFIRMATIONS = [
  { fromUnits: '0', confirmations: 1 },
  { fromUnits: '100000000', confirmations: 3 },
  { fromUnits: '300000000', confirmations: 8 },
];

export interface Slot {
  readonly name: string;
  readonly url: string;
  process?: ServerProcess | undefined;
  frozen: boolean;
  /** Killed by us, so its end is no finding. */
  killed: boolean;
}

/** The node or bank may be dead while it is asked. */
export const until = (what: string, look: () => Promise<boolean>): Promise<boolean> =>
  waitUntil(what, () => look().catch(() => false), { withinMs: 120_000, everyMs: 100 });

export type ChaosEnvironment = Awaited<ReturnType<typeof openEnvironment>>;

// Long because the environment is one closure: its processes are started again from the state that they share.
export async function openEnvironment(options: {
  folder: string;
  mode: BankMode;
  /** A primary and a standby behind one address, instead of one PostgreSQL. */
  standby?: 'synchronous' | 'asynchronous' | undefined;
  chance: (below: number) => number;
  say: (line: string) => void;
}) {
  const { folder, mode, standby, say } = options;
  const ending: (() => Promise<unknown>)[] = [];
  const trouble: string[] = [];
  let stopping = false;
  const running: Promise<void>[] = [];
  const slots: Slot[] = [];

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all(slots.map(stopSlot));
    await Promise.all(running);
    for (let end = ending.pop(); end !== undefined; end = ending.pop()) await end().catch(() => {});
  }

  async function openOurs(): Promise<{ adminUrl: string; stop(): Promise<void>; pair?: Pair }> {
    const settings = { max_connections: String(MAX_CONNECTIONS) };
    if (standby === undefined) return await startPostgres({ dataDir: join(folder, 'ours'), settings });
    const pair = await openPair(folder, { isSynchronous: standby === 'synchronous', settings });
    return { adminUrl: pair.adminUrl, stop: pair.stop, pair };
  }

  async function stopSlot(slot: Slot): Promise<void> {
    const { process } = slot;
    if (process === undefined) return;
    if (slot.frozen) signal(process.pid, 'SIGCONT');
    slot.killed = true;
    const code = await Promise.race([process.interrupt(), sleep(20_000, 'too long')]);
    if (code === 'too long') await process.kill();
    if (code === 'too long' || code === 1) trouble.push(`${slot.name} did not stop in order: ${code}`);
  }

  try {
    const [postgres, bank, chain, hosts, codes] = await Promise.all([
      openOurs().then((one) => (ending.push(() => one.stop()), one)),
      openBank(folder, mode).then((one) => (ending.push(() => one.stop()), one)),
      openChain(folder, options.chance).then((one) => (ending.push(() => one.stop()), one)),
      priceHosts().then((one) => (ending.push(() => one.stop()), one)),
      codeHost().then((one) => (ending.push(async () => one.server.close()), one)),
    ]);
    hosts.books.kraken = EURO_PRICES;
    for (const name of ['signer', 'installation']) await mkdir(join(folder, name));
    const limits = { chainId: chain.chainId, tokens: { [chain.token]: MUCH }, gas: MUCH, native: MUCH, fees: MUCH };
    const signer = await startSigner({ limits: [limits], folder: join(folder, 'signer') });
    ending.push(() => signer.stop());
    const { hot = '' } = signer.expected.wallets;
    const around = onThisMachine({ database: postgres, anvil: chain.anvil, token: chain.token, signer, hosts, codes });
    const [token] = around.chain.tokens;
    const { env } = installation({
      folder: join(folder, 'installation'),
      chain: {
        ...around.chain,
        finality: FINALITY,
        fundedFrom: { cold: chain.cold },
        tokens: [{ ...token, confirmations: CONFIRMATIONS }],
      },
      env: {
        ...around.env,
        LOG_LEVEL: 'error',
        DATABASE_FAILOVER: standby === 'synchronous' ? 'synchronous' : 'any',
        CHAOS_BANK_URL: bank.url,
        CHAOS_BANK_TOKEN: bank.token,
        CHAOS_BANK_DEDUPLICATES_FOR_MS: String(deduplicatesForMs(mode)),
      },
    });

    const vault = vaultOf(env);
    const serverUrl = await migrate(postgres.adminUrl, vault.derive('database login'));
    await postgres.pair?.attach();
    const db = openDatabase(serverUrl, { partnerConnections: 1, systemConnections: 2 });
    ending.push(() => db.close());
    const keys = await db.asSystem((tx) => seedEuros(tx, vault, { token: chain.token, bank: BANK, now: new Date() }));
    await chain.fuel(hot);
    await bank.fund({ currency: CURRENCY, units: parseUnits('10000000', 2), id: 'opening' });

    for (let n = 1; n <= SERVERS; n += 1) {
      const port = await portOrAnother();
      const slot: Slot = { name: `server ${n}`, url: `http://127.0.0.1:${port}`, frozen: false, killed: false };
      slots.push(slot);
      running.push(keepRunning(slot, port, join(folder, `server-${n}`)));
    }
    await until('the servers are ready', async () => slots.every(({ process }) => process !== undefined));

    async function keepRunning(slot: Slot, port: number, dataDir: string): Promise<void> {
      while (!stopping) {
        slot.killed = false;
        try {
          slot.process = await startProcess({
            dataDir,
            port,
            env: { ...env, DATA_DIR: dataDir, PORT: String(port) },
            program: 'server/test/chaos/server.process.ts',
            readyMs: 60_000,
          });
        } catch {
          // Impossible without a database, for example; so it is retried.
          await sleep(500);
          continue;
        }
        if (stopping) return await stopSlot(slot);
        const { process } = slot;
        const code = await process.ended;
        slot.process = undefined;
        slot.frozen = false;
        if (!slot.killed) trouble.push(`${slot.name} ended by itself with ${code}: ${process.output().slice(-2_000)}`);
        if (!stopping) await sleep(200 + options.chance(2_000));
      }
    }

    /** An operator's action, at a server that answers. */
    async function operates<T>(
      path: string,
      body: Record<string, unknown>,
      token = String(env.OPERATOR_TOKEN),
    ): Promise<T> {
      const at = slots.filter(({ process, frozen }) => process !== undefined && !frozen);
      const slot = at[options.chance(Math.max(1, at.length))];
      const response = await fetchDeclared(`${slot?.url}/operator/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, reason: 'looked at' }),
        signal: AbortSignal.timeout(10_000),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${text}`);
      return JSON.parse(text) as T;
    }

    /** Rows of ours, read by a superuser on a separate connection: PostgreSQL may be dead at any moment. */
    async function look<R>(text: string, values: unknown[] = []): Promise<R[]> {
      const client = new pg.Client({
        connectionString: postgres.adminUrl,
        options: '-c search_path=cloverleaf',
        connectionTimeoutMillis: 5_000,
      });
      client.on('error', () => {});
      try {
        await client.connect();
        return (await client.query(text, values)).rows as R[];
      } finally {
        await client.end().catch(() => {});
      }
    }

    const shows = async (query: string) => (await look(query)).length > 0;
    await until('the chain is followed', () => shows('select from chains where head_number is not null'));
    await chain.fund(hot, parseUnits('10000000', 6));
    await until('the tokens are booked', () => shows(`select from entries where id like 'fund_evm%'`));
    await until('there is a price', async () => {
      const { status } = await openClient(slots[0]?.url ?? '', keys).post('offramp/quote', {
        fromCurrency: 'usdc',
        toCurrency: 'EUR',
        chain: 'base',
        fromAmount: '100',
      });
      return status === 200;
    });
    // Two release an order; the first one alone may create the second.
    const second = `clo_${randomText(43)}`;
    const tokenSha256 = createHash('sha256').update(second).digest('hex');
    await operates('/operators', { operator: 'second', role: 'finance', tokenSha256 });
    const customers: string[] = [];
    for (let n = 1; n <= CUSTOMERS; n += 1) {
      const url = slots[0]?.url ?? '';
      customers.push(await verifiedCustomer({ url, partner: openClient(url, keys), codes }, operates, n));
    }
    say(
      `${SERVERS} servers on one PostgreSQL${standby === undefined ? '' : ` with a standby (${standby})`}, a signer, a chain, a ${mode} bank, ${CUSTOMERS} customers`,
    );

    return {
      ...{ folder, slots, postgres, bank, chain, signer, hot, keys, vault, db, serverUrl, customers, trouble },
      xpub: signer.expected.xpub,
      operates,
      /** Another operator confirms a proposal. */
      confirms: (proposal: bigint) => operates(`/proposals/${proposal}/confirm`, {}, second),
      look,
      /** Ends the servers in order, and no other process. */
      async stopServers(): Promise<void> {
        stopping = true;
        await Promise.all(slots.map(stopSlot));
        await Promise.all(running);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const vaultOf = (env: NodeJS.ProcessEnv): Vault =>
  openVault(Buffer.from(readFileSync(String(env.MASTER_KEY_FILE), 'utf8').trim(), 'hex'));
