/**
 * Recurring jobs: jobs that re-enqueue themselves. Polling rails, sweeping, prices, gas, sealing journal and audit, deleting
 * expired idempotency records.
 */
import { ALERTS_JOB } from '../alerts/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { BugError } from '../base/errors.ts';
import { enqueue, type Handled, type Handlers } from '../base/jobs.ts';
import {
  closeCases,
  FOLLOW_EXPIRIES,
  openCase,
  REFRESH_ADDRESSES,
  REFRESH_LIST,
  SCREEN_NAMES,
} from '../compliance/index.ts';
import { ERASE_REQUESTED } from '../erasure/index.ts';
import { addToCustomers, addToDailyTotals, seal } from '../ledger/index.ts';
import { MONITOR } from '../monitoring/index.ts';
import { sealAudit } from '../operators/index.ts';
import { DORMANCY, OVERDUE } from '../orders/index.ts';
import { TAKE_EFFECT } from '../protocols/operator/index.ts';
import { purgeIdempotencyRecords } from '../protocols/whitelabel/index.ts';
import { POLL, pollPrices } from '../quotes/index.ts';
import type { ChainRail } from '../rails/chain.ts';
import { OBSERVE, type Rail } from '../rails/rail.ts';
import { RECONCILE } from '../reconcile/index.ts';
import { SIGN_REPORT } from '../reports/index.ts';
import { SWEEP, WATCH } from '../treasury/index.ts';

/** Kinds of jobs that poll, every few seconds up to a minute. */
export const POLLS: readonly string[] = [
  ...[OBSERVE, SWEEP, WATCH, RECONCILE, OVERDUE, MONITOR],
  ...['refresh_gas', POLL, 'watch_prices', 'purge_quotes', 'seal', ALERTS_JOB],
];

/**
 * Interval between checks for entries to seal while there are none. Reconciliation does not depend on it, because it reads
 * unsealed entries too.
 */
const SEAL_EVERY_MS = 10_000;

/** Enqueues the recurring jobs that are missing. */
export async function enqueueRecurring(
  db: Database,
  clock: Clock,
  subjects: {
    rails: string[];
    sources: string[];
    chains: string[];
    lists?: readonly string[];
    asksAddresses?: boolean;
    alerts?: boolean;
    monitors?: boolean;
    plans?: boolean;
    expiries?: boolean;
    reports?: boolean;
    erasures?: boolean;
  },
): Promise<void> {
  const dueAt = clock.now();
  await db.asSystem(async (tx) => {
    for (const subject of subjects.rails)
      enqueueRailJobs(tx, dueAt, { subject, isChain: subjects.chains.includes(subject) });
    pollPrices(tx, subjects.sources, dueAt);
    const { lists = [] } = subjects;
    for (const subject of lists) enqueue(tx, { kind: REFRESH_LIST, subject, dueAt });
    if (lists.length > 0) enqueue(tx, { kind: SCREEN_NAMES, subject: 'all', dueAt });
    if (subjects.asksAddresses === true) enqueue(tx, { kind: REFRESH_ADDRESSES, subject: 'all', dueAt });
    enqueue(tx, { kind: 'watch_prices', subject: 'all', dueAt });
    enqueue(tx, { kind: 'purge_quotes', subject: 'all', dueAt });
    enqueue(tx, { kind: 'purge_idempotency_records', subject: 'all', dueAt });
    enqueue(tx, { kind: OVERDUE, subject: 'all', dueAt });
    if (subjects.erasures === true) enqueue(tx, { kind: ERASE_REQUESTED, subject: 'all', dueAt });
    enqueue(tx, { kind: DORMANCY, subject: 'all', dueAt });
    if (subjects.expiries === true) enqueue(tx, { kind: FOLLOW_EXPIRIES, subject: 'all', dueAt });
    if (subjects.reports === true) enqueue(tx, { kind: SIGN_REPORT, subject: 'all', dueAt });
    if (subjects.alerts === true) enqueue(tx, { kind: ALERTS_JOB, subject: 'all', dueAt });
    if (subjects.monitors === true) enqueue(tx, { kind: MONITOR, subject: 'all', dueAt });
    // Due when the next planned change is; enqueued here in case its row was lost or is dead.
    if (subjects.plans === true) enqueue(tx, { kind: TAKE_EFFECT, subject: 'all', dueAt });
    enqueue(tx, { kind: 'seal', subject: 'journal', dueAt });
    enqueue(tx, { kind: 'seal', subject: 'audit', dueAt });
  });
}

/**
 * Starts watching wallet balances. Call it once opening funds are booked: before, every wallet is empty in the books, which
 * would open a case.
 */
export function enqueueLevels(tx: Tx, dueAt: Date, rails: readonly string[]): void {
  for (const subject of rails) enqueue(tx, { kind: WATCH, subject, dueAt });
}

/** The other recurring jobs of one rail: for every rail at the start, and for a sandbox chain when it is woken. */
export function enqueueRailJobs(
  tx: Tx,
  dueAt: Date,
  { subject, isChain }: { subject: string; isChain: boolean },
): void {
  for (const kind of [OBSERVE, RECONCILE]) enqueue(tx, { kind, subject, dueAt });
  if (isChain) for (const kind of ['refresh_gas', SWEEP]) enqueue(tx, { kind, subject, dueAt });
}

/** Handlers of recurring jobs that belong to no other module. */
export function recurringHandlers(deps: {
  db: Database;
  clock: Clock;
  rails: ReadonlyMap<string, Rail>;
  chains: ReadonlyMap<string, ChainRail>;
  /** Deletes expired rows of protocols, except replies to idempotent requests. */
  purge?: (now: Date) => Promise<unknown>;
}): Handlers {
  const { db, clock, rails, chains, purge } = deps;
  /** Rails that this process knows to have no open case. */
  const well = new Set<string>();

  /** Polls a rail. A fact that the books cannot apply stops the rail at that point and opens a case that names it. */
  async function observed(code: string): Promise<Handled> {
    const about = { kind: 'rail_failing', subject: code } as const;
    try {
      const looked = await rails.get(code)?.observe();
      if (!well.has(code))
        await db.asSystem((tx) => closeCases(tx, { ...about, outcome: 'it works again', now: clock.now() }));
      well.add(code);
      return looked;
    } catch (error) {
      if (error instanceof BugError) {
        well.delete(code);
        await db.asSystem((tx) => openCase(tx, { ...about, reason: error.message.slice(0, 200), now: clock.now() }));
      }
      throw error;
    }
  }

  return {
    // A rail that is no longer configured is not polled; its job ends here.
    [OBSERVE]: async (code) => await observed(code),
    async refresh_gas(code) {
      await chains.get(code)?.refreshGas();
      return { againInMs: 5_000 };
    },
    async seal(subject) {
      const sealed = await db.asSystem((tx) => (subject === 'audit' ? sealAudit : seal)(tx, clock.now()));
      if (subject === 'audit') return { againInMs: sealed > 0 ? 0 : SEAL_EVERY_MS };
      const totaled = await db.asSystem((tx) => addToDailyTotals(tx));
      const added = await db.asSystem((tx) => addToCustomers(tx));
      return { againInMs: sealed > 0 || totaled > 0 || added > 0 ? 0 : SEAL_EVERY_MS };
    },
    async purge_idempotency_records() {
      await purgeIdempotencyRecords(db, clock.now());
      await purge?.(clock.now());
      return { againInMs: 600_000 };
    },
  };
}
