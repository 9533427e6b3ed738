/**
 * Readiness: which checks and readings this process has. Each role is judged by what it needs. A process that only answers
 * requests is not unready because a chain, the signer or a bank is away; those are checks of the workers, which alone reach them.
 */
import { watchWorkers } from '../base/presence.ts';
import { listSources } from '../compliance/index.ts';
import { answersRequests, type Config, doesWork } from '../config.ts';
import type { Environment } from '../environment.ts';
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
  priceSourceCheck,
  pricesCheck,
  railCheck,
  railReadings,
  reconcileCheck,
  reconcileReadings,
  sanctionsCheck,
  standbyReadings,
  standbysCheck,
  treasuryCheck,
  treasuryReadings,
  workCheck,
  workersCheck,
  writesCheck,
} from '../ops/index.ts';
import { markets } from '../partners/index.ts';
import { type PriceSource, pollPrices } from '../quotes/index.ts';
import { levels } from '../treasury/index.ts';
import type { Base } from './base.ts';
import type { RailParts } from './rails.ts';

export interface Readiness {
  /** The current checks; they grow when a chain is woken or an asset gets its first threshold. */
  checks(): Check[];
  metrics: ReturnType<typeof openMetrics>;
  /** Reads which assets have thresholds. */
  readLevels(): Promise<void>;
}

export function openReadiness(
  { config, db, clock, ending }: Pick<Base, 'config' | 'db' | 'clock' | 'ending'>,
  { rails, awake }: Pick<RailParts, 'rails' | 'awake'>,
  { environment, sources }: { environment: Environment; sources: ReadonlyMap<string, PriceSource> },
): Readiness {
  const isWorker = doesWork(config);
  const checkedAlways = [
    ...alwaysChecked(config, { db }),
    ...(answersRequests(config) ? [killSwitchesCheck(db), operatorsCheck(db)] : []),
    ...(isWorker ? checkedOfWork(config, { db, clock }, sources) : [checkOfWorkers({ db, ending })]),
  ];
  let leveled: string[] = [];
  const checks = (): Check[] => [
    ...checkedAlways,
    ...(isWorker ? [...awake().map(railCheck), ...environment.checks, reconcileCheck(db)] : []),
    ...leveled.map((asset) => treasuryCheck(db, asset)),
  ];
  return {
    checks,
    metrics: openMetrics([
      databaseReadings(db, clock),
      standbyReadings(db),
      ...(isWorker ? [railReadings([...rails.values()]), treasuryReadings(db), reconcileReadings(db)] : []),
      checkReadings(checks),
    ]),
    // Thresholds are rows and may change at any time. A new asset's threshold is shown after the next start, or when its chain
    // is woken.
    async readLevels() {
      leveled = [...new Set((await db.asSystem(levels)).map(({ asset }) => asset))];
    },
  };
}

function checkOfWorkers({ db, ending }: Pick<Base, 'db' | 'ending'>): Check {
  const workforce = watchWorkers(db);
  ending.add(() => workforce.stop());
  return workersCheck(workforce);
}

/** Prices and their breakers are of both: workers fetch the prices that quotes are made of. */
const alwaysChecked = (config: Config, { db }: Pick<Base, 'db'>): Check[] => [
  databaseCheck(db),
  writesCheck(db),
  standbysCheck(db),
  folderCheck(config.dataDir, config.databaseUrl === undefined),
  clockCheck(db),
  pricesCheck(db),
  breakersCheck(db),
];

const checkedOfWork = (
  config: Config,
  { db, clock }: Pick<Base, 'db' | 'clock'>,
  sources: ReadonlyMap<string, PriceSource>,
): Check[] => [
  workCheck(db, clock),
  eventsCheck(db, clock),
  failingJobsCheck(db),
  ...sanctionsChecks(config, { db, clock }),
  ...[...sources.values()].map((source) => priceSourceCheck(db, source)),
];

/** That names are compared with nothing: shown, and never a reason to take a process out of service. */
const noListsCheck: Check = {
  name: 'sanctions lists',
  essential: false,
  run: async () => ({ ok: true, declared: 'none', compared: 'no name and no address' }),
};

/** One check per configured list. */
function sanctionsChecks(config: Config, base: Pick<Base, 'db' | 'clock'>): Check[] {
  const sources = listSources(config.sanctionsLists ?? '');
  const maxAgeMs = config.sanctionsMaxAgeS * 1_000;
  if (config.sanctionsLists === 'none') return [noListsCheck];
  return typeof sources === 'string' ? [] : sources.map(({ list }) => sanctionsCheck({ ...base, list, maxAgeMs }));
}

/**
 * Ready means that a quote is available: waits briefly for the first prices. Without markets it does not wait. The sources are
 * polled once more, because their first poll may have happened before the markets existed.
 */
export async function pricesAreFresh(
  { db, clock }: Pick<Base, 'db' | 'clock'>,
  sources: ReadonlyMap<string, PriceSource>,
): Promise<void> {
  if ((await db.asSystem(markets)).length === 0) return;
  await db.asSystem((tx) => pollPrices(tx, sources.keys(), clock.now()));
  const check = pricesCheck(db);
  const giveUpAt = Date.now() + 10_000;
  while (Date.now() < giveUpAt) {
    const { ok } = await check.run(AbortSignal.timeout(2_000));
    if (ok) return;
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
