/**
 * Readiness checks: the database, whether it accepts writes, jobs, each rail, the prices.
 *
 * Without the database, with one that accepts no writes, or with jobs that no worker runs, a process is useless: those three
 * are essential, the last one only where the process runs jobs itself. A rail or a price source that is down stops some markets;
 * taking every process out of service for it would stop the others too.
 */

import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { clockAheadMs } from '../base/databaseclock.ts';
import { awaitAll, type Database } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { formatUnits } from '../base/money.ts';
import type { Workforce } from '../base/presence.ts';
import { agedWhy, listStates } from '../compliance/index.ts';
import { openDeliveries } from '../events/index.ts';
import { confirmers, installation, peopleRules, unmetRules } from '../operators/index.ts';
import { killSwitches, markets } from '../partners/index.ts';
import { intervalOf, type PriceSource, priceAges, priceLevels, priceSourceHealth } from '../quotes/index.ts';
import type { Rail } from '../rails/rail.ts';
import { reconcileStates } from '../reconcile/index.ts';
import { type Level, levels } from '../treasury/index.ts';
import type { Check } from './routes.ts';
import { emptyProbe, ping, probeWrite, type WaitingRow, waiting } from './store.ts';

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

/** Minimum interval, however often readiness is requested. */
const PROBE_EVERY_MS = 5_000;

/** Why a write failed, in words that may be public. Causes without an entry here are 'failed'. */
const REFUSED_WRITES: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '25006': 'the database is read-only',
  '57014': 'a write was not done in time',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EDQUOT: 'the quota is used up',
};

/**
 * Whether a write commits: inserts a row in its own transaction, for which the file has to grow. A round trip does not show
 * that: on a full disk every read succeeds and every request that writes is a 503.
 */
export function writesCheck(db: Database, everyMs = PROBE_EVERY_MS): Check {
  const probe = atMostEvery(everyMs, async () => {
    if (await db.asSystem(probeWrite)) await db.asSystem(emptyProbe).catch(() => {});
  });
  return { name: 'writes', essential: true, run: probe };
}

/** Whether a file in the data folder can be written. Essential if the database is in it. */
export function folderCheck(folder: string, essential: boolean, everyMs = PROBE_EVERY_MS): Check {
  const path = join(folder, `.write-probe-${process.pid}`);
  const probe = atMostEvery(everyMs, async () => {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(4096, 'x'));
      await file.sync();
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
  });
  return { name: 'data folder', essential, run: probe };
}

/** Serializes writes: while one hangs, callers wait for it and no second one is started. */
function atMostEvery(everyMs: number, write: () => Promise<void>): Check['run'] {
  let last: { at: number; done: ReturnType<Check['run']> } | undefined;
  let isUnderWay = false;
  const probe = async () => {
    const from = performance.now();
    try {
      await write();
      return { committedMs: Math.round((performance.now() - from) * 10) / 10 };
    } catch (error) {
      const { code = '' } = error as { code?: string };
      return { ok: false, why: REFUSED_WRITES[code] ?? 'failed' };
    } finally {
      isUnderWay = false;
    }
  };
  return () => {
    const now = performance.now();
    if (last === undefined || (!isUnderWay && now - last.at >= everyMs)) {
      isUnderWay = true;
      last = { at: now, done: probe() };
    }
    return last.done;
  };
}

/** Polling jobs are due every second or so; if one waits for a minute, no worker is running. */
const LATE_MS = 60_000;

export function workCheck(db: Database, clock: Clock, lateMs = LATE_MS): Check {
  return {
    name: 'jobs',
    essential: true,
    async run() {
      const now = clock.now();
      const rows = await db.asSystem((tx) => waiting(tx, now));
      const oldestDueMs = Math.max(
        0,
        ...rows.map(({ oldest }) => (oldest === null ? 0 : now.getTime() - oldest.getTime())),
      );
      const asleep = sum(rows, 'asleep');
      return {
        ok: oldestDueMs <= lateMs && asleep === 0,
        due: sum(rows, 'due'),
        oldestDueMs,
        dead: sum(rows, 'dead'),
        asleep,
      };
    },
  };
}

/** A worker that restarts is away for less: its start takes a few seconds. */
const UNSEEN_MS = 30_000;

