/**
 * Watching prices: judges every market's prices against their levels, stores the result, and opens cases for operators.
 *
 * Many markets depend on one price, so there is one case per pair and cause (a jump, or a missing quorum). The case names the
 * markets that are halted. It is updated when one of them halts or resumes, and closes with the last.
 *
 * Runs in every transaction that stores a price, so that no server quotes at an unjudged price; and every few seconds as a
 * recurring job, because a silent source stores no price. A lock serializes judgements, so each sees every price stored before
 * it.
 */
import { databaseNow } from '../base/databaseclock.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal, Unavailable } from '../base/errors.ts';
import { formatRate, type Rate } from '../base/money.ts';
import { closeCases, listCases, upsertCase } from '../compliance/index.ts';
import { type Asset, assets, chargingGas, type Market, marketById, markets } from '../partners/index.ts';
import { endQuotes, type LevelRow, levelRows, levelsOf, livePrices, lockPrices, saveLevel } from './breaker.store.ts';
import { type Agreed, accepted, type BreakerRules, isNear, NO_LEVEL, observe } from './breaker.ts';
import type { KeptPrice } from './crosses.ts';
import { aggregate, type PriceRules, rulesOf } from './price.ts';

export const WATCH_EVERY_MS = 5_000;
/** A quorum missing for this long is reported, even if a market allows older prices. */
const MISSING_AT_MOST_MS = 60_000;

const breakerOf = (market: Market): BreakerRules => ({
  jumpBps: market.jumpBps,
  resumeMs: market.resumeMs,
  missingMs: Math.min(market.priceMaxAgeMs, MISSING_AT_MOST_MS),
});

/** @param keep stores prices under the lock, before the judgement */
export async function judgePrices(tx: Tx, keep: () => Promise<void> = async () => {}): Promise<void> {
  await lockPrices(tx);
  await keep();
  const now = await databaseNow(tx);
  const prices = await livePrices(tx);
  const rows = Map.groupBy(await levelRows(tx), ({ marketId }) => marketId);
  const charging = await chargingGas(tx);
  const natives = [...(await assets(tx)).values()].filter(({ native }) => native);
  const agreedOn = agreements(prices, now);
  const halts: Halt[] = [];
  const resumed = new Set<string>();
  for (const market of await markets(tx)) {
    const own = rows.get(market.id) ?? [];
    const coins = coinsOf(market, charging, natives);
    for (const coin of coins) {
      const before = own.find((row) => row.coin === coin) ?? { ...NO_LEVEL, marketId: market.id, coin };
      const agreed = agreedOn(market, coin);
      // A gas asset that no source has ever priced has no level, so it does not halt the market.
      if (agreed === undefined && before.level === null && coin !== market.crypto.coin) continue;
      const { level, turn } = observe(before, agreed, breakerOf(market), now);
      const row = { ...level, marketId: market.id, coin };
      if (row.haltedAt !== null) halts.push({ market, row });
      if (level === before) continue;
      saveLevel(tx, row);
      if (turn === 'resumed') resumed.add(pairOf(market, coin));
      // Quotes at the old level expire when the market resumes at a new one.
      if (turn === 'resumed' && moved(market, before.level, row.level)) endQuotes(tx, market.id, coin);
    }
    // No quote depends on these coins any more, so their halts are dropped.
    for (const { coin, haltedAt } of own)
      if (haltedAt !== null && !coins.includes(coin)) saveLevel(tx, { ...NO_LEVEL, marketId: market.id, coin });
  }
  const outcomeOf = (pair: string): string =>
    resumed.has(pair) ? 'sources agreed for long enough' : 'no quote rests on that price any more';
  // A halted row stays halted until it resumes, even if its market is disabled; so without a halted row no case is open.
  const wereAny = [...rows.values()].flat().some(({ haltedAt }) => haltedAt !== null);
  if (wereAny || halts.length > 0) await updateHaltCases(tx, halts, { outcomeOf, now });
}

/** The price that the sources agree on, computed once for all markets with the same pair and rules. */
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
    const { rate, used } = aggregate(prices, rules, pair, now);
    return { rate, sources: used.length };
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

