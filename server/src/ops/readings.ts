/**
 * Gauges computed on each scrape: jobs, open orders, cases, prices, rails, sizes.
 */
import type { Clock } from '../base/clock.ts';
import { clockAheadMs } from '../base/databaseclock.ts';
import type { Database } from '../base/db.ts';
import { formatUnits } from '../base/money.ts';
import { workersAlive } from '../base/presence.ts';
import { openCaseCounts } from '../compliance/index.ts';
import { openDeliveries } from '../events/index.ts';
import { newestEntry, sealLag, unsealedSince } from '../ledger/index.ts';
import { dustCounts, openByState, waitingRefunds } from '../orders/index.ts';
import { killSwitches } from '../partners/index.ts';
import { haltedPrices, priceAges } from '../quotes/index.ts';
import { openPayouts } from '../rails/payouts.ts';
import type { Rail } from '../rails/rail.ts';
import { reconcileStates } from '../reconcile/index.ts';
import { holdings, levels } from '../treasury/index.ts';
import type { Readings, Value } from './metrics.ts';
import { type Check, runCheck } from './routes.ts';
import { rowCounts, waiting } from './store.ts';

/** Shorter than the deadline of a scrape's readings, so that a hanging check fails alone. */
const CHECK_MS = 1_500;

/** Readiness as numbers, for alerts: available even when the database is down and most other numbers are missing. */
export function checkReadings(checks: () => readonly Check[]): Readings {
  return {
    readings: [{ name: 'cloverleaf_check_ok', help: '1 when a check of /readyz holds.', label: 'check' }],
    read: async () => ({
      cloverleaf_check_ok: each(await Promise.all(checks().map((one) => runCheck(one, CHECK_MS))), 'name', ({ ok }) =>
        ok ? 1 : 0,
      ),
    }),
  };
}

