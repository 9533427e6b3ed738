/**
 * Refreshing: work that never ends, one row per price source, and the broom for quotes nobody took.
 */
import { type Clock, later, systemClock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Rate } from '../base/money.ts';
import type { Handlers } from '../base/work.ts';
import { assets, markets } from '../partners/index.ts';
import { store } from './store.ts';

const EVERY_MS = 5_000;
/** A quote nobody took is of interest for a day, for questions about it. */
const KEEP_QUOTES_MS = 24 * 3_600_000;

export function quoteHandlers(deps: {
  db: Database;
  clock: Clock;
  sources: ReadonlyMap<string, PriceSource>;
}): Handlers {
  const { db, clock, sources } = deps;
  return {
    async refresh_prices(code) {
      const source = sources.get(code);
      if (source === undefined) return undefined;
      const pairs = await db.asSystem(tradedPairs);
      const prices = await source.fetch(pairs);
      await db.asSystem((tx) => store.savePrices(tx, code, prices, systemClock.now()));
      return { againInMs: EVERY_MS };
    },
    async purge_quotes() {
      const purged = await db.asSystem((tx) => store.purge(tx, later(clock.now(), -KEEP_QUOTES_MS)));
      return { againInMs: purged === 1_000 ? 0 : 60_000 };
    },
  };
}

/** Every market's coin, and every native coin its chain charges in, against its fiat. */
async function tradedPairs(tx: Tx): Promise<Pair[]> {
  const native = new Map(
    [...(await assets(tx)).values()].filter((one) => one.native).map((one) => [one.chain, one.coin]),
  );
  const pairs = new Map<string, Pair>();
  for (const market of await markets(tx)) {
    for (const base of [market.crypto.coin, native.get(market.crypto.chain)]) {
      if (base !== undefined) pairs.set(`${base}/${market.fiat.coin}`, { base, quote: market.fiat.coin });
    }
  }
  return [...pairs.values()];
}

export const priceAges = (tx: Tx) => store.priceAges(tx);

/** A place prices come from. Adapters live in quotes/sources, one file each, and are listed in registry.ts. */
export interface PriceSource {
  readonly code: string;
  /** @throws Unavailable; what it cannot price it leaves out */
  fetch(pairs: readonly Pair[]): Promise<FetchedPrice[]>;
}

export interface Pair {
  /** Coin, lower case: usdc, eth. */
  base: string;
  /** Fiat, lower case: inr. */
  quote: string;
}

export interface FetchedPrice extends Pair {
  rate: Rate;
  pricedAt: Date;
}
