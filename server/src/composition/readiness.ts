/** Readiness: which checks and readings this process has. */
import { listSources } from '../compliance/index.ts';
import type { Config } from '../config.ts';
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
  treasuryCheck,
  treasuryReadings,
  workCheck,
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
  { config, db, clock }: Pick<Base, 'config' | 'db' | 'clock'>,
  { rails, awake }: Pick<RailParts, 'rails' | 'awake'>,
  { world, sources }: { world: Environment; sources: ReadonlyMap<string, PriceSource> },
): Readiness {
  const checkedAlways = alwaysChecked(config, { db, clock }, sources);
  let leveled: string[] = [];
  const checks = (): Check[] => [
    ...checkedAlways,
    ...awake().map(railCheck),
    ...world.checks,
    reconcileCheck(db),
    ...leveled.map((asset) => treasuryCheck(db, asset)),
  ];
  return {
    checks,
    metrics: openMetrics([
      databaseReadings(db, clock),
      railReadings([...rails.values()]),
      treasuryReadings(db),
      reconcileReadings(db),
      checkReadings(checks),
    ]),
    // Thresholds are rows and may change at any time. A new asset's threshold is shown after the next start, or when its chain
    // is woken.
    async readLevels() {
      leveled = [...new Set((await db.asSystem(levels)).map(({ asset }) => asset))];
    },
  };
}

const alwaysChecked = (
  config: Config,
  { db, clock }: Pick<Base, 'db' | 'clock'>,
  sources: ReadonlyMap<string, PriceSource>,
): Check[] => [
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
  ...sanctionsChecks(config, { db, clock }),
  ...[...sources.values()].map((source) => priceSourceCheck(db, source)),
];

/** One check per configured list. */
function sanctionsChecks(config: Config, base: Pick<Base, 'db' | 'clock'>): Check[] {
  const sources = listSources(config.sanctionsLists ?? '');
  const maxAgeMs = config.sanctionsMaxAgeS * 1_000;
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