/** Coins whose prices a market's quotes depend on: the traded coin, and the native asset if any partner is charged for gas. */
function coinsOf(market: Market, charging: ReadonlySet<bigint>, natives: readonly Asset[]): string[] {
  if (!charging.has(market.id)) return [market.crypto.coin];
  const native = natives.find(({ chain }) => chain === market.crypto.chain);
  return [...new Set([market.crypto.coin, ...(native === undefined ? [] : [native.coin])])];
}

const moved = (market: Market, from: Rate | null, to: Rate | null): boolean =>
  from !== null && to !== null && !isNear(from, to, market.jumpBps);

interface Halt {
  market: Market;
  row: LevelRow;
}

const pairOf = (market: Market, coin: string): string => `${coin}/${market.fiat.coin}`;
const KIND = 'price_halted';
/** A case names at most this many markets, and gives the number of the others. */
const MOST_NAMED = 50;

/**
 * Brings the cases in line with the present halts: one case per pair and cause. Writes only changes.
 *
 * @param halts all present halts
 * @param about.outcomeOf why a pair is no longer halted
 */
async function updateHaltCases(
  tx: Tx,
  halts: readonly Halt[],
  { outcomeOf, now }: { outcomeOf: (pair: string) => string; now: Date },
): Promise<void> {
  const open = new Map(
    (await listCases(tx, { open: true, kind: KIND, limit: MOST_CASES })).map((one) => [one.subject, one]),
  );
  const causes = Map.groupBy(halts, ({ market, row }) => `price:${pairOf(market, row.coin)}:${row.why}`);
  for (const [subject, those] of causes) {
    const cause = causeOf(those);
    if (open.get(subject)?.facts.markets !== cause.facts.markets)
      await upsertCase(tx, { kind: KIND, subject, ...cause, now });
  }
  for (const { subject } of open.values()) {
    if (causes.has(subject)) continue;
    const [, pair = ''] = subject.split(':');
    await closeCases(tx, { kind: KIND, subject, outcome: outcomeOf(pair), now });
  }
}
/** An upper bound: there are far fewer pairs. */
const MOST_CASES = 200;

