/**
 * Watching prices: judges every market's prices against their levels, and keeps what follows, with a case for a person.
 *
 * Called in the transaction that keeps a price, so that no server quotes at a price before it was judged; and every few
 * seconds by a recurring job, because silence keeps no price. One at a time, under a lock: a judgement sees every price that
 * was kept before it.
 */
import { databaseNow } from '../base/databaseclock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import { formatRate, type Rate } from '../base/money.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { type Asset, assets, chargingGas, type Market, marketById, markets } from '../partners/index.ts';
import { endQuotes, type LevelRow, levelRows, levelsOf, livePrices, lockPrices, saveLevel } from './breaker.store.ts';
import { type Agreed, accepted, type BreakerRules, isNear, NO_LEVEL, observe } from './breaker.ts';
import type { KeptPrice } from './crosses.ts';
import { agree, type PriceRules, rulesOf } from './price.ts';

export const WATCH_EVERY_MS = 2_000;
/** However old a market lets prices be, a quorum that is missing so long is made known. */
const MISSING_AT_MOST_MS = 60_000;

const breakerOf = (market: Market): BreakerRules => ({
  jumpBps: market.jumpBps,
  resumeMs: market.resumeMs,
  missingMs: Math.min(market.priceMaxAgeMs, MISSING_AT_MOST_MS),
});

/** @param keep keeps prices, under the lock, before they are judged */
export async function judgePrices(tx: Tx, keep: () => Promise<void> = async () => {}): Promise<void> {
  await lockPrices(tx);
  await keep();
  const now = await databaseNow(tx);
  const prices = await livePrices(tx);
  const rows = Map.groupBy(await levelRows(tx), ({ marketId }) => marketId);
  const charging = await chargingGas(tx);
  const natives = [...(await assets(tx)).values()].filter(({ native }) => native);
  const agreedOn = agreements(prices, now);
  for (const market of await markets(tx)) {
    const own = rows.get(market.id) ?? [];
    const after: LevelRow[] = [];
    const coins = coinsOf(market, charging, natives);
    for (const coin of coins) {
      const before = own.find((row) => row.coin === coin) ?? { ...NO_LEVEL, marketId: market.id, coin };
      const agreed = agreedOn(market, coin);
      // One that no source has ever priced has no level to be halted at.
      if (agreed === undefined && before.level === null && coin !== market.crypto.coin) continue;
      const { level, turn } = observe(before, agreed, breakerOf(market), now);
      const row = { ...level, marketId: market.id, coin };
      after.push(row);
      if (level === before) continue;
      saveLevel(tx, row);
      if (turn === 'halted') await halted(tx, market, row, now);
      // What was offered at the old level is not to be had at the new one.
      if (turn === 'resumed' && moved(market, before.level, row.level)) endQuotes(tx, market.id, coin);
    }
    // No quote rests on these any more, so that they were halted stands in nobody's way.
    for (const { coin, haltedAt } of own)
      if (haltedAt !== null && !coins.includes(coin)) saveLevel(tx, { ...NO_LEVEL, marketId: market.id, coin });
    const wasHalted = own.some(({ haltedAt }) => haltedAt !== null);
    if (!wasHalted || after.some(({ haltedAt }) => haltedAt !== null)) continue;
    const isNeeded = own.every(({ coin, haltedAt }) => haltedAt === null || coins.includes(coin));
    const outcome = isNeeded ? 'sources agreed for long enough' : 'no quote rests on that price any more';
    await closeCases(tx, { ...caseOf(market.id), outcome, now });
  }
}

/** What the sources agree on, worked out once for all markets that ask for the same pair by the same rules. */
function agreements(prices: readonly KeptPrice[], now: Date): (market: Market, coin: string) => Agreed {
  const byPair = Map.groupBy(prices, ({ base, quote }) => `${base}/${quote}`);
  const known = new Map<string, Agreed>();
  return (market, coin) => {
    const pair = `${coin}/${market.fiat.coin}`;
    const rules = rulesOf(market);
    const key = [pair, rules.maxAgeMs, rules.quorum, rules.outlierBps, ...rules.sources].join(' ');
    if (!known.has(key)) known.set(key, agreedOn(byPair.get(pair) ?? [], rules, pair, now));
    return known.get(key);
  };
}