/**
 * Whether a worker is alive, for a process that only answers requests. It is not essential: requests are answered and orders made
 * without one, and taking this process out of service would only refuse them.
 */
export function workersCheck(workforce: Pick<Workforce, 'look' | 'unseenMs'>, unseenMs = UNSEEN_MS): Check {
  return {
    name: 'workers',
    essential: false,
    async run() {
      const alive = await workforce.look();
      const unseenS = Math.round(workforce.unseenMs() / 1000);
      if (alive > 0 || workforce.unseenMs() <= unseenMs) return { alive, unseenS };
      const why = `no worker was seen for ${unseenS} s, so orders do not advance: start a server with --role worker or all on this database`;
      return { ok: false, alive, unseenS, why };
    },
  };
}

/** The tolerance for signed requests, and for prices dated in the future. */
const CLOCK_OFF_MS = 5_000;

/**
 * Compares this machine's clock with the database's. Due times and prices use the database's, so a wrong clock affects
 * neither; partners' signatures and heads of chains are still compared with it.
 */
export function clockCheck(db: Database): Check {
  return {
    name: 'clock',
    essential: false,
    async run() {
      const aheadMs = await db.asSystem(clockAheadMs);
      return { ok: Math.abs(aheadMs) <= CLOCK_OFF_MS, aheadMs };
    },
  };
}

/**
 * Failing jobs. A failing job waits for its next attempt and is not due meanwhile, so the backlog does not show it. One payout
 * that cannot be submitted is no reason to take a process out of service, but an operator must see it.
 */
