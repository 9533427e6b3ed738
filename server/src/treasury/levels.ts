/**
 * Levels: warns when a paying wallet runs low, before an order has to wait for it.
 *
 * A threshold is a row, read again in every run. Below `low`, readiness fails. Below `alarm`, there is a case, opened once and
 * closed when the wallet is above the threshold again. The balance that counts is the one in the books, minus the holds of
 * payouts under way. The balance reported by chain or bank is shown beside it; it is read again after a booking, and otherwise
 * once a minute. Comparing the two is reconciliation.
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Handlers } from '../base/jobs.ts';
import { type AssetCode, formatUnits } from '../base/money.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { type Balance, balancesOf, chart } from '../ledger/index.ts';
import { assets } from '../partners/index.ts';
import type { Rail } from '../rails/rail.ts';
import * as store from './store.ts';

/** Job kind that checks a rail's wallets once; its subject is the rail's code. */
export const WATCH = 'watch_treasury';
const EVERY_MS = 15_000;
/** Interval while a wallet is below its alarm level, so that its case closes soon after money has arrived. */
const ALARM_EVERY_MS = 3_000;
/** How often chain or bank are asked for balances while nothing is booked: a bank is asked once per currency. */
const OUTSIDE_EVERY_MS = 60_000;

export interface LevelsContext {
  db: Database;
  clock: Clock;
  rails: ReadonlyMap<string, Rail>;
  everyMs?: number;
}

export function levelHandlers({ db, clock, rails, everyMs = EVERY_MS }: LevelsContext): Handlers {
  /** When this process last read a rail's outside balances, and the books' balances at that time. */
  const outside = new Map<string, { at: number; books: string }>();
  return {
    async [WATCH](code) {
      const rail = rails.get(code);
      if (rail === undefined) return undefined;
      // The part without outside calls comes first: a node that is down must not hide an empty wallet.
      const own = await db.asSystem(async (tx) => {
        const here = (await levels(tx)).filter((level) => level.rail === code);
        await tell(tx, here, clock.now());
        return here;
      });
      const againInMs = own.some(({ state }) => state === 'alarm') ? Math.min(ALARM_EVERY_MS, everyMs) : everyMs;
      const books = own.map(({ account, freeUnits }) => `${account} ${freeUnits}`).join('\n');
      const last = outside.get(code);
      if (last?.books === books && performance.now() - last.at < OUTSIDE_EVERY_MS) return { againInMs };
      const read: store.OutsideUnits[] = [];
      try {
        for (const { wallet, asset } of own)
          read.push({ wallet, asset, units: await rail.balance(wallet, asset), at: clock.now() });
        outside.set(code, { at: performance.now(), books });
      } finally {
        // Stores balances that were read before the rail failed.
        if (read.length > 0) await db.asSystem((tx) => store.noteOutside(tx, code, read));
      }
      return { againInMs };
    },
  };
}

export interface Level {
  rail: string;
  wallet: string;
  asset: AssetCode;
  /** The custody account's code in the ledger. */
  account: string;
  decimals: number;
  /** Balance in the books, minus the holds of payouts under way. */
  freeUnits: bigint;
  lowUnits: bigint;
  alarmUnits: bigint;
  /** The balance that chain or bank last reported, and when; null before the first read. */
  outsideUnits: bigint | null;
  readAt: Date | null;
  state: 'ok' | 'low' | 'alarm';
}

/** Every wallet and asset that has a threshold. */
export async function levels(tx: Tx): Promise<Level[]> {
  const known = await assets(tx);
  const held = new Map<string, Balance>((await balancesOf(tx, ['custody'])).map((one) => [one.code, one]));
  return (await store.thresholds(tx)).map((row) => {
    const account = chart.custody(row.rail, row.wallet, row.asset).code;
    const { units = 0n, heldUnits = 0n } = held.get(account) ?? {};
    const freeUnits = units - heldUnits;
    return {
      rail: row.rail,
      wallet: row.wallet,
      asset: row.asset,
      account,
      decimals: known.get(row.asset)?.decimals ?? 0,
      freeUnits,
      lowUnits: row.lowUnits,
      alarmUnits: row.alarmUnits,
      outsideUnits: row.outsideUnits,
      readAt: row.readAt,
      state: freeUnits < row.alarmUnits ? 'alarm' : freeUnits < row.lowUnits ? 'low' : 'ok',
    };
  });
}

/** Opens a case for each wallet in alarm, and closes the cases of the others in one statement. */
async function tell(tx: Tx, own: readonly Level[], now: Date): Promise<void> {
  const kind = 'treasury_low' as const;
  const well = own.filter(({ state }) => state !== 'alarm').map(({ account }) => account);
  if (well.length > 0) await closeCases(tx, { kind, subject: well, outcome: 'funded', now });
  for (const { state, account, asset, freeUnits, alarmUnits, decimals } of own) {
    if (state !== 'alarm') continue;
    await openCase(tx, {
      ...{ kind, subject: account },
      reason: `${formatUnits(freeUnits, decimals)} ${asset} left where ${formatUnits(alarmUnits, decimals)} should be`,
      facts: { units: String(freeUnits), alarm: String(alarmUnits), asset },
      now,
    });
  }
}

/**
 * The operator's holdings for metrics: balances of wallets and of the accounts for treasury, capital and suspense, in whole
 * units.
 */
export async function holdings(tx: Tx): Promise<{ account: string; whole: number }[]> {
  const known = await assets(tx);
  return (await balancesOf(tx, ['custody', 'treasury', 'capital', 'suspense'])).map(({ code, asset, units }) => ({
    account: code,
    // For a gauge: exact amounts are in the ledger.
    whole: Number(formatUnits(units, known.get(asset)?.decimals ?? 0)),
  }));
}