export function databaseReadings(db: Database, clock: Clock): Readings {
  return {
    readings: [
      { name: 'cloverleaf_jobs_due', help: 'Due jobs that no worker has leased.', label: 'kind' },
      { name: 'cloverleaf_jobs_dead', help: 'Work set aside after too many attempts.', label: 'kind' },
      { name: 'cloverleaf_jobs_failing', help: 'Work that failed again and again and is tried on.', label: 'kind' },
      { name: 'cloverleaf_jobs_asleep', help: 'Work that sleeps from a time that is yet to come.', label: 'kind' },
      { name: 'cloverleaf_workers', help: 'Processes that run jobs, by the locks that they hold.' },
      { name: 'cloverleaf_clock_ahead_seconds', help: "How far this machine's clock is ahead of the database's." },
      { name: 'cloverleaf_jobs_oldest_due_seconds', help: 'How long the oldest due work has waited.', label: 'kind' },
      { name: 'cloverleaf_orders_open', help: 'Orders that are not over.', label: 'state' },
      {
        name: 'cloverleaf_orders_oldest_seconds',
        help: 'How long the order has been in this state that has been longest.',
        label: 'state',
      },
      { name: 'cloverleaf_orders', help: 'Orders in all, as PostgreSQL estimates.' },
      { name: 'cloverleaf_quotes', help: 'Quotes kept, as PostgreSQL estimates.' },
      { name: 'cloverleaf_payouts_open', help: 'Payouts and refunds that have not ended.', label: 'state' },
      {
        name: 'cloverleaf_payouts_oldest_seconds',
        help: 'Age of the oldest of them; for unknown ones, since the outcome is unknown.',
        label: 'state',
      },
      { name: 'cloverleaf_refunds_waiting', help: 'Refunds that a person or customer keeps waiting.', label: 'state' },
      { name: 'cloverleaf_refunds_oldest_seconds', help: 'Since the oldest of them is owed.', label: 'state' },
      { name: 'cloverleaf_cases_open', help: 'Cases that wait for a person.', label: 'kind' },
      { name: 'cloverleaf_cases_oldest_seconds', help: 'Age of the oldest open case.', label: 'kind' },
      { name: 'cloverleaf_dust_deposits', help: 'Deposits too small to be looked at.', label: 'rail' },
      { name: 'cloverleaf_kill_switches', help: 'What operators have switched off.', label: 'kind' },
      {
        name: 'cloverleaf_kill_switches_oldest_seconds',
        help: 'Since the first of it was switched off.',
        label: 'kind',
      },
      { name: 'cloverleaf_price_age_seconds', help: 'Age of the newest price of a source.', label: 'source' },
      { name: 'cloverleaf_prices_halted', help: 'Prices for which a market does not quote.', label: 'why' },
      { name: 'cloverleaf_webhooks_waiting', help: 'Deliveries of events that have not succeeded yet.' },
      { name: 'cloverleaf_webhooks_oldest_seconds', help: 'Age of the oldest of them.' },
      { name: 'cloverleaf_webhooks_dead', help: 'Deliveries given up in the last thirty days.' },
      { name: 'cloverleaf_events_unpublished', help: 'Events that have no place in the feed yet.' },
      { name: 'cloverleaf_events_oldest_seconds', help: 'Age of the oldest of them.' },
      { name: 'cloverleaf_ledger_entries', help: 'Number of the newest ledger entry.' },
      { name: 'cloverleaf_ledger_unsealed', help: 'Ledger entries not sealed yet.' },
      { name: 'cloverleaf_ledger_unsealed_seconds', help: 'Age of the oldest of them.' },
    ],
    read: () =>
      db.asSystem(async (tx) => {
        const now = clock.now();
        const age = (from: Date | null): number =>
          from === null ? 0 : Math.max(0, now.getTime() - from.getTime()) / 1000;
        const work = await waiting(tx, now);
        const orders = await openByState(tx);
        const webhooks = await openDeliveries(tx);
        const payouts = await openPayouts(tx);
        const refunds = await waitingRefunds(tx);
        const cases = await openCaseCounts(tx);
        const switches = await killSwitches(tx);
        const counts = new Map((await rowCounts(tx)).map(({ name, count }) => [name, Number(count)]));
        return {
          cloverleaf_jobs_due: each(work, 'kind', (row) => Number(row.due)),
          cloverleaf_jobs_dead: each(work, 'kind', (row) => Number(row.dead)),
          cloverleaf_jobs_failing: each(work, 'kind', (row) => Number(row.failing)),
          cloverleaf_jobs_asleep: each(work, 'kind', (row) => Number(row.asleep)),
          cloverleaf_workers: [{ value: await workersAlive(tx) }],
          cloverleaf_clock_ahead_seconds: [{ value: (await clockAheadMs(tx)) / 1000 }],
          cloverleaf_jobs_oldest_due_seconds: each(work, 'kind', (row) => age(row.oldest)),
          cloverleaf_orders_open: each(orders, 'state', (row) => Number(row.count)),
          cloverleaf_orders_oldest_seconds: each(orders, 'state', (row) => age(row.oldest)),
          cloverleaf_orders: [{ value: counts.get('orders') ?? 0 }],
          cloverleaf_quotes: [{ value: counts.get('quotes') ?? 0 }],
          cloverleaf_payouts_open: each(payouts, 'state', (row) => Number(row.count)),
          cloverleaf_payouts_oldest_seconds: oldest(payouts, 'state', (row) => age(row.oldestAt)),
          cloverleaf_refunds_waiting: each(refunds, 'state', (row) => row.count),
          cloverleaf_refunds_oldest_seconds: each(refunds, 'state', (row) => age(row.oldestAt)),
          cloverleaf_cases_open: each(cases, 'kind', (row) => Number(row.count)),
          cloverleaf_cases_oldest_seconds: each(cases, 'kind', (row) => age(row.oldest)),
          cloverleaf_dust_deposits: each(await dustCounts(tx), 'rail', (row) => Number(row.count)),
          cloverleaf_kill_switches: each(switches, 'kind', () => 1),
          cloverleaf_kill_switches_oldest_seconds: oldest(switches, 'kind', (row) => age(row.at)),
          cloverleaf_price_age_seconds: each(await priceAges(tx), 'source', (row) => row.ageMs / 1000),
          cloverleaf_prices_halted: each(await haltedPrices(tx), 'why', ({ count }) => Number(count)),
          cloverleaf_webhooks_waiting: [{ value: Number(webhooks.waiting) }],
          cloverleaf_webhooks_oldest_seconds: [{ value: age(webhooks.oldest) }],
          cloverleaf_webhooks_dead: [{ value: Number(webhooks.dead) }],
          cloverleaf_events_unpublished: [{ value: Number(webhooks.unpublished) }],
          cloverleaf_events_oldest_seconds: [{ value: age(webhooks.unpublishedSince) }],
          cloverleaf_ledger_entries: [{ value: Number(await newestEntry(tx)) }],
          cloverleaf_ledger_unsealed: [{ value: Number(await sealLag(tx)) }],
          cloverleaf_ledger_unsealed_seconds: [{ value: age(await unsealedSince(tx)) }],
        };
      }),
  };
}

