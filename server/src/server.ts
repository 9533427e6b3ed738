/**
 * Server: the composition of one process. Config → database → outside → modules → HTTP and workers, and all of it back
 * again. It knows everything and decides nothing.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { archiveSettings } from './backup/index.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { openVault, type Vault } from './base/crypto.ts';
import { type Database, openDatabase } from './base/db.ts';
import { SettingError } from './base/env.ts';
import { randomHex } from './base/ids.ts';
import { lockDataDir } from './base/lock.ts';
import { type Log, openLog } from './base/log.ts';
import { migrate } from './base/migrate.ts';
import { joinServers } from './base/servers.ts';
import { type Handlers, startWorkers } from './base/work.ts';
import { magicScreener, openScreener, type Screener } from './compliance/index.ts';
import type { Config } from './config.ts';
import { comparePayer, openFiatAccount } from './customers/index.ts';
import { seal } from './ledger/index.ts';
import {
  databaseCheck,
  databaseReadings,
  failingWorkCheck,
  openMetrics,
  opsRoutes,
  priceSourceCheck,
  pricesCheck,
  railCheck,
  railReadings,
  startMetrics,
  treasuryCheck,
  treasuryReadings,
  workCheck,
} from './ops/index.ts';
import { type OrdersContext, openOrders, orderFacts, orderHandlers } from './orders/index.ts';
import { openPartners } from './partners/index.ts';
import { checkout, sandboxSender } from './protocols/checkout/index.ts';
import { operator } from './protocols/operator/index.ts';
import { createServer, forgetReplies, verificationWords, whitelabel } from './protocols/whitelabel/index.ts';
import { chainCost, quoteHandlers } from './quotes/index.ts';
import type { ChainRail } from './rails/chain.ts';
import { payoutHandlers } from './rails/payouts.ts';
import { OBSERVE, type Rail, type Report } from './rails/rail.ts';
import * as registry from './registry.ts';
import { sandboxDriver } from './sandbox/driver.ts';
import { startPostgres } from './sandbox/postgres.ts';
import { ringStanding, seedFunds, seedPartners } from './sandbox/seed.ts';
import { type SandboxFile, startWorld } from './sandbox/world.ts';
import { levelHandlers, levels, sweepHandlers, takeOwnTransfer } from './treasury/index.ts';

export interface Running {
  baseUrl: string;
  metricsUrl: string;
  /** What sandbox.json says. */
  sandbox: SandboxFile;
  db: Database;
  vault: Vault;
  rails: ReadonlyMap<string, Rail>;
  orders: OrdersContext;
  /** Ends everything that was started, in the reverse order; what is on its way waits as rows. */
  stop(): Promise<void>;
}

const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

export interface StartOptions {
  clock?: Clock;
  log?: Log;
  /** PostgreSQL without fsync, for tests. */
  fast?: boolean;
  /** The database was migrated to where this code must stop; by default the server just ends. */
  onOutdated?: (why: Error) => void;
}

/**
 * @throws SettingError | Unavailable with a sentence for whoever started it
 */
export async function start(config: Config, options: StartOptions = {}): Promise<Running> {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? openLog(config.logLevel);
  const ending = endings();
  try {
    return await compose(config, { ...options, clock, log }, ending);
  } catch (error) {
    await ending.run();
    throw error;
  }
}

