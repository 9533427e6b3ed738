/**
 * What readiness asks: the database, due work, each rail, the prices.
 *
 * Without the database or with work that nobody does, a process is of no use, and those two are essential. A rail or a
 * price source that is down stops some markets; taking every process out of service for it would stop the others too.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import { formatUnits } from '../base/money.ts';
import { openDeliveries } from '../events/index.ts';
import { stops } from '../partners/index.ts';
import { intervalOf, type PriceSource, priceAges, priceSourceHealth } from '../quotes/index.ts';
import type { Rail } from '../rails/rail.ts';
import { reconcileStates } from '../reconcile/index.ts';
import { type Level, levels } from '../treasury/index.ts';
import type { Check } from './routes.ts';
import { ping, type WaitingRow, waiting } from './store.ts';

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

/**
 * Work that fails waits for its next try and is not due meanwhile, so the backlog does not show it. One payout that cannot
 * be handed over is no reason to take a process out of service, but somebody must see it.
 */
export function failingWorkCheck(db: Database): Check {
  return {
    name: 'failing work',
    essential: false,
    async run() {
      const rows = (await db.asSystem((tx) => waiting(tx, new Date()))).filter((row) => row.failing + row.dead > 0n);
      const kinds = rows.map(({ kind }) => kind).join(' ');
      return {
        ok: rows.length === 0,
        failing: sum(rows, 'failing'),
        dead: sum(rows, 'dead'),
        ...(kinds === '' ? {} : { kinds }),
      };
    },
  };
}

/**
 * Whether what happens gets its place in the feeds: that is ours to mend. What a partner's receiver does not take is not, and
 * is no reason to call this server unwell: it is in the metrics and in a case.
 */
export function eventsCheck(db: Database, clock: Clock, lateMs = LATE_MS): Check {
  return {
    name: 'events',
    essential: false,
    async run() {
      const { unpublished, unpublished_since: since } = await db.asSystem(openDeliveries);
      const oldestMs = since === null ? 0 : Math.max(0, clock.now().getTime() - since.getTime());
      return { ok: oldestMs <= lateMs, unpublished: Number(unpublished), oldestMs };
    },
  };
}

const sum = (rows: readonly WaitingRow[], of: 'due' | 'dead' | 'failing'): number =>
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

/** Compared every few seconds; a full run in between may take its time. */
const COMPARED_WITHIN_MS = 600_000;

/** Whether books and outside agree, and are still being compared: a number of breaks and an age for each rail. */
export function reconcileCheck(db: Database, withinMs = COMPARED_WITHIN_MS): Check {
  return {
    name: 'reconciliation',
    essential: false,
    async run() {
      const states = await db.asSystem((tx) => reconcileStates(tx));
      return {
        ok: states.every(({ breaks, comparedMs }) => breaks === 0 && comparedMs !== null && comparedMs <= withinMs),
        ...Object.fromEntries(
          states.flatMap(({ rail, breaks, comparedMs, failedWhy }) => [
            [`${rail} breaks`, breaks],
            ...(comparedMs === null ? [] : [[`${rail} ageMs`, Math.round(comparedMs)]]),
            ...(failedWhy === null ? [] : [[`${rail} why`, 'chain or bank did not say all of it']]),
          ]),
        ),
      };
    },
  };
}

/** What an operator has switched off: shown, and never a reason to take a process out of service. */
export function stopsCheck(db: Database): Check {
  return {
    name: 'stops',
    essential: false,
    async run() {
      const rows = await db.asSystem((tx) => stops(tx));
      return {
        ok: rows.length === 0,
        ...Object.fromEntries(rows.map(({ kind, subject, at }) => [`${kind} ${subject}`, `since ${at.toISOString()}`])),
      };
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

/** So many turns in a row may be missed by chance: a restart, a slow answer. */
const MISSED_TURNS = 6;

export function priceSourceCheck(db: Database, source: PriceSource): Check {
  return {
    name: `prices ${source.code}`,
    essential: false,
    async run() {
      const found = (await db.asSystem((tx) => priceSourceHealth(tx))).find((row) => row.source === source.code);
      if (found === undefined) return { ok: false, why: 'not asked yet' };
      const { lastSuccessAt, lastFailureAt, lastFailure, failures } = found;
      const age = (since: Date): number => Math.max(0, Date.now() - since.getTime());
      return {
        ok: failures === 0 && lastSuccessAt !== null && age(lastSuccessAt) <= MISSED_TURNS * intervalOf(source),
        failures,
        ...(lastSuccessAt === null ? {} : { lastSuccessAgeMs: age(lastSuccessAt) }),
        ...(lastFailureAt === null ? {} : { lastFailureAgeMs: age(lastFailureAt), lastFailure: lastFailure ?? '' }),
      };
    },
  };
}

/** An asset wherever it has a threshold: what is free in each wallet, and what chain or bank say. Amounts as text, exact. */
export function treasuryCheck(db: Database, asset: string): Check {
  return {
    name: `treasury ${asset}`,
    essential: false,
    async run() {
      const found = (await db.asSystem((tx) => levels(tx))).filter((level) => level.asset === asset);
      return {
        ok: found.every(({ state }) => state === 'ok'),
        ...Object.fromEntries(found.map((level) => [`${level.rail} ${level.wallet}`, said(level)])),
      };
    },
  };
}

function said({ state, freeUnits, lowUnits, outsideUnits, decimals }: Level): string {
  const outside = outsideUnits === null ? '' : `, outside ${formatUnits(outsideUnits, decimals)}`;
  return `${state}: ${formatUnits(freeUnits, decimals)}, low below ${formatUnits(lowUnits, decimals)}${outside}`;
}
