/**
 * Exchange: the common part of all exchanges' public tickers, so that each exchange is a table of symbols and a reader.
 *
 * - The price is the middle of the best bid and ask, exactly: it favours neither side, and one odd last trade does not move
 *   it. A book that is crossed, or whose spread is too wide, has no price.
 * - The time is the exchange's own if its ticker has one, else the time of our receipt; each file says which.
 * - We ask an exchange for the pairs themselves and for the legs that crosses.ts may compose them of, as far as the table lists
 *   them. A symbol that is not listed, or whose ticker fails strict parsing, is omitted. So a delisted symbol loses only its own
 *   price.
 * - `fetch` throws if no price could be read. An answer that we poll too often takes precedence over all others.
 *
 * Not here: pausing after a failure (refresh.ts), which prices agree (price.ts).
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { Unavailable } from '../../base/errors.ts';
import type { Http } from '../../base/http.ts';
import { fraction, type Rate } from '../../base/money.ts';
import { legs } from '../crosses.ts';
import type { FetchedPrice, Pair, PriceSource } from '../source.ts';
import { AskedTooOften, getText } from './answer.ts';
import { isTimely, type Json, readJson, readPrice } from './read.ts';

export interface Where {
  baseUrl: string;
  deadlineMs?: number;
  /** HTTP client. */
  http?: Http | undefined;
}

export interface Exchange extends Where {
  code: string;
  /** Our pair (`eth/usd`) → its symbol. */
  listed: Readonly<Record<string, string>>;
  /** The calls that fetch the tickers of these symbols: one for all or one each, depending on its limits and errors. */
  calls(symbols: readonly string[]): readonly Call[];
  /** @param heardAt used by exchanges that give no time of their own */
  read(body: Json, symbol: string, heardAt: Date): Ticker;
}

export interface Call {
  path: string;
  symbols: readonly string[];
}

export interface Ticker {
  bid: Json | undefined;
  ask: Json | undefined;
  time: Date | undefined;
}

/** Deadline of all calls of one fetch together. Far below the job's lease; prices are due every five seconds. */
const DEADLINE_MS = 4_000;
/** A ticker is under a kilobyte; a hundred of them still fit. */
const LONGEST_ANSWER = 128 * 1024;
/** Coinbase allows ten public requests a second, which is the least of those used here. */
const AT_ONCE = 4;
/** Only excludes symbols that are no longer traded; markets have their own, much lower limits. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Spreads of the pairs used here are a few hundredths of a percent. */
const WIDEST_BPS = 200n;

export function exchange(options: Exchange): PriceSource {
  const { code, listed } = options;
  return {
    code,
    async fetch(pairs, clock = systemClock) {
      const wanted = legs(pairs).flatMap((pair) => {
        const symbol = listed[`${pair.base}/${pair.quote}`];
        return symbol === undefined ? [] : [{ ...pair, symbol }];
      });
      if (wanted.length === 0) return [];
      const signal = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
      const calls = options.calls([...new Set(wanted.map(({ symbol }) => symbol))]);
      const heard = await eachOf(calls, (call) => hear(options, call, { wanted, clock, signal }));
      const failures = heard.filter((one) => one instanceof Unavailable);
      const prices = heard.flatMap((one) => (one instanceof Unavailable ? [] : one));
      const tooOften = failures.find((one) => one instanceof AskedTooOften);
      if (tooOften !== undefined) throw tooOften;
      if (prices.length === 0) throw failures[0] ?? new Unavailable(code, 'no usable price in its answers');
      return prices;
    },
  };
}

async function hear(
  { code, baseUrl, http, read }: Exchange,
  { path, symbols }: Call,
  { wanted, clock, signal }: { wanted: readonly (Pair & { symbol: string })[]; clock: Clock; signal: AbortSignal },
): Promise<FetchedPrice[] | Unavailable> {
  try {
    const url = `${baseUrl}${path}`;
    const text = await getText(code, { url, type: 'json', longestBytes: LONGEST_ANSWER, signal, http });
    if (text === undefined) return [];
    const body = readJson(text);
    if (body === undefined) return new Unavailable(code, 'the answer is not JSON');
    const now = clock.now();
    return wanted.flatMap(({ base, quote, symbol }): FetchedPrice[] => {
      if (!symbols.includes(symbol)) return [];
      const { bid, ask, time } = read(body, symbol, now);
      const rate = middle(readPrice(bid), readPrice(ask));
      if (rate === undefined || time === undefined || !isTimely(time, now, MAX_AGE_MS)) return [];
      return [{ base, quote, rate, pricedAt: time }];
    });
  } catch (error) {
    if (error instanceof Unavailable) return error;
    throw error;
  }
}

function middle(bid: Rate | undefined, ask: Rate | undefined): Rate | undefined {
  if (bid === undefined || ask === undefined) return undefined;
  const [low, high] = [bid.num * ask.den, ask.num * bid.den];
  if (low > high || (high - low) * 10_000n > low * WIDEST_BPS) return undefined;
  return fraction(low + high, 2n * bid.den * ask.den);
}

/** In order, a few at once. */
async function eachOf<T, R>(all: readonly T[], action: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    results.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(action))));
  }
  return results;
}
