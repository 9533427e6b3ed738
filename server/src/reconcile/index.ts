/**
 * Reconciliation: compares the books with chains and banks, item by item (run.ts), and verifies the books themselves (verify.ts).
 *
 * Reading order: names.ts (which movement a journal line refers to) → compare.ts (what agrees, what is in transit, what is a
 * break) → run.ts (reads a rail and its journal lines, and compares both) → correct.ts (an entry ends a break) → show.ts (the
 * table) → apps/reconcile.ts (the commands).
 */
import type { Clock } from '../base/clock.ts';
import { awaitAll, type Database, type Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { Handlers } from '../base/jobs.ts';
import { newestEntry } from '../ledger/index.ts';
import type { Rail } from '../rails/rail.ts';
import { type Compared, reconcileRail } from './run.ts';
import * as store from './store.ts';

export { type Corrections, openCorrections } from './correct.ts';
export { reconcileRail } from './run.ts';
export { verifyLedger } from './verify.ts';

/** Job kind that reconciles a rail; its subject is the rail's code. */
export const RECONCILE = 'reconcile_rail';

const EVERY_MS = 10_000;
const AGAIN_MS: Partial<Record<Compared, number>> = { 'more to read': 0, 'not looked at yet': 1_000 };
/** A full run reads everything from the beginning at chain or bank, so it is rare. */
const FULL_EVERY_MS = 86_400_000;
/** Balances are compared this often while nothing moves on either side. */
const STILL_MS = 60_000;

/** A rail's last comparison, if it found no open item. Its result is valid until something moves. */
interface Agreed {
  at: number;
  entry: bigint;
}

export function reconcileHandlers(context: {
  db: Database;
  clock: Clock;
  rails: ReadonlyMap<string, Rail>;
  everyMs?: number;
  fullEveryMs?: number;
}): Handlers {
  const { db, rails, everyMs = EVERY_MS, fullEveryMs = FULL_EVERY_MS } = context;
  const agreed = new Map<string, Agreed>();

  /** Whether neither the journal nor the outside shows anything new since both sides agreed. */
  async function isStill(rail: Rail, row: store.RailRow, entry: bigint): Promise<boolean> {
    const last = agreed.get(rail.code);
    if (last === undefined || last.entry !== entry || performance.now() - last.at >= STILL_MS) return false;
    if (row.runEndedAt === null || row.failedWhy !== null) return false;
    const page = await rail.movements?.(row.position).catch((error) => {
      // The comparison that follows asks again, and records why it failed.
      if (error instanceof Unavailable) return undefined;
      throw error;
    });
    return page !== undefined && page.movements.length === 0 && !page.more;
  }

  return {
    async [RECONCILE](code) {
      const rail = rails.get(code);
      if (rail === undefined) return undefined;
      const [row, entry] = await db.asSystem((tx) => awaitAll(store.ensureRail(tx, code), newestEntry(tx)));
      const isDue = row.runEndedAt !== null && Date.now() - row.runEndedAt.getTime() > fullEveryMs;
      if (!isDue && (await isStill(rail, row, entry))) return { againInMs: everyMs };
      agreed.delete(code);
      const outcome = await reconcileRail(context, rail, isDue ? 'begin' : undefined);
      if (outcome === 'cannot be asked') return undefined;
      if (outcome === 'compared' && (await db.asSystem((tx) => store.openItems(tx, code))).length === 0)
        agreed.set(code, { at: performance.now(), entry });
      return { againInMs: AGAIN_MS[outcome] ?? everyMs };
    },
  };
}

export interface RailState {
  rail: string;
  /** Milliseconds since both sides were last compared; null if they never were. */
  comparedMs: number | null;
  fullMs: number | null;
  breaks: number;
  oldestBreakMs: number | null;
  inTransit: number;
  failedWhy: string | null;
}

/** For readiness and metrics. */
export async function reconcileStates(tx: Tx): Promise<RailState[]> {
  return (await store.states(tx)).map((row) => ({
    rail: row.rail,
    comparedMs: row.comparedMs,
    fullMs: row.fullMs,
    breaks: Number(row.breaks),
    oldestBreakMs: row.oldestMs,
    inTransit: Number(row.transit),
    failedWhy: row.failedWhy,
  }));
}

/** Each wallet's balance in the books and at chain or bank at its last comparison, and its number of breaks. */
export const comparedBalances = (tx: Tx) => store.allBalances(tx);

export type OpenItem = store.ItemRow;

/** Items on which both sides differ now: in transit, and breaks. Of one rail, or of all rails. */
export const openItems = (tx: Tx, rail?: string): Promise<OpenItem[]> => store.openItems(tx, rail ?? null);
