/**
 * Refreshing prices: a recurring job per price source, and the purge of unused quotes.
 *
 * A failing source is paused, longer each time and at least as long as the source itself asks for. Its health is a row: shown at
 * /readyz, and used by the process that polls it next. The job itself does not fail: a failing job would be marked dead after
 * some twenty minutes, and a source that recovered would not be polled.
 *
 * The database's clock dates prices and counts pauses, so a server whose own clock is wrong dates no price ahead.
 */
import { pauseAfter } from '../base/backoff.ts';
import { type Clock, later } from '../base/clock.ts';
import { countingFrom, databaseNow } from '../base/databaseclock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import { enqueue, type Handled, type Handlers } from '../base/jobs.ts';
import { assets, currentMarkets } from '../partners/index.ts';
import { compose, jumped, type KeptPrice } from './crosses.ts';
import type { FetchedPrice, Pair, PriceSource, SourceHealth } from './source.ts';
import { store } from './store.ts';
import { judgePrices, WATCH_EVERY_MS } from './watch.ts';

/** Job kind: asks one source for its prices. */
export const POLL = 'refresh_prices';
const EVERY_MS = 5_000;
/** After the first failure a source is polled again in five seconds, then ten, and so on up to a minute. */
const PAUSES = { firstMs: EVERY_MS, longestMs: 60_000 };
/** An unchanged price is rewritten this many polls before it would be too old. */
const LATE_POLLS = 2.5;
/** An unused quote is kept for a day, for questions about it. */
const KEEP_QUOTES_MS = 24 * 3_600_000;

export function quoteHandlers(deps: {
  db: Database;
  clock: Clock;
  sources: ReadonlyMap<string, PriceSource>;
}): Handlers {
  const { db, clock, sources } = deps;
  return {
    async [POLL](code) {
      const source = sources.get(code);
      return source === undefined ? undefined : await refresh(db, source);
    },
    async watch_prices() {
      await db.asSystem((tx) => judgePrices(tx));
      return { againInMs: WATCH_EVERY_MS };
    },
    async purge_quotes() {
      const purged = await db.asSystem((tx) => store.purge(tx, later(clock.now(), -KEEP_QUOTES_MS)));
      return { againInMs: purged === 1_000 ? 0 : 60_000 };
    },
  };
}

/**
 * Polls these sources now, and from then on at their usual interval. For a market that has just been opened: the last poll did
 * not request its pairs.
 */
export function pollPrices(tx: Tx, sources: Iterable<string>, dueAt: Date): void {
  for (const subject of sources) enqueue(tx, { kind: POLL, subject, dueAt });
}

/** Polls a source immediately, outside its interval. */
export const refreshNow = (db: Database, source: PriceSource): Promise<unknown> => refresh(db, source);

async function refresh(db: Database, source: PriceSource): Promise<Handled> {
  const { code } = source;
  const { pairs, rewriteMs, kept, failures, pausedMs, clock } = await db.asSystem(async (tx) => ({
    pairs: await tradedPairs(tx),
    rewriteMs: await rewriteMsOf(tx, source),
    kept: await store.sharedLegs(tx),
    ...(await store.pauseOf(tx, code)),
    clock: countingFrom(await databaseNow(tx)),
  }));
  if (pausedMs > 0) return { againInMs: pausedMs };
  try {
    const { prices, odd } = believable(pairs, await source.fetch(pairs, clock), kept, clock.now());
    await db.asSystem(async (tx) => {
      await judgePrices(tx, () => store.savePrices(tx, code, prices, rewriteMs));
      if (odd === undefined) await store.heard(tx, code);
    });
    if (odd !== undefined)
      throw new Unavailable(code, `${odd.base}/${odd.quote} moved by more than a tenth, not taken`);
    return { againInMs: intervalOf(source) };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const pauseMs = Math.max(pauseAfter(failures, PAUSES), error.retryAfterMs);
    const why = error.message.replace(`${code}: `, '').slice(0, 200);
    await db.asSystem((tx) => store.failed(tx, code, { why, pauseMs }));
    return { againInMs: pauseMs };
  }
}

/**
 * At what age an unchanged price is rewritten: early enough that it stays below the limit of each market that uses the source, even
 * if a poll is late.
 */
async function rewriteMsOf(tx: Tx, { code, rewriteMs = 0, everyMs = EVERY_MS }: PriceSource): Promise<number> {
  if (rewriteMs === 0) return 0;
  const using = (await currentMarkets(tx)).filter(({ priceSources }) => priceSources.includes(code));
  const ages = using.map(({ priceMaxAgeMs }) => priceMaxAgeMs - LATE_POLLS * everyMs);
  return Math.max(0, Math.min(rewriteMs, ...ages));
}

/** A source's prices and the prices composed of them, without the crosses that moved implausibly far. */
function believable(pairs: readonly Pair[], said: readonly FetchedPrice[], kept: readonly KeptPrice[], now: Date) {
  const odd = jumped(said, kept, now);
  const taken = said.filter((price) => !odd.includes(price));
  return { prices: [...taken, ...compose(pairs, taken, kept, now)], odd: odd[0] };
}

/** The pairs of every market: its coin against its fiat, and its chain's native asset against its fiat. */
async function tradedPairs(tx: Tx): Promise<Pair[]> {
  const native = new Map(
    [...(await assets(tx)).values()].filter((one) => one.native).map((one) => [one.chain, one.coin]),
  );
  const pairs = new Map<string, Pair>();
  for (const market of await currentMarkets(tx)) {
    for (const base of [market.crypto.coin, native.get(market.crypto.chain)]) {
      if (base !== undefined) pairs.set(`${base}/${market.fiat.coin}`, { base, quote: market.fiat.coin });
    }
  }
  return [...pairs.values()];
}

export const priceAges = (tx: Tx) => store.priceAges(tx);

/** Health of the sources, as found by the last process that polled them. */
export const priceSourceHealth = (tx: Tx): Promise<SourceHealth[]> => store.sourceHealth(tx);

/** How often a healthy source is polled. */
export const intervalOf = (source: PriceSource): number => source.everyMs ?? EVERY_MS;
