/**
 * Fixed prices: the sandbox's market. A table of crosses with optional seeded drift: prices move, and the same seed always gives
 * the same moves. Production refuses to start with this source.
 */
import { adapter } from '../../base/adapter.ts';
import { systemClock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { integer } from '../../base/env.ts';
import { parseRate, type Rate } from '../../base/money.ts';
import type { FetchedPrice, PriceSource } from '../source.ts';

/** Whole units of each fiat per US dollar, and dollars per coin: fixed once, near the market prices of the time. */
const PER_DOLLAR: Readonly<Record<string, string>> = {
  inr: '86',
  eur: '0.92',
  usd: '1',
  gbp: '0.79',
  brl: '5.6',
  aed: '3.67',
  try: '34',
  mxn: '18.5',
  ngn: '1550',
  php: '57',
  kes: '129',
};
const DOLLARS: Readonly<Record<string, string>> = {
  usdc: '1',
  usdt: '1',
  dai: '1',
  eth: '2500',
  matic: '0.5',
  bnb: '600',
  trx: '0.3',
  btc: '65000',
};

const EVERY_MS = 10_000;
/** So every row is rewritten at the fourth poll, and is never older than a minute, even if a poll is late. */
const REWRITE_MS = 35_000;

export interface FixedOptions {
  code?: string;
  rewriteMs?: number;
  /** Drift: at most this far from the table, in basis points, changing every `stepMs`. */
  drift?: { seed: number; bps: number; stepMs: number };
}

/** A source whose prices a test or a sandbox control can set. */
export interface MovablePrices extends PriceSource {
  move(base: string, quote: string, rate: Rate | undefined): void;
}
export const isMovable = (source: PriceSource | undefined): source is MovablePrices =>
  source !== undefined && 'move' in source;

export function fixedSource(options: FixedOptions = {}): MovablePrices {
  const moved = new Map<string, Rate>();
  return {
    code: options.code ?? 'fixed',
    // A sandbox has dozens of pairs, with a row each.
    everyMs: EVERY_MS,
    ...defined({ rewriteMs: options.rewriteMs }),
    async fetch(pairs, clock = systemClock) {
      const now = clock.now();
      return pairs.flatMap(({ base, quote }): FetchedPrice[] => {
        const rate = moved.get(`${base}/${quote}`) ?? cross(base, quote);
        if (rate === undefined) return [];
        return [{ base, quote, rate: drifted(rate, options.drift, now), pricedAt: now }];
      });
    },
    /** For tests and sandbox controls: another price for a pair; `undefined` restores the table's. */
    move(base, quote, rate) {
      if (rate === undefined) moved.delete(`${base}/${quote}`);
      else moved.set(`${base}/${quote}`, rate);
    },
  };
}

function cross(base: string, quote: string): Rate | undefined {
  const [dollars, perDollar] = [DOLLARS[base], PER_DOLLAR[quote]];
  if (dollars === undefined || perDollar === undefined) return undefined;
  const [a, b] = [parseRate(dollars), parseRate(perDollar)];
  return { num: a.num * b.num, den: a.den * b.den };
}

function drifted(rate: Rate, drift: FixedOptions['drift'], now: Date): Rate {
  if (drift === undefined) return rate;
  const step = Math.floor(now.getTime() / drift.stepMs);
  // xorshift over (seed, step): a number between −bps and +bps, the same in every process at the same step.
  let state = (drift.seed ^ Math.imul(step, 0x9e3779b1)) | 1;
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  const bps = BigInt((state >>> 0) % (2 * drift.bps + 1)) - BigInt(drift.bps);
  return { num: rate.num * (10_000n + bps), den: rate.den * 10_000n };
}

export const fixedPrices = adapter({
  code: 'fixed',
  about: 'A fixed table of prices that may drift and be changed by hand',
  sandboxOnly: 'its prices are invented',
  settings: {
    driftBps: integer('SANDBOX_PRICE_DRIFT_BPS', 'how far sandbox prices drift from the table, in basis points', 0, {
      min: 0,
      max: 1_000,
    }),
  },
  create: ({ driftBps }) =>
    fixedSource({
      rewriteMs: REWRITE_MS,
      ...(driftBps === 0 ? {} : { drift: { seed: 1, bps: driftBps, stepMs: 10_000 } }),
    }),
});
