/**
 * What readiness asks: the database, due work, each rail, the prices.
 *
 * Without the database or with work that nobody does, a process is of no use, and those two are essential. A rail or a
 * price source that is down stops some markets; taking every process out of service for it would stop the others too.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import { priceAges } from '../quotes/index.ts';
import type { Rail } from '../rails/rail.ts';
import type { Check } from './routes.ts';
import { ping, waiting } from './store.ts';

export function databaseCheck(db: Database): Check {
  return {
    name: 'database',
    essential: true,
    async run() {
      const from = performance.now();
      await db.asSystem((tx) => ping(tx));
      return { roundTripMs: Math.round((performance.now() - from) * 10) / 10 };
    },
  };
}

/** Polling rows are due every second or so; one that waits a minute has nobody who does it. */
const LATE_MS = 60_000;

export function workCheck(db: Database, clock: Clock, lateMs = LATE_MS): Check {
  return {
    name: 'work',
    essential: true,
    async run() {
      const now = clock.now();
      const rows = await db.asSystem((tx) => waiting(tx, now));
      const oldestDueMs = Math.max(
        0,
        ...rows.map(({ oldest }) => (oldest === null ? 0 : now.getTime() - oldest.getTime())),
      );
      return { ok: oldestDueMs <= lateMs, due: sum(rows, 'due'), oldestDueMs, dead: sum(rows, 'dead') };
    },
  };
}

const sum = (rows: readonly { due: bigint; dead: bigint }[], of: 'due' | 'dead'): number =>
  rows.reduce((total, row) => total + Number(row[of]), 0);

export function railCheck(rail: Rail): Check {
  return {
    name: `rail ${rail.code}`,
    essential: false,
    async run() {
      const { healthy, ageMs, why } = await rail.health();
      return { ok: healthy, ...(ageMs === null ? {} : { headAgeMs: ageMs }), ...(why === undefined ? {} : { why }) };
    },
  };
}

/** As old as a price may be in a market that says nothing else. */
const PRICE_MAX_AGE_MS = 30_000;

export function pricesCheck(db: Database, maxAgeMs = PRICE_MAX_AGE_MS): Check {
  return {
    name: 'prices',
    essential: false,
    async run() {
      const ages = await db.asSystem((tx) => priceAges(tx));
      const ok = ages.length > 0 && ages.every(({ ageMs }) => ageMs <= maxAgeMs);
      return { ok, ...Object.fromEntries(ages.map(({ source, ageMs }) => [`${source}AgeMs`, ageMs])) };
    },
  };
}