async function compose(
  config: Config,
  { clock, log, fast, onOutdated }: StartOptions & { clock: Clock; log: Log },
  ending: ReturnType<typeof endings>,
): Promise<Running> {
  refuseUnfinishedProduction(config);
  mkdirSync(config.dataDir, { recursive: true });
  ending.add(lockDataDir(config.dataDir));
  const vault = openVault(masterKey(config));

  const adminUrl = config.databaseUrl ?? (await embeddedDatabase(config, log, ending, fast));
  const serverUrl = await migrate(adminUrl, vault.derive('database login'));
  const db = openDatabase(serverUrl);
  ending.add(() => db.close());
  const place = await joinServers(db, { version: VERSION, onOutdated: onOutdated ?? (() => void ending.run()) });
  ending.add(() => place.leave());

  const world = await startWorld({ config, db, adminUrl, clock, log });
  ending.add(() => world.stop());

  // Rails report to orders and orders send through rails: the one circle, closed here.
  let rails: ReadonlyMap<string, Rail> = new Map();
  // Sweeps are the treasury's; it, too, is told of them by the rails it sends through.
  let chains: ReadonlyMap<string, ChainRail> = new Map();
  const report: Report = (tx, fact) =>
    orderFacts({ rails, clock, comparePayer: (tx, id, name) => comparePayer(tx, vault, id, name) }, (tx, own) =>
      takeOwnTransfer({ clock, chains }, tx, own),
    )(tx, fact);
  rails = registry.rails(world.outside, { db, clock, log, report, vault, pollMs: 500 });
  chains = new Map([...rails].filter(([, rail]) => rail.kind === 'chain') as [string, ChainRail][]);
  const context: OrdersContext = { db, clock, log, rails, screener: screenerFor(config, openScreener({ db, vault })) };
  const sources = registry.priceSources(config);
  const metrics = openMetrics([databaseReadings(db, clock), railReadings([...rails.values()]), treasuryReadings(db)]);

  const handlers: Handlers = {
    ...orderHandlers(context),
    ...quoteHandlers({ db, clock, sources }),
    ...payoutHandlers({
      db,
      clock,
      log,
      rails,
      report,
      openAccount: async (tx, id) => (await openFiatAccount(tx, vault, id)).details,
    }),
    ...sweepHandlers({ db, clock, log, chains, everyMs: 1_000 }),
    ...levelHandlers({ db, clock, rails, everyMs: 2_000 }),
    ...standingHandlers({ db, clock, rails, chains }),
  };
  const workers = await startWorkers({ db, clock, log, handlers: metrics.measureWork(handlers), concurrency: 12 });
  ending.add(() => workers.stop());
  await ringStanding(db, clock, { rails: [...rails.keys()], sources: [...sources.keys()], chains: [...chains.keys()] });
  const partners = openPartners({ db, vault, clock });
  const file = join(config.dataDir, 'sandbox.json');
  const seeded = await seedPartners({ db, vault, clock, partners }, readSandboxFile(file)?.partners ?? []);
  await world.seedMarkets();
  await seedFunds({
    db,
    clock,
    bank: world.bank,
    chains: [...chains.values()],
    tokens: world.tokens,
    finalize: world.finalize,
  });

  let baseUrl = '';
  const app = createServer({ log, logRequests: config.logRequests === '1' });
  metrics.measureHttp(app);
  const checks = [
    databaseCheck(db),
    workCheck(db, clock),
    failingWorkCheck(db),
    pricesCheck(db),
    ...[...sources.values()].map((source) => priceSourceCheck(db, source)),
    ...[...rails.values()].map(railCheck),
    ...(await assetsWithLevels(db)).map((asset) => treasuryCheck(db, asset)),
  ];
  await app.register(opsRoutes(checks));
  await app.register(
    whitelabel({
      db,
      vault,
      clock,
      log,
      partners,
      orders: openOrders(context),
      sandbox: sandboxDriver({ ...context, chains, bank: world.bank, vault, verifier: registry.verifier() }),
      publicUrl: () => config.publicUrl ?? baseUrl,
      withdrawalFee: (market) => db.asSystem((tx) => chainCost(tx, market)),
    }),
  );
  await app.register(
    checkout({
      db,
      vault,
      clock,
      log,
      publicUrl: () => config.publicUrl ?? baseUrl,
      orders: openOrders(context),
      verifier: registry.verifier(),
      sender: config.profile === 'sandbox' ? sandboxSender : undefined,
      statusWord: (customer, partner) => verificationWords(customer, partner).status,
    }),
  );
  await app.register(operator({ db, token: keptSecret(join(config.dataDir, 'operator.token')) }));
  await app.listen({ port: config.port, host: config.host });
  ending.add(() => app.close());
  baseUrl = `http://${config.host}:${(app.server.address() as AddressInfo).port}`;
  const metricsServer = await startMetrics({ metrics, port: config.metricsPort, host: config.host });
  ending.add(() => metricsServer.stop());

  await pricesAreFresh(db);
  const sandbox: SandboxFile = { baseUrl, partners: seeded, chains: world.chains };
  writeSandboxFile(file, sandbox);
  return {
    baseUrl,
    metricsUrl: `http://${config.host}:${metricsServer.port}/metrics`,
    sandbox,
    db,
    vault,
    rails,
    orders: context,
    stop: () => ending.run(),
  };
}

