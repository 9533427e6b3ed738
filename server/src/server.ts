/**
 * Server: the composition of one process. Config → database → outside → modules → HTTP and workers, and their shutdown in
 * reverse. It knows everything and decides nothing.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { archiveSettings } from './backup/index.ts';
import type { Clock } from './base/clock.ts';
import { openVault, type Vault } from './base/crypto.ts';
import { openDatabaseClock } from './base/databaseclock.ts';
import { type Database, openDatabase } from './base/db.ts';
import { type Handlers, startWorkers } from './base/jobs.ts';
import { lockDataDir } from './base/lock.ts';
import { type Log, openLog } from './base/log.ts';
import { migrate } from './base/migrate.ts';
import { joinServers } from './base/servers.ts';
import { askReview, openCase, openScreener, reviewed, SCREENING_MAX_AGE_MS, screenOwn } from './compliance/index.ts';
import type { Config } from './config.ts';
import { comparePayer, openPayee } from './customers/index.ts';
import type { Profile } from './environment.ts';
import { openSender, outsideFor, standard, startDispatcher } from './events/index.ts';
import { declareInstallation, peopleNeeded, startOperator } from './operators/index.ts';
import {
  breakersCheck,
  type Check,
  checkReadings,
  clockCheck,
  databaseCheck,
  databaseReadings,
  eventsCheck,
  failingJobsCheck,
  folderCheck,
  killSwitchesCheck,
  openMetrics,
  operatorsCheck,
  opsRoutes,
  priceSourceCheck,
  pricesCheck,
  railCheck,
  railReadings,
  reconcileCheck,
  reconcileReadings,
  startMetrics,
  treasuryCheck,
  treasuryReadings,
  workCheck,
  writesCheck,
} from './ops/index.ts';
import {
  askBeforeSigning,
  askGate,
  type GateRules,
  type OrdersContext,
  openOrders,
  orderFacts,
  orderHandlers,
} from './orders/index.ts';
import {
  assets,
  findPartner,
  heldDestination,
  isSubmittingOff,
  markets,
  openPartners,
  signingSecrets,
} from './partners/index.ts';
import { productionProfile } from './production/index.ts';
import { checkout } from './protocols/checkout/index.ts';
import { operator } from './protocols/operator/index.ts';
import {
  createServer,
  flatFormat,
  verificationWords,
  whitelabel,
  whitelabelFormat,
} from './protocols/whitelabel/index.ts';
import { chainCost, quoteHandlers } from './quotes/index.ts';
import { type ChainRail, clearHalt, whyOff } from './rails/chain.ts';
import { enqueueUnsubmitted, payoutHandlers } from './rails/payouts.ts';
import type { Rail, Report } from './rails/rail.ts';
import { openCorrections, reconcileHandlers } from './reconcile/index.ts';
import { enqueueRailJobs, enqueueRecurring, recurringHandlers } from './recurring.ts';
import * as registry from './registry.ts';
import { sandboxProfile } from './sandbox/profile.ts';
import type { SandboxFile } from './sandbox/seed.ts';
import { levelHandlers, levels, openMovements, sweepHandlers, sweepUndone, takeOwnTransfer } from './treasury/index.ts';

export interface Running {
  baseUrl: string;
  metricsUrl: string;
  /** The content of sandbox.json; in production only the URL. */
  sandbox: SandboxFile;
  db: Database;
  vault: Vault;
  rails: ReadonlyMap<string, Rail>;
  orders: OrdersContext;
  /** Stops everything that was started, in reverse order; work in progress waits as rows. */
  stop(): Promise<void>;
}

const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

export interface StartOptions {
  /** Replaces the database clock, for tests. */
  clock?: Clock;
  log?: Log;
  /** PostgreSQL without fsync, for tests. */
  fast?: boolean;
  /** Called when the database was migrated beyond this code; by default the server just stops. */
  onOutdated?: (why: Error) => void;
  /** Called with the current step of the start, in a few words. */
  onProgress?: (what: string) => void;
  /** Another environment than the configured profile's, for tests. */
  profile?: Profile;
}

