/**
 * Server: the composition of one process. Config → database → outside → modules → workers and HTTP, and their shutdown in
 * reverse. It connects everything and decides nothing. A process has workers, HTTP or both, by its role (config.ts).
 *
 * Its parts are in composition/: rails.ts (rails and the receivers of their facts), workers.ts (jobs and webhooks), http.ts
 * (protocols), readiness.ts (checks and metrics).
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { archiveSettings, continueTimeline } from './backup/index.ts';
import type { Clock } from './base/clock.ts';
import { openVault, type Vault } from './base/crypto.ts';
import { openDatabaseClock } from './base/databaseclock.ts';
import { type Database, openDatabase } from './base/db.ts';
import { lockDataDir } from './base/lock.ts';
import { type Log, openLog } from './base/log.ts';
import { migrateFor } from './base/migrate.ts';
import { watchPatterns } from './base/patterns.ts';
import { openPooled } from './base/pooled.ts';
import { joinServers } from './base/servers.ts';
import { highestLevelOf } from './compliance/index.ts';
import { type Base, type Endings, endings } from './composition/base.ts';
import { requestsErasing } from './composition/erasing.ts';
import { openFiles } from './composition/files.ts';
import { serve, serveHealth } from './composition/http.ts';
import { connectRails, type RailParts } from './composition/rails.ts';
import { openReadiness, pricesAreFresh, type Readiness } from './composition/readiness.ts';
import { enqueueLevels, enqueueRailJobs } from './composition/recurring.ts';
import { openVerifier } from './composition/verifier.ts';
import { startDelivery, startWork } from './composition/workers.ts';
import { answersRequests, type Config, doesWork } from './config.ts';
import type { Environment, Profile, SandboxFile } from './environment.ts';
import { replayErasures } from './erasure/index.ts';
import { openSender, outsideFor } from './events/index.ts';
import { declareInstallation, startOperator } from './operators/index.ts';
import { type OrdersContext, openOrders } from './orders/index.ts';
import { openPartners, type Partners } from './partners/index.ts';
import { productionProfile } from './production/index.ts';
import { takeEffect } from './protocols/operator/index.ts';
import type { PriceSource } from './quotes/index.ts';
import type { Rail } from './rails/rail.ts';
import * as registry from './registry.ts';
import { noteRotation } from './rotation/index.ts';
import { sandboxProfile } from './sandbox/profile.ts';

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
  { clock, log, fast, onOutdated, onProgress = () => {}, profile: given }: StartOptions & { log: Log },
  ending: Endings,
): Promise<Running> {
  const settings = config.walArchiveDir === undefined ? undefined : archiveSettings(config.walArchiveDir);
  const configured = () =>
    config.profile === 'production'
      ? productionProfile(config)
      : sandboxProfile(config, { log, fast, settings, ending });
  const profile: Profile = given ?? configured();
  const { base, adminUrl } = await openBase(config, profile, { clock, log, onOutdated, onProgress, ending });
  const { db, vault } = base;

  const isSandbox = config.profile === 'sandbox';
  onProgress(isSandbox ? 'starting chains and a bank, deploying test tokens' : 'connecting to chains and banks');
  const environment = await profile.connect({ db, adminUrl, vault, clock: base.clock, log });
  ending.add(() => environment.stop());

  const parts = connectRails(base, environment);
  const isWorker = doesWork(config);
  const sources: ReadonlyMap<string, PriceSource> = isWorker ? registry.priceSources(config) : new Map();
  const verifier = openVerifier(base);
  const readiness = openReadiness(base, parts, { environment, sources });
  const partners = openPartners({ db, vault, clock: base.clock });
  const orders = openOrders({ ...parts.context, vault, highestLevelFor: (kind) => highestLevelOf(verifier, kind) });
  const outside = outsideFor(config.profile);
  const reach = openSender(outside);
  const send = environment.webhooks?.(reach) ?? reach;
  if (isWorker) {
    const channels = registry.alertChannels(config);
    await startWork(base, parts, { sources, verifier, channels, metrics: readiness.metrics });
    onProgress(isSandbox ? 'making partners, markets and funds' : 'booking what wallets hold');
    await beginEnvironment(base, parts, { environment, partners, readiness });
    await startDelivery(base, { orders, send });
  }

  let sandbox: SandboxFile | undefined;
  if (!answersRequests(config)) {
    const urls = await serveHealth(base, readiness);
    return { ...urls, ...running(environment.ready(urls.baseUrl)) };
  }
  await declareOperators(base, profile);
  // Before a quote is made: terms may have changed while no server ran.
  await takeEffect(base);
  const urls = await serve(base, parts, {
    ...{ environment, orders, partners, sources, verifier, readiness, outside, send },
    sandbox: () => sandbox,
  });
  if (isWorker) {
    onProgress('waiting for first prices');
    await pricesAreFresh(base, sources);
  }
  sandbox = environment.ready(urls.baseUrl);
  return { ...urls, ...running(sandbox) };

  function running(file: SandboxFile): Omit<Running, 'baseUrl' | 'metricsUrl'> {
    return { sandbox: file, db, vault, rails: parts.rails, orders: parts.context, stop: () => ending.run() };
  }
}

/** The data folder, the key and the database, brought up to date. */
async function openBase(
  config: Config,
  profile: Profile,
  o: {
    clock: Clock | undefined;
    log: Log;
    onOutdated: StartOptions['onOutdated'] | undefined;
    onProgress: (what: string) => void;
    ending: Endings;
  },
): Promise<{ base: Base; adminUrl: string }> {
  const { log, ending, onProgress } = o;
  mkdirSync(config.dataDir, { recursive: true });
  ending.add(lockDataDir(config.dataDir));
  const vault = openVault(profile.masterKey, profile.oldMasterKey);
  ending.add(watchPatterns((pattern) => log.warn({ pattern }, 'a pattern of a form did not end in time')));

  onProgress(config.databaseUrl === undefined ? 'starting PostgreSQL' : 'reaching the database');
  const adminUrl = await profile.database();
  onProgress('bringing the tables up to date');
  const serverUrl = await migrateFor(adminUrl, vault);
  const losesNothing = config.databaseFailover === 'synchronous';
  const onOtherTimeline = onceAtATime(() => continueTimeline(adminUrl, { losesNothing, log }));
  await onOtherTimeline();
  const { databasePoolUrl: pooler } = config;
  const openPools: Base['openPools'] = (asked) => {
    const options = { ...asked, onOtherTimeline };
    return pooler === undefined ? openDatabase(serverUrl, options) : openPooled({ direct: serverUrl, pooler }, options);
  };
  const db = openPools();
  ending.add(() => db.close());
  await noteRotation(db, vault);
  const place = await joinServers(db, { version: VERSION, onOutdated: o.onOutdated ?? (() => void ending.run()) });
  ending.add(() => place.leave());
  const clock = o.clock ?? (await databaseClock(db, ending));
  const documents = join(config.dataDir, 'documents');
  const { blobs, list } = openFiles(config, documents);
  const eraseRequests = requestsErasing({ db, vault });
  const erasing = { db, vault, blobs, list, backupsKeptDays: config.backupsKeptDays, eraseRequests };
  // Before anything is served: a restore has brought erased customers back.
  const erased = await replayErasures(erasing, clock.now());
  if (config.sanctionsLists === 'none')
    log.warn({ setting: 'SANCTIONS_LISTS' }, 'no sanctions list is configured: names and addresses are not screened');
  if (erased > 0) log.warn({ customers: erased }, 'a restore brought back erased customers; they were erased again');
  return { base: { config, log, db, openPools, vault, blobs, erasing, clock, ending }, adminUrl };
}