function agreedOn(prices: readonly KeptPrice[], rules: PriceRules, pair: string, now: Date): Agreed {
  try {
    const { rate, used } = agree(prices, rules, pair, now);
    return { rate, sources: used.length };
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

/** Coins whose prices its quotes rest on: what is traded, and what gas is paid in where somebody is charged for gas. */
function coinsOf(market: Market, charging: ReadonlySet<bigint>, natives: readonly Asset[]): string[] {
  if (!charging.has(market.id)) return [market.crypto.coin];
  const native = natives.find(({ chain }) => chain === market.crypto.chain);
  return [...new Set([market.crypto.coin, ...(native === undefined ? [] : [native.coin])])];
}

const moved = (market: Market, from: Rate | null, to: Rate | null): boolean =>
  from !== null && to !== null && !isNear(from, to, market.jumpBps);

const caseOf = (marketId: bigint) => ({ kind: 'price_halted', subject: `market:${marketId}` }) as const;

async function halted(tx: Tx, market: Market, row: LevelRow, now: Date): Promise<void> {
  const pair = `${row.coin}/${market.fiat.coin}`;
  const [level, seen] = [said(row.level), said(row.seen)];
  const reason =
    row.why === 'jump'
      ? `${pair} jumped from ${level} to ${seen}`
      : `fewer than ${market.priceQuorum} live sources for ${pair}`;
  const facts = { coin: row.coin, why: row.why, level, seen, singleSource: market.priceQuorum === 1 };
  await openCase(tx, { ...caseOf(market.id), reason, facts, now });
}

const said = (rate: Rate | null): string => (rate === null ? 'none' : formatRate(rate));

/** How many prices of open markets are halted, by why. */
export { haltedPrices } from './breaker.store.ts';

/** How the prices of a market stand, as an operator reads it. */
export interface ShownLevel {
  coin: string;
  level: string;
  levelAt: Date | null;
  haltedAt: Date | null;
  why: string | null;
  seen: string;
  seenSince: Date | null;
}

/** @param ask.marketId of all markets where left out */
export async function priceLevels(
  tx: Tx,
  ask: { marketId?: bigint } = {},
): Promise<(ShownLevel & { marketId: bigint })[]> {
  const rows = ask.marketId === undefined ? await levelRows(tx) : await levelsOf(tx, ask.marketId);
  return rows.map(({ marketId, coin, level, levelAt, haltedAt, why, seen, seenSince }) => ({
    ...{ marketId, coin, level: said(level), levelAt },
    ...{ haltedAt, why, seen: said(seen), seenSince },
  }));
}

/**
 * A person vouches for the level of a halted market: it quotes again, at what sources say near that level.
 *
 * @throws Refusal 'market_not_halted'; 'malformed_field' where the sources do not say so, or too few say anything
 */
export async function confirmLevel(
  tx: Tx,
  ask: { marketId: bigint; coin: string; level: Rate; by: string },
): Promise<void> {
  await lockPrices(tx);
  const now = await databaseNow(tx);
  const market = await marketById(tx, ask.marketId);
  const rows = await levelsOf(tx, market.id);
  const row = rows.find(({ coin }) => coin === ask.coin);
  if (row === undefined || row.haltedAt === null)
    throw new Refusal('market_not_halted', { market: String(market.id), coin: ask.coin });
  const agreed = agreements(await livePrices(tx), now)(market, ask.coin);
  const wrong = (why: string) => new Refusal('malformed_field', { fields: { level: why } });
  if (agreed === undefined)
    throw wrong(`cannot be confirmed: fewer than ${market.priceQuorum} sources say a price now`);
  if (!isNear(agreed.rate, ask.level, market.outlierBps))
    throw wrong(`must be within ${market.outlierBps} bps of what the sources say now, ${formatRate(agreed.rate)}`);
  saveLevel(tx, { ...row, ...accepted(agreed.rate, now) });
  if (moved(market, row.level, agreed.rate)) endQuotes(tx, market.id, row.coin);
  if (rows.every(({ coin, haltedAt }) => coin === ask.coin || haltedAt === null))
    await closeCases(tx, { ...caseOf(market.id), outcome: `level confirmed by ${ask.by}`, now });
}