/** @throws SettingError | Unavailable with a sentence for the operator */
export async function start(config: Config, options: StartOptions = {}): Promise<Running> {
  const log = options.log ?? openLog(config.logLevel);
  const ending = endings();
  try {
    return await compose(config, { ...options, log }, ending);
  } catch (error) {
    await ending.run();
    throw error;
  }
}

async function compose(
  config: Config,
  { clock: givenClock, log, fast, onOutdated, onProgress = () => {}, profile: given }: StartOptions & { log: Log },
  ending: ReturnType<typeof endings>,
): Promise<Running> {
  const settings = config.walArchiveDir === undefined ? undefined : archiveSettings(config.walArchiveDir);
  const configured = () =>
    config.profile === 'production'
      ? productionProfile(config)
      : sandboxProfile(config, { log, fast, settings, ending });
  const profile: Profile = given ?? configured();
  mkdirSync(config.dataDir, { recursive: true });
  ending.add(lockDataDir(config.dataDir));
  const vault = openVault(profile.masterKey);

  onProgress(config.databaseUrl === undefined ? 'starting PostgreSQL' : 'reaching the database');
  const adminUrl = await profile.database();
  onProgress('bringing the tables up to date');
  const serverUrl = await migrate(adminUrl, vault.derive('database login'));
  const db = openDatabase(serverUrl);
  ending.add(() => db.close());
  const place = await joinServers(db, { version: VERSION, onOutdated: onOutdated ?? (() => void ending.run()) });
  ending.add(() => place.leave());
  const clock = givenClock ?? (await databaseClock(db, ending));

  onProgress(
    config.profile === 'sandbox'
      ? 'starting chains and a bank, deploying test tokens'
      : 'connecting to chains and banks',
  );
  const world = await profile.connect({ db, adminUrl, vault, clock, log });
  ending.add(() => world.stop());

  // Rails report to orders and orders send through rails: the one circular dependency, closed here.
  let rails: ReadonlyMap<string, Rail> = new Map();
  // The treasury sends sweeps through rails, and the rails report them to it.
  let chains: ReadonlyMap<string, ChainRail> = new Map();
  const report: Report = (tx, fact) =>
    orderFacts({ rails, clock, comparePayer: (tx, id, name) => comparePayer(tx, vault, id, name) }, (tx, own) =>
      takeOwnTransfer({ clock, chains }, tx, own),
    )(tx, fact);
  rails = registry.rails(world.connections, {
    ...{ db, clock, log, report, vault, pollMs: 500 },
    mayLeave: (tx, what) => askBeforeSigning(context, tx, what),
  });
  chains = new Map([...rails].filter(([, rail]) => rail.kind === 'chain') as [string, ChainRail][]);
  const gate: GateRules = {
    screenOwn: (tx, input) => screenOwn(tx, vault, input),
    isSwitchedOff: isSubmittingOff,
    peopleNeeded,
    heldDestination,
    screeningMaxAgeMs: SCREENING_MAX_AGE_MS,
  };
  const screener = world.screener(openScreener({ db, vault }));
  const context: OrdersContext = { db, clock, log, rails, screener, vault, gate };
  const sources = registry.priceSources(config);
  const metrics = openMetrics([
    databaseReadings(db, clock),
    railReadings([...rails.values()]),
    treasuryReadings(db),
    reconcileReadings(db),
    checkReadings(() => checks()),
  ]);

  const handlers: Handlers = {
    ...orderHandlers(context),
    ...quoteHandlers({ db, clock, sources }),
    ...payoutHandlers({
      db,
      clock,
      log,
      rails,
      report,
      openAccount: (tx, id) => openPayee(tx, vault, id),
      gate: (tx, payout) => askGate(context, tx, payout),
    }),
    ...sweepHandlers({ db, clock, log, chains, everyMs: 1_000 }),
    ...reconcileHandlers({ db, clock, rails }),
    ...levelHandlers({ db, clock, rails, everyMs: 2_000 }),
    ...recurringHandlers({ db, clock, rails, chains }),
  };
  const workers = await startWorkers({ db, clock, log, handlers: metrics.measureJobs(handlers), concurrency: 12 });
  ending.add(() => workers.stop());
  const awake = (): Rail[] => [...rails.values()].filter((rail) => rail.isAsleep?.() !== true);
  await enqueueRecurring(db, clock, {
    rails: awake().map(({ code }) => code),
    sources: [...sources.keys()],
    chains: [...chains.keys()],
  });
  const partners = openPartners({ db, vault, clock });
  onProgress(config.profile === 'sandbox' ? 'making partners, markets and funds' : 'booking what wallets hold');
  let leveled: string[] = [];
  await world.begin({
    chains,
    partners,
    follow: (subject) =>
      db.asSystem((tx) => enqueueRailJobs(tx, clock.now(), { subject, isChain: chains.has(subject) })),
    async woken() {
      leveled = await assetsWithLevels(db);
    },
  });
  leveled = await assetsWithLevels(db);
  // A protocol's request may need a chain whose node has not been started yet.
  const front = world.front?.(db) ?? db;

  const outside = outsideFor(config.profile);
  const reach = openSender(outside);
  const send = world.webhooks?.(reach) ?? reach;
  const dispatcherDb = openDatabase(serverUrl, { partnerConnections: 1, systemConnections: DISPATCHER_CONNECTIONS });
  ending.add(() => dispatcherDb.close());
  const orders = openOrders({ ...context, vault });
  const webhookSecrets = (apiKey: string) =>
    dispatcherDb.asSystem((tx) => signingSecrets(tx, vault, apiKey, clock.now()));
  const dispatcher = await startDispatcher({
    db: dispatcherDb,
    clock,
    log,
    vault,
    send,
    formats: {
      standard,
      whitelabel: whitelabelFormat({
        partner: async (id) => (await dispatcherDb.asSystem((tx) => findPartner(tx, { id }))) ?? { kycWords: {} },
        secrets: webhookSecrets,
      }),
      flat: flatFormat({
        order: ({ partnerId, id }) =>
          dispatcherDb.readOnlyAsPartner(partnerId, async (tx) => ({
            order: await orders.get(tx, { id }),
            assets: await assets(tx),
          })),
        secrets: webhookSecrets,
      }),
    },
    onDead: (tx, { partnerId, endpointId, isOff, now }) =>
      openCase(tx, {
        kind: isOff ? 'webhook_off' : 'webhook_undelivered',
        subject: `endpoint:${endpointId}`,
        partnerId,
        reason: isOff
          ? 'every attempt has failed for five days: it is switched off'
          : 'events could not be delivered for three days',
        now,
      }),
  });
  ending.add(() => dispatcher.stop());

  let baseUrl = '';
  let metricsUrl = '';
  let sandbox: SandboxFile | undefined;
  const trustProxy = [...(config.trustedProxies ?? [])];
  const app = createServer({ log, logRequests: config.logRequests === '1', trustProxy });
  metrics.measureHttp(app);
  const checkedAlways: Check[] = [
    databaseCheck(db),
    writesCheck(db),
    folderCheck(config.dataDir, config.databaseUrl === undefined),
    workCheck(db, clock),
    clockCheck(db),
    eventsCheck(db, clock),
    failingJobsCheck(db),
    killSwitchesCheck(db),
    operatorsCheck(db),
    pricesCheck(db),
    breakersCheck(db),
    ...[...sources.values()].map((source) => priceSourceCheck(db, source)),
  ];
  const checks = (): Check[] => [
    ...checkedAlways,
    ...awake().map(railCheck),
    ...world.checks,
    reconcileCheck(db),
    ...leveled.map((asset) => treasuryCheck(db, asset)),
  ];
  await app.register(opsRoutes(checks));
  await app.register(
    whitelabel({
      db: front,
      vault,
      clock,
      log,
      partners,
      orders,
      sandbox: world.controls?.({ ...context, chains, prices: sources }),
      publicUrl: () => config.publicUrl ?? baseUrl,
      egress: outside,
      send,
      networkIds: new Map(registry.chainIdsOf(world.connections).map(({ chain, chainId }) => [chain, Number(chainId)])),
      withdrawalFee: (market) =>
        db.asSystem((tx) => chainCost(tx, market, world.gasAtRest?.(market.crypto.chain ?? ''))),
    }),
  );
  await app.register(
    checkout({
      db: front,
      vault,
      clock,
      log,
      publicUrl: () => config.publicUrl ?? baseUrl,
      orders,
      verifier: registry.verifier(config, {
        reviews: {
          ask: (asked) => db.asSystem((tx) => askReview(tx, { ...asked, now: clock.now() })),
          found: (asked) => db.asSystem((tx) => reviewed(tx, asked.customerId)),
        },
      }),
      sender: registry.codeSender(config),
      statusWord: (customer, partner) => verificationWords(customer, partner).status,
    }),
  );
  const first = config.profile === 'sandbox' ? 'sandbox' : 'first';
  await db.asSystem((tx) => startOperator(tx, { name: first, token: profile.operatorToken, now: clock.now() }));
  const { operators, operatorDelayS: delayS } = config;
  await db.asSystem((tx) => declareInstallation(tx, { operators, delayS, now: clock.now() }));
  const bank = world.connections.banks
    .find(({ openDesk }) => openDesk !== undefined)
    ?.openDesk?.({ ...{ db, clock, log, report, vault }, gate: (tx, payout) => askGate(context, tx, payout) });
  await app.register(
    operator({
      db,
      vault,
      clock,
      orders: context,
      submitAgain: enqueueUnsubmitted,
      publicUrl: () => config.publicUrl ?? baseUrl,
      movements: openMovements({ db, clock, rails, report }),
      corrections: openCorrections({ clock, rails, sweepUndone }),
      chainHalts: { codes: [...chains.keys()], why: whyOff, clear: clearHalt },
      ...(bank && { bank }),
    }),
  );
  const welcome = world.welcome?.(() => ({ sandbox, baseUrl, metricsUrl }));
  if (welcome !== undefined) await app.register(welcome);
  await app.listen({ port: config.port, host: config.host });
  ending.add(() => app.close());
  baseUrl = `http://${config.host}:${(app.server.address() as AddressInfo).port}`;
  const metricsServer = await startMetrics({ metrics, port: config.metricsPort, host: config.host });
  ending.add(() => metricsServer.stop());
  metricsUrl = `http://${config.host}:${metricsServer.port}/metrics`;

  onProgress('waiting for first prices');
  await pricesAreFresh(db);
  sandbox = world.ready(baseUrl);
  return {
    baseUrl,
    metricsUrl,
    sandbox,
    db,
    vault,
    rails,
    orders: context,
    stop: () => ending.run(),
  };
}

async function databaseClock(db: Database, ending: ReturnType<typeof endings>): Promise<Clock> {
  const clock = await openDatabaseClock(db);
  ending.add(() => clock.stop());
  return clock;
}

/**
 * Thresholds are rows and may change at any time; an asset with its first one is shown from the next start on, or when its
 * chain is woken.
 */
const assetsWithLevels = async (db: Database): Promise<string[]> => [
  ...new Set((await db.asSystem(levels)).map(({ asset }) => asset)),
];

/**
 * Ready means that a quote is available: waits briefly for the first prices. Without markets there is nothing to wait for.
 */
async function pricesAreFresh(db: Database): Promise<void> {
  if ((await db.asSystem(markets)).length === 0) return;
  const check = pricesCheck(db);
  const giveUpAt = Date.now() + 10_000;
  while (Date.now() < giveUpAt) {
    const { ok } = await check.run(AbortSignal.timeout(2_000));
    if (ok) return;
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

/** Recording deliveries uses these connections and takes none from payouts. */
const DISPATCHER_CONNECTIONS = 4;

/** Stops in reverse order of starting; a failure does not prevent the others. */
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
          // Whatever failed, its rows are unchanged.
        }
      }
    },
  };
}