/** For rails that are not asleep. */
export function railReadings(all: readonly Rail[]): Readings {
  return {
    readings: [
      { name: 'cloverleaf_rail_healthy', help: '1 when a rail says that it is.', label: 'rail' },
      { name: 'cloverleaf_rail_head_age_seconds', help: 'Age of the newest block or statement known.', label: 'rail' },
    ],
    async read() {
      const rails = all.filter((rail) => rail.isAsleep?.() !== true);
      const health = await Promise.all(rails.map(async (rail) => ({ rail: rail.code, ...(await rail.health()) })));
      return {
        cloverleaf_rail_healthy: each(health, 'rail', ({ healthy }) => (healthy ? 1 : 0)),
        cloverleaf_rail_head_age_seconds: each(
          health.filter(({ ageMs }) => ageMs !== null),
          'rail',
          ({ ageMs }) => (ageMs ?? 0) / 1000,
        ),
      };
    },
  };
}

export function reconcileReadings(db: Database): Readings {
  return {
    readings: [
      { name: 'cloverleaf_reconcile_breaks', help: 'Items on which books and outside differ.', label: 'rail' },
      {
        name: 'cloverleaf_reconcile_oldest_break_seconds',
        help: 'Age of the oldest break; 0 without one.',
        label: 'rail',
      },
      { name: 'cloverleaf_reconcile_in_transit', help: 'Items that differ for a reason that passes.', label: 'rail' },
      { name: 'cloverleaf_reconcile_age_seconds', help: 'Since books and outside were compared.', label: 'rail' },
      { name: 'cloverleaf_reconcile_full_age_seconds', help: 'Since a run from the beginning ended.', label: 'rail' },
    ],
    read: () =>
      db.asSystem(async (tx) => {
        const states = await reconcileStates(tx);
        return {
          cloverleaf_reconcile_breaks: each(states, 'rail', ({ breaks }) => breaks),
          cloverleaf_reconcile_oldest_break_seconds: each(states, 'rail', (row) => (row.oldestBreakMs ?? 0) / 1000),
          cloverleaf_reconcile_in_transit: each(states, 'rail', ({ inTransit }) => inTransit),
          cloverleaf_reconcile_age_seconds: each(
            states.filter(({ comparedMs }) => comparedMs !== null),
            'rail',
            ({ comparedMs }) => (comparedMs ?? 0) / 1000,
          ),
          cloverleaf_reconcile_full_age_seconds: each(
            states.filter(({ fullMs }) => fullMs !== null),
            'rail',
            ({ fullMs }) => (fullMs ?? 0) / 1000,
          ),
        };
      }),
  };
}

/** Gauges in whole units, and so not exact to the last place; the ledger is. There are few accounts: none is an order's. */
export function treasuryReadings(db: Database): Readings {
  return {
    readings: [
      {
        name: 'cloverleaf_account_balance',
        help: 'What the ledger says is in an account, whole units.',
        label: 'account',
      },
      {
        name: 'cloverleaf_account_outside',
        help: 'What chain or bank last said is in it, whole units.',
        label: 'account',
      },
      { name: 'cloverleaf_account_low', help: '1 below its low threshold, 2 below its alarm.', label: 'account' },
    ],
    read: () =>
      db.asSystem(async (tx) => {
        const watched = await levels(tx);
        const asked = watched.filter(({ outsideUnits }) => outsideUnits !== null);
        return {
          cloverleaf_account_balance: each(await holdings(tx), 'account', ({ whole }) => whole),
          cloverleaf_account_outside: each(asked, 'account', ({ outsideUnits, decimals }) =>
            Number(formatUnits(outsideUnits ?? 0n, decimals)),
          ),
          cloverleaf_account_low: each(watched, 'account', ({ state }) => LEVEL[state]),
        };
      }),
  };
}

const LEVEL = { ok: 0, low: 1, alarm: 2 } as const;

function each<R, K extends keyof R>(rows: readonly R[], label: K, value: (row: R) => number): Value[] {
  return rows.map((row) => ({ of: String(row[label]), value: value(row) }));
}

/** If a label has several rows, the longest duration counts, and not the sum. */
function oldest<R, K extends keyof R>(rows: readonly R[], label: K, value: (row: R) => number): Value[] {
  const longest = new Map<string, number>();
  for (const row of rows) longest.set(String(row[label]), Math.max(longest.get(String(row[label])) ?? 0, value(row)));
  return [...longest].map(([of, seconds]) => ({ of, value: seconds }));
}