/** The real world's rails, verifiers and prices are not there yet, so production says so instead of pretending. */
function refuseUnfinishedProduction(config: Config): void {
  if (config.profile !== 'production') return;
  if (config.masterKey === undefined) throw new SettingError('MASTER_KEY must be set in production: 64 hex digits');
  if (config.databaseUrl === undefined)
    throw new SettingError('DATABASE_URL must be set in production: PostgreSQL 15 to 18');
  throw new SettingError(
    'PROFILE=production has no bank rail and no verifier yet, and will not start with simulated ones: see "What works today" in the README',
  );
}

/** Magic values are the sandbox's alone. */
const screenerFor = (config: Config, usual: Screener): Screener =>
  config.profile === 'sandbox' ? magicScreener(usual) : usual;

function masterKey(config: Config): Buffer {
  const text = config.masterKey ?? keptSecret(join(config.dataDir, 'master.key'));
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new SettingError('MASTER_KEY must be 64 hex digits');
  return Buffer.from(text, 'hex');
}

/** Made once, 32 random bytes as hex. Without master.key no sealed value can be read, so it lies beside the data it seals. */
function keptSecret(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, `${randomHex(32)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  return readFileSync(file, 'utf8').trim();
}

async function embeddedDatabase(
  config: Config,
  log: Log,
  ending: ReturnType<typeof endings>,
  fast?: boolean,
): Promise<string> {
  const postgres = await startPostgres({
    dataDir: config.dataDir,
    log: (line) => log.info({ postgres: line }),
    ...(fast === undefined ? {} : { fast }),
    ...(config.walArchiveDir === undefined ? {} : { settings: archiveSettings(config.walArchiveDir) }),
  });
  ending.add(() => postgres.stop());
  return postgres.adminUrl;
}

/** Work that rings for ever: looking at rails, gas prices, sealing the journal, forgetting kept replies. */
function standingHandlers(deps: {
  db: Database;
  clock: Clock;
  rails: ReadonlyMap<string, Rail>;
  chains: ReadonlyMap<string, ChainRail>;
}): Handlers {
  const { db, clock, rails, chains } = deps;
  return {
    // A rail that is no longer configured is not looked at; ringing for it ends here.
    [OBSERVE]: async (code) => await rails.get(code)?.observe(),
    async refresh_gas(code) {
      await chains.get(code)?.refreshGas();
      return { againInMs: 5_000 };
    },
    async seal() {
      const sealed = await db.asSystem((tx) => seal(tx, clock.now()));
      return { againInMs: sealed > 0 ? 0 : 2_000 };
    },
    async purge_replies() {
      await forgetReplies(db, clock.now());
      return { againInMs: 600_000 };
    },
  };
}

/** Thresholds are rows and may change at any time; an asset that gets its first one is shown from the next start on. */
const assetsWithLevels = async (db: Database): Promise<string[]> => [
  ...new Set((await db.asSystem(levels)).map(({ asset }) => asset)),
];

/** Ready means that a quote can be had: waits for the first prices, briefly. */
async function pricesAreFresh(db: Database): Promise<void> {
  const check = pricesCheck(db);
  const giveUpAt = Date.now() + 10_000;
  while (Date.now() < giveUpAt) {
    const { ok } = await check.run(AbortSignal.timeout(2_000));
    if (ok) return;
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

function readSandboxFile(file: string): SandboxFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SandboxFile;
  } catch {
    // Not there, or half written by a crash: new keys are made.
    return undefined;
  }
}

function writeSandboxFile(file: string, content: SandboxFile): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

/** What was started last is ended first; one that fails to end does not keep the others. */
function endings() {
  const steps: (() => unknown)[] = [];
  return {
    add(step: () => unknown): void {
      steps.push(step);
    },
    async run(): Promise<void> {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step();
        } catch {
          // Whatever it was, its rows are where they were.
        }
      }
    },
  };
}