export function failingJobsCheck(db: Database): Check {
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
 * Whether events get their positions in the feeds, which is our responsibility. A partner's receiver that accepts nothing is
 * not, and does not make this server unhealthy: it is in the metrics and in a case.
 */
export function eventsCheck(db: Database, clock: Clock, lateMs = LATE_MS): Check {
  return {
    name: 'events',
    essential: false,
    async run() {
      const { unpublished, unpublishedSince: since } = await db.asSystem(openDeliveries);
      const oldestMs = since === null ? 0 : Math.max(0, clock.now().getTime() - since.getTime());
      return { ok: oldestMs <= lateMs, unpublished: Number(unpublished), oldestMs };
    },
  };
}

const sum = (rows: readonly WaitingRow[], of: 'due' | 'dead' | 'failing' | 'asleep'): number =>
  rows.reduce((total, row) => total + Number(row[of]), 0);

export function railCheck(rail: Rail): Check {
  return {
    name: `rail ${rail.code}`,
    essential: false,
    async run() {
      const { healthy, ageMs, why } = await rail.health();
      return { ok: healthy, ...defined({ headAgeMs: ageMs ?? undefined, why }) };
    },
  };
}

/** Rails are compared every few seconds; a full comparison in between may take longer. */
const COMPARED_WITHIN_MS = 600_000;

/** Whether books and outside agree, and are still being compared: the number of breaks and an age per rail. */
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

/** Kill switches: shown, and never a reason to take a process out of service. */
export function killSwitchesCheck(db: Database): Check {
  return {
    name: 'kill_switches',
    essential: false,
    async run() {
      const rows = await db.asSystem((tx) => killSwitches(tx));
      return {
        ok: rows.length === 0,
        ...Object.fromEntries(rows.map(({ kind, subject, at }) => [`${kind} ${subject}`, `since ${at.toISOString()}`])),
      };
    },
  };
}

/**
 * Whether one operator is declared, or several, and the rules that name a role which too few of them have: what those decide waits.
 * Shown, and never a reason to take a process out of service.
 */
export function operatorsCheck(db: Database): Check {
  return {
    name: 'operators',
    essential: false,
    async run() {
      const [{ operators, delayS }, many] = await db.asSystem((tx) => awaitAll(installation(tx), confirmers(tx)));
      if (operators === 'one') return { ok: true, declared: operators, delayS };
      const unmet = await db.asSystem(async (tx) => await unmetRules(tx, await peopleRules(tx)));
      return {
        ok: unmet.length === 0,
        ...{ declared: operators, confirmers: many },
        ...Object.fromEntries(
          unmet
            .slice(0, SHOWN_AT_MOST)
            .map(({ rule, role, needs, has }) => [`rule ${rule.action} ${role}`, `takes ${needs}, enabled ${has}`]),
        ),
      };
    },
  };
}

/** A price source whose newest price is older has stopped: no price counts for longer than a minute, whatever its market says. */
const PRICE_MAX_AGE_MS = 60_000;

export function pricesCheck(db: Database, maxAgeMs = PRICE_MAX_AGE_MS): Check {
  return {
    name: 'prices',
    essential: false,
    async run() {
      const ages = await db.asSystem((tx) => priceAges(tx));
      // A price dated in the future counts in no market. The next price replaces it.
      const ok = ages.length > 0 && ages.every(({ ageMs }) => ageMs <= maxAgeMs && ageMs >= -CLOCK_OFF_MS);
      return { ok, ...Object.fromEntries(ages.map(({ source, ageMs }) => [`${source}AgeMs`, ageMs])) };
    },
  };
}

/**
 * Markets halted because of their prices, and how many quote on a single source. A market that does so without declaring it is
 * unhealthy: no operator has decided it.
 */
export function breakersCheck(db: Database): Check {
  return {
    name: 'price breakers',
    essential: false,
    async run() {
      const [all, levels] = await db.asSystem(async (tx) => [await markets(tx), await priceLevels(tx)] as const);
      const halted = levels.filter((one) => one.haltedAt !== null && all.some(({ id }) => id === one.marketId));
      const single = all.filter(({ priceQuorum }) => priceQuorum === 1);
      const undeclared = single.filter(({ singleSource }) => !singleSource);
      return {
        ok: halted.length === 0 && undeclared.length === 0,
        halted: halted.length,
        quorumOfOne: single.length,
        undeclared: undeclared.length,
        ...Object.fromEntries(
          halted
            .slice(0, SHOWN_AT_MOST)
            .map(({ marketId, coin, why, haltedAt }) => [
              `market ${marketId} ${coin}`,
              `${why} since ${haltedAt?.toISOString()}`,
            ]),
        ),
      };
    },
  };
}

/** Whether a configured sanctions list is recent enough; while it is not, money waits. */
export function sanctionsCheck(of: { db: Database; clock: Clock; list: string; maxAgeMs: number }): Check {
  const { db, clock, list, maxAgeMs } = of;
  return {
    name: `sanctions list ${list}`,
    essential: false,
    async run() {
      const state = (await db.asSystem((tx) => listStates(tx))).find((one) => one.list === list);
      const why = agedWhy(state, list, { now: clock.now(), maxAgeMs });
      return {
        ok: why === undefined,
        ...defined({ why }),
        ...(state === undefined
          ? {}
          : { version: String(state.versionId), asOf: state.asOf.toISOString(), entries: state.entries }),
      };
    },
  };
}

/** Maximum lines shown: if everything is halted, a few say as much as a hundred. */
const SHOWN_AT_MOST = 10;

/** Number of consecutive polls that may be missed for harmless reasons: a restart, a slow answer. */
const MISSED_TURNS = 6;

export function priceSourceCheck(db: Database, source: PriceSource): Check {
  return {
    name: `prices ${source.code}`,
    essential: false,
    async run() {
      const found = (await db.asSystem((tx) => priceSourceHealth(tx))).find((row) => row.source === source.code);
      if (found === undefined) return { ok: false, why: 'not asked yet' };
      const { lastSuccessAgeMs, lastFailureAgeMs, lastFailure, failures } = found;
      const shown = (ageMs: number): number => Math.max(0, Math.round(ageMs));
      return {
        ok: failures === 0 && lastSuccessAgeMs !== null && lastSuccessAgeMs <= MISSED_TURNS * intervalOf(source),
        failures,
        ...(lastSuccessAgeMs === null ? {} : { lastSuccessAgeMs: shown(lastSuccessAgeMs) }),
        ...(lastFailureAgeMs === null
          ? {}
          : { lastFailureAgeMs: shown(lastFailureAgeMs), lastFailure: lastFailure ?? '' }),
      };
    },
  };
}

/**
 * Balances of an asset in every wallet with a threshold: free in the books, and as chain or bank report it. Amounts as exact
 * text.
 */
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