/** Calls that come while one runs get its result. */
function onceAtATime(run: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run()
      .then(() => {})
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}

async function databaseClock(db: Database, ending: Endings): Promise<Clock> {
  const clock = await openDatabaseClock(db);
  ending.add(() => clock.stop());
  return clock;
}

/** The environment's own steps: seeds and opening funds. From then on levels are watched. */
async function beginEnvironment(
  { db, clock }: Base,
  { chains, awake }: RailParts,
  { environment, partners, readiness }: { environment: Environment; partners: Partners; readiness: Readiness },
): Promise<void> {
  const watchLevels = async (rails: readonly string[]): Promise<void> => {
    await readiness.readLevels();
    await db.asSystem((tx) => enqueueLevels(tx, clock.now(), rails));
  };
  await environment.begin({
    chains,
    partners,
    follow: (subject) =>
      db.asSystem((tx) => enqueueRailJobs(tx, clock.now(), { subject, isChain: chains.has(subject) })),
    woken: (rail) => watchLevels([rail]),
  });
  await watchLevels(awake().map(({ code }) => code));
}

/** By the processes that operators call; a worker has no token of theirs, and its settings would replace what those declared. */
async function declareOperators({ config, db, clock }: Base, { operatorToken: token }: Profile): Promise<void> {
  const first = config.profile === 'sandbox' ? 'sandbox' : 'first';
  if (token !== undefined) await db.asSystem((tx) => startOperator(tx, { name: first, token, now: clock.now() }));
  const { operators, operatorDelayS: delayS } = config;
  await db.asSystem((tx) => declareInstallation(tx, { operators, delayS, now: clock.now() }));
}