/** The text of a case for one cause. */
function causeOf(halts: readonly Halt[]): { reason: string; facts: Record<string, unknown> } {
  const [first] = halts;
  assert(first !== undefined, 'a cause halts no market');
  const { market, row } = first;
  const pair = pairOf(market, row.coin);
  const [level, seen] = [said(row.level), said(row.seen)];
  const named = halts.slice(0, MOST_NAMED).map((one) => String(one.market.id));
  const more = halts.length - named.length;
  const names = `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
  const why =
    row.why === 'jump'
      ? `${pair} jumped from ${level} to ${seen}`
      : `fewer than ${Math.max(...halts.map((one) => one.market.priceQuorum))} live sources for ${pair}`;
  return {
    reason: `${why}: market${halts.length === 1 ? '' : 's'} ${names}`,
    facts: {
      ...{ coin: row.coin, fiat: market.fiat.coin, why: row.why, level, seen, markets: names, count: halts.length },
      singleSource: halts.some((one) => one.market.priceQuorum === 1),
    },
  };
}

const said = (rate: Rate | null): string => (rate === null ? 'none' : formatRate(rate));

/** Number of halted prices of open markets, by cause. */
export { haltedPrices } from './breaker.store.ts';

/** The state of a market's prices, for an operator. */
export interface ShownLevel {
  coin: string;
  level: string;
  levelAt: Date | null;
  haltedAt: Date | null;
  why: string | null;
  seen: string;
  seenSince: Date | null;
}

/** @param input.marketId default: all markets */
export async function priceLevels(
  tx: Tx,
  input: { marketId?: bigint } = {},
): Promise<(ShownLevel & { marketId: bigint })[]> {
  const rows = input.marketId === undefined ? await levelRows(tx) : await levelsOf(tx, input.marketId);
  return rows.map(({ marketId, coin, level, levelAt, haltedAt, why, seen, seenSince }) => ({
    ...{ marketId, coin, level: said(level), levelAt },
    ...{ haltedAt, why, seen: said(seen), seenSince },
  }));
}

/**
 * An operator confirms the level of a halted market. The market then quotes again, at prices near that level.
 *
 * @throws Refusal 'market_not_halted'; 'malformed_field' when the sources do not agree with it, or too few answer
 */
export async function confirmLevel(
  tx: Tx,
  input: { marketId: bigint; coin: string; level: Rate; by: string },
): Promise<void> {
  await lockPrices(tx);
  const now = await databaseNow(tx);
  const market = await marketById(tx, input.marketId);
  const row = (await levelsOf(tx, market.id)).find(({ coin }) => coin === input.coin);
  if (row === undefined || row.haltedAt === null)
    throw new Refusal('market_not_halted', { market: String(market.id), coin: input.coin });
  const wrong = confirmOne(
    tx,
    { market, row },
    { agreedOn: agreements(await livePrices(tx), now), level: input.level, now },
  );
  if (wrong !== undefined) throw new Refusal('malformed_field', { fields: { level: wrong } });
  await closeConfirmedHalts(tx, pairOf(market, input.coin), input.by, now);
}

/**
 * Confirms the level for all markets that are halted for a pair. A market stays halted if the level or the sources do not satisfy
 * its own rules.
 *
 * @returns ids of both groups
 * @throws Refusal as `confirmLevel`, if no market resumes
 */
export async function confirmPair(
  tx: Tx,
  input: { coin: string; fiat: string; level: Rate; by: string },
): Promise<{ confirmed: bigint[]; halted: bigint[] }> {
  await lockPrices(tx);
  const now = await databaseNow(tx);
  const pair = `${input.coin}/${input.fiat}`;
  const agreedOn = agreements(await livePrices(tx), now);
  const [confirmed, halted, rules] = [[] as bigint[], [] as bigint[], [] as string[]];
  for (const halt of await haltsNow(tx)) {
    if (pairOf(halt.market, halt.row.coin) !== pair) continue;
    const wrong = confirmOne(tx, halt, { agreedOn, level: input.level, now });
    if (wrong === undefined) confirmed.push(halt.market.id);
    else {
      halted.push(halt.market.id);
      rules.push(wrong);
    }
  }
  const [rule] = rules;
  if (confirmed.length === 0 && rule === undefined) throw new Refusal('market_not_halted', { coin: pair });
  if (confirmed.length === 0) throw new Refusal('malformed_field', { fields: { level: rule } });
  await closeConfirmedHalts(tx, pair, input.by, now);
  return { confirmed, halted };
}

/** @returns why the level cannot be confirmed; then nothing was written */
function confirmOne(
  tx: Tx,
  { market, row }: Halt,
  { agreedOn, level, now }: { agreedOn: ReturnType<typeof agreements>; level: Rate; now: Date },
): string | undefined {
  const agreed = agreedOn(market, row.coin);
  if (agreed === undefined) return `cannot be confirmed: fewer than ${market.priceQuorum} sources say a price now`;
  if (!isNear(agreed.rate, level, market.outlierBps))
    return `must be within ${market.outlierBps} bps of what the sources say now, ${formatRate(agreed.rate)}`;
  saveLevel(tx, { ...row, ...accepted(agreed.rate, now) });
  if (moved(market, row.level, agreed.rate)) endQuotes(tx, market.id, row.coin);
  return undefined;
}

/** Current halts of open markets. */
async function haltsNow(tx: Tx): Promise<Halt[]> {
  const open = new Map((await markets(tx)).map((market) => [market.id, market]));
  return (await levelRows(tx)).flatMap((row) => {
    const market = open.get(row.marketId);
    return market === undefined || row.haltedAt === null ? [] : [{ market, row }];
  });
}

/** Removes the resumed markets from the cases. */
async function closeConfirmedHalts(tx: Tx, confirmed: string, by: string, now: Date): Promise<void> {
  const outcomeOf = (pair: string): string =>
    pair === confirmed ? `level confirmed by ${by}` : 'no quote rests on that price any more';
  await updateHaltCases(tx, await haltsNow(tx), { outcomeOf, now });
}
